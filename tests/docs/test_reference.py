"""The reference pages list what the program has."""

import runpy
from dataclasses import fields

import pytest
from docs.pages import DOCS, ROOT

from egoscore import EgoScore, load_dataset
from egoscore.detectors import PRESETS, setting_names, settings_of
from egoscore.explain.explanation import Deviation, Explanation
from egoscore.explain.sentences import Scores
from egoscore.graph.structure import NAMES
from egoscore.ranking import ranking
from egoscore.report.notes import SENTENCES

RESULTS = (DOCS / "output.md").read_text(encoding="utf-8")


def test_the_page_of_options_is_up_to_date():
    page = runpy.run_path(str(ROOT / "docs" / "tools" / "options.py"))["page"]
    assert (DOCS / "options.md").read_text(encoding="utf-8") == page(), "run: make options"


@pytest.mark.usefixtures("quicker")
@pytest.mark.parametrize("preset", PRESETS)
def test_every_column_of_the_scores_is_described(preset):
    graph = load_dataset("builtin")
    fitted = EgoScore(preset, **({"epochs": 1, "num_levels": 1} if preset == "paper" else {}))
    fitted.fit(graph)
    score, p_value = fitted.decision_score_.numpy(), fitted.p_value_.numpy()
    scores, flag = Scores(score, p_value, fitted.threshold_), fitted.label_.numpy()
    for column in ranking(graph, scores, fitted.components_.columns(), flag).column_names:
        assert f"`{column.partition('@')[0]}`" in RESULTS, column


def test_every_note_is_described():
    absent = [code for code in SENTENCES if f"`{code}`" not in RESULTS and code != "text"]
    assert not absent


@pytest.mark.parametrize("kind", [Explanation, Deviation])
def test_every_field_of_an_explanation_is_described(kind):
    assert not [name for name in kind.__dataclass_fields__ if f"`{name}`" not in RESULTS]


def test_every_structural_quantity_is_in_the_glossary():
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert not [name for name in NAMES.values() if f"| {name} " not in text]


def test_a_meaning_that_differs_is_told_for_each_preset():
    """The default preset refuses 0 for --batch-size, preset "paper" takes it."""
    rows = (DOCS / "options.md").read_text(encoding="utf-8").splitlines()
    for name, presets in setting_names().items():
        row = next(row for row in rows if row.startswith(f"| `--{name.replace('_', '-')}` |"))
        told = {p: _field(p, name).metadata["help"] for p in presets}
        assert all(text in row for text in told.values())
        if len(set(told.values())) > 1:
            assert all(f"`{preset}`: {text}" in row for preset, text in told.items())


def _field(preset, name):
    return next(one for one in fields(settings_of(preset)) if one.name == name)

"""The list of nodes: the first rows of the ranking with causes and answers."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from report.samples import findings, ranked, ranked_as_paper, with_own_columns

from egoscore import EgoScore, generate_network
from egoscore.detect import Origin, detect
from egoscore.detectors import label_of
from egoscore.ranking import own_columns
from egoscore.report.top_nodes import ANSWERED, TOP, cause, reason_in_short, top_rows

QUICK = {
    "default": {"updates": 2, "hidden_size": 8},
    "paper": {"preset": "paper", "epochs": 1, "num_levels": 2, "num_samples": 1, "steps": 3},
}


def listed(ranking, **changes):
    return top_rows(ranking, replace(findings(ranking), **changes))


def test_rows_are_those_of_the_ranking():
    ranking = ranked()
    rows = listed(ranking)
    assert len(rows) == TOP
    for row, there in zip(rows, ranking.slice(0, TOP).to_pylist(), strict=True):
        for name in ("rank", "node", "score", "p_value", "ego_size"):
            assert getattr(row, name) == there[name]
        assert row.flag == bool(there["flag"])
        assert row.significant == bool(there["significant"])
        assert row.own == (there["known_label"], there["community"], there["kind"])


def test_without_calibration_no_node_is_significant():
    assert not any(row.significant for row in listed(ranked_as_paper()))


@pytest.mark.parametrize("preset", QUICK)
def test_rows_agree_with_the_explanations_of_their_nodes(preset, tmp_path):
    graph = generate_network(80, 200, 4, seed=3, outlier_fraction=0.2)
    found = detect(graph, Origin("friends"), EgoScore(**QUICK[preset]), tmp_path / "run")
    rows = top_rows(found.ranking, replace(found.findings, explanations=()))
    for row, why in zip(rows, found.detector.explain_all([r.node for r in rows]), strict=True):
        strongest = label_of(why.causes[0] if why.causes else next(iter(why.questions)))
        assert row.reason.endswith(strongest)
        assert (row.reason == strongest) == bool(why.causes)
        assert {part.question for part in row.parts if part.is_cause} == set(why.causes)
        for part in row.parts:
            rarity = max(1 / 80, np.exp(-why.questions[part.question]))
            assert part.percentile == pytest.approx(100 * (1 - rarity), abs=0.01)


@pytest.mark.parametrize("preset", QUICK)
def test_every_listed_node_has_a_reason_in_words(preset, tmp_path):
    graph = generate_network(80, 200, 4, seed=3, outlier_fraction=0.2)
    found = detect(graph, Origin("friends"), EgoScore(**QUICK[preset]), tmp_path / "run")
    rows = top_rows(found.ranking, found.findings)
    assert len(rows) == len(found.findings.explanations) == TOP == 20
    for row, why in zip(rows, found.findings.explanations, strict=True):
        assert why.reason in row.reason or not why.causes
        assert len(row.reason.split()) >= 3


def test_a_longer_list_has_reasons_as_far_as_there_are_answers():
    ranking = ranked()
    rows = top_rows(ranking, findings(ranking), 100)
    assert len(rows) == ANSWERED
    assert all(row.reason for row in rows)


def test_explained_nodes_have_their_cause_in_a_few_words():
    ranking = ranked()
    found = findings(ranking, explained=10)
    rows, bare = top_rows(ranking, found), listed(ranking, explanations=())
    for row, why in zip(rows, found.explanations, strict=False):
        assert row.reason == reason_in_short(why) == f"{label_of(why.causes[0])}: {why.reason}"
    assert rows[10:] == bare[10:]


def test_without_a_cause_the_strongest_question_is_named():
    why = replace(findings().explanations[0], causes=(), questions={"position": 1.0}, p_value=0.4)
    assert reason_in_short(why) == f"{cause({'position': 1.0}, 0.4)}: {why.reason}"
    assert "position" in reason_in_short(why)


def test_the_cause_is_the_question_with_the_highest_percentile():
    for row in listed(ranked(), explanations=()):
        assert row.reason.endswith(max(row.parts, key=lambda part: part.percentile).label)


def test_causes_name_the_strongest_question():
    assert cause({"b": 4.0, "a": 3.5}, 0.001) == "b"
    assert cause({"b": 2.9, "a": 1.0}, 0.05).startswith("all answers together")
    assert cause({"b": 2.9, "a": 1.0}, 0.06).startswith("nothing stands out")
    assert all(cause({"b": 2.9, "a": 1.0}, p).endswith("b") for p in (0.05, 0.06))


@pytest.mark.parametrize("name", ["surprise_mine", "surprise_position (input)"])
def test_a_column_of_the_user_is_not_a_question(name):
    names = [name if one == "kind" else one for one in ranked(30).column_names]
    ranking = with_own_columns(ranked(30).rename_columns(names), ["known_label", "community", name])
    assert own_columns(ranking)[-1] == name
    row = listed(ranking)[0]
    assert [part.question for part in row.parts] == ["features", "similarity", "position"]
    assert row.own[-1] == ranking[name][0].as_py()


def test_rows_without_answers_have_no_cause():
    rows = listed(ranked(5), answers=({},) * 5, explanations=())
    assert [(row.reason, row.parts) for row in rows] == [("", ())] * 5


def test_at_most_three_columns_of_the_user_are_listed():
    more = ranked(5).append_column("x", pa.array(np.zeros(5)))
    ranking = with_own_columns(more, [*own_columns(ranked(5)), "x"])
    assert len(listed(ranking)[0].own) == 3

"""The list of nodes: what is in the ranking, and nothing else."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tell.samples import findings, ranked, ranked_as_paper

from egoscore import EgoScore, generate_network
from egoscore.detect import Origin, detect
from egoscore.explain.among import alike, percentile
from egoscore.tell.top_nodes import TOP, cause, cause_in_short, own_columns, top_rows

QUICK = {
    "default": {"updates": 2, "hidden_size": 8},
    "paper": {"preset": "paper", "epochs": 1, "num_levels": 2, "num_samples": 1, "steps": 3},
}


def test_rows_are_those_of_the_ranking():
    ranking = ranked()
    rows = top_rows(ranking)
    assert len(rows) == TOP
    for row, there in zip(rows, ranking.slice(0, TOP).to_pylist(), strict=True):
        for name in ("rank", "node", "score", "p_value", "ego_size"):
            assert getattr(row, name) == there[name]
        assert row.flag == bool(there["flag"])
        assert row.own == (there["known_label"], there["community"], there["kind"])


def test_significance_is_that_of_the_ranking():
    ranking = ranked()
    assert [row.significant for row in top_rows(ranking)] == [
        bool(there) for there in ranking["significant"].to_pylist()[:TOP]
    ]
    assert not any(row.significant for row in top_rows(ranked_as_paper()))


@pytest.mark.parametrize("preset", QUICK)
def test_every_row_says_what_an_explanation_of_the_node_would(preset, tmp_path):
    graph = generate_network(80, 200, 4, seed=3, outlier_fraction=0.2)
    found = detect(graph, Origin("friends"), EgoScore(**QUICK[preset]), tmp_path / "run")
    rows = top_rows(found.ranking)
    for row, why in zip(rows, found.detector.explain_all([r.node for r in rows]), strict=True):
        strongest = why.causes[0] if why.causes else next(iter(why.questions))
        assert row.cause.endswith(strongest)
        assert (row.cause == strongest) == bool(why.causes)
        assert {part.question for part in row.parts if part.is_cause} == set(why.causes)
        for part in row.parts:
            rarity = max(1 / 80, np.exp(-why.questions[part.question]))
            assert part.percentile == pytest.approx(100 * (1 - rarity), abs=0.01)


def test_nodes_that_are_explained_have_the_cause_in_a_few_words():
    ranking = ranked()
    found = findings(ranking, explained=20).explanations
    rows, bare = top_rows(ranking, found), top_rows(ranking)
    for row, why in zip(rows, found, strict=False):
        assert row.cause == cause_in_short(why) == f"{why.causes[0]}: {why.reason}"
    assert rows[20:] == bare[20:]


def test_of_a_node_without_a_cause_that_is_told():
    why = replace(findings().explanations[0], causes=(), questions={"place": 1.0}, p_value=0.4)
    assert cause_in_short(why) == "nothing stands out; if anything, place"


def test_the_greatest_number_is_that_of_the_cause():
    for row in top_rows(ranked()):
        assert row.cause.endswith(max(row.parts, key=lambda part: part.percentile).question)


def test_the_cause_is_the_strongest():
    assert cause({"a": 3.5, "b": 4.0}, 0.001) == "b"


def test_where_none_is_strong_the_row_says_so():
    assert cause({"a": 1.0, "b": 2.9}, 0.05) == "all together, mostly b"
    for p_value in (0.06, None):
        assert cause({"a": 1.0, "b": 2.9}, p_value) == "nothing stands out; if anything, b"


def test_levels_are_averaged():
    ranking = ranked_as_paper()
    means = np.mean([ranking[f"feature_error@{tau}"].to_numpy() for tau in (0.25, 0.5)], axis=0)
    row = top_rows(ranking)[0]
    assert [part.question for part in row.parts] == ["features", "structure", "energy"]
    group = alike(ranking["ego_size"].to_numpy(), 0)
    assert row.parts[0].percentile == pytest.approx(percentile(means[group], means[0]), abs=0.5)


def test_a_column_of_the_user_is_no_question():
    ranking = ranked(30).append_column("x", pa.array(np.zeros(30)))
    names = ["surprise_mine" if name == "kind" else name for name in ranking.column_names]
    row = top_rows(ranking.rename_columns(names))[0]
    assert [part.question for part in row.parts] == ["features", "company", "place"]


def test_a_ranking_without_parts_has_no_cause():
    ranking = ranked(5)
    bare = ranking.select(ranking.column_names[: ranking.column_names.index("ego_size") + 1])
    assert [(row.cause, row.parts) for row in top_rows(bare)] == [("", ())] * 5


def test_the_users_columns_are_those_before_the_components():
    assert own_columns(ranked()) == ["known_label", "community", "kind"]
    assert own_columns(ranked(labels=False)) == ["community", "kind"]


def test_p_values_may_be_missing():
    ranking = ranked(5)
    nothing = pa.nulls(5, pa.float64())
    ranking = ranking.set_column(ranking.column_names.index("p_value"), "p_value", nothing)
    assert top_rows(ranking)[0].p_value is None

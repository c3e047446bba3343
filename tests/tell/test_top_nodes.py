"""The list of nodes: what is in the ranking, and nothing else."""

import numpy as np
import pyarrow as pa
import pytest
from tell.samples import findings, ranked, ranked_as_paper

from egoscore.tell.top_nodes import TOP, own_columns, part_names, plain, top_rows


def test_rows_are_those_of_the_ranking():
    ranking = ranked()
    rows = top_rows(ranking, findings(ranking).explanations)
    assert len(rows) == TOP
    for row, there in zip(rows, ranking.slice(0, TOP).to_pylist(), strict=True):
        for name in ("rank", "node", "score", "p_value", "ego_size"):
            assert getattr(row, name) == there[name]
        assert row.flag == bool(there["flag"])
        assert row.own == (there["known_label"], there["community"], there["kind"])


def test_explained_nodes_have_their_cause_and_their_percentiles():
    ranking = ranked()
    explained = findings(ranking, explained=3).explanations
    rows = top_rows(ranking, explained)
    for row, found in zip(rows, explained, strict=False):
        assert row.is_explained
        assert row.cause == found.causes[0]
        assert [part.percentile for part in row.parts] == [c.percentile for c in found.components]
    assert not rows[3].is_explained
    assert rows[3].cause == ""


def test_other_nodes_are_compared_with_all():
    ranking = ranked()
    values = ranking["surprise_company"].to_numpy()
    for row in top_rows(ranking, ())[:5]:
        share = 100 * (values < values[row.rank - 1]).mean()
        parts = {part.name: part.percentile for part in row.parts}
        assert parts["company"] == pytest.approx(share)


def test_levels_are_averaged():
    ranking = ranked_as_paper()
    means = np.mean([ranking[f"feature_error@{tau}"].to_numpy() for tau in (0.25, 0.5)], axis=0)
    (row, *_) = top_rows(ranking, ())
    assert [part.name for part in row.parts] == [
        *("energy", "feature error", "structure error", "energy after", "energy shift")
    ]
    assert row.parts[1].percentile == pytest.approx(100 * (means < means[0]).mean())


def test_questions_come_first_and_decisions_not_at_all():
    assert part_names(ranked(), ()) == ["features", "company", "place", "feature norm"]


def test_names_are_as_people_say_them():
    assert plain("surprise_company") == "company"
    assert plain("feature_error@0.25") == "feature error"


def test_the_users_columns_are_those_before_the_components():
    assert own_columns(ranked()) == ["known_label", "community", "kind"]
    assert own_columns(ranked(labels=False)) == ["community", "kind"]


def test_p_values_may_be_missing():
    ranking = ranked(5)
    nothing = pa.nulls(5, pa.float64())
    ranking = ranking.set_column(ranking.column_names.index("p_value"), "p_value", nothing)
    assert top_rows(ranking, ())[0].p_value is None

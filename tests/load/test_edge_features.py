"""Columns of edges as features of nodes, with pandas as judge."""

import numpy as np
import pandas as pd
import pytest

from egoscore.graph import AttributedGraph

TOLERANCE = {"rtol": 1e-5, "atol": 1e-4}


@pytest.fixture(scope="module")
def payments():
    rng = np.random.default_rng(3)
    count = 400
    table = pd.DataFrame(
        {
            "source": [f"n{i}" for i in rng.integers(0, 30, count)],
            "target": [f"n{i}" for i in rng.integers(0, 30, count)],
            "amount": rng.lognormal(3, 1, count).round(2),
            "rating": rng.integers(-10, 11, count),
            "paid_on": pd.to_datetime("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 500, count), "D"),
            "timestamp": rng.integers(1_500_000_000, 1_600_000_000, count),
            "year": rng.integers(1990, 2020, count),
            "bank": rng.choice([f"bank {i}" for i in range(30)], count),
            "urgent": rng.choice(["yes", "no"], count),
            "payment_id": rng.permutation(count) + 7_000,
            "row": np.arange(count),
            "note": [f"text {i}" for i in range(count)],
            "currency": "EUR",
            "is_fraud": rng.integers(0, 2, count),
        }
    )
    return table


@pytest.fixture
def graph_of(tmp_path):
    def read(table, **options):
        path = tmp_path / "edges.csv"
        table.to_csv(path, index=False)
        return AttributedGraph.from_tables(path, **options)

    return read


def column(graph, title):
    """The values of a feature by node id."""
    place = graph.feature_names.index(title)
    values = graph.features[:, place].astype(float) + graph.columns[place].offset
    return pd.Series(values, index=graph.ids)


def most_frequent(values):
    return values.value_counts().max() / len(values)


def ends_of(table, directed):
    """The rows of every node by direction, as pandas sees them."""
    if directed:
        return {
            " sent": table.assign(node=table.source, other=table.target),
            " received": table.assign(node=table.target, other=table.source),
        }
    back = table[table.source != table.target]
    back = back.assign(source=back.target, target=back.source)
    return {"": pd.concat([table, back]).assign(node=lambda t: t.source, other=lambda t: t.target)}


@pytest.mark.parametrize("directed", [False, True])
class TestPandas:
    def test_amounts_and_ratings(self, payments, graph_of, directed):
        graph = graph_of(payments, directed=directed)
        names = {"total": "sum", "mean": "mean", "smallest": "min", "largest": "max"}
        for direction, rows in ends_of(payments, directed).items():
            for name in ("amount", "rating"):
                for detail, function in names.items():
                    wanted = rows.groupby("node")[name].agg(function)
                    found = column(graph, f"{name}{direction} ({detail})")
                    np.testing.assert_allclose(found[wanted.index], wanted, **TOLERANCE)

    def test_the_share_of_the_largest_partner(self, payments, graph_of, directed):
        graph = graph_of(payments, directed=directed)
        for direction, rows in ends_of(payments, directed).items():
            sums = rows.groupby(["node", "other"]).amount.sum()
            wanted = sums.groupby("node").max() / sums.groupby("node").sum()
            found = column(graph, f"amount{direction} (share of the largest partner)")
            np.testing.assert_allclose(found[wanted.index], wanted, **TOLERANCE)
            assert f"rating{direction} (share of the largest partner)" not in graph.feature_names

    def test_moments_and_years(self, payments, graph_of, directed):
        graph = graph_of(payments, directed=directed)
        moments = {
            "paid_on": (payments.paid_on - pd.Timestamp("1970-01-01")) / pd.Timedelta("1D"),
            "timestamp": payments.timestamp / 86_400,
            "year": payments.year,
        }
        for direction, rows in ends_of(payments, directed).items():
            for name, values in moments.items():
                by_node = values[rows.index].set_axis(rows.node).groupby(level=0)
                for detail, wanted in (("first", by_node.min()), ("last", by_node.max())):
                    found = column(graph, f"{name}{direction} ({detail})")
                    np.testing.assert_allclose(found[wanted.index], wanted, rtol=1e-5, atol=1e-2)
        kinds = {c.name.split()[0]: c.kind for c in graph.columns}
        assert (kinds["paid_on"], kinds["timestamp"], kinds["year"]) == ("time", "time", "weight")

    def test_categories_and_answers(self, payments, graph_of, directed):
        graph = graph_of(payments, directed=directed)
        for direction, rows in ends_of(payments, directed).items():
            banks = rows.groupby("node").bank
            for detail, wanted in (
                ("how many different", banks.nunique()),
                ("share of the most frequent", banks.agg(most_frequent)),
            ):
                found = column(graph, f"bank{direction} ({detail})")
                np.testing.assert_allclose(found[wanted.index], wanted, **TOLERANCE)
            wanted = rows.groupby("node").urgent.agg(lambda u: (u == "yes").sum())
            found = column(graph, f"urgent{direction} (how many)")
            np.testing.assert_allclose(found[wanted.index], wanted, **TOLERANCE)

    def test_rows_are_counted_and_the_graph_has_each_edge_once(self, payments, graph_of, directed):
        graph = graph_of(payments, directed=directed)
        proper = payments[payments.source != payments.target]
        for direction, rows in ends_of(proper, directed).items():
            wanted = rows.groupby("node").size()
            found = column(graph, f"edges{direction} (count)")
            np.testing.assert_array_equal(found[wanted.index], wanted)
        pairs = proper[["source", "target"]].apply(tuple if directed else frozenset, axis=1)
        assert graph.num_edges == pairs.nunique()


def test_ids_constants_texts_and_answers_are_not_used(payments, graph_of):
    graph = graph_of(payments, ignore=("rating",))
    used = {c.name for c in graph.columns}
    assert used == {"amount", "paid_on", "timestamp", "year", "bank", "urgent", "edges"}


def test_a_named_column_is_the_only_one(payments, graph_of):
    used = {c.name for c in graph_of(payments, weight="rating", directed=True).columns}
    assert used == {"rating sent", "rating received", "edges sent", "edges received"}


@pytest.mark.parametrize("directed", [False, True])
def test_edges_listed_in_both_directions_are_not_repeated(read, directed):
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
    rows = "".join(f"{u},{v}\n{v},{u}\n" for u, v in pairs)
    assert read(f"source,target\n{rows}", directed=directed).graph.is_structural


def test_who_sends_nothing_has_nothing_and_a_usual_date(read):
    edges = "source,target,sum,on\na,b,3,2024-01-05\na,c,4,2024-01-07\nb,c,9,2024-02-01\n"
    graph = read(edges, directed=True).graph
    assert column(graph, "sum sent (total)").to_dict() == {"a": 7, "b": 9, "c": 0}
    first = column(graph, "on sent (first)")
    assert first["a"] <= first["c"] <= first["b"]


def test_features_that_are_named_leave_out_the_edges(read):
    edges = "source,target,sum\na,b,3\nb,c,4\n"
    nodes = "id,x,y\na,1,2\nb,2,4\nc,4,3\n"
    assert read(edges, nodes, features=("x",)).graph.feature_names == ("x",)
    assert len(read(edges, nodes, features=("x",), weight="sum").graph.feature_names) == 6


@pytest.mark.parametrize(("directed", "count"), [(False, 3), (True, 2)])
def test_repeated_edges_are_told_with_their_number(read, noted, directed, count):
    edges = "source,target\na,b\na,b\na,b\nb,a\nb,c\nc,d\nd,d\n"
    assert noted(read(edges, directed=directed), "edges-counted", count=count)


def test_years_of_edges_are_years_and_amounts_add_up(read):
    rows = "".join(f"n{i},n{i + 1},{2000 + i % 17},{1800 + i},{i}\n" for i in range(40))
    columns = read(f"source,target,year,paid,views\n{rows}n3,n5,20015,1999,3\n").graph.columns
    forms = {column.title: column.form for column in columns}
    assert (forms["year (first)"], forms["year (last)"]) == ("year", "year")
    assert (forms["paid (total)"], forms["paid (mean)"]) == ("whole", "")
    assert (forms["views (total)"], forms["views (share of the largest partner)"]) == ("whole", "")

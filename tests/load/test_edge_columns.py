"""Weights of edges as features, with networkx as judge."""

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest

from egoscore.load import Options, read_tables
from egoscore.load.edge_columns import EdgeColumn
from egoscore.load.edge_features import edge_features

EDGES = "source,target,amount\na,b,3\nb,c,4.5\nc,a,-1\na,b,2\nc,c,7\n"


def test_total_mean_and_largest_of_every_edge_of_a_node(read, noted):
    reading = read(EDGES, "id,x\na,1\nb,2\nc,4\nd,8\n", weight="amount")
    graph = reading.graph
    details = ("total", "mean", "smallest", "largest")
    assert graph.feature_names[:5] == ("x", *(f"amount ({one})" for one in details))
    assert [column.kind for column in graph.columns[:5]] == ["number", *["weight"] * 4]
    expected = [[4, 4 / 3, -1, 3], [9.5, 9.5 / 3, 2, 4.5], [10.5, 3.5, -1, 7], [0, 0, 0, 0]]
    np.testing.assert_allclose(graph.features[:, 1:5], expected, rtol=1e-6)
    assert noted(reading, "edge-features", columns=["amount"])
    assert not graph.is_structural


def test_totals_as_networkx_counts_them():
    source = nx.gnm_random_graph(30, 80, seed=1)
    ends = np.array(source.edges, dtype=np.int32).T
    weights = np.random.default_rng(0).normal(size=80)
    nx.set_edge_attributes(source, dict(zip(source.edges, weights, strict=True)), "w")
    table = edge_features([EdgeColumn("w", "number", weights)], ends, 30, False).values
    np.testing.assert_allclose(
        table[:, 0], [source.degree(v, weight="w") for v in range(30)], rtol=1e-5, atol=1e-6
    )
    largest = [max((d["w"] for *_, d in source.edges(v, data=True)), default=0) for v in range(30)]
    np.testing.assert_allclose(table[:, 3], largest, rtol=1e-6)


def test_weights_alone_are_features_and_structure_is_none_beside_them(read):
    graph = read(EDGES, weight="amount").graph
    assert {column.kind for column in graph.columns} == {"weight"}
    assert not graph.is_structural


def test_edges_that_are_left_out_do_not_count(read):
    tables = "source,target,w\na,b,1\na,z,9\nb,a,2\n", "id,x\na,1\nb,2\n"
    graph = read(*tables, weight="w", impute="none").graph
    assert graph.features[:, 1].tolist() == [3, 3]
    kept = read(*tables, weight="w").graph
    assert (kept.ids.tolist(), kept.features[:, -3].tolist()) == (["a", "b", "z"], [12, 3, 9])


@pytest.mark.parametrize(
    ("edges", "weight", "words"),
    [
        ("source,target,w\na,b,x\nb,c,y\n", "w", "`weight=` needs a column of numbers"),
        ("source,target,w\na,b,1\nb,c,\n", "w", "lacks 1 value, the first in row 2"),
        ("source,target,w\na,b,1\nb,c,inf\n", "w", "infinite"),
        ("source,target,w\na,b,3e38\na,c,3e38\n", "w", "beyond single precision"),
        ("source,target,w\na,b,1\n", "target", "holds ids"),
        ("source,target,w\na,b,1\n", "v", "does not have"),
    ],
)
def test_what_is_no_weight_is_told(read, refusal, edges, weight, words):
    assert words in refusal(read, edges, weight=weight, impute="none")


def test_weights_with_many_digits_are_told_apart(read):
    edges = "source,target,at\na,b,1700000000\nc,d,1700000001\ne,f,1700000007\n"
    graph = read(edges, weight="at").graph
    largest = graph.features[:, 3] + np.float64(graph.columns[3].offset)
    assert sorted(set(largest.tolist())) == [1_700_000_000, 1_700_000_001, 1_700_000_007]


def test_how_weights_are_written_is_told(read, noted):
    reading = read('source,target,w\na,b,"$1,200"\nb,c,$3\n', weight="w")
    assert reading.graph.features[:, 0].tolist() == [1200, 1203, 3]
    assert noted(reading, "column-format", column="w", traits=["unit:$", "thousands-commas"])


MANY = "".join(f"a,n{i},{i}\n" for i in range(40))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (f"{MANY}a,b,much\n", "except for 1 cell, the first 'much' in row 41 below the header"),
        ("a,b,1\nb,c,?!\nc,d,2\nd,e,x\n", "except for 2 cells, the first '?!' in row 2 below"),
        ("a,b,1\nb,c,\nc,d,n/a\n", "lacks 2 values, the first in row 2 below"),
    ],
)
def test_a_weight_that_is_not_there_is_named_with_what_to_do(read, refusal, rows, words):
    message = refusal(read, f"source,target,w\n{rows}", weight="w", impute=None)
    assert words in message
    assert "column 'w'" in message.lower()
    assert "or omit `impute='none'` to give such edges the median weight" in message


@pytest.mark.parametrize("cell", ["", "n/a", "much"])
def test_a_weight_that_is_not_there_is_the_median(read, noted, cell):
    edges = f"source,target,w\na,b,1\nc,d,{cell}\ne,f,5\ng,h,3\n"
    reading = read(edges, weight="w")
    assert reading.graph.features[:, 3].tolist() == [1, 3, 5, 3, 1, 3, 5, 3]
    assert noted(reading, "weights-missing", column="w", count=1)
    damaged = noted(reading, "column-damaged", column="w", count=1, cell="much", row=2)
    assert damaged == (cell == "much")


def test_what_is_mostly_no_number_is_no_weight_with_impute_either(read, refusal):
    edges = "source,target,w\na,b,1\nb,c,low\nc,d,high\n"
    message = refusal(read, edges, weight="w", impute="median")
    assert "`weight=` needs a column of numbers, and 'w' of" in message


def test_weights_and_columns_keep_the_signs_of_their_cells(read):
    """They are told with them again, and numbers all the same."""
    edges = 'source,target,paid\na,b,"$1,234"\nb,c,$2\nc,a,$3\n'
    nodes = "id,share,fee,x\na,45%,3 €,1\nb,5%,4 €,2\nc,7%,6 €,4\n"
    graph = read(edges, nodes, weight="paid").graph
    first = zip(graph.columns, graph.features[0], strict=True)
    shown = [column.show(float(value)) for column, value in first]
    assert shown == ["45%", "3 €", "1", "$1,237", "$618.5", "$3", "$1,234", "0.9976"]
    assert [column.unit for column in graph.columns] == ["%", "€", "", "$", "$", "$", "$", ""]


def test_of_two_signs_that_of_the_rows_that_were_read_is_told(read):
    rows = "".join(f"{i},b{i},${i}\n" * 5 for i in range(25)) + "x,y,€7\n"
    graph = read(f"source,target,paid\n{rows}", weight="paid", impute="median").graph
    assert {column.unit for column in graph.columns[:4]} == {"$"}


@pytest.mark.parametrize("cell", ["2018010{}", "2018-01-0{}"])
def test_dates_are_no_weights(read, refusal, cell):
    rows = "".join(f"a{day},b,{cell.format(day)}\n" for day in range(1, 6))
    message = refusal(read, f"source,target,paid_on\n{rows}", weight="paid_on")
    assert "'paid_on' of" in message
    assert "holds dates; name another" in message


@pytest.mark.parametrize("cell", ["inf", " -Infinity"])
def test_an_infinite_weight_is_named_by_its_row(read, refusal, cell):
    message = refusal(read, f"source,target,w\na,b,1\nb,c,{cell}\n", weight="w")
    assert "'w' of" in message
    assert "infinite in row 2 below the header" in message


def test_weights_of_every_kind_of_text():
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        columns = {"source": ["a", "b"], "target": ["b", "c"], "w": pa.array(["1", "2"], kind)}
        graph = read_tables(pa.table(columns), options=Options(weight="w")).graph
        assert graph.features[:, 0].tolist() == [1, 3, 2]

"""Edges and nodes meet by their ids; a note says which are missing on either side."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from egoscore.load import read_tables


def test_nodes_only_in_the_edges_are_left_out_with_their_edges(read, pairs, noted):
    edges = "source,target\na,b\nb,a\na,zoe\nyan,b\na,c\n"
    reading = read(edges, "id,x\na,1\nb,2\nc,3\n", impute=None)
    assert pairs(reading.graph) == [("a", "b"), ("a", "c")]
    dropped = {"count": 2, "example": "yan", "lost_edges": 2}
    assert noted(reading, "nodes-without-row-dropped", **dropped)


def test_nodes_only_in_the_edges_are_kept(read, pairs, noted):
    reading = read("source,target\na,b\na,zoe\nyan,b\n", "id,x\na,1\nb,5\nc,9\n")
    graph = reading.graph
    assert graph.ids.tolist() == ["a", "b", "c", "yan", "zoe"]
    assert pairs(graph) == [("a", "b"), ("a", "zoe"), ("b", "yan")]
    assert graph.feature_names == ("x", "x is missing")
    assert graph.features.tolist() == [[1, 0], [5, 0], [9, 0], [5, 1], [5, 1]]
    assert noted(reading, "nodes-without-row-kept", count=2)


def test_nodes_only_in_the_table_are_kept(read, noted):
    reading = read("source,target\na,b\n", "id,x\na,1\nb,2\nc,3\n")
    assert reading.graph.ids.tolist() == ["a", "b", "c"]
    assert noted(reading, "isolated-nodes", count=1)


def test_ids_that_do_not_match_are_refused_with_examples(read, refusal):
    edges = "source,target\nu1,u2\nu2,u3\nu3,a\n"
    message = refusal(read, edges, "id,x\na,1\nb,2\n")
    assert "3 of the 3 edges" in message
    assert "('u1' and 'u2' there, 'a' and 'b' here)" in message


def test_half_of_the_edges_may_go_and_not_one_more(read, refusal):
    nodes = "id,x\na,1\nb,2\n"
    assert read("source,target\na,b\na,z\n", nodes, impute="none").graph.num_edges == 1
    edges = "source,target\na,b\na,z\nb,z\n"
    assert "2 of the 3 edges" in refusal(read, edges, nodes, impute="none")
    assert read(edges, nodes).graph.num_edges == 3


def test_where_the_table_has_one_of_two_kinds_the_others_are_kept(read, noted):
    edges = "buyer,shop\n" + "".join(f"p{i},{i % 2}\n" for i in range(10))
    reading = read(edges, "id,x\n0,1\n1,2\n", source="buyer", target="shop")
    assert reading.graph.num_nodes == 12
    assert noted(reading, "nodes-without-row-kept", count=10)


def test_integers_stay_integers_and_text_text(read):
    graph = read("source,target\n1,2\n2,10\n", "id,x\n10,1\n2,2\n1,3\n").graph
    assert graph.ids.tolist() == [10, 2, 1]
    assert graph.ids.dtype.kind == "i"
    graph = read("source,target\n01,2\n2,10\n", "id,x\n10,1\n2,2\n01,3\n").graph
    assert graph.ids.tolist() == ["10", "2", "01"]
    assert graph.ids.dtype == np.dtypes.StringDType()


@pytest.mark.parametrize(
    ("edges", "nodes", "words"),
    [
        ("source,target\na,b\n,b\n", None, "Row 2 below the header has no id in column 'source'"),
        ("source,target\na,b\na,\n", None, "Row 2 below the header has no id in column 'target'"),
        ("source,target\na,b\n", "id,x\na,1\n,2\n,3\nb,4\n", "2 rows without an id"),
        (
            "source,target\na,b\n",
            "id,x\na,1\nb,2\nb,3\nb,4\n",
            "'b' occurs more than once, 3 times, in column 'id'",
        ),
        ("source,target\n1,2\n", "id,x\n1,1\n1,2\n", "1' occurs more than once, 2 times"),
        ("source,target\n", None, "has no rows; a graph needs edges"),
        ("source,target\na,b\n", "id,x\n", "has no rows; leave it out"),
    ],
)
def test_what_is_missing_or_twice_is_told(read, refusal, edges, nodes, words):
    assert words in refusal(read, edges, nodes)


def test_space_around_ids(read, pairs, noted):
    reading = read("source, target\na, b\nb, c\n", "id ,x\na ,1\nb ,2\nc ,3\n")
    assert pairs(reading.graph) == [("a", "b"), ("b", "c")]
    assert noted(reading, "ids-trimmed")
    reading = read("source,target\n1, 2\n2, 1\n")
    assert reading.graph.ids.tolist() == [1, 2]


def test_ids_that_are_the_same_without_their_zeros_are_told(refusal):
    edges = {"source": ["12", "13"], "target": ["13", "14"]}
    nodes = {"id": ["12.0", "12.00", "13.0", "14.0"], "v": [1, 2, 3, 4]}
    message = refusal(read_tables, edges, nodes)
    assert message == "Node ids must be different; 12 occurs more than once."


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("ANN@X.org,bob@x.org,Cid@x.org", "ann@x.org,Bob@X.ORG,cid@x.org"),
        ("007,08,0009", "7,8,9"),
        ("7,8,9", "007,008,009"),
        ("Jose\u0301,Zoe\u0308,Ana", "Jos\u00e9,Zo\u00eb,ana"),
    ],
    ids=["capitals", "zeros in the edges", "zeros in the table", "accents"],
)
@pytest.mark.parametrize("column", ["id", "who"])
def test_ids_in_another_writing_are_those_of_the_table(read, pairs, noted, written, known, column):
    a, b, c = written.split(",")
    table = known.split(",")
    nodes = "".join(f"{name},{row}\n" for row, name in enumerate(table))
    reading = read(f"source,target\n{a},{b}\n{b},{c}\n{a},{c}\n", f"{column},x\n{nodes}")
    assert [str(name) for name in reading.graph.ids] == table
    found = {tuple(map(str, pair)) for pair in pairs(reading.graph)}
    assert {frozenset(pair) for pair in found} == {
        frozenset((table[i], table[j])) for i, j in ((0, 1), (1, 2), (0, 2))
    }
    assert noted(reading, "ids-respelled")


def test_one_that_is_there_as_it_is_and_in_another_writing(read, pairs, noted):
    edges = "source,target\na,B\nA,b\nb,c\nC,zed\n"
    reading = read(edges, "id,x\na,1\nb,2\nc,3\n", impute="none")
    assert pairs(reading.graph) == [("a", "b"), ("b", "c")]
    assert noted(reading, "ids-respelled", count=3)
    assert noted(reading, "nodes-without-row-dropped", count=1, example="zed")


def test_who_is_in_no_table_is_kept_beside_them(read, pairs):
    reading = read("source,target\nzed,A\na,B\nb,you\n", "id,x\na,1\nb,2\nc,3\n", impute="median")
    assert reading.graph.ids.tolist() == ["a", "b", "c", "zed", "you"]
    assert sorted(pairs(reading.graph)) == [("a", "b"), ("a", "zed"), ("b", "you")]


def test_where_writing_tells_nodes_apart_it_is_not_passed_over(read, pairs):
    reading = read("source,target\na,A\na,b\nA,B\n", "id,x\na,1\nA,2\nb,3\n", impute="none")
    assert pairs(reading.graph) == [("A", "a"), ("a", "b")]


def test_without_a_table_every_writing_is_another_node(read):
    assert len(read("source,target\na,A\n007,7\n").graph.ids) == 4


def test_the_order_of_nodes_depends_on_neither_blocks_nor_the_format(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    ends = {c: [f"n{i}" for i in random.integers(0, 400, 2000)] for c in ("source", "target")}
    expected = list(dict.fromkeys([*ends["source"], *ends["target"]]))
    frame = pd.DataFrame(ends)
    frame.to_csv(tmp_path / "edges.csv", index=False)
    frame.to_parquet(tmp_path / "edges.parquet", row_group_size=100)
    monkeypatch.setattr("egoscore.load.text_blocks._BLOCK", 500)
    for edges in (tmp_path / "edges.csv", tmp_path / "edges.parquet", frame):
        assert read_tables(edges).graph.ids.tolist() == expected


def test_a_category_that_is_at_no_end_is_no_node():
    kind = pd.CategoricalDtype(["a", "b", "nobody", "c"])
    frame = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}, dtype=kind)
    assert read_tables(frame).graph.ids.tolist() == ["a", "b", "c"]


def test_the_users_own_columns_are_left_as_they_are(read):
    edges = pa.table({"source": ["b", "a", "c"], "target": ["a", "c", "b"]})
    coded = pa.table([column.dictionary_encode() for column in edges.columns], edges.column_names)
    nodes = pa.table({"id": ["c", "b", "a"], "x": [1.0, 2.0, 3.0]})
    assert read_tables(coded, nodes).graph.ids.tolist() == ["c", "b", "a"]
    assert coded["source"].to_pylist() == ["b", "a", "c"]
    assert coded["target"].to_pylist() == ["a", "c", "b"]


def test_ids_are_decided_on_column_by_column_where_it_matters(read, noted):
    reading = read("source,target\n1,2.0\n2,3.0\n")
    assert reading.graph.ids.tolist() == [1, 2, 3]
    assert noted(reading, "ids-point-zero", column="target")
    reading = read("source,target\na, b\nb, c\n")
    assert reading.graph.ids.tolist() == ["a", "b", "c"]
    assert noted(reading, "ids-trimmed")


def test_if_one_end_alone_is_unknown_that_end_is_named(read, refusal):
    edges = "plane,airport\nc,ORD\n" + "".join(f"a,ORD{number}\nb,JFK\n" for number in range(5))
    ends = {"source": "plane", "target": "airport"}
    message = refusal(read, edges, "id,x\na,1\nb,2\n", **ends, impute="none")
    assert "most ids in column 'airport' of" in message
    assert "such as 'ORD' and 'ORD0'" in message
    assert "seem to use different ids" not in message

"""Two tables become one graph: ids with any characters, hubs, edges alone."""

import csv

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from egoscore.graph.structure import STRUCTURE, describe_structure, structure
from egoscore.load import Options, read_tables

IDS = st.one_of(
    st.sampled_from(["007", "7", "=cmd()", '"', ",", "\n", "a\r\nb", "NA", "null", "#", " "]),
    st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1),
)


@given(ids=st.lists(IDS, min_size=2, max_size=8, unique=True), data=st.data())
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ids_of_any_characters_come_back(tmp_path, ids, data, pairs):
    chosen = st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), min_size=1)
    edges = data.draw(chosen)
    for name, rows in (
        ("edges", [("source", "target"), *edges]),
        ("nodes", [("id", "x"), *((node, i) for i, node in enumerate(ids))]),
    ):
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    graph = read_tables(tmp_path / "edges.csv", tmp_path / "nodes.csv").graph
    found = [str(node) for node in graph.ids]
    assert found == ids
    wanted = {tuple(sorted(edge)) for edge in edges if edge[0] != edge[1]}
    assert {tuple(sorted(map(str, pair))) for pair in pairs(graph)} == wanted
    alone = read_tables(tmp_path / "edges.csv").graph
    assert {str(node) for node in alone.ids} == {node for edge in edges for node in edge}


def test_7_and_7_0_of_one_table_are_two_nodes(read):
    graph = read("source,target\n7,7.0\n", "id,x\n7,1\n7.0,2\n").graph
    assert graph.ids.tolist() == ["7", "7.0"]
    assert graph.num_edges == 1


def test_a_hub_with_100_000_neighbours(tmp_path):
    spokes = [f"spoke {i}" for i in range(100_000)]
    frame = pd.DataFrame({"source": ["hub"] * 100_000, "target": spokes, "w": 1})
    frame.to_csv(tmp_path / "edges.csv", index=False)
    graph = read_tables(tmp_path / "edges.csv", options=Options(weight="w")).graph
    hub = graph.ids.tolist().index("hub")
    assert graph.neighbours.degrees[hub] == 100_000
    assert graph.features[hub, :4].tolist() == [100_000, 1, 1, 1]
    plain = read_tables(tmp_path / "edges.csv").graph
    assert plain.features[hub, 0] == pytest.approx(np.log1p(100_000))


def test_a_plain_network_has_its_structure(tmp_path, noted):
    source = nx.karate_club_graph()
    nx.write_edgelist(source, tmp_path / "edges.txt", data=False)
    reading = read_tables(tmp_path / "edges.txt")
    graph = reading.graph
    assert graph.is_structural
    assert graph.columns == describe_structure()
    assert len(set(graph.feature_names)) == len(STRUCTURE) == graph.num_features
    np.testing.assert_array_equal(graph.features, structure(graph).astype(np.float32))
    clustering = nx.clustering(source)
    np.testing.assert_allclose(
        graph.features[:, 1], [clustering[node] for node in graph.ids], rtol=1e-6
    )
    assert noted(reading, "structural-features")
    assert noted(reading, "separator", separator=" ")


def test_columns_of_edges_that_are_not_used_are_named(read, noted):
    reading = read("source,target,amount,note\na,b,1,x\nb,c,2,y\n")
    assert noted(reading, "edge-features", columns=["amount"])
    assert noted(reading, "columns-unused", columns=["note"])
    quiet = read("source,target,amount,note\na,b,1,x\nb,c,2,y\n", ignore=("amount", "Note"))
    assert [note.code for note in quiet.notes] == ["structural-features"]


def test_options_without_a_table_of_nodes_are_refused(read, refusal):
    message = refusal(read, "source,target\na,b\n", id="id", features=("x",), label="y")
    assert message.startswith("`id=`, `features=`, `label=` cannot be used here")


def test_unknown_columns_to_ignore_are_refused(read, refusal):
    edges, nodes = "source,target,w\na,b,1\n", "id,x,y\na,1,2\nb,2,5\n"
    assert read(edges, nodes, ignore=("w", "y")).graph.feature_names == ("x",)
    assert "`ignore=` names the column 'z'" in refusal(read, edges, nodes, ignore=("z",))
    assert "`ignore=` names the column 'x'" in refusal(read, edges, ignore=("x",))


def test_directed_or_not(read):
    edges = "source,target\na,b\nb,a\nb,c\n"
    assert read(edges).graph.num_edges == 2
    assert read(edges, directed=True).graph.num_edges == 3


def test_an_encoding_is_that_of_text_files(write, refusal, noted):
    towns = ["\u041e\u043c\u0441\u043a", "\u0423\u0444\u0430"]
    edges = write("edges.csv", f"source,target\n{','.join(towns)}\n".encode("cp1251"))
    nodes = pd.DataFrame({"id": towns, "x": [1, 2]})
    reading = read_tables(edges, nodes, Options(encoding="cp1251"))
    assert reading.graph.num_edges == 1
    assert noted(reading, "encoding-given", encoding="cp1251")
    frame = pd.DataFrame({"source": ["a"], "target": ["b"]})
    message = refusal(read_tables, frame, nodes, Options(encoding="cp1251"))
    assert message == "`encoding=` cannot be used here: no table is a text file."


class TestWithoutHeader:
    """Files without a header, as edge lists often are."""

    @pytest.mark.parametrize("text", ["1 2\n1 3\n", "1\t2\n1\t3\n", "u1;u2\nu1;u3\n"])
    def test_an_edge_list_loses_no_edge(self, read, noted, text):
        reading = read(text)
        assert reading.graph.num_edges == 2
        assert noted(reading, "no-header", columns=["source", "target"])
        assert not any(note.code == "ends-guessed" for note in reading.notes)

    def test_both_tables_can_be_named(self, read, noted):
        edges, nodes = "ann,bob,5\nbob,cid,7\n", "5,ann,1.5\n7,bob,2.5\n9,cid,3.5\n"
        names = {"columns": ["from", "to", "eur"], "node_columns": ["age", "id", "x"]}
        reading = read(edges, nodes, weight="eur", **names)
        assert reading.graph.ids.tolist() == ["ann", "bob", "cid"]
        assert reading.graph.feature_names[:2] == ("age", "x")
        assert reading.graph.features[:, 2].tolist() == [5, 12, 7]
        for columns in names.values():
            assert noted(reading, "columns-given", columns=columns, header=False)

    def test_names_are_for_text_files_and_tables_that_exist(self, read, refusal):
        frame = pd.DataFrame({"a": [1], "b": [2]})
        message = refusal(read_tables, frame, options=Options(columns=("p", "q")))
        assert message.startswith("`columns=` cannot be used here")
        message = refusal(read, "1 2\n1 3\n", node_columns="id")
        assert "there is no table of nodes" in message

"""A graph of networkx is read as its GraphML is, and its nodes keep their names."""

from datetime import date, timedelta

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from egoscore import AttributedGraph
from egoscore.graph.convert import as_graph
from egoscore.read import Choices, read_network_file, read_tables
from egoscore.read.networkx_graph import read_networkx

NAME = "the networkx graph"


def network(kind=nx.Graph):
    source = kind(nx.gnp_random_graph(30, 0.2, seed=3))
    for node, data in source.nodes(data=True):
        data.update(age=20 + node, vip=node % 2 == 0, city="Rome" if node % 3 else "Oslo")
    nx.set_edge_attributes(source, {edge: float(sum(edge[:2])) for edge in source.edges}, "amount")
    return source


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_it_is_what_graphml_gives(tmp_path, kind):
    source = network(kind)
    nx.write_graphml(source, tmp_path / "net.graphml")
    theirs = read_network_file(tmp_path / "net.graphml", Choices(weight="amount"))
    ours = read_networkx(source, "y", Choices(weight="amount"))
    assert ours.graph.fingerprint() == theirs.graph.fingerprint()
    assert ours.graph.columns == theirs.graph.columns
    assert ours.graph.ids.tolist() == theirs.graph.ids.tolist() == list(source)
    notes = [note.replace(str(tmp_path / "net.graphml"), NAME) for note in theirs.notes]
    # GraphML numbers the edges of a multigraph
    assert list(ours.notes) == [note for note in notes if "column 'id' is not used" not in note]


def test_dates_are_days_and_it_is_what_tables_give():
    source = network()
    for node, data in source.nodes(data=True):
        data["since"] = date(2020, 1, 1) + timedelta(days=node**2)
    nodes = pd.DataFrame.from_dict(dict(source.nodes(data=True)), orient="index")
    edges = nx.to_pandas_edgelist(source)[["source", "target"]]
    theirs = read_tables(edges, nodes.reset_index(names="id")).graph
    ours = as_graph(source)
    assert ours.feature_names == theirs.feature_names
    np.testing.assert_array_equal(ours.features, theirs.features)
    assert ours.fingerprint() == theirs.fingerprint()


def test_ids_of_any_kind_are_kept_in_order():
    names = {0: "ann", 1: (0, 1), 2: 2.5, 3: frozenset("x")}
    source = nx.relabel_nodes(network(), names)
    graph = AttributedGraph.from_networkx(source)
    assert graph.ids.tolist() == list(source)
    ages = dict(zip(graph.ids.tolist(), graph.features[:, 0].tolist(), strict=True))
    assert ages == nx.get_node_attributes(source, "age")


@pytest.mark.parametrize("name", ["label", "fraud", "is_fraud", "outlier", "y"])
@pytest.mark.parametrize("label", ["y", None])
def test_no_label_is_a_feature(name, label):
    source = network()
    answer = {node: int(node < 3) for node in source}
    nx.set_node_attributes(source, answer, name)
    graph = AttributedGraph.from_networkx(source, label=label)
    assert graph.feature_names == ("age", "vip", "city = Oslo", "city = Rome")
    known = label is not None and name in ("label", "y")
    assert (None if graph.labels is None else graph.labels.tolist()) == (
        list(answer.values()) if known else None
    )
    named = AttributedGraph.from_networkx(source, ["age"], label=name)
    assert named.labels.tolist() == list(answer.values())


@pytest.mark.parametrize("most", [1, 4])
def test_a_label_of_any_name_is_no_feature_be_it_of_use_or_not(most):
    source = network()
    nx.set_node_attributes(source, {node: min(node, most) for node in source}, "risk")
    graph = AttributedGraph.from_networkx(source, label="risk")
    assert "risk" not in graph.feature_names
    assert (graph.labels is None) == (most > 1)


def test_a_label_that_is_named_as_a_feature_is_one():
    source = network()
    nx.set_node_attributes(source, {node: int(node < 3) for node in source}, "y")
    graph = AttributedGraph.from_networkx(source, ["y"])
    assert (graph.feature_names, graph.labels) == (("y",), None)


def test_choices_are_those_of_tables(refusal):
    source = network()
    del source.nodes[3]["age"]
    graph = AttributedGraph.from_networkx(source, impute="median", ignore="city")
    assert graph.feature_names == ("age", "age is missing", "vip")
    for option in ("source", "id", "encoding"):
        given = {option: "utf-8"}
        assert f"--{option} cannot be used" in refusal(
            AttributedGraph.from_networkx, source, **given
        )
    nx.set_node_attributes(source, {node: [1.0 * node] for node in source}, "x")
    message = refusal(AttributedGraph.from_networkx, source, impute="median")
    assert "have a vector x, not columns" in message


def test_nodes_without_attributes_have_their_structure():
    assert AttributedGraph.from_networkx(nx.path_graph(5)).is_structural


def test_what_mixes_types_is_text_and_told(said):
    source = network()
    source.nodes[4]["age"] = "old"
    source.nodes[5]["id"] = 7
    reading = read_networkx(source, "y", Choices(impute="median"))
    assert said(reading, "the networkx graph: 'age' mixes types and is read as text.")
    assert said(reading, "'age' holds numbers but for 1 cell, the first 'old' in row 5")
    assert said(reading, "the networkx graph: the attribute 'id' is not used.")


def test_a_graph_without_edges_is_refused(refusal):
    source = nx.empty_graph(4)
    nx.set_node_attributes(source, {node: node for node in source}, "age")
    message = refusal(AttributedGraph.from_networkx, source)
    assert message == "the edge list of the networkx graph has no rows; a network needs edges."

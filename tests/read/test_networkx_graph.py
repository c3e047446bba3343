"""A graph of networkx is read as its GraphML is, and its nodes keep their names."""

from datetime import date, timedelta
from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch

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


class TestWithoutEdges:
    @pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
    def test_it_is_a_network_if_its_nodes_have_attributes(self, kind, tmp_path):
        source = kind(nx.empty_graph(4))
        nx.set_node_attributes(source, {node: node for node in source}, "age")
        nx.write_graphml(source, tmp_path / "net.graphml")
        expected = AttributedGraph.from_edges([[], []], [[0], [1], [2], [3]], kind is nx.DiGraph)
        ours, theirs = read_networkx(source, "y"), read_network_file(tmp_path / "net.graphml")
        for reading in (ours, theirs):
            assert reading.graph.fingerprint() == expected.fingerprint()
            assert reading.graph.ids.tolist() == [0, 1, 2, 3]
            assert reading.notes[0].startswith("4 nodes of ")
            assert reading.notes[0].endswith(" have no edge: kept.")

    def test_without_attributes_either_there_is_nothing_to_judge(self, refusal):
        message = refusal(AttributedGraph.from_networkx, nx.empty_graph(4))
        assert message == "The network has neither edges nor features; give it one of them."


def test_attributes_that_are_written_alike_are_told(refusal):
    source = network()
    for node, data in source.nodes(data=True):
        data.update({1: node, "1": -node})
    assert "two columns called '1'" in refusal(AttributedGraph.from_networkx, source)


class TestVectors:
    @pytest.mark.parametrize("absent", [0, 29])
    @pytest.mark.parametrize("make", [list, tuple, np.array, torch.tensor])
    def test_who_has_none_is_named_wherever_it_stands(self, refusal, absent, make):
        source = network()
        for node, data in source.nodes(data=True):
            data["x"] = make([1.0 * node, 2.0])
        expected = [[1.0 * node, 2.0] for node in source]
        assert AttributedGraph.from_networkx(source).features.tolist() == expected
        del source.nodes[absent]["x"]
        assert refusal(AttributedGraph.from_networkx, source) == (
            f"Node {absent} has no attribute 'x', others have one of shape (2,); every node needs "
            "one, and all must be equally long."
        )
        assert AttributedGraph.from_networkx(source, "age").feature_names == ("age",)

    def test_rows_of_unequal_length_are_no_vector(self, refusal):
        source = network()
        nx.set_node_attributes(source, {node: [[1.0], [1.0, 2.0]] for node in source}, "x")
        message = refusal(AttributedGraph.from_networkx, source)
        assert "column 'x0' is not numeric (found [1.0])" in message


class TestValues:
    @pytest.mark.parametrize("make", [np.array, torch.tensor, np.float32, Fraction])
    def test_numbers_of_every_type_are_numbers(self, make):
        source = network()
        for node, data in source.nodes(data=True):
            data.update(size=make(node) if node else 0, y=np.array(node % 2))
        graph = AttributedGraph.from_networkx(source, "size")
        assert graph.features[:, 0].tolist() == list(range(30))
        assert graph.labels.tolist() == [0, 1] * 15
        assert graph.described[0].kind == "number"

    @pytest.mark.parametrize("value", [object(), 1 + 2j, torch.zeros(2), [1]])
    def test_what_is_no_column_is_refused_by_name_unless_it_is_left_out(self, refusal, value):
        source = network()
        nx.set_node_attributes(source, {node: value if node else 1 for node in source}, "what")
        nx.set_edge_attributes(source, value, "road")
        nx.set_edge_attributes(source, {next(iter(source.edges)): {"road": 1}})
        assert refusal(AttributedGraph.from_networkx, source) == (
            f"The attribute 'what' of the networkx graph holds {type(value).__name__}, which is "
            "neither text nor a number nor a date; turn it into one, or leave it out with --ignore."
        )
        ignoring = AttributedGraph.from_networkx(source, ignore="what")
        assert ignoring.feature_names == ("age", "vip", "city = Oslo", "city = Rome")
        assert AttributedGraph.from_networkx(source, "age").feature_names == ("age",)
        weighing = refusal(AttributedGraph.from_networkx, source, ignore="what", weight="road")
        assert "The attribute 'road' of the edge list of the networkx graph holds" in weighing

    def test_a_moment_in_an_array_is_a_date(self):
        source = network()
        for node, data in source.nodes(data=True):
            data["since"] = np.array(f"1970-01-{1 + node:02d}", dtype="datetime64[ns]")
        graph = AttributedGraph.from_networkx(source, "since")
        assert graph.described[0].kind == "date"
        assert graph.features[:, 0].tolist() == list(range(30))

    def test_dates_among_text_are_text(self, said):
        source = network()
        for node, data in source.nodes(data=True):
            data["since"] = date(2020, 1, 1 + node) if node else "2019-12-31"
        reading = read_networkx(source, "y")
        assert said(reading, "'since' mixes types and is read as text.")
        assert reading.graph.columns[-1].kind == "date"

    def test_a_number_beyond_all_bounds_is_told(self, refusal):
        source = network()
        source.nodes[3]["age"] = 10**400
        message = refusal(AttributedGraph.from_networkx, source)
        assert "Column 'age' of the networkx graph has 1 infinite value" in message

    def test_what_pandas_calls_missing_is_missing(self, refusal):
        source = network()
        source.nodes[3]["age"] = pd.NA
        message = refusal(AttributedGraph.from_networkx, source)
        assert "has missing values in 'age' (1)" in message

    def test_labels_of_unequal_length_are_refused(self, refusal):
        source = network()
        nx.set_node_attributes(source, {node: [0] * (1 + node % 2) for node in source}, "y")
        message = refusal(AttributedGraph.from_networkx, source)
        assert message.startswith("The label 'y' of the networkx graph has values of unequal")

"""GraphML, GEXF and networkx graphs, with networkx as judge."""

import gzip
from datetime import date, timedelta
from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch

from egoscore import AttributedGraph
from egoscore.graph.attributed_graph import as_graph
from egoscore.load import Options, read_network_file, read_tables, unpack
from egoscore.load.graph_files import read_networkx
from egoscore.report.notes import render

WRITERS = {".graphml": nx.write_graphml, ".gexf": nx.write_gexf}


def names_of_nodes(graph):
    """The features that are columns of nodes, not of edges."""
    return tuple(column.title for column in graph.columns if not column.is_computed)


def network(directed=False):
    source = nx.gnp_random_graph(20, 0.3, seed=1, directed=directed)
    for node, data in source.nodes(data=True):
        data.update(age=20 + node, vip=node % 2 == 0, city="Rome" if node % 3 else "Oslo")
        data["group"] = node / 2
    nx.set_edge_attributes(source, {e: float(sum(e)) for e in source.edges}, "amount")
    return source


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("directed", [False, True])
def test_the_same_network_as_networkx_reads(tmp_path, ending, directed, pairs):
    path = tmp_path / f"net{ending}"
    WRITERS[ending](network(directed), path)
    graph = read_network_file(path, Options()).graph
    theirs = (nx.read_graphml if ending == ".graphml" else nx.read_gexf)(path)
    assert graph.directed == directed
    assert graph.num_edges == theirs.number_of_edges()
    found = {tuple(sorted(map(str, pair))) for pair in pairs(graph)}
    assert found == {tuple(sorted(map(str, edge))) for edge in theirs.edges}
    assert names_of_nodes(graph) == ("age", "vip", "city = Oslo", "city = Rome", "group")
    assert graph.features[:, 0].tolist() == [20 + int(node) for node in graph.ids]


def test_packed_and_weighted(tmp_path, noted):
    nx.write_graphml(network(), tmp_path / "plain.graphml")
    path = tmp_path / "net.graphml.gz"
    path.write_bytes(gzip.compress((tmp_path / "plain.graphml").read_bytes()))
    reading = read_network_file(path)
    assert noted(reading, "edge-features", columns=["amount"])
    graph = read_network_file(path, Options(weight="amount", features=("age",))).graph
    details = ("total", "mean", "smallest", "largest", "share of the largest partner")
    assert graph.feature_names == ("age", *(f"amount ({detail})" for detail in details))
    totals = dict(network().degree(weight="amount"))
    assert graph.features[:, 1].tolist() == [totals[int(node)] for node in graph.ids]


def test_attributes_that_some_nodes_lack_are_missing_values(tmp_path, refusal):
    source = network()
    del source.nodes[3]["age"]
    nx.write_graphml(source, tmp_path / "net.graphml")
    message = refusal(read_network_file, tmp_path / "net.graphml", Options(impute="none"))
    assert "missing values in 'age' (1)" in message
    graph = read_network_file(tmp_path / "net.graphml").graph
    assert "age is missing" in graph.feature_names


def test_nodes_without_attributes_have_their_structure(tmp_path):
    nx.write_graphml(nx.path_graph(5), tmp_path / "p.graphml")
    graph = read_network_file(tmp_path / "p.graphml").graph
    assert graph.is_structural
    assert graph.num_nodes == 5


def test_parallel_edges_count_once_as_edges_and_each_as_weights(tmp_path):
    source = nx.MultiGraph()
    source.add_edge("a", "b", w=1.0)
    source.add_edge("a", "b", w=2.0)
    nx.write_graphml(source, tmp_path / "m.graphml")
    graph = read_network_file(tmp_path / "m.graphml", Options(weight="w")).graph
    assert graph.num_edges == 1
    assert graph.features[0, :4].tolist() == [3, 1.5, 1, 2]


def test_what_the_file_says_itself_cannot_be_said_again(tmp_path, refusal, noted):
    nx.write_graphml(network(), tmp_path / "net.graphml")
    path = tmp_path / "net.graphml"
    for given, options in [
        (Options(source="a", id="b"), "`source=`, `id=`"),
        (Options(encoding="cp1251"), "`encoding=`"),
    ]:
        assert f"{options} cannot be used" in refusal(read_network_file, path, given)
    assert noted(read_network_file(path, Options(directed=True)), "undirected-file")


BOMB = """<?xml version="1.0"{}?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]>
<graphml><graph edgedefault="directed"><node id="&b;"/></graph></graphml>"""


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [("", "utf-8"), (' encoding="utf-16"', "utf-16"), (' encoding="latin-1"', "latin-1")],
)
def test_a_document_type_is_refused_in_any_encoding(write, refusal, declared, encoding):
    path = write("bomb.graphml", BOMB.format(declared).encode(encoding))
    assert "document type" in refusal(read_network_file, path)


def test_a_document_type_is_refused_even_if_it_defines_nothing(write, refusal):
    content = '<!DOCTYPE graphml SYSTEM "http://example.org/graphml.dtd"><graphml/>'
    assert "document type" in refusal(read_network_file, write("net.graphml", content))


def test_a_packed_file_that_grows_without_bound_is_refused(write, refusal, monkeypatch):
    monkeypatch.setattr(unpack, "_SMALL_STREAM", 2**20)
    path = write("bomb.graphml.gz", gzip.compress(b"<graphml>" + b" " * (100 << 20)))
    assert "unpacks to more than 200 times its size" in refusal(read_network_file, path)


def test_what_gexf_shows_a_node_as_is_no_answer(tmp_path, noted):
    theirs = nx.path_graph(4)
    for node in theirs:
        theirs.nodes[node].update(label=f"Person {node}", x=float(node))
    nx.write_gexf(theirs, tmp_path / "people.gexf")
    reading = read_network_file(tmp_path / "people.gexf", Options())
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "names", column="label", missing=0)
    assert reading.graph.names.tolist() == [f"Person {node}" for node in reading.graph.ids]


@pytest.mark.parametrize("label", [None, "Someone"])
def test_names_in_gexf_may_repeat_but_not_just_be_the_ids(tmp_path, noted, label):
    theirs = nx.path_graph(5)
    for node in theirs:
        theirs.nodes[node]["x"] = float(node)
        if label is not None and node < 3:
            theirs.nodes[node]["label"] = label if node else "Somebody"
    nx.write_gexf(theirs, tmp_path / "people.gexf")
    reading = read_network_file(tmp_path / "people.gexf", Options())
    assert reading.graph.feature_names == ("x",)
    if label is None:  # networkx writes the ids as labels
        assert reading.graph.names is None
        assert noted(reading, "names-repeat-ids", column="label")
    else:
        assert reading.graph.names.tolist() == ["Somebody", "Someone", "Someone", "3", "4"]


@pytest.mark.parametrize("chosen", [{"ignore": "label"}, {"name": "nick"}])
def test_other_names_than_the_labels_of_gexf_can_be_chosen(tmp_path, chosen):
    theirs = nx.path_graph(4)
    for node in theirs:
        theirs.nodes[node].update(label=f"Person {node}", nick="abba"[node], x=float(node))
    nx.write_gexf(theirs, tmp_path / "people.gexf")
    graph = read_network_file(tmp_path / "people.gexf", Options(**chosen)).graph
    assert (graph.names is None) == ("ignore" in chosen)
    assert "x" in graph.feature_names
    if "name" in chosen:
        assert graph.names.tolist() == list("abba")


def test_graphml_names_its_nodes_by_an_attribute(tmp_path, noted):
    theirs = nx.path_graph(4)
    for node in theirs:
        theirs.nodes[node].update(AirportName=f"Airport {node}", x=float(node))
    nx.write_graphml(theirs, tmp_path / "airports.graphml")
    reading = read_network_file(tmp_path / "airports.graphml", Options())
    assert reading.graph.names.tolist() == [f"Airport {node}" for node in range(4)]
    assert noted(reading, "names", column="AirportName")


def test_two_labels_of_gexf_are_those_of_known_outliers(tmp_path):
    theirs = nx.path_graph(4)
    for node in theirs:
        theirs.nodes[node].update(label="outlier" if node == 2 else "normal", x=float(node))
    nx.write_gexf(theirs, tmp_path / "people.gexf")
    graph = read_network_file(tmp_path / "people.gexf", Options()).graph
    assert graph.labels.tolist() == [0, 0, 1, 0]


def test_nodes_have_what_the_file_says_they_have_by_default(tmp_path):
    keys = """<key id="c" for="node" attr.name="size" attr.type="double"><default>7</default></key>
    <key id="w" for="edge" attr.name="w" attr.type="double"><default>2</default></key>"""
    nodes = """<node id="a"><data key="c">1</data></node><node id="b"/><node id="c"/>"""
    edges = """<edge source="a" target="b"/>
    <edge source="b" target="c"><data key="w">5</data></edge>"""
    (tmp_path / "net.graphml").write_text(
        f"<graphml>{keys}<graph edgedefault='undirected'>{nodes}{edges}</graph></graphml>"
    )
    graph = read_network_file(tmp_path / "net.graphml", Options(weight="w")).graph
    assert graph.features[:, 0].tolist() == [1, 7, 7]
    assert graph.features[:, 1].tolist() == [2, 7, 5]  # the total of the weights


NAME = "the networkx graph"


def people(kind=nx.Graph):
    source = kind(nx.gnp_random_graph(30, 0.2, seed=3))
    for node, data in source.nodes(data=True):
        data.update(age=20 + node, vip=node % 2 == 0, city="Rome" if node % 3 else "Oslo")
    nx.set_edge_attributes(source, {edge: float(sum(edge[:2])) for edge in source.edges}, "amount")
    return source


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_it_is_what_graphml_gives(tmp_path, kind):
    source = people(kind)
    nx.write_graphml(source, tmp_path / "net.graphml")
    theirs = read_network_file(tmp_path / "net.graphml", Options(weight="amount"))
    ours = read_networkx(source, "y", Options(weight="amount"))
    assert ours.graph.fingerprint() == theirs.graph.fingerprint()
    assert ours.graph.columns == theirs.graph.columns
    assert ours.graph.ids.tolist() == theirs.graph.ids.tolist() == list(source)
    path = str(tmp_path / "net.graphml")
    notes = [render(note).replace(path, NAME) for note in theirs.notes]
    # GraphML numbers the edges of a multigraph
    expected = [note for note in notes if "column 'id' is not used" not in note]
    assert [render(note) for note in ours.notes] == expected


def test_dates_are_days_and_it_is_what_tables_give():
    source = people()
    for node, data in source.nodes(data=True):
        data["since"] = date(2020, 1, 1) + timedelta(days=node**2)
    nodes = pd.DataFrame.from_dict(dict(source.nodes(data=True)), orient="index")
    edges = nx.to_pandas_edgelist(source)
    theirs = read_tables(edges, nodes.reset_index(names="id")).graph
    ours = as_graph(source)
    assert ours.feature_names == theirs.feature_names
    np.testing.assert_array_equal(ours.features, theirs.features)
    assert ours.fingerprint() == theirs.fingerprint()


def test_ids_of_any_kind_are_kept_in_order():
    names = {0: "ann", 1: (0, 1), 2: 2.5, 3: frozenset("x")}
    source = nx.relabel_nodes(people(), names)
    graph = AttributedGraph.from_networkx(source)
    assert graph.ids.tolist() == list(source)
    ages = dict(zip(graph.ids.tolist(), graph.features[:, 0].tolist(), strict=True))
    assert ages == nx.get_node_attributes(source, "age")


@pytest.mark.parametrize("name", ["label", "fraud", "is_fraud", "outlier", "y"])
@pytest.mark.parametrize("label", ["y", None])
def test_no_label_is_a_feature(name, label):
    source = people()
    answer = {node: int(node < 3) for node in source}
    nx.set_node_attributes(source, answer, name)
    graph = AttributedGraph.from_networkx(source, label=label)
    assert names_of_nodes(graph) == ("age", "vip", "city = Oslo", "city = Rome")
    known = label is not None and name in ("label", "y")
    assert (None if graph.labels is None else graph.labels.tolist()) == (
        list(answer.values()) if known else None
    )
    named = AttributedGraph.from_networkx(source, ["age"], label=name)
    assert named.labels.tolist() == list(answer.values())


@pytest.mark.parametrize("most", [1, 4])
def test_a_label_of_any_name_is_no_feature_be_it_of_use_or_not(most):
    source = people()
    nx.set_node_attributes(source, {node: min(node, most) for node in source}, "risk")
    graph = AttributedGraph.from_networkx(source, label="risk")
    assert "risk" not in graph.feature_names
    assert (graph.labels is None) == (most > 1)


def test_a_label_that_is_named_as_a_feature_is_one():
    source = people()
    nx.set_node_attributes(source, {node: int(node < 3) for node in source}, "y")
    graph = AttributedGraph.from_networkx(source, ["y"])
    assert (graph.feature_names, graph.labels) == (("y",), None)


def test_choices_are_those_of_tables(refusal):
    source = people()
    del source.nodes[3]["age"]
    graph = AttributedGraph.from_networkx(source, impute="median", ignore="city")
    assert names_of_nodes(graph) == ("age", "age is missing", "vip")
    for option in ("source", "id", "encoding"):
        given = {option: "utf-8"}
        assert f"`{option}=` cannot be used" in refusal(
            AttributedGraph.from_networkx, source, **given
        )
    nx.set_node_attributes(source, {node: [1.0 * node] for node in source}, "x")
    message = refusal(AttributedGraph.from_networkx, source, impute="none")
    assert "have a vector x, not columns" in message


def test_networkx_nodes_without_attributes_have_their_structure():
    assert AttributedGraph.from_networkx(nx.path_graph(5)).is_structural


def test_what_mixes_types_is_text_and_told(noted):
    source = people()
    source.nodes[4]["age"] = "old"
    source.nodes[5]["id"] = 7
    reading = read_networkx(source, "y", Options(impute="median"))
    assert noted(reading, "mixed-types", table=NAME, column="age")
    assert noted(reading, "column-damaged", column="age", count=1, cell="old", row=5)
    assert noted(reading, "attribute-unused", table=NAME, column="id")


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
            assert reading.notes[0].code == "isolated-nodes"
            assert reading.notes[0].fields["count"] == 4

    def test_without_attributes_either_there_is_nothing_to_judge(self, refusal):
        message = refusal(AttributedGraph.from_networkx, nx.empty_graph(4))
        assert message == "The graph has neither edges nor features; it needs at least one of them."


def test_attributes_that_are_written_alike_are_told(refusal):
    source = people()
    for node, data in source.nodes(data=True):
        data.update({1: node, "1": -node})
    assert "two columns called '1'" in refusal(AttributedGraph.from_networkx, source)


class TestVectors:
    @pytest.mark.parametrize("absent", [0, 29])
    @pytest.mark.parametrize("make", [list, tuple, np.array, torch.tensor])
    def test_who_has_none_is_named_wherever_it_stands(self, refusal, absent, make):
        source = people()
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
        source = people()
        nx.set_node_attributes(source, {node: [[1.0], [1.0, 2.0]] for node in source}, "x")
        message = refusal(AttributedGraph.from_networkx, source)
        assert "column 'x0' is not numeric (found [1.0])" in message


class TestValues:
    @pytest.mark.parametrize("make", [np.array, torch.tensor, np.float32, Fraction])
    def test_numbers_of_every_type_are_numbers(self, make):
        source = people()
        for node, data in source.nodes(data=True):
            data.update(size=make(node) if node else 0, y=np.array(node % 2))
        graph = AttributedGraph.from_networkx(source, "size")
        assert graph.features[:, 0].tolist() == list(range(30))
        assert graph.labels.tolist() == [0, 1] * 15
        assert graph.described[0].kind == "number"

    @pytest.mark.parametrize("value", [object(), 1 + 2j, torch.zeros(2), [1]])
    def test_what_is_no_column_is_refused_by_name_unless_it_is_left_out(self, refusal, value):
        source = people()
        nx.set_node_attributes(source, {node: value if node else 1 for node in source}, "what")
        nx.set_edge_attributes(source, value, "road")
        nx.set_edge_attributes(source, {next(iter(source.edges)): {"road": 1}})
        assert refusal(AttributedGraph.from_networkx, source) == (
            f"The attribute 'what' of the networkx graph holds {type(value).__name__}, which is "
            "neither text nor a number nor a date; convert it, or leave it out with `ignore=`."
        )
        ignoring = AttributedGraph.from_networkx(source, ignore="what")
        assert names_of_nodes(ignoring) == ("age", "vip", "city = Oslo", "city = Rome")
        assert AttributedGraph.from_networkx(source, "age").feature_names == ("age",)
        weighing = refusal(AttributedGraph.from_networkx, source, ignore="what", weight="road")
        assert "The attribute 'road' of the edge list of the networkx graph holds" in weighing

    def test_a_moment_in_an_array_is_a_date(self):
        source = people()
        for node, data in source.nodes(data=True):
            data["since"] = np.array(f"1970-01-{1 + node:02d}", dtype="datetime64[ns]")
        graph = AttributedGraph.from_networkx(source, "since")
        assert graph.described[0].kind == "date"
        assert graph.features[:, 0].tolist() == list(range(30))

    def test_dates_among_text_are_text(self, noted):
        source = people()
        for node, data in source.nodes(data=True):
            data["since"] = date(2020, 1, 1 + node) if node else "2019-12-31"
        reading = read_networkx(source, "y")
        assert noted(reading, "mixed-types", column="since")
        assert [c.kind for c in reading.graph.columns if not c.is_computed][-1] == "date"

    def test_a_number_beyond_all_bounds_is_told(self, refusal):
        source = people()
        source.nodes[3]["age"] = 10**400
        message = refusal(AttributedGraph.from_networkx, source)
        assert "Column 'age' of the networkx graph is infinite in row 4" in message

    def test_what_pandas_calls_missing_is_missing(self, refusal):
        source = people()
        source.nodes[3]["age"] = pd.NA
        message = refusal(AttributedGraph.from_networkx, source, impute="none")
        assert "has missing values in 'age' (1)" in message

    def test_labels_of_unequal_length_are_refused(self, refusal):
        source = people()
        nx.set_node_attributes(source, {node: [0] * (1 + node % 2) for node in source}, "y")
        message = refusal(AttributedGraph.from_networkx, source)
        assert message.startswith("The label 'y' of the networkx graph has values of unequal")

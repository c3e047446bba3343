"""GraphML and GEXF, with networkx as judge."""

import gzip

import networkx as nx
import pytest

from egoscore.read import Choices, opening, read_network_file

WRITERS = {".graphml": nx.write_graphml, ".gexf": nx.write_gexf}


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
    graph = read_network_file(path, Choices()).graph
    theirs = (nx.read_graphml if ending == ".graphml" else nx.read_gexf)(path)
    assert graph.directed == directed
    assert graph.num_edges == theirs.number_of_edges()
    found = {tuple(sorted(map(str, pair))) for pair in pairs(graph)}
    assert found == {tuple(sorted(map(str, edge))) for edge in theirs.edges}
    assert graph.feature_names == ("age", "vip", "city = Oslo", "city = Rome", "group")
    assert graph.features[:, 0].tolist() == [20 + int(node) for node in graph.ids]


def test_packed_and_weighted(tmp_path, said):
    nx.write_graphml(network(), tmp_path / "plain.graphml")
    path = tmp_path / "net.graphml.gz"
    path.write_bytes(gzip.compress((tmp_path / "plain.graphml").read_bytes()))
    reading = read_network_file(path)
    assert said(reading, "column 'amount' is not used; --weight")
    graph = read_network_file(path, Choices(weight="amount", features=("age",))).graph
    assert graph.feature_names == ("age", "amount (total)", "amount (mean)", "amount (largest)")
    totals = dict(network().degree(weight="amount"))
    assert graph.features[:, 1].tolist() == [totals[int(node)] for node in graph.ids]


def test_attributes_that_some_nodes_lack_are_missing_values(tmp_path, refusal):
    source = network()
    del source.nodes[3]["age"]
    nx.write_graphml(source, tmp_path / "net.graphml")
    message = refusal(read_network_file, tmp_path / "net.graphml")
    assert "missing values in 'age' (1)" in message
    graph = read_network_file(tmp_path / "net.graphml", Choices(impute="median")).graph
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
    graph = read_network_file(tmp_path / "m.graphml", Choices(weight="w")).graph
    assert graph.num_edges == 1
    assert graph.features[0, -3:].tolist() == [3, 1.5, 2]


def test_what_the_file_says_itself_cannot_be_said_again(tmp_path, refusal, said):
    nx.write_graphml(network(), tmp_path / "net.graphml")
    path = tmp_path / "net.graphml"
    for given, options in [
        (Choices(source="a", id="b"), "--source, --id"),
        (Choices(encoding="cp1251"), "--encoding"),
    ]:
        assert f"{options} cannot be used" in refusal(read_network_file, path, given)
    assert said(read_network_file(path, Choices(directed=True)), "no direction, which counts")


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
    monkeypatch.setattr(opening, "_ANY_GROWTH_BELOW", 2**20)
    path = write("bomb.graphml.gz", gzip.compress(b"<graphml>" + b" " * (100 << 20)))
    assert "unpacks to more than 200 times its size" in refusal(read_network_file, path)


def test_what_gexf_shows_a_node_as_is_no_answer(tmp_path):
    theirs = nx.path_graph(4)
    for node in theirs:
        theirs.nodes[node].update(label=f"Person {node}", x=float(node))
    nx.write_gexf(theirs, tmp_path / "people.gexf")
    reading = read_network_file(tmp_path / "people.gexf", Choices())
    assert reading.graph.feature_names == ("x",)
    (note,) = [note for note in reading.notes if "label" in note]
    assert note.endswith("'label' is what nodes are shown as, so it is left out.")


def test_two_labels_of_gexf_are_those_of_known_outliers(tmp_path):
    theirs = nx.path_graph(4)
    for node in theirs:
        theirs.nodes[node].update(label="outlier" if node == 2 else "normal", x=float(node))
    nx.write_gexf(theirs, tmp_path / "people.gexf")
    graph = read_network_file(tmp_path / "people.gexf", Choices()).graph
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
    graph = read_network_file(tmp_path / "net.graphml", Choices(weight="w")).graph
    assert graph.features[:, 0].tolist() == [1, 7, 7]
    assert graph.features[:, 1].tolist() == [2, 7, 5]  # the total of the weights

"""Which ties surprise: against networkx for who is asked about, by hand for what is told."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from default_detector import QUICK, job

from egoscore import AttributedGraph, generate_network
from egoscore.detectors.conditional import ties
from egoscore.detectors.conditional.expectation import scaled_features
from egoscore.detectors.conditional.homophily import LinkCorrelations
from egoscore.detectors.conditional.model import ConditionalModel
from egoscore.detectors.conditional.ties import ScoredTies, score_ties
from egoscore.explain.explanation import Tie


@pytest.fixture(scope="module")
def graph():
    named = generate_network(200, 600, 6, seed=2)
    return replace(named, ids=np.array([f"n{number}" for number in range(200)]))


@pytest.fixture(scope="module")
def model(graph):
    return ConditionalModel.fit(graph, QUICK, job())[0]


def theirs_of(graph):
    edges = zip(
        np.repeat(np.arange(graph.num_nodes), graph.neighbours.degrees).tolist(),
        graph.neighbours.indices.tolist(),
        strict=True,
    )
    network = nx.Graph(list(edges))
    network.add_nodes_from(range(graph.num_nodes))
    return network


class TestJudged:
    @pytest.mark.parametrize("node", [0, 3, 100, 199])
    def test_all_neighbours_and_who_shares_two_of_them_are_looked_at(self, graph, model, node):
        network = theirs_of(graph)
        found = score_ties(model, graph, node)
        assert set(found.others[found.present]) == set(network.neighbors(node))
        strangers = set(network) - set(network.neighbors(node)) - {node}
        expected = {n for n in strangers if len(list(nx.common_neighbors(network, node, n))) >= 2}
        assert set(found.others[~found.present].tolist()) == expected
        assert found.ids == tuple(f"n{other}" for other in found.others)
        assert found.names == ()

    def test_ties_have_the_names_of_nodes_beside_their_ids(self, graph, model):
        named = replace(graph, names=np.array([f"Node {number}" for number in range(200)]))
        found = score_ties(model, named, 3)
        ties = (*found.surprising(99), *found.expected(99))
        assert len(ties) > 3
        assert all(tie.name == tie.shown == f"Node {tie.node[1:]}" for tie in ties)

    def test_those_who_share_most_are_looked_at_first(self, graph, model, monkeypatch):
        network = theirs_of(graph)
        node = int(graph.neighbours.degrees.argmax())
        every = score_ties(model, graph, node)
        shared = [
            len(list(nx.common_neighbors(network, node, n))) for n in every.others[~every.present]
        ]
        assert shared == sorted(shared, reverse=True)

    def test_a_tie_surprises_by_its_mismatch_and_a_missing_one_by_its_match(self, graph, model):
        assert model.next_to.strength.any()
        node = 3
        found = score_ties(model, graph, node)
        white = model.whitening.apply(scaled_features(model, graph, np.arange(200)))
        for other, present, surprise in zip(
            found.others, found.present, found.surprise, strict=True
        ):
            alone = model.next_to.mismatch_of_pairs(white[[node]], white[[other]])[0]
            assert surprise == pytest.approx(alone if present else -alone, rel=1e-3, abs=1e-4)
        assert 0 < found.present.sum() < len(found.others)

    def test_where_likeness_says_nothing_no_tie_surprises(self, graph, model):
        silent = replace(model, next_to=LinkCorrelations(np.eye(6), np.zeros(6)))
        found = score_ties(silent, graph, 3)
        assert not found.surprise.any()
        assert found.surprising(8) == ()
        assert found.expected(8) == ()

    def test_an_isolated_node_has_no_ties(self, model):
        alone = AttributedGraph.from_edges([[1], [2]], np.zeros((4, 6)))
        found = score_ties(model, alone, 0)
        assert len(found.others) == 0
        assert found.surprising(8) == found.expected(8) == ()
        assert found.shown(23) == ([], 0)

    def test_of_a_hub_only_some_strangers_are_looked_at(self, model, monkeypatch):
        monkeypatch.setattr(ties, "_MOST_NEIGHBOURS", 3)
        wheel = nx.complete_bipartite_graph(2, 30)
        edges = np.array(list(wheel.edges)).T
        graph = AttributedGraph.from_edges(edges, np.zeros((32, 6)))
        assert len(score_ties(model, graph, 2).others) <= 2 + 3
        assert score_ties(model, graph, 0).present.sum() == 30


def judged(present, absent=()):
    surprise = np.array([*present, *absent], dtype=float)
    numbers = np.arange(len(surprise)) + 10
    there = np.arange(len(surprise)) < len(present)
    return ScoredTies(numbers, tuple(f"n{n}" for n in numbers), there, surprise)


class TestTold:
    FOUND = judged([0.5, -2.0, 3.0, 0.0, -1.0], [4.0, -1.0, 1.0, 2.0])

    def test_surprising_ties_are_there_against_expectation_the_strongest_first(self):
        assert self.FOUND.surprising(8) == (Tie("n12", 3.0), Tie("n10", 0.5))
        assert self.FOUND.surprising(1) == (Tie("n12", 3.0),)

    def test_expected_ties_are_the_best_first_then_the_most_missed(self):
        assert self.FOUND.expected(8) == (
            Tie("n11", -2.0),
            Tie("n14", -1.0),
            Tie("n15", 4.0, present=False),
            Tie("n18", 2.0, present=False),
        )
        assert [tie.node for tie in self.FOUND.expected(1)] == ["n11", "n15", "n18"]

    def test_which_surprise_and_which_are_missed(self):
        assert [n for n in range(9, 20) if self.FOUND.is_surprising(n)] == [10, 12]
        assert [n for n in range(9, 20) if self.FOUND.is_missed(n)] == [15, 17, 18]

    def test_numbers_are_short_and_plain(self):
        (tie,) = judged([1 / 3]).surprising(8)
        assert (tie.surprise, type(tie.surprise), type(tie.present)) == (0.333, float, bool)


class TestShown:
    def test_few_are_all_shown(self):
        assert TestTold.FOUND.shown(23) == ([12, 10, 13, 14, 11, 15, 18], 0)

    def test_of_many_the_most_surprising_half_and_the_best_fitting(self):
        found = judged(np.arange(100.0) - 50)  # n109 surprises most, n10 fits best
        chosen, left_out = found.shown(7)
        assert chosen == [109, 108, 107, 13, 12, 11, 10]
        assert left_out == 93

    @pytest.mark.parametrize("count", [0, 1, 20, 21, 22, 23, 24, 500])
    @pytest.mark.parametrize("missed", [0, 1, 5])
    def test_never_more_than_there_is_room_for_and_the_rest_is_counted(self, count, missed):
        rng = np.random.default_rng(count)
        found = judged(rng.normal(size=count), rng.random(missed))
        chosen, left_out = found.shown(23)
        assert len(chosen) == len(set(chosen)) <= 23
        near = [other for other in chosen if other < 10 + count]
        assert len(near) + left_out == count
        assert len(chosen) - len(near) == min(missed, 2)
        assert left_out == max(0, count + min(missed, 2) - 23)

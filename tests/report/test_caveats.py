"""Caveats on any ranking: given when they hold, and only then."""

import numpy as np
import pytest

from egoscore import AttributedGraph, generate_network
from egoscore.report.caveats import left_out, ranking_caveats, threshold_rule


@pytest.fixture(scope="module")
def graph():
    return generate_network(400, seed=1)


def codes(graph, score):
    return [note.code for note in ranking_caveats(graph, score)]


def following(graph, score):
    return [note for note in ranking_caveats(graph, score) if note.code == "follows-trivial"]


def falling_off(count, seed=0):
    """Scores as calibrated ones: exponential, a few of them far out."""
    return np.random.default_rng(seed).exponential(size=count)


def unlinked(count, edges=((), ())):
    rng = np.random.default_rng(0)
    return AttributedGraph.from_edges(np.array(edges, dtype=int), rng.random((count, 2)))


class TestRankingCaveats:
    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_a_ranking_by_degree_is_recognised(self, graph, sign):
        (warning,) = following(graph, sign * np.log1p(graph.neighbours.degrees))
        assert warning.severity == "warning"
        assert warning.fields["quantity"] == "degree"
        assert warning.fields["correlation"] == pytest.approx(sign)

    def test_a_ranking_by_the_norm_of_the_features_is_recognised(self, graph):
        x = graph.features
        usual = (x - x.mean(axis=0)) / x.std(axis=0)
        (warning,) = following(graph, np.linalg.norm(usual, axis=1).astype(np.float64))
        assert warning.fields["quantity"] == "norm"
        assert warning.fields["correlation"] == pytest.approx(1.0, abs=0.001)

    def test_a_ranking_by_neither_gives_no_warning(self, graph):
        assert ranking_caveats(graph, falling_off(400)) == []

    def test_equal_scores_follow_nothing(self, graph):
        assert codes(graph, np.zeros(400)) == ["all-scores-equal"]
        assert codes(graph, np.arange(400.0) % 2) == ["nothing-far-out"]

    @pytest.mark.parametrize(
        ("count", "code"), [(9, "too-few-nodes"), (10, "few-nodes"), (199, "few-nodes")]
    )
    def test_few_nodes_are_counted(self, count, code):
        edges = np.array([range(count - 1), range(1, count)])
        small = unlinked(count, edges)
        warning = ranking_caveats(small, np.arange(float(count)))[-1]
        assert (warning.code, warning.fields) == (code, {"nodes": count})

    def test_two_hundred_nodes_are_not_few(self):
        edges = np.array([range(199), range(1, 200)])
        assert codes(unlinked(200, edges), falling_off(200)) == []

    @pytest.mark.parametrize(("edges", "loops"), [(((), ()), 0), (((1, 2), (1, 2)), 2)])
    def test_a_graph_without_edges_is_recognised(self, edges, loops):
        score = falling_off(250)
        (warning,) = ranking_caveats(unlinked(250, edges), score)
        assert (warning.code, warning.fields) == ("no-edges", {"self_loops": loops})
        assert "no-edges" not in codes(unlinked(250, ((0,), (1,))), score)


class TestFarOut:
    def test_nothing_far_above_the_others_is_recognised(self, graph):
        assert codes(graph, np.random.default_rng(0).random(400)) == ["nothing-far-out"]

    def test_a_group_far_above_the_others_is_recognised(self, graph):
        score = np.random.default_rng(0).random(400)
        score[::8] += 20.0
        (warning,) = [n for n in ranking_caveats(graph, score) if n.code == "many-far-out"]
        assert warning.fields == {"count": 50, "nodes": 400}


class TestLeftOut:
    def test_self_loops_and_repeated_edges_are_counted(self):
        graph = unlinked(5, ((0, 0, 0, 3, 4), (1, 1, 1, 3, 4)))
        assert [(note.code, note.fields["count"]) for note in left_out(graph)] == [
            ("self-loops-dropped", 2),
            ("duplicates-dropped", 2),
        ]
        assert left_out(unlinked(5, ((0,), (1,)))) == []

    def test_the_weights_of_dropped_edges_count(self):
        """An edge that is listed twice is one edge, and both of its weights are in the totals."""
        edges = {"source": ["a", "a", "b", "c"], "target": ["b", "b", "c", "c"]}
        edges["paid"] = [1, 2, 4, 8]
        graph = AttributedGraph.from_tables(edges, weight="paid")
        assert graph.features[:, 0].tolist() == [3.0, 7.0, 12.0]  # the totals of a, b and c
        for note in left_out(graph):
            assert note.fields == {"count": 1, "weight": "paid (total)"}
        (loops,) = left_out(AttributedGraph.from_tables(edges, ignore="paid"))
        assert loops.code == "self-loops-dropped"  # the number of rows does not count them
        assert loops.fields == {"count": 1, "weight": None}
        for note in left_out(unlinked(5, ((0, 0, 0), (1, 1, 0)))):
            assert note.fields == {"count": 1, "weight": None}


def test_a_threshold_is_found_or_lowered_or_chosen():
    found, lowered = threshold_rule("auto", 7.1, fence=7.1), threshold_rule("auto", 6.5, fence=7.1)
    chosen = threshold_rule(0.05, 1.5, fence=7.1)
    assert (found.code, found.fields) == ("threshold-far-out", {"threshold": 7.1})
    fields = {"threshold": 6.5, "fence": 7.1}
    assert (lowered.code, lowered.fields) == ("threshold-significant", fields)
    assert (chosen.code, chosen.fields) == ("threshold-share", {"threshold": 1.5, "share": 0.05})

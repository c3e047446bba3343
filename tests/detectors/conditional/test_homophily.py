"""Does a node fit those around it: against loops, scipy's densities, and fields that are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from egoscore import AttributedGraph, generate_network
from egoscore.detectors.conditional import homophily
from egoscore.detectors.conditional.homophily import (
    ONE_STEP,
    TWO_STEPS,
    LinkCorrelations,
    dirichlet_energy,
)
from egoscore.detectors.conditional.neighbours import Neighbours

REACHES = [ONE_STEP, TWO_STEPS]


def fit(near, white, circle=ONE_STEP):
    return LinkCorrelations.fit(near, white, circle)


def mismatch(likeness, near, white, circle=ONE_STEP):
    return likeness.mismatch(near, white, circle)


def normals(size, width, seed=0):
    return np.random.default_rng(seed).normal(size=(size, width)).astype(np.float32)


def seen(others, own):
    """No farther out than three, or than who looks at them is."""
    limit = np.maximum(3, np.abs(own))
    return others.clip(-limit, limit)


def adjacency(graph):
    return graph.neighbours.to_scipy().toarray().astype(np.float64)


def chances(graph, average):
    """With which chance one of those around is met, (N, N)."""
    adj = adjacency(graph)
    walk = adj / np.maximum(adj.sum(axis=1, keepdims=True), 1)
    if average is TWO_STEPS:
        walk = walk @ walk
        np.fill_diagonal(walk, 0)
        walk /= np.where(walk.sum(axis=1) > 1e-9, walk.sum(axis=1), 1)[:, None]
    return walk


def field(graph, weights, seed=0):
    """Gaussian features, one per weight, and their true correlations between linked nodes.

    x = (I - w·S)⁻¹ noise with the normalised adjacency S; every column has variance 1 over ends.
    """
    adj, size = adjacency(graph), graph.num_nodes
    scale = 1 / np.sqrt(np.maximum(adj.sum(axis=1), 1))
    spread = scale[:, None] * adj * scale[None, :]
    columns, truth = [], []
    for number, weight in enumerate(weights):
        mix = np.linalg.inv(np.eye(size) - weight * spread)
        covariance = mix @ mix.T
        ends = adj.sum(axis=1) @ np.diag(covariance) / adj.sum()
        columns.append(mix @ np.random.default_rng([seed, number]).normal(size=size) / ends**0.5)
        truth.append((adj * covariance).sum() / adj.sum() / ends)
    return np.column_stack(columns).astype(np.float32), np.array(truth)


@st.composite
def networks(draw):
    size = draw(st.integers(1, 10))
    node = st.integers(0, size - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=25))
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    features = normals(size, draw(st.integers(1, 11)), draw(st.integers(0, 99)))
    return AttributedGraph.from_edges(edges, draw(st.sampled_from([1, 3])) * features)


class TestDirichletEnergy:
    @given(networks())
    @settings(deadline=None, max_examples=100)
    def test_it_is_the_mean_squared_difference_to_the_neighbours(self, graph):
        x, adj = graph.features.astype(np.float64), adjacency(graph)
        expected = [
            np.mean(
                [np.mean((x[v] - seen(x[u], x[v])) ** 2) for u in np.flatnonzero(adj[v])] or [0]
            )
            for v in range(graph.num_nodes)
        ]
        found = dirichlet_energy(Neighbours.of(graph), graph.features)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)

    def test_how_many_columns_go_at_once_changes_nothing(self, monkeypatch):
        graph = generate_network(50, 120, 20)
        near, x = Neighbours.of(graph), normals(50, 20)
        before = dirichlet_energy(near, x)
        monkeypatch.setattr(homophily, "_COLUMNS_AT_ONCE", 3)
        np.testing.assert_allclose(dirichlet_energy(near, x), before, rtol=1e-5, atol=1e-6)

    def test_equal_neighbours_have_none(self):
        graph = generate_network(50, 120, 3)
        x = np.full((50, 3), 0.3, dtype=np.float32)
        np.testing.assert_allclose(dirichlet_energy(Neighbours.of(graph), x), 0, atol=1e-6)


class TestMismatch:
    """Against the densities themselves: the axes and strengths are those that were fitted."""

    def by_densities(self, graph, likeness, white, average):
        turned = white.astype(np.float64) @ likeness.axes
        total = np.zeros((graph.num_nodes, graph.num_nodes))
        for column, rho in zip(turned.T, likeness.strength, strict=True):
            own, others = np.meshgrid(column, column, indexing="ij")
            others = others.clip(-3, 3) if average is TWO_STEPS else seen(others, own)
            pairs = np.stack([own, others], axis=-1)
            together = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).logpdf(pairs)
            total += norm.logpdf(own) + norm.logpdf(others) - together
        around = chances(graph, average)
        found, there = (around * total).sum(axis=1), around.any(axis=1)
        found = np.where(there, found, np.median(found[there]))
        return np.where(adjacency(graph).any(axis=1), found, 0.0)

    @pytest.mark.parametrize("average", REACHES)
    def test_it_is_the_mean_logarithm_of_a_ratio_of_densities(self, average):
        graph = generate_network(60, 120, 2, seed=2)
        near = Neighbours.of(graph)
        axes = np.linalg.qr(normals(4, 4, seed=9))[0].astype(np.float64)
        likeness = LinkCorrelations(axes, np.array([0.7, -0.4, 0.0, 0.1]))
        white = normals(60, 4)
        expected = self.by_densities(graph, likeness, white, average)
        found = mismatch(likeness, near, white, average)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)

    @pytest.mark.parametrize("average", REACHES)
    def test_whoever_is_out_of_all_bounds_is_so_alone(self, average):
        """Its neighbours see it three deviations out, however far it is."""
        graph = generate_network(60, 120, 2, seed=2)
        near, white = Neighbours.of(graph), normals(60, 1)
        likeness = LinkCorrelations(np.eye(1), np.array([0.7]))
        white[5] = 3.0
        before = mismatch(likeness, near, white, average)
        white[5] = 9.0
        after = mismatch(likeness, near, white, average)
        assert (before != after).nonzero()[0].tolist() == [5]

    def test_also_with_what_was_fitted(self):
        graph = generate_network(300, 900, 2, seed=2)
        near = Neighbours.of(graph)
        white, _ = field(graph, [0.8, -0.6, 0.0])
        likeness = fit(near, white)
        expected = self.by_densities(graph, likeness, white, ONE_STEP)
        np.testing.assert_allclose(mismatch(likeness, near, white), expected, rtol=1e-3, atol=1e-3)

    def test_two_that_are_as_far_out_are_alike(self):
        graph = AttributedGraph.from_edges([[0, 2], [1, 3]], np.zeros((4, 1)))
        near, likeness = Neighbours.of(graph), LinkCorrelations(np.eye(1), np.array([0.9]))
        white = np.array([[8], [8], [8], [1]], dtype=np.float32)
        alike, _, stranger, _ = mismatch(likeness, near, white)
        assert alike < 0 < stranger
        energy = dirichlet_energy(near, white)
        np.testing.assert_allclose(energy[:3], [0, 0, 49], atol=1e-4)

    def test_where_nobody_is_beyond_the_neighbours_it_is_as_usual_and_without_any_zero(self):
        graph = AttributedGraph.from_edges([[0, 2, 3], [1, 3, 4]], np.zeros((6, 1)))
        near, likeness = Neighbours.of(graph), LinkCorrelations(np.eye(1), np.array([0.5]))
        white = normals(6, 1)
        assert (mismatch(likeness, near, white) != 0).tolist() == [True] * 5 + [False]
        far = mismatch(likeness, near, white, TWO_STEPS)
        np.testing.assert_allclose(far[[0, 1, 3]], np.median(far[[2, 4]]), rtol=1e-5)
        assert (far != 0).tolist() == [True] * 5 + [False]

    def test_among_likes_a_stranger_stands_out(self):
        """The other way round where opposites attract."""
        graph = AttributedGraph.from_edges([[0, 1, 2], [1, 2, 3]], np.zeros((4, 1)))
        near, white = Neighbours.of(graph), np.array([[1], [1], [1], [-1]], dtype=np.float32)
        likes, opposites = (
            mismatch(LinkCorrelations(np.eye(1), np.array([rho])), near, white)
            for rho in (0.5, -0.5)
        )
        assert likes.argmax() == 3
        assert opposites.argmin() == 3


class TestStrengths:
    def test_of_pairs_they_are_the_correlations(self):
        size, truth = 20_000, np.array([-0.6, 0.0, 0.3, 0.8])
        rng = np.random.default_rng(0)
        first = rng.normal(size=(size, 4))
        second = truth * first + np.sqrt(1 - truth**2) * rng.normal(size=(size, 4))
        turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        white = (np.concatenate([first, second]) @ turn.T).astype(np.float32)
        edges = np.stack([np.arange(size), np.arange(size) + size])
        likeness = fit(Neighbours.of(AttributedGraph.from_edges(edges, white)), white)
        np.testing.assert_allclose(likeness.strength, truth, atol=0.03)
        overlap = np.abs(np.sum(likeness.axes * turn, axis=0))
        np.testing.assert_allclose(overlap[[0, 3]], 1, atol=0.01)

    def test_of_a_field_on_a_network_they_are_close_to_the_truth(self):
        graph = generate_network(400, 1600, 2, outlier_fraction=0.0, seed=4)
        near, weights = Neighbours.of(graph), [-0.8, 0.0, 0.8]
        truth = np.sort(field(graph, weights)[1])
        assert truth[0] < -0.1 < truth[1] < 0.1 < truth[2]
        strengths = [np.sort(fit(near, field(graph, weights, s)[0]).strength) for s in range(6)]
        np.testing.assert_allclose(np.mean(strengths, axis=0), truth, atol=0.05)

    def test_two_steps_away_they_are_those_of_a_walk(self):
        graph = generate_network(400, 1200, 2, seed=4)
        near, (white, _) = Neighbours.of(graph), field(graph, [0.9])
        around = chances(graph, TWO_STEPS) @ white[:, 0]
        weight = near.degree * near.has_two_steps
        expected = (weight * white[:, 0] * around).sum() / (weight * white[:, 0] ** 2).sum()
        assert fit(near, white, TWO_STEPS).strength == pytest.approx([expected], rel=1e-3)

    @pytest.mark.parametrize("average", REACHES)
    def test_where_opposites_are_linked_they_are_negative_and_two_steps_away_positive(
        self, average
    ):
        rng = np.random.default_rng(0)
        side = np.repeat([1.0, -1.0], 200)
        edges = np.stack([rng.integers(0, 200, 1500), rng.integers(200, 400, 1500)])
        white = (side + 0.3 * rng.normal(size=400)).astype(np.float32)[:, None]
        near = Neighbours.of(AttributedGraph.from_edges(edges, white))
        assert np.sign(fit(near, white, average).strength) == (-1 if average is ONE_STEP else 1)

    @pytest.mark.parametrize("average", REACHES)
    def test_without_edges_they_are_zero_and_so_is_the_mismatch(self, average):
        graph = AttributedGraph.from_edges(np.empty((2, 0), dtype=np.int64), np.zeros((9, 1)))
        near, white = Neighbours.of(graph), normals(9, 3)
        likeness = fit(near, white, average)
        assert not likeness.strength.any()
        assert not mismatch(likeness, near, white, average).any()

    @pytest.mark.parametrize("width", [1, 4, 16])
    def test_of_features_that_have_nothing_to_do_with_the_network_they_are_small(self, width):
        edges = 4000
        near = Neighbours.of(generate_network(1000, edges, 2, seed=1))
        largest = [
            np.abs(fit(near, normals(1000, width, seed)).strength).max() for seed in range(10)
        ]
        # the largest eigenvalue of a symmetric matrix of so much noise (Wigner)
        assert np.median(largest) < 2 * np.sqrt(max(width, 2) / (2 * edges))

    def test_chance_is_cut_off(self):
        near = Neighbours.of(generate_network(1000, 4000, 2, seed=1))
        strengths = np.array([fit(near, normals(1000, 1, seed)).strength[0] for seed in range(60)])
        assert (strengths == 0).mean() > 0.6

    def test_they_stay_below_one(self):
        graph = generate_network(200, 600, 2)
        white = np.ones((200, 1), dtype=np.float32)
        assert 0.5 < fit(Neighbours.of(graph), white).strength[0] < 1

    def test_columns_without_variance_give_finite_numbers(self):
        near = Neighbours.of(generate_network(200, 600, 2))
        white = np.column_stack([normals(200, 1), np.zeros(200, dtype=np.float32)])
        likeness = fit(near, white)
        assert np.isfinite(likeness.strength).all()
        assert np.isfinite(mismatch(likeness, near, white)).all()

    def test_how_many_columns_go_at_once_changes_nothing(self, monkeypatch):
        graph = generate_network(300, 900, 2)
        near, (white, _) = Neighbours.of(graph), field(graph, np.linspace(-0.8, 0.9, 11))
        before = np.sort(fit(near, white).strength)
        monkeypatch.setattr(homophily, "_COLUMNS_AT_ONCE", 4)
        np.testing.assert_allclose(np.sort(fit(near, white).strength), before, atol=1e-5)


class TestMismatchOfPairs:
    """One tie at a time, and what it has to do with all ties together."""

    @pytest.fixture
    def around(self):
        graph = generate_network(300, 900, 5, outlier_fraction=0, seed=1)
        white, _ = field(graph, [0.9, 0.7, -0.8])
        near = Neighbours.of(graph)
        return graph, near, white, fit(near, white)

    def test_the_mean_over_the_neighbours_is_the_mismatch(self, around):
        graph, near, white, likeness = around
        assert np.count_nonzero(likeness.strength) == 3
        whole = mismatch(likeness, near, white)
        for node in range(0, 300, 7):
            others = graph.neighbours_of(node)
            pairs = likeness.mismatch_of_pairs(white[[node]], white[others])
            assert pairs.shape == (len(others),)
            if len(others):
                assert pairs.mean() == pytest.approx(whole[node], abs=1e-4)

    def test_every_tie_is_scipys_ratio_of_densities(self, around):
        _, _, white, likeness = around
        own, others = white[[0]], white[1:20]
        expected = np.zeros(19)
        for number, rho in enumerate(likeness.strength):
            a, b = (part @ likeness.axes[:, number] for part in (own, others))
            b = seen(b, a)
            both = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
            pairs = np.column_stack([np.repeat(a, 19), b])
            expected += norm.logpdf(a) + norm.logpdf(b) - both.logpdf(pairs)
        found = likeness.mismatch_of_pairs(own, others)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)

    def test_where_nothing_goes_together_no_tie_surprises(self):
        likeness = LinkCorrelations(np.eye(3), np.zeros(3))
        found = likeness.mismatch_of_pairs(normals(1, 3), normals(5, 3))
        np.testing.assert_array_equal(found, 0)

    def test_nobody_to_be_tied_to_is_no_tie(self):
        likeness = LinkCorrelations(np.eye(2), np.array([0.5, 0.5]))
        assert likeness.mismatch_of_pairs(normals(1, 2), normals(0, 2)).shape == (0,)

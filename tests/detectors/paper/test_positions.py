"""Positions against dense linear algebra."""

import numpy as np
import pytest

from egoscore import AttributedGraph, generate_network
from egoscore.detectors.paper.positions import NUM_POSITIONS, POSITIONS, laplacian, random_walk

every_kind = pytest.mark.parametrize("name", POSITIONS)


def walk_matrix(graph):
    size = graph.num_nodes
    adj = np.zeros((size, size))
    rows = np.repeat(np.arange(size), graph.neighbours.degrees)
    adj[rows, graph.neighbours.indices] = 1
    degrees = np.maximum(adj.sum(axis=1), 1)
    return adj / degrees[:, None], adj / np.sqrt(np.outer(degrees, degrees))


def standardised(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)


def test_chances_of_return_are_the_diagonals_of_powers_of_the_walk():
    graph = generate_network(300, 900, 2, seed=4)
    walk, _ = walk_matrix(graph)
    exact = [np.diag(np.linalg.matrix_power(walk, k)) for k in range(2, 2 + NUM_POSITIONS)]
    found = random_walk(graph, seed=0)
    for column, expected in enumerate(exact):
        assert np.corrcoef(found[:, column], expected)[0, 1] > 0.9


def test_eigenvectors_are_those_of_the_normalised_laplacian():
    graph = generate_network(200, 800, 2, seed=4)
    _, symmetric = walk_matrix(graph)
    values, vectors = np.linalg.eigh(np.eye(200) - symmetric)
    expected = standardised(vectors[:, 1 : 1 + NUM_POSITIONS])
    found = laplacian(graph, seed=0)
    gaps = np.diff(values[: NUM_POSITIONS + 2])
    for column in range(NUM_POSITIONS):
        if min(gaps[column], gaps[column + 1]) > 1e-3:  # otherwise any mixture is right
            assert abs(np.mean(found[:, column] * expected[:, column])) == pytest.approx(
                1, abs=0.01
            )


@every_kind
@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_small_and_empty_networks_have_positions_too(name, size):
    graph = AttributedGraph.from_edges(np.empty((2, 0), dtype=int), np.ones((size, 1)))
    found = POSITIONS[name](graph, 0)
    assert found.shape == (size, NUM_POSITIONS)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()


@every_kind
def test_the_same_seed_gives_the_same_positions(name):
    graph = generate_network(100, 300, 2, seed=4)
    assert np.array_equal(POSITIONS[name](graph, 3), POSITIONS[name](graph, 3))


@every_kind
def test_columns_are_standardised(name):
    found = POSITIONS[name](generate_network(400, 1600, 2, seed=4), 0)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(found.std(axis=0), 1, atol=1e-4)


def test_what_is_nothing_but_the_error_of_an_estimate_is_left_out():
    random = np.random.default_rng(0)
    edges = np.stack([random.integers(0, 150, 900), 150 + random.integers(0, 150, 900)])
    found = random_walk(AttributedGraph.from_edges(edges, np.ones((300, 1))), seed=0)
    odd = [step % 2 == 1 for step in range(2, 2 + NUM_POSITIONS)]
    assert not found[:, odd].any()  # a walk between two sides is back after even steps only
    assert found[:, 0].any()

"""Outliers of varied networks: what each kind changes, and what it leaves alone."""

from functools import partial

import numpy as np
import pytest

from egoscore.load.families.outliers import (
    HIDDEN,
    VISIBLE,
    hide,
    inject,
    plant_rings,
    plant_spammers,
    stretch,
    switch_on,
)
from egoscore.load.generate_edges import Urn

NUM_NODES, NUM_FEATURES, COUNT = 500, 20, 42
RNG = np.random.default_rng(5)
FEATURES = RNG.standard_normal((NUM_NODES, NUM_FEATURES)).astype(np.float32)
WORDS = (FEATURES > 1).astype(np.float32)
# A cycle: every node has two edges.
EDGES = np.stack([np.arange(NUM_NODES), (np.arange(NUM_NODES) + 1) % NUM_NODES])
PLANTERS = [*VISIBLE.values(), switch_on]


def plant(planter, features=FEATURES, count=COUNT):
    return planter(np.random.default_rng(0), features, EDGES, count)


def new_edges(found):
    np.testing.assert_array_equal(found.edges[:, :NUM_NODES], EDGES)
    return found.edges[:, NUM_NODES:]


@pytest.mark.parametrize("planter", PLANTERS)
@pytest.mark.parametrize("count", [12, 13, 42])
def test_only_outliers_change_and_nothing_in_place(planter, count):
    features, edges = FEATURES.copy(), EDGES.copy()
    found = plant(planter, count=count)
    np.testing.assert_array_equal(FEATURES, features)
    np.testing.assert_array_equal(EDGES, edges)
    is_outlier = found.kinds != "normal"
    assert is_outlier.sum() == count
    np.testing.assert_array_equal(found.features[~is_outlier], FEATURES[~is_outlier])
    assert is_outlier[new_edges(found)[0]].all()


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_outliers_are_of_the_kinds_asked_for(name):
    community = np.arange(NUM_NODES) % 5
    urn = Urn.fill(community, np.ones(NUM_NODES))
    propose = partial(urn.draw_edges, np.random.default_rng(1), 0.5)
    found = hide(np.random.default_rng(0), FEATURES, EDGES, COUNT, name, urn, propose)
    is_outlier = found.kinds != "normal"
    assert is_outlier.sum() == COUNT
    expected = set(HIDDEN) - {"mixture"} if name == "mixture" else {name}
    assert set(found.kinds[is_outlier].tolist()) == expected
    assert found.edges.shape == EDGES.shape
    is_same = (found.features == FEATURES).all(axis=1)
    assert is_same[~is_outlier | (found.kinds == "structural")].all()


def test_injected_features_are_copies_from_far_away():
    found = plant(inject)
    alone = np.flatnonzero(found.kinds == "contextual")
    is_copy = (found.features[alone][:, None] == FEATURES).all(axis=2)
    np.testing.assert_array_equal(is_copy.sum(axis=1), 1)
    donors = is_copy.argmax(axis=1)
    assert (donors != alone).all()
    for node, donor in zip(alone, donors, strict=True):
        distances = np.linalg.norm(FEATURES - FEATURES[node], axis=1)
        assert (distances > distances[donor]).mean() < 0.15  # farthest of fifty


def test_injected_cliques_are_complete():
    found = plant(inject)
    members = np.flatnonzero(found.kinds == "structural")
    assert len(members) == 20  # two cliques of ten
    adjacency = np.zeros((NUM_NODES, NUM_NODES), dtype=int)
    sources, targets = new_edges(found)
    adjacency[sources, targets] = adjacency[targets, sources] = 1
    np.testing.assert_array_equal(adjacency[members].sum(axis=1), 9)
    assert np.trace(np.linalg.matrix_power(adjacency, 3)) == 2 * 10 * 9 * 8
    np.testing.assert_array_equal(found.features[members], FEATURES[members])


def test_members_of_a_ring_are_alike_and_know_each_other():
    found = plant(plant_rings)
    members = np.flatnonzero(found.kinds == "ring")
    rows = found.features[members]
    alike = (rows[:, None] == rows).mean(axis=2) - np.eye(COUNT)
    in_ring = alike > 0.1
    np.testing.assert_array_equal(in_ring.sum(axis=1), 5)  # seven rings of six
    assert alike[in_ring].mean() == pytest.approx(0.49, abs=0.05)
    sources, targets = np.searchsorted(members, new_edges(found))
    assert in_ring[sources, targets].all()
    assert len(sources) / (in_ring.sum() / 2) == pytest.approx(0.5, abs=0.15)


def test_intense_numbers_are_further_from_the_mean():
    found = plant(stretch)
    nodes = np.flatnonzero(found.kinds == "intense")
    mean = FEATURES.mean(axis=0)
    factors = (found.features[nodes] - mean) / (FEATURES[nodes] - mean)
    is_stretched = factors > 1.2
    assert is_stretched.mean() == pytest.approx(0.5, abs=0.05)
    np.testing.assert_allclose(factors[~is_stretched], 1, rtol=1e-3)
    assert 1.29 < factors[is_stretched].min() < factors.max() < 2.51


def test_intense_words_are_more_of_them():
    found = plant(switch_on, WORDS)
    nodes = np.flatnonzero(found.kinds == "intense")
    before, after = WORDS[nodes], found.features[nodes]
    assert (after >= before).all()
    assert after[before == 0].mean() == pytest.approx(0.15, abs=0.04)


def test_spammers_have_further_edges_and_their_own_features():
    found = plant(plant_spammers)
    np.testing.assert_array_equal(found.features, FEATURES)
    sources, targets = new_edges(found)
    assert (sources != targets).all()
    further = np.bincount(sources, minlength=NUM_NODES)[found.kinds == "spammers"]
    assert 2 <= further.mean() <= 4
    assert len(np.unique(targets)) > 0.8 * len(targets)

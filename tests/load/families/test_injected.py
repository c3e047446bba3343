"""Networks with injected outliers: sizes, cliques, strangers' features, two halves."""

import networkx as nx
import numpy as np
import pytest

from egoscore.errors import ParameterError
from egoscore.load.datasets import list_datasets, load_dataset
from egoscore.load.families.injected import (
    CHOOSING,
    CONFIRMING,
    INJECTED_NAMES,
    KINDS,
    NUM_INJECTED,
    injected_network,
)

SMALL = [number for number, kind in enumerate(KINDS) if kind.num_nodes <= 1000]


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_sizes_and_counts_are_those_of_the_kind(number):
    kind, graph = KINDS[number], injected_network(number)
    assert graph.features.shape == (kind.num_nodes, kind.num_features)
    kinds = graph.node_info["kind"]
    assert (kinds == "contextual").sum() == kind.num_contextual
    assert (kinds == "structural").sum() == kind.cliques * kind.clique_size
    np.testing.assert_array_equal(graph.labels == 1, kinds != "normal")
    usual = graph.neighbours.degrees[kinds != "structural"].mean()
    assert usual == pytest.approx(kind.mean_degree, rel=0.2)


@pytest.mark.parametrize("number", SMALL)
def test_structural_outliers_are_in_cliques(number):
    kind, graph = KINDS[number], injected_network(number)
    theirs = nx.from_scipy_sparse_array(graph.neighbours.to_scipy())
    members = set(np.flatnonzero(graph.node_info["kind"] == "structural"))
    found = [c for c in nx.find_cliques(theirs.subgraph(members)) if len(c) >= kind.clique_size]
    assert set().union(*found) == members


@pytest.mark.parametrize("number", SMALL)
def test_a_contextual_outlier_has_the_features_of_somebody_else(number):
    graph = injected_network(number)
    x, kinds = graph.features, graph.node_info["kind"]
    same = (x[:, None] == x[None]).all(axis=2).sum(axis=1) - 1
    assert same[kinds != "contextual"].sum() > 0  # their models
    # a model may itself have been changed later, but hardly ever
    assert (same[kinds == "contextual"] > 0).mean() > 0.7


def test_classes_keep_to_themselves_as_much_as_they_should():
    kind, graph = KINDS[3], injected_network(3)
    community = graph.node_info["community"]
    sources = np.repeat(np.arange(graph.num_nodes), graph.neighbours.degrees)
    within = (community[sources] == community[graph.neighbours.indices]).mean()
    by_chance = 1 / kind.num_classes
    assert within == pytest.approx(
        kind.edges_within + (1 - kind.edges_within) * by_chance, abs=0.06
    )


def test_every_kind_is_once_in_each_half_and_drawn_anew():
    assert [*CHOOSING, *CONFIRMING] == list(range(NUM_INJECTED))
    first, second = injected_network(0), injected_network(len(KINDS))
    assert first.features.shape == second.features.shape
    assert not np.array_equal(first.features, second.features)


def test_the_same_number_and_seed_give_the_same_network_and_others_do_not():
    assert injected_network(1).fingerprint() == injected_network(1, seed=0).fingerprint()
    assert injected_network(1).fingerprint() != injected_network(1, seed=1).fingerprint()


def test_they_are_data_sets_with_one_entry_in_the_list():
    assert load_dataset("injected-10").fingerprint() == injected_network(10).fingerprint()
    entries = [entry for entry in list_datasets() if "injected" in entry.name]
    assert [entry.name for entry in entries] == [f"{INJECTED_NAMES[0]} to {INJECTED_NAMES[-1]}"]


@pytest.mark.parametrize(("number", "seed"), [(NUM_INJECTED, 0), (-1, 0), (0, -1)])
def test_others_are_refused(number, seed):
    with pytest.raises(ParameterError, match="injected network"):
        injected_network(number, seed)

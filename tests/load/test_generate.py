"""Generated networks: sizes, shape, and outliers that are hidden but not lost."""

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from egoscore.errors import ParameterError
from egoscore.load.generate import builtin_network, dgraph_like, generate_network, weibo_like

OUTLIER_KINDS = ("attribute", "structural", "contextual", "joint")


def lengths(rows):
    return np.linalg.norm(rows, axis=1)


def standardised(graph):
    x = graph.features.astype(np.float64)
    return (x - x.mean(axis=0)) / x.std(axis=0)


def auc(graph, statistic, kind=None):
    """In per cent; of one kind against the normal nodes if a kind is named."""
    kinds = graph.node_info["kind"]
    used = np.isin(kinds, ("normal", kind)) if kind else np.full(graph.num_nodes, True)
    return 100 * roc_auc_score(kinds[used] != "normal", statistic[used])


def surface_aucs(graph):
    """What must not find the outliers."""
    degree = graph.neighbours.degrees
    return {
        "degree": auc(graph, degree),
        "minus degree": auc(graph, -degree),
        "feature norm": auc(graph, lengths(graph.features)),
        "standardised norm": auc(graph, lengths(standardised(graph))),
    }


def mahalanobis(graph):
    x = standardised(graph)
    return np.einsum("nf,nf->n", x @ np.linalg.pinv(np.cov(x.T)), x)


def distance_to_neighbours(graph):
    x, degree = standardised(graph), graph.neighbours.degrees
    mean = graph.neighbours.to_scipy() @ x / np.maximum(degree, 1)[:, None]
    return np.where(degree > 0, lengths(x - mean), 0)


def local_clustering(graph):
    network = nx.from_scipy_sparse_array(graph.neighbours.to_scipy())
    return np.array(list(nx.clustering(network).values()))


def edge_ends(graph):
    sources = np.repeat(np.arange(graph.num_nodes), graph.adjacency.degrees)
    return sources, graph.adjacency.indices


def share_of_foreign_edges(graph):
    community = graph.node_info["community"]
    sources, targets = edge_ends(graph)
    foreign = np.bincount(
        sources, community[sources] != community[targets], minlength=graph.num_nodes
    )
    return foreign / np.maximum(graph.adjacency.degrees, 1)


@pytest.fixture(scope="module")
def builtin():
    return builtin_network()


@pytest.fixture(scope="module")
def five():
    return [generate_network(seed=seed) for seed in range(5)]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    ("num_nodes", "num_edges"),
    [(2, 0), (2, 1), (5, 10), (60, 1770), (60, 1700), (300, 20), (500, 3000), (5000, 12345)],
)
def test_counts_are_exact_and_the_network_simple(num_nodes, num_edges, directed):
    graph = generate_network(num_nodes, num_edges, 5, directed=directed, outlier_fraction=0.2)
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (num_nodes, num_edges, 5)
    assert graph.directed == directed
    assert graph.dropped_self_loops == graph.dropped_duplicates == 0
    assert int(graph.labels.sum()) == round(0.2 * num_nodes)
    assert graph.features.dtype == np.float32
    assert np.isfinite(graph.features).all()


def test_complete_directed_network():
    graph = generate_network(40, 40 * 39, 1, directed=True)
    assert (graph.adjacency.degrees == 39).all()


def test_builtin_is_what_it_says(builtin):
    assert (builtin.num_nodes, builtin.num_edges, builtin.num_features) == (1000, 4000, 16)
    assert int(builtin.labels.sum()) == 60
    kinds = builtin.node_info["kind"]
    assert [int((kinds == kind).sum()) for kind in OUTLIER_KINDS] == [15] * 4
    assert np.array_equal(builtin.labels == 1, kinds != "normal")


def test_hubs_exist_but_none_has_everything(builtin):
    degree = builtin.neighbours.degrees
    assert 6 * degree.mean() < degree.max() < builtin.num_nodes / 5
    assert np.median(degree) < degree.mean()


def test_neighbours_share_communities_and_homophily_says_how_many():
    shares = []
    for homophily in (0.0, 0.5, 0.9):
        graph = generate_network(2000, homophily=homophily, outlier_fraction=0)
        community = graph.node_info["community"]
        sources, targets = edge_ends(graph)
        shares.append(float((community[sources] == community[targets]).mean()))
    assert shares[0] < 0.2 < shares[1] < 0.7 < shares[2]


def test_closure_makes_triangles():
    open_, closed = (
        local_clustering(generate_network(closure=closure, homophily=0.5, outlier_fraction=0))
        for closure in (0.0, 0.5)
    )
    assert closed.mean() > 0.1 + open_.mean()


def test_features_are_correlated_and_differ_in_scale_and_location(builtin):
    x = builtin.features
    off_diagonal = np.abs(np.corrcoef(x.T)[np.triu_indices(16, k=1)])
    assert off_diagonal.max() > 0.6
    inverse = np.linalg.inv(np.corrcoef(standardised(builtin).T))
    explained = 1 - 1 / np.diag(inverse)  # R² of each feature from the others
    assert explained.mean() > 0.6
    assert x.std(axis=0).max() > 3 * x.std(axis=0).min()
    assert x.mean(axis=0).min() < 0 < x.mean(axis=0).max()


def test_builtin_outliers_do_not_show_on_the_surface(builtin):
    found = surface_aucs(builtin)
    print(f"AUC of degree {found['degree']:.1f}, of feature norm {found['feature norm']:.1f}")
    assert all(45 < value < 55 for value in found.values()), found


def test_no_seed_lets_outliers_show_on_the_surface(five):
    for graph in five:
        found = surface_aucs(graph)
        assert all(44 < value < 56 for value in found.values()), found


@pytest.mark.parametrize(
    ("kind", "statistic"),
    [
        ("attribute", mahalanobis),
        ("contextual", distance_to_neighbours),
        ("structural", local_clustering),
        ("joint", mahalanobis),
        ("joint", share_of_foreign_edges),
    ],
)
def test_who_knows_what_to_look_for_finds_them(five, kind, statistic):
    found = [auc(graph, statistic(graph), kind) for graph in five]
    print(f"AUC of {statistic.__name__} for {kind}: {np.round(found, 1)}")
    assert min(found) > 75


def test_attribute_outliers_keep_the_marginals():
    graph = generate_network(20_000, 20_000, 4, outlier_fraction=0.4)
    kinds = graph.node_info["kind"]
    normal, mixed = (graph.features[kinds == kind] for kind in ("normal", "attribute"))
    assert np.allclose(normal.mean(axis=0), mixed.mean(axis=0), atol=0.1 * normal.std(axis=0))
    assert np.allclose(normal.std(axis=0), mixed.std(axis=0), rtol=0.1)
    strongest, remaining = (np.abs(np.corrcoef(x.T) - np.eye(4)).max() for x in (normal, mixed))
    assert remaining < 0.1 < strongest


def test_contextual_rows_come_from_another_community(builtin):
    kinds, community = builtin.node_info["kind"], builtin.node_info["community"]
    found = 0
    for node in np.flatnonzero(kinds == "contextual"):
        is_twin = (builtin.features == builtin.features[node]).all(axis=1)
        donors = np.flatnonzero(is_twin & (kinds == "normal"))
        found += len(donors)
        assert (community[donors] != community[node]).all()
    assert found >= 10  # a donor that became an outlier itself may look different by now


def test_cliques_join_strangers(builtin):
    members = np.flatnonzero(builtin.node_info["kind"] == "structural")
    community = builtin.node_info["community"][members]
    inner = builtin.neighbours.to_scipy().toarray()[np.ix_(members, members)] > 0
    assert (inner.sum(axis=1) >= 3).all()
    same = community[:, None] == community
    assert same[inner].mean() < 0.2


def test_same_seed_same_network_other_seed_another(builtin, five):
    assert builtin.fingerprint() == five[0].fingerprint() == generate_network().fingerprint()
    assert len({graph.fingerprint() for graph in five}) == 5


def test_without_outliers():
    graph = generate_network(outlier_fraction=0)
    assert not graph.labels.any()
    assert set(graph.node_info["kind"]) == {"normal"}


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"num_nodes": 1}, "num_nodes"),
        ({"num_nodes": -5}, "num_nodes"),
        ({"num_features": 0}, "num_features"),
        ({"num_nodes": 10, "num_edges": 46}, "num_edges"),
        ({"num_nodes": 10, "num_edges": 91, "directed": True}, "num_edges"),
        ({"num_edges": -1}, "num_edges"),
        ({"num_communities": 1}, "num_communities"),
        ({"num_nodes": 10, "num_communities": 11}, "num_communities"),
        ({"exponent": 2.0}, "exponent"),
        ({"homophily": 1.5}, "homophily"),
        ({"homophily": float("nan")}, "homophily"),
        ({"closure": 1.0}, "closure"),
        ({"outlier_fraction": 0.6}, "outlier_fraction"),
        ({"seed": -1}, "seed"),
    ],
)
def test_senseless_requests_are_refused(wrong, name):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of generate_network must"):
        generate_network(**wrong)


def test_weibo_like():
    graph = weibo_like()
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (8_405, 407_963, 400)
    assert graph.directed
    assert graph.dropped_self_loops == graph.dropped_duplicates == 0
    assert 0.09 < graph.labels.mean() < 0.11
    found = surface_aucs(graph)
    assert all(45 < value < 55 for value in found.values()), found


@pytest.mark.slow
def test_dgraph_like():
    graph = dgraph_like()
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (3_700_550, 4_300_999, 17)
    assert graph.dropped_self_loops == graph.dropped_duplicates == 0
    assert graph.labels.mean() == pytest.approx(0.004, rel=0.01)

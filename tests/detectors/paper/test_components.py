"""The whole measurement and each comparison, against plain ones, numpy and networkx."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.detectors.paper import components
from egoscore.detectors.paper.components import (
    LEVEL_COMPONENTS,
    ComponentTable,
    binarise,
    feature_error,
    measure,
    normalised_energy,
    structure_error,
)
from egoscore.detectors.paper.ego import EgoGraphs
from egoscore.detectors.paper.generative import ScoreModel
from egoscore.detectors.paper.noise import EgoNoise
from egoscore.detectors.paper.sde import VP, perturb
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.paper.solve import SOLVERS, ReverseProcess
from egoscore.graph import AttributedGraph
from egoscore.random import Keys, Purpose

SEED = 11
CONFIG = PaperSettings(num_levels=3, num_samples=2, steps=20, solver="em")


def example(directed):
    source = nx.gnp_random_graph(30, 0.12, seed=4, directed=directed)
    source.remove_edges_from(list(source.edges(29)))
    features = np.random.default_rng(5).normal(size=(30, 6))
    edges = np.array(source.edges).T
    graph = AttributedGraph.from_edges(edges, features, directed)
    return EgoGraphs(graph, max_nodes=7, seed=SEED), ScoreModel(6, 8, directed, seed=SEED)


def energy(x, adj):
    """Normalised Dirichlet energy by networkx's Laplacian of the symmetrised graph."""
    weights = (adj + adj.T) / 2
    laplacian = nx.normalized_laplacian_matrix(nx.from_numpy_array(weights)).toarray()
    total = float((x**2).sum())
    return float(np.trace(x.T @ laplacian @ x)) / total if total else 0.0


def plain_components(egos, model, node, tau, level, sample, solver):
    """Components of one chain, from an ego-graph that is alone in its batch."""
    batch = egos.batch(np.array([node]))
    keys = Keys(SEED, *(np.array([v]) for v in (node, level, sample)))
    graph = egos.graph
    noise = EgoNoise(keys, batch.sizes, graph.num_features, graph.directed, egos.device)
    width = batch.x.shape[1]
    time = torch.tensor([tau], dtype=torch.float64)
    x = perturb(batch.x, noise.features(Purpose.FORWARD_FEATURES, 0, width), VP(), time)
    adj = perturb(batch.adj, noise.adjacency(Purpose.FORWARD_ADJACENCY, 0, width), VP(), time)
    steps = torch.tensor([round(20 * tau)])

    def gradients(x, adj, t):
        noises = model.predict_noise(x, adj, batch.mask, t, batch.positions)
        return tuple(-noise / VP().std(t).view(-1, 1, 1).to(x) for noise in noises)

    with torch.no_grad():
        process = ReverseProcess(VP(), SOLVERS[solver], gradients)
        x, adj = process.solve(x, adj, time, steps, noise)
    before_x, before_adj = batch.x[0].double().numpy(), batch.adj[0].double().numpy()
    after_x, after_adj = x[0].double().numpy(), (adj[0].numpy() >= 0.5).astype(float)
    n, f = before_x.shape
    after = energy(after_x, after_adj)
    return [
        np.linalg.norm(before_x - after_x) / (n * f),
        np.linalg.norm(before_adj - after_adj) / n**2,
        after,
        abs(energy(before_x, before_adj) - after),
        np.linalg.norm(before_x[0] - after_x[0]) / f,
        np.linalg.norm(before_adj[0] - after_adj[0]) / n,
    ]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_table_equals_a_plain_computation_chain_by_chain(solver, directed):
    egos, model = example(directed)
    config = PaperSettings(num_levels=3, num_samples=2, steps=20, solver=solver)
    nodes = np.arange(30)
    table = measure(egos, model, config, SEED, nodes)
    assert table.taus == pytest.approx((0.25, 0.5, 0.75))
    for node in (0, 7, 13, 29):
        for level, tau in enumerate(table.taus):
            chains = [
                plain_components(egos, model, node, tau, level, sample, solver)
                for sample in range(2)
            ]
            expected = np.mean(chains, axis=0)
            np.testing.assert_allclose(table.values[node, level], expected, rtol=2e-4, atol=1e-6)


def test_an_isolated_node_has_finite_components_and_no_structure_error():
    egos, model = example(False)
    table = measure(egos, model, CONFIG, SEED, np.arange(30))
    assert table.ego_size[29] == 1
    assert np.isfinite(table.values[29]).all()
    assert not table.component("structure_error")[29].any()
    assert table.component("feature_error")[29].all()


def test_a_nodes_numbers_do_not_depend_on_company_order_or_batch_size(monkeypatch):
    egos, model = example(False)
    everyone = measure(egos, model, CONFIG, SEED, np.arange(30))
    some = np.array([21, 3, 8])
    few = measure(egos, model, CONFIG, SEED, some)
    monkeypatch.setattr(components, "_CAPACITY", 1)  # every ego-graph by itself
    alone = measure(egos, model, CONFIG, SEED, np.arange(30)[::-1])
    np.testing.assert_allclose(few.values, everyone.values[np.sort(some)], rtol=1e-4)
    np.testing.assert_allclose(alone.values, everyone.values, rtol=1e-4, atol=1e-7)


def test_very_many_samples_go_in_groups(monkeypatch):
    egos, model = example(False)
    config = PaperSettings(num_levels=2, num_samples=7, steps=5, solver="em")
    together = measure(egos, model, config, SEED, np.arange(30))
    batch = egos.batch(np.array([0]))
    monkeypatch.setattr(components, "_CAPACITY", 2 * 3 * 8 * int(batch.sizes[0]))
    assert [list(g) for g in components._sample_groups(batch, config)] == [
        [0, 1, 2], [3, 4, 5], [6],
    ]  # fmt: skip
    apart = measure(egos, model, config, SEED, np.arange(30))
    np.testing.assert_allclose(apart.values, together.values, rtol=1e-4, atol=1e-7)


def test_progress_is_reported_for_every_node():
    egos, model = example(False)
    seen = []
    measure(egos, model, CONFIG, SEED, np.arange(30), seen.append)
    assert sum(seen) == 30


TAUS = (0.25, 0.5, 0.75)
SIZE = 12


def example_table():
    """Every number in it is another."""
    values = np.arange(SIZE * 3 * 6, dtype=np.float32).reshape(SIZE, 3, 6)
    node = np.arange(SIZE)
    return ComponentTable(node, node + 2000, (node + 3000).astype(np.float32), values, TAUS, 4)


def part(table, rows):
    return replace(
        table,
        node=table.node[rows],
        ego_size=table.ego_size[rows],
        energy=table.energy[rows],
        values=table.values[rows],
    )


def arrow(table):
    return pa.table(table.columns())


@pytest.mark.parametrize(
    ("name", "position"),
    [
        ("feature_error", 0),
        ("structure_error", 1),
        ("energy_after", 2),
        ("energy_shift", 3),
        ("centre_feature_error", 4),
        ("centre_structure_error", 5),
    ],
)
def test_a_component_is_found_by_its_name(name, position):
    table = example_table()
    np.testing.assert_array_equal(table.component(name), table.values[:, :, position])


def test_there_are_no_other_components():
    assert len(LEVEL_COMPONENTS) == 6
    with pytest.raises(ValueError, match="not in tuple"):
        example_table().component("energy")


def test_columns_hold_every_number_under_component_and_level():
    table = example_table()
    columns = table.columns()
    assert list(columns)[3:7] == [
        *("feature_error@0.25", "feature_error@0.5", "feature_error@0.75"),
        "structure_error@0.25",
    ]
    for name in ("node", "ego_size", "energy"):
        np.testing.assert_array_equal(columns.pop(name), getattr(table, name))
    assert len(columns) == 18
    for title, column in columns.items():
        name, _, tau = title.partition("@")
        level = TAUS.index(float(tau))
        np.testing.assert_array_equal(column, table.component(name)[:, level])
        assert column.dtype == np.float32


@pytest.mark.parametrize("num_levels", [2, 6, 999])
def test_levels_keep_their_names_apart(num_levels):
    taus = tuple(level / (num_levels + 1) for level in range(1, num_levels + 1))
    table = replace(example_table(), values=np.zeros((SIZE, num_levels, 6), np.float32), taus=taus)
    assert len(table.columns()) == 3 + 6 * num_levels


@given(st.permutations(range(SIZE)), st.lists(st.integers(1, SIZE - 1), unique=True))
@settings(max_examples=50, deadline=None)
def test_parts_in_any_order_join_to_the_table_that_arrow_makes_of_them(order, cuts):
    table = example_table()
    parts = [part(table, rows) for rows in np.split(np.array(order), sorted(cuts))]
    joined = ComponentTable.join(parts)
    expected = pa.concat_tables([arrow(one) for one in parts]).sort_by("node").combine_chunks()
    assert arrow(joined).equals(expected)
    assert arrow(joined).equals(arrow(table))
    assert joined.values.shape == table.values.shape
    assert (joined.taus, joined.num_samples) == (TAUS, 4)


def test_joining_leaves_the_parts_alone():
    table = example_table()
    parts = [part(table, [3, 1]), part(table, [2, 0])]
    ComponentTable.join(parts)
    assert [one.node.tolist() for one in parts] == [[3, 1], [2, 0]]


def padded_pair(sizes, width, columns, seed=0):
    """Two batches (B, width, columns) that differ where nodes are real and are zero elsewhere."""
    random = np.random.default_rng(seed)
    pair = random.normal(size=(2, len(sizes), width, columns))
    for row, size in enumerate(sizes):
        pair[:, row, size:] = 0
        if columns == width:
            pair[:, row, :, size:] = 0
    return pair


def test_feature_error_is_the_frobenius_norm_over_nodes_times_features():
    sizes = [7, 3, 1]
    x, restored = padded_pair(sizes, width=7, columns=4)
    found = feature_error(torch.tensor(x), torch.tensor(restored), torch.tensor(sizes))
    for row, size in enumerate(sizes):
        distance = np.linalg.norm(x[row, :size] - restored[row, :size], "fro")
        assert float(found[row]) == pytest.approx(distance / (size * 4), rel=1e-12)


def test_structure_error_is_the_frobenius_norm_over_squared_nodes():
    sizes = [7, 3, 2]
    adj, restored = padded_pair(sizes, width=7, columns=7)
    found = structure_error(torch.tensor(adj), torch.tensor(restored), torch.tensor(sizes))
    for row, size in enumerate(sizes):
        distance = np.linalg.norm((adj - restored)[row, :size, :size], "fro")
        assert float(found[row]) == pytest.approx(distance / size**2, rel=1e-12)


@pytest.mark.parametrize("error", [feature_error, structure_error])
def test_padding_changes_no_error(error):
    sizes = torch.tensor([5, 2])
    narrow, wide = padded_pair([5, 2], width=5, columns=5), np.zeros((2, 2, 9, 9))
    wide[:, :, :5, :5] = narrow
    if error is feature_error:
        wide = wide[..., :5]
    torch.testing.assert_close(
        error(*torch.tensor(narrow), sizes), error(*torch.tensor(wide), sizes)
    )


@pytest.mark.parametrize("error", [feature_error, structure_error])
def test_what_comes_back_the_same_has_no_error(error):
    value = torch.rand(3, 4, 4)
    assert error(value, value.clone(), torch.tensor([4, 4, 4])).tolist() == [0, 0, 0]


def test_one_wrong_edge_of_an_undirected_graph_counts_both_ways():
    adj = torch.zeros(1, 4, 4)
    restored = adj.clone()
    restored[0, 1, 2] = restored[0, 2, 1] = 1
    found = structure_error(adj, restored, torch.tensor([4]))
    assert float(found) == pytest.approx(2**0.5 / 16)


def test_an_isolated_node_has_a_finite_error():
    one, nothing = torch.tensor([1]), torch.zeros(1, 1, 1)
    assert structure_error(nothing, nothing, one).tolist() == [0.0]
    assert feature_error(torch.full((1, 1, 2), 3.0), torch.zeros(1, 1, 2), one).tolist() == (
        pytest.approx([18**0.5 / 2])
    )


def test_reconstructed_edges_are_rounded_at_one_half():
    values = torch.tensor([[[-2.0, 0.0, 0.4999], [0.5, 0.5001, 1.0], [1.7, 0.9, 0.1]]])
    assert binarise(values).tolist() == [[[0, 0, 0], [1, 1, 1], [1, 1, 0]]]
    assert binarise(values).dtype == torch.float32


def energy_of(x, adj, dtype=torch.float64):
    """Of one graph given as arrays."""
    found = normalised_energy(
        torch.tensor(x, dtype=dtype)[None], torch.tensor(adj, dtype=dtype)[None]
    )
    assert found.shape == (1,)
    return float(found[0])


def expected_energy(x, adj):
    """trace(Xᵀ L X) / ‖X‖² with networkx's Laplacian of the symmetrised graph."""
    graph = nx.from_numpy_array((adj + adj.T) / 2)
    laplacian = nx.normalized_laplacian_matrix(graph).toarray()
    return np.trace(x.T @ laplacian @ x) / np.sum(x**2)


def random_graph(size, density, directed, seed):
    """Random edges and features; the last node is always isolated."""
    random = np.random.default_rng(seed)
    adj = (random.random((size, size)) < density) * (1.0 - np.eye(size))
    adj[-1] = adj[:, -1] = 0
    if not directed:
        adj = np.maximum(np.triu(adj), np.triu(adj).T)
    return random.normal(0.5, 1.0, (size, 3)), adj


graphs = st.builds(
    random_graph,
    st.integers(2, 12),
    st.floats(0, 1),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)


@given(graphs)
@settings(deadline=None, max_examples=100)
def test_energy_is_the_trace_with_networkx_laplacian(graph):
    assert energy_of(*graph) == pytest.approx(expected_energy(*graph), rel=1e-9, abs=1e-12)


@given(graphs)
@settings(deadline=None, max_examples=50)
def test_energy_lies_between_zero_and_two(graph):
    assert 0 <= energy_of(*graph, dtype=torch.float32) <= 2 * (1 + 1e-6)


def test_opposite_features_across_one_edge_reach_the_upper_bound():
    assert energy_of([[1.0], [-1.0]], [[0.0, 1.0], [1.0, 0.0]]) == pytest.approx(2)


def test_features_in_proportion_to_the_root_of_the_degree_have_no_energy():
    _, adj = random_graph(8, 0.5, False, seed=1)
    x = np.sqrt(adj.sum(axis=1))[:, None] * [1.0, -2.0]
    assert energy_of(x, adj) == pytest.approx(0, abs=1e-12)
    assert energy_of(x, adj, torch.float32) >= 0


def test_a_directed_edge_counts_half_of_an_undirected_one():
    # 0 → 1 alone is as smooth as both ways: the Laplacian is normalised …
    x = np.array([[1.0], [2.0], [4.0]])
    one_way = np.array([[0.0, 1, 0], [0, 0, 0], [0, 0, 0]])
    assert energy_of(x, one_way) == pytest.approx(energy_of(x, one_way + one_way.T))
    # … but beside an edge that goes both ways it weighs half.
    mixed = np.array([[0.0, 1, 0], [0, 0, 1], [0, 1, 0]])
    halves = np.array([[0.0, 0.5, 0], [0.5, 0, 1], [0, 1, 0]])
    assert energy_of(x, mixed) == pytest.approx(energy_of(x, halves))
    assert energy_of(x, mixed) == pytest.approx(energy_of(x, mixed.T))
    assert energy_of(x, mixed) == pytest.approx(expected_energy(x, mixed))


def test_features_that_are_all_zero_have_no_energy():
    _, adj = random_graph(6, 0.8, False, seed=2)
    assert energy_of(np.zeros((6, 3)), adj) == 0


def test_a_single_node_has_no_energy():
    assert energy_of([[3.0, -1.0]], [[0.0]]) == 0


def test_isolated_nodes_add_to_the_norm_only():
    x = np.array([[1.0], [-1.0], [5.0]])
    adj = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
    # (1 - (-1))² over ‖x‖² = 27
    assert energy_of(x, adj) == pytest.approx(4 / 27)


@pytest.mark.parametrize("directed", [False, True])
def test_padding_changes_no_energy(directed):
    sizes, width = [2, 5, 9], 12
    x, adj = np.zeros((3, width, 3)), np.zeros((3, width, width))
    alone = []
    for row, size in enumerate(sizes):
        graph = random_graph(size, 0.6, directed, seed=row)
        x[row, :size], adj[row, :size, :size] = graph
        alone.append(energy_of(*graph))
    found = normalised_energy(torch.tensor(x), torch.tensor(adj))
    np.testing.assert_allclose(found, alone, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_energy_does_not_depend_on_the_scale_of_the_features(scale):
    x, adj = random_graph(7, 0.5, False, seed=4)
    assert energy_of(scale * x, adj, torch.float32) == pytest.approx(energy_of(x, adj), rel=1e-5)


def test_the_scale_of_the_features_plays_no_part_however_large():
    x = torch.tensor([[[1.0], [2.0], [-1.0]]])
    adj = torch.tensor([[[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])
    expected = normalised_energy(x, adj)
    for scale in (1e-20, 1e20, 1e37):
        torch.testing.assert_close(normalised_energy(x * scale, adj), expected)

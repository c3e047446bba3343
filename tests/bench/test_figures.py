"""Figures show what was measured, and the same for the same seed."""

import sys
from copy import deepcopy
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from matplotlib import colormaps
from matplotlib.colors import to_rgba

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.bench import figures
from egoscore.bench.draw import measure_solvers, reconstruct
from egoscore.bench.figures import (
    PAPER_SOLVERS,
    energy_differences,
    energy_histograms,
    plate,
    solver_errors,
)
from egoscore.detectors.paper.components import LEVEL_COMPONENTS, ComponentTable, measure
from egoscore.detectors.paper.model import fit_model
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.paper.shards import measure_nodes
from egoscore.detectors.paper.solve import SOLVERS
from egoscore.errors import RunError, TrainingError

CPU = torch.device("cpu")
QUICK = EgoScore(preset="paper", epochs=2, num_samples=2, steps=10, hidden_size=4).settings()
NODES = np.array([3, 0, 17])


@pytest.fixture(scope="module")
def graph():
    return generate_network(40, 100, 3)


@pytest.fixture(scope="module")
def models(graph):
    return [fit_model(graph, QUICK, seed, CPU) for seed in range(3)]


@pytest.fixture(scope="module")
def tables(graph, models):
    return {f"run {model.seed}": measure_nodes(model, graph, CPU) for model in models[:2]}


def table_of(energy, after):
    """A table that knows energies only, (N,) and (N, K)."""
    after = np.asarray(after, dtype=np.float32)
    values = np.zeros((*after.shape, len(LEVEL_COMPONENTS)), dtype=np.float32)
    values[:, :, LEVEL_COMPONENTS.index("energy_after")] = after
    nodes = np.arange(len(after))
    taus = tuple(np.linspace(0.2, 0.8, after.shape[1]).tolist())
    return ComponentTable(nodes, nodes + 1, np.asarray(energy, np.float32), values, taus, 1)


def panel_rows(figure):
    return [part.axes for part in figure.subfigs]


def drawn_counts(patch, total):
    """How many values each bin of a drawn density holds."""
    density, edges, _ = patch.get_data()
    return density * np.diff(edges) * total


def assert_fits(axis):
    """No bar is cut: neither the tallest, nor one that stands for a single value."""
    low, high = axis.get_ylim()
    for patch in axis.patches:
        density = patch.get_data().values
        assert low < density[density > 0].min()
        assert density.max() < high


# solvers


def test_lines_are_means_over_runs_and_bands_their_spread(graph, models):
    tables = measure_solvers(graph, ["em", "s4"], models, NODES)
    figure = solver_errors(tables, title="Three nodes")
    assert figure.get_suptitle() == "Three nodes"
    for axis, component in zip(figure.axes, ("feature_error", "structure_error"), strict=True):
        assert [line.get_label() for line in axis.lines] == ["em", "s4"]
        for line, band in zip(axis.lines, axis.collections, strict=True):
            config = replace(QUICK, num_levels=9, num_samples=1, solver=line.get_label())
            errors = np.array([errors_of(graph, model, config, component) for model in models])
            np.testing.assert_allclose(line.get_xdata(), np.arange(1, 10) / 10)
            np.testing.assert_allclose(line.get_ydata(), errors.mean(axis=0), rtol=1e-5)
            corners = band.get_paths()[0].vertices
            for tau, mean, std in zip(line.get_xdata(), errors.mean(0), errors.std(0), strict=True):
                reach = corners[np.isclose(corners[:, 0], tau), 1]
                np.testing.assert_allclose(
                    [reach.min(), reach.max()], [mean - std, mean + std], rtol=1e-4, atol=1e-7
                )


def errors_of(graph, model, config, component):
    egos = model.ego_graphs(graph, CPU)
    table = measure(egos, model.networks, config, model.seed, NODES)
    return table.component(component).mean(axis=0)


def test_every_solver_has_a_style_of_its_own_and_the_paper_has_five():
    assert set(figures._STYLES) == set(SOLVERS)
    assert set(PAPER_SOLVERS) == set(SOLVERS) - {"dpm", "em-overshoot"}
    styles = {(style["color"], str(style["linestyle"])) for style in figures._STYLES.values()}
    assert len(styles) == len(SOLVERS)


def test_solvers_are_compared_on_the_nodes_given(graph, models):
    everything = np.arange(graph.num_nodes)
    lines = [
        solver_errors(measure_solvers(graph, ["em"], models[:1], nodes, 2)).axes[0].lines[0]
        for nodes in (everything, everything, NODES)
    ]
    first, same, other = (line.get_ydata() for line in lines)
    np.testing.assert_array_equal(first, same)
    assert not np.allclose(first, other)


# energies


def test_histograms_hold_the_energies_of_the_table(tables):
    figure = energy_histograms(tables)
    rows = panel_rows(figure)
    assert [part.get_suptitle() for part in figure.subfigs] == list(tables)
    assert [len(row) for row in rows] == [4, 4]
    for row, table in zip(rows, tables.values(), strict=True):
        for level, axis in enumerate(row):
            original, restored = axis.patches
            after = table.component("energy_after")[:, level]
            for patch, values in ((original, table.energy), (restored, after)):
                counts = drawn_counts(patch, len(values))
                expected, _ = np.histogram(values, patch.get_data().edges)
                np.testing.assert_allclose(counts, expected, atol=1e-6)
                assert counts.sum() == pytest.approx(len(values))
            assert axis.get_yscale() == "log"
            assert_fits(axis)
            assert axis.get_title() == f"τ = {table.taus[level]:g}"


def test_differences_are_signed_and_zero_is_marked():
    table = table_of([1.0, 1.0, 0.5, 0.5], [[0.9, 0.0], [1.0, 1.0], [0.5, 0.6], [0.4, 0.9]])
    (row,) = panel_rows(energy_differences({"four": table}))
    for axis, shift in zip(row, ([0.1, 0, 0, 0.1], [1.0, 0, -0.1, -0.4]), strict=True):
        (patch,) = axis.patches
        edges = patch.get_data().edges
        expected, _ = np.histogram(np.float32(shift), edges)
        np.testing.assert_allclose(drawn_counts(patch, 4), expected, atol=1e-6)
        (zero,) = axis.lines
        assert list(zero.get_xdata()) == [0.0, 0.0]
        assert (zero.get_linestyle(), zero.get_color()) == ("--", "black")
        # what did not change is on neither side of the line
        assert edges[edges < 0].max() == pytest.approx(-edges[edges > 0].min())
    assert "mean +0.050" in row[0].get_title()
    assert "mean +0.125" in row[1].get_title()


@pytest.mark.parametrize("draw", [energy_histograms, energy_differences])
def test_panels_of_a_row_share_bins_and_axes_and_rows_do_not(draw):
    rng = np.random.default_rng(0)
    narrow = table_of(rng.uniform(0.9, 1.0, 50), rng.uniform(0.8, 1.0, (50, 4)))
    wide = table_of(rng.uniform(0.0, 1.0, 50), rng.uniform(0.0, 2.0, (50, 4)))
    rows = panel_rows(draw({"narrow": narrow, "wide": wide}))
    edges = [[tuple(patch.get_data().edges) for a in row for patch in a.patches] for row in rows]
    assert [len(set(row)) for row in edges] == [1, 1]
    assert edges[0][0] != edges[1][0]
    for row in rows:
        for axis in row:
            assert_fits(axis)
        assert len({axis.get_ylim() for axis in row}) == 1
        assert len({axis.get_xlim() for axis in row}) == 1


@pytest.mark.parametrize("draw", [energy_histograms, energy_differences])
def test_energies_that_are_all_the_same_can_be_drawn(draw, tmp_path):
    figure = draw({"still": table_of(np.zeros(5), np.zeros((5, 4)))})
    figure.savefig(tmp_path / "still.png")
    assert drawn_counts(panel_rows(figure)[0][0].patches[0], 5).max() == pytest.approx(5)


# plates


def panels(figure, num_rows):
    return np.array(figure.axes[: 5 * num_rows]).reshape(num_rows, 5)


def test_a_plate_has_a_row_for_each_node_and_one_colour_bar(graph, models):
    figure = plate(reconstruct(graph, models[0], NODES, seed=0), title="Three of them")
    assert figure.get_suptitle() == "Three of them"
    assert len(figure.axes) == 3 * 5 + 1
    heads = [axis.get_title().split("\n")[0] for axis in panels(figure, 3)[0]]
    assert heads == ["Original", "τ = 0.2", "τ = 0.4", "τ = 0.6", "τ = 0.8"]
    names = [row[0].get_ylabel() for row in panels(figure, 3)]
    assert names == [f"node {graph.ids[node]}" for node in NODES]


def test_a_row_has_one_layout(graph, models):
    for row in panels(plate(reconstruct(graph, models[0], NODES, seed=0)), 3):
        layouts = [np.asarray(axis.collections[1].get_offsets()) for axis in row]
        for layout in layouts[1:]:
            np.testing.assert_array_equal(layout, layouts[0])


def test_the_originals_are_the_ego_graphs(graph, models):
    whole = nx.from_scipy_sparse_array(graph_matrix(graph))
    figure = plate(reconstruct(graph, models[0], NODES, seed=0))
    for axis, node in zip(panels(figure, 3)[:, 0], NODES, strict=True):
        ego = nx.ego_graph(whole, node)
        nodes, edges = len(ego), ego.number_of_edges()
        if nodes <= models[0].max_nodes:
            assert axis.get_title().endswith(f"n = {nodes}, e = {edges}")
            assert len(axis.collections[0].get_segments()) == edges


def graph_matrix(graph):
    from scipy.sparse import csr_array

    near = graph.neighbours
    return csr_array((np.ones(len(near.indices)), near.indices, near.indptr))


def test_colours_follow_the_relative_error(graph, models):
    found = reconstruct(graph, models[0], NODES, seed=0)
    figure = plate(found)
    cool = colormaps["cool"]
    for row, mine in zip(panels(figure, 3), found.versions, strict=True):
        for axis, version in zip(row, mine, strict=True):
            _, dots = axis.collections
            expected = cool(np.minimum(version.error, 1.0))[::-1]
            np.testing.assert_allclose(dots.get_facecolors(), expected, atol=1e-6)
            *rings, centre = dots.get_linewidths()  # the centre lies over all others
            assert centre > max(rings, default=0)
            assert axis.get_title().endswith(f"e = {len(version.edges(False))}")
        np.testing.assert_allclose(row[0].collections[1].get_facecolors()[0], to_rgba("cyan"))


def test_errors_are_those_the_table_is_made_of(graph, models):
    found = reconstruct(graph, models[0], NODES, seed=5)
    egos = models[0].ego_graphs(graph, CPU)
    config = PaperSettings(num_levels=4, num_samples=1, steps=QUICK.steps, solver=QUICK.solver)
    table = measure(egos, models[0].networks, config, 5, NODES)
    assert found.taus == list(table.taus)
    for node, row in zip(NODES, found.versions, strict=True):
        batch = egos.batch(np.array([node]))
        norm, size = batch.x[0].norm(dim=1).numpy(), batch.x.shape[1]
        line = int(np.flatnonzero(table.node == node)[0])
        features = [np.linalg.norm(v.error * norm) / (size * 3) for v in row[1:]]
        structure = [np.linalg.norm(v.adj - row[0].adj) / size**2 for v in row[1:]]
        np.testing.assert_allclose(features, table.component("feature_error")[line], rtol=1e-4)
        np.testing.assert_allclose(structure, table.component("structure_error")[line], rtol=1e-4)
        assert not row[0].error.any()


def test_the_same_seed_gives_the_same_plate(graph, models):
    def data(seed):
        found = reconstruct(graph, models[0], NODES, seed)
        return [version.error for row in found.versions for version in row]

    for one, same in zip(data(1), data(1), strict=True):
        np.testing.assert_array_equal(one, same)
    assert any(not np.array_equal(one, other) for one, other in zip(data(1), data(2), strict=True))


def test_the_largest_seed_will_do(graph, models):
    assert len(plate(reconstruct(graph, models[0], NODES[:1], seed=2**64 - 1)).axes) == 6


def test_arcs_count_one_way(models):
    graph = AttributedGraph.from_edges([[0, 1, 2], [1, 0, 0]], np.eye(3), directed=True)
    model = fit_model(graph, replace(QUICK, max_nodes=3), 0, CPU)
    figure = plate(reconstruct(graph, model, np.array([0]), seed=0))
    assert panels(figure, 1)[0, 0].get_title().endswith("n = 3, e = 3")


def test_features_that_are_all_zero_have_an_infinite_error(models):
    features = np.array([[-1.0], [0.0], [1.0]])
    graph = AttributedGraph.from_edges([[0, 1], [1, 2]], features)
    model = fit_model(graph, QUICK, 0, CPU)
    centre = np.array([1])
    found = reconstruct(graph, model, centre, seed=0)
    ((original, *restored),) = found.versions
    assert original.error[0] == 0
    assert all(np.isinf(version.error[0]) for version in restored)
    dots = panels(plate(found), 1)[0, 1].collections[1]
    np.testing.assert_allclose(dots.get_facecolors()[-1], to_rgba("magenta"))


def test_what_diverged_is_not_drawn(graph, models):
    networks = deepcopy(models[0].networks)
    with torch.no_grad():
        for weights in networks.parameters():
            weights.mul_(torch.inf)
    with pytest.raises(TrainingError, match=r"node .* is not finite; train with a smaller lr"):
        reconstruct(graph, replace(models[0], networks=networks), NODES, seed=0)


def test_names_of_nodes_are_shown_as_they_are_spelled(models, graph, tmp_path):
    odd = replace(graph, ids=np.array([f"$x^{i} 数据" for i in range(40)]))
    figure = plate(reconstruct(odd, models[0], np.array([7]), seed=0))
    figure.savefig(tmp_path / "odd.png")
    assert figure.axes[0].get_ylabel() == "node $x^7 \\u6570\\u6"


def test_without_networkx_a_plate_says_what_to_install(graph, models, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(
        RunError, match=r"networkx, which is not .* pip install 'egoscore\[bench\]'"
    ):
        plate(reconstruct(graph, models[0], NODES, seed=0))

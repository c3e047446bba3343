"""Figures of the paper: errors of solvers, energies before and after reconstruction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from egoscore.bench.plates import require_drawing
from egoscore.detectors.paper.components import ComponentTable, measure
from egoscore.detectors.paper.ego import EgoGraphs
from egoscore.detectors.paper.model import FittedModel
from egoscore.graph import AttributedGraph
from egoscore.runtime import choose_device

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ERRORS = {
    "feature_error": r"$\mathrm{error}_X$: mean of $\|X-\hat{X}\|_F\,/\,(N\,F)$",
    "structure_error": r"$\mathrm{error}_A$: mean of $\|A-\hat{A}\|_F\,/\,N^2$",
}
# Okabe and Ito's colours, which colour-blind people can distinguish. Some solvers differ by less
# than a line width: later lines are dashed, so that earlier ones stay visible.
_BLUE, _VERMILION = "#0072B2", "#D55E00"
_STYLES: dict[str, dict[str, Any]] = {
    "em": {"color": _BLUE, "linestyle": "-", "linewidth": 3.0},
    "reverse": {"color": "#E69F00", "linestyle": (0, (3, 3)), "linewidth": 1.8},
    "em+langevin": {"color": "#009E73", "linestyle": "-", "linewidth": 3.0},
    "reverse+langevin": {"color": _VERMILION, "linestyle": (0, (3, 3)), "linewidth": 1.8},
    "s4": {"color": "black", "linestyle": (0, (1, 5)), "linewidth": 1.8},
    "dpm": {"color": "#CC79A7", "linestyle": "-.", "linewidth": 1.8},
    "em-overshoot": {"color": "#56B4E9", "linestyle": "--", "linewidth": 1.8},
}
PAPER_SOLVERS = ("em", "reverse", "em+langevin", "reverse+langevin", "s4")
_BINS = 40


def solver_errors(
    graph: AttributedGraph,
    solvers: Iterable[str],
    runs: Sequence[FittedModel],
    nodes: NDArray[np.int64] | None = None,
    num_levels: int = 9,
    title: str = "",
) -> Figure:
    """Mean errors of features and structure against the noise level, one line per solver.

    Every run is a trained model, whose seed keys the noise. Lines are means over runs, bands one
    standard deviation. By default all nodes are reconstructed, once.
    """
    require_drawing()
    from matplotlib.figure import Figure

    chosen = np.arange(graph.num_nodes) if nodes is None else nodes
    tables: dict[str, list[ComponentTable]] = {solver: [] for solver in solvers}
    for model in runs:
        egos = model.ego_graphs(graph, choose_device(-1))
        for solver, measured in tables.items():
            measured.append(measure_levels(model, egos, solver, num_levels, model.seed, chosen))
    figure = Figure(figsize=(9.0, 3.9), layout="constrained")
    axes = figure.subplots(1, len(_ERRORS))
    for axis, (component, label) in zip(axes, _ERRORS.items(), strict=True):
        for solver, measured in tables.items():
            errors = np.stack([table.component(component).mean(axis=0) for table in measured])
            _draw_spread(axis, measured[0].taus, errors, solver)
        axis.set_xlabel("noise level τ (time of the diffusion, T = 1)")
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0.0)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=9, handlelength=3.5)
    figure.suptitle(title, fontsize=11)
    return figure


def measure_levels(
    model: FittedModel,
    egos: EgoGraphs,
    solver: str,
    num_levels: int,
    seed: int,
    nodes: NDArray[np.int64],
) -> ComponentTable:
    """One reconstruction of every node at every level."""
    chosen = replace(model.settings, num_levels=num_levels, num_samples=1, solver=solver)
    return measure(egos, model.scoring_networks(), chosen, seed, nodes)


def _draw_spread(
    axis: Axes, taus: Sequence[float], errors: NDArray[np.float32], solver: str
) -> None:
    """Draw mean and standard deviation of the errors (R, K) of R runs."""
    mean, spread, style = errors.mean(axis=0), errors.std(axis=0), _STYLES[solver]
    axis.plot(taus, mean, label=solver, **style)
    axis.fill_between(taus, mean - spread, mean + spread, color=style["color"], alpha=0.15, lw=0)


def energy_histograms(tables: Mapping[str, ComponentTable]) -> Figure:
    """Histograms of normalised energies before and after, with a logarithmic axis.

    A row for each table and a column for each level. Values are averages over the samples of a
    table.
    """
    figure, rows = _rows(tables, r"normalised energy $\mathcal{E}(X, L)\,/\,\|X\|^2$")
    for axes, table in zip(rows, tables.values(), strict=True):
        after = table.component("energy_after")
        before = np.broadcast_to(table.energy[:, np.newaxis], after.shape)
        _draw_histograms(axes, {"original": before, "reconstructed": after})
    handles, labels = rows[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2, fontsize=9)
    return figure


def energy_differences(tables: Mapping[str, ComponentTable]) -> Figure:
    """Histograms of the normalised energy before minus after, with a dashed line at zero.

    A reconstruction with a positive difference is smoother or sparser than the original.
    """
    figure, rows = _rows(tables, "normalised energy, original minus reconstructed")
    for axes, table in zip(rows, tables.values(), strict=True):
        # the mean of differences is the difference of means
        shift = table.energy[:, np.newaxis] - table.component("energy_after")
        _draw_histograms(axes, {"difference": shift})
        for axis, mean in zip(axes, shift.mean(axis=0), strict=True):
            axis.axvline(0.0, color="black", linestyle="--", linewidth=1.0)
            axis.set_title(f"{axis.get_title()}, mean {mean:+.3f}", fontsize=9)
    return figure


def _rows(
    tables: Mapping[str, ComponentTable], quantity: str
) -> tuple[Figure, list[NDArray[np.object_]]]:
    """A figure with a row of panels for each table, and the panels by row."""
    require_drawing()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 2.3 * len(tables) + 0.4), layout="constrained")
    parts = figure.subfigures(len(tables), 1, squeeze=False)[:, 0]
    rows = []
    for part, (name, table) in zip(parts, tables.items(), strict=True):
        axes = part.subplots(1, len(table.taus), sharex=True, sharey=True, squeeze=False)[0]
        for axis, tau in zip(axes, table.taus, strict=True):
            axis.set_title(f"τ = {tau:g}", fontsize=9)
            axis.set_yscale("log")
            axis.tick_params(labelsize=7.5)
            axis.locator_params(axis="x", nbins=5)
        axes[0].set_ylabel("density (log scale)", fontsize=9)
        part.suptitle(name, fontsize=10)
        part.supxlabel(quantity, fontsize=9)
        rows.append(axes)
    return figure, rows


def _draw_histograms(axes: NDArray[np.object_], series: Mapping[str, NDArray[np.float32]]) -> None:
    """Draw densities of values (N, K), one panel per column, all with the same bins."""
    every = np.stack(list(series.values()))  # (series, N, K)
    edges = _bin_edges(every)
    highest = 0.0
    for label, values, colour in zip(series, every, (_BLUE, _VERMILION), strict=False):
        for axis, column in zip(axes, values.T, strict=True):
            density, _ = np.histogram(column, edges, density=True)
            axis.stairs(density, edges, fill=True, fc=(colour, 0.3), ec=colour, lw=1.2, label=label)
            highest = max(highest, density.max())
    single = 1.0 / (every.shape[1] * (edges[1] - edges[0]))  # the density of one value in its bin
    axes[0].set_ylim(single / 2, highest * 2)  # shared by all panels


def _bin_edges(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Edges of about 40 bins, one of them centred at zero."""
    low, high = float(values.min()), float(values.max())
    width = (high - low) / _BINS or 1.0 / _BINS
    return width * (np.arange(np.floor(low / width), np.ceil(high / width) + 2) - 0.5)

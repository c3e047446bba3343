"""The paper's figures: errors of solvers, energies, ego-graphs beside their reconstructions.

In: measurements, which `draw.py` makes. Out: matplotlib's figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.paper.components import ComponentTable
from egoscore.errors import RunError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
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
_COLUMN, _ROW = 1.5, 1.2  # inches


def require_drawing() -> None:
    """Raise an error if the libraries for drawing are missing."""
    absent = [module for module in ("matplotlib", "networkx") if find_spec(module) is None]
    if absent:
        raise RunError(
            f"Figures need {' and '.join(absent)}, which is not installed; "
            "pip install 'egoscore[bench]'."
        )


def solver_errors(tables: Mapping[str, Sequence[ComponentTable]], title: str = "") -> Figure:
    """Mean errors of features and structure against the noise level, one line per solver.

    `tables` has the runs of every solver. Lines are means over runs, bands one standard deviation.
    """
    require_drawing()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.9), layout="constrained")
    axes = figure.subplots(1, len(_ERRORS))
    for axis, (component, label) in zip(axes, _ERRORS.items(), strict=True):
        for solver, runs in tables.items():
            errors = np.stack([table.component(component).mean(axis=0) for table in runs])
            _draw_spread(axis, runs[0].taus, errors, solver)
        axis.set_xlabel("noise level τ (time of the diffusion, T = 1)")
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0.0)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=9, handlelength=3.5)
    figure.suptitle(title, fontsize=11)
    return figure


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


@dataclass(frozen=True)
class Version:
    """An ego-graph, original or reconstructed.

    Attributes: `adj` (n, n) its edges, 0 or 1; `error` (n,) ‖x - x̂‖/‖x‖ of every node.
    """

    adj: NDArray[np.float32]
    error: NDArray[np.float32]

    def edges(self, directed: bool) -> NDArray[np.int64]:
        """Node pairs (e, 2): every arc, or every undirected edge once."""
        return np.argwhere(self.adj if directed else np.triu(self.adj))


@dataclass(frozen=True)
class Reconstructions:
    """Ego-graphs and their reconstructions.

    Attributes: `taus` the levels; `names` of the centres; `versions`, for every centre the original
    and one reconstruction per level; `directed` whether edges are arcs; `seed` of the noise.
    """

    taus: list[float]
    names: list[str]
    versions: list[list[Version]]
    directed: bool
    seed: int


def plate(found: Reconstructions, title: str = "") -> Figure:
    """Ego-graphs, one per row, and their reconstructions from every level.

    A row has one layout. Colour is the relative error of a node's features, from cyan (perfect)
    to magenta (as large as the features, or larger); a black ring marks the centre. n and e count
    nodes and edges; an arc is drawn as a line. The seed also keys the layout.
    """
    require_drawing()
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    heads = ["Original", *(f"τ = {tau:g}" for tau in found.taus)]
    size = (_COLUMN * len(heads), _ROW * len(found.names) + 1.0)
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.04))
    axes = figure.subplots(len(found.names), len(heads), squeeze=False)
    colours = ScalarMappable(Normalize(0.0, 1.0, clip=True), colormaps["cool"])
    for row, name, versions in zip(axes, found.names, found.versions, strict=True):
        layout = _layout(versions[0], found.seed)
        for axis, version in zip(row, versions, strict=True):
            _draw(axis, version, layout, found.directed, colours)
        row[0].set_ylabel(f"node {ascii(name)[1:-1]:.14}", fontsize=7, parse_math=False)
    for axis, head in zip(axes[0], heads, strict=True):
        axis.set_title(f"{head}\n{axis.get_title()}", fontsize=8, pad=2.5)
    bar = figure.colorbar(
        colours, ax=axes, location="bottom", extend="max", shrink=0.5, aspect=40, pad=0.02
    )
    bar.set_label(r"relative feature error $\|x-\hat{x}\|\,/\,\|x\|$", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    figure.suptitle(title, fontsize=10)
    return figure


def _layout(original: Version, seed: int) -> NDArray[np.float64]:
    """Positions of the nodes (n, 2) by the Fruchterman-Reingold algorithm."""
    import networkx as nx

    places = nx.spring_layout(nx.from_numpy_array(original.adj), seed=seed % 2**32)  # its limit
    return np.array([places[node] for node in range(len(original.adj))])


def _draw(
    axis: Axes,
    version: Version,
    layout: NDArray[np.float64],
    directed: bool,
    colours: ScalarMappable,
) -> None:
    from matplotlib.collections import LineCollection

    edges = version.edges(directed)
    lines = LineCollection(list(layout[edges]), colors="0.55", linewidths=0.6, zorder=1)
    axis.add_collection(lines)
    area = float(np.clip(360 / len(layout), 12, 28))  # square points, smaller in a crowd
    last_first = slice(None, None, -1)  # the centre, row 0, is drawn on top
    axis.scatter(
        layout[last_first, 0],
        layout[last_first, 1],
        s=area,
        c=colours.to_rgba(version.error[last_first]),
        edgecolors="black",
        linewidths=[0.3] * (len(layout) - 1) + [0.33 * area**0.5],
    )
    axis.set_title(f"n = {len(layout)}, e = {len(edges)}", fontsize=7, pad=2.5)
    axis.margins(0.14)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set_color("0.85")

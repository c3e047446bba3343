"""Drawings of ego-graphs beside their reconstructions, as in the paper's last appendix."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from egoscore.detectors.paper.components import binarise
from egoscore.detectors.paper.model import FittedModel
from egoscore.detectors.paper.reconstruct import Reconstruction
from egoscore.errors import RunError, TrainingError
from egoscore.graph import AttributedGraph
from egoscore.random import Purpose, uniforms
from egoscore.runtime import choose_device

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

FEWEST, MOST = 3, 30  # nodes of an ego-graph that is worth drawing and legible
_COLUMN, _ROW = 1.5, 1.2  # inches


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


def require_drawing() -> None:
    """Raise an error if the libraries for drawing are missing."""
    absent = [module for module in ("matplotlib", "networkx") if find_spec(module) is None]
    if absent:
        raise RunError(
            f"Figures need {' and '.join(absent)}, which is not installed; "
            "pip install 'egoscore[bench]'."
        )


def choose_nodes(num_nodes: int, count: int, seed: int) -> NDArray[np.int64]:
    """At most `count` uniformly random nodes in ascending order."""
    return np.sort(_shuffled(num_nodes, seed)[:count])


def choose_centres(ego_sizes: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """At most `count` random nodes, preferably with ego-graphs of 3 to 30 nodes."""
    order = _shuffled(len(ego_sizes), seed)
    unfit = (ego_sizes[order] < FEWEST) | (ego_sizes[order] > MOST)
    return order[np.argsort(unfit, kind="stable")][:count]


def _shuffled(num_nodes: int, seed: int) -> NDArray[np.int64]:
    drawn = uniforms(seed, Purpose.SUBSAMPLE, 1, np.arange(num_nodes))
    return np.argsort(drawn[:, 0], kind="stable")


def plate(
    graph: AttributedGraph,
    model: FittedModel,
    nodes: NDArray[np.int64],
    seed: int,
    title: str = "",
) -> Figure:
    """The ego-graphs of `nodes`, one per row, and their reconstructions from every level.

    A row has one layout. Colour is the relative error of a node's features, from cyan (perfect)
    to magenta (as large as the features, or larger); a black ring marks the centre. n and e count
    nodes and edges; an arc is drawn as a line. `seed` keys the noise and the layout.
    """
    require_drawing()
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    taus, rows = reconstruct(graph, model, nodes, seed)
    heads = ["Original", *(f"τ = {tau:g}" for tau in taus)]
    size = (_COLUMN * len(heads), _ROW * len(nodes) + 1.0)
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.04))
    axes = figure.subplots(len(nodes), len(heads), squeeze=False)
    colours = ScalarMappable(Normalize(0.0, 1.0, clip=True), colormaps["cool"])
    for line, node, versions in zip(axes, nodes, rows, strict=True):
        layout = _layout(versions[0], seed)
        for axis, version in zip(line, versions, strict=True):
            _draw(axis, version, layout, graph.directed, colours)
        name = ascii(str(graph.ids[node]))[1:-1]
        line[0].set_ylabel(f"node {name:.14}", fontsize=7, parse_math=False)
    for axis, head in zip(axes[0], heads, strict=True):
        axis.set_title(f"{head}\n{axis.get_title()}", fontsize=8, pad=2.5)
    bar = figure.colorbar(
        colours, ax=axes, location="bottom", extend="max", shrink=0.5, aspect=40, pad=0.02
    )
    bar.set_label(r"relative feature error $\|x-\hat{x}\|\,/\,\|x\|$", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    figure.suptitle(title, fontsize=10)
    return figure


def reconstruct(
    graph: AttributedGraph, model: FittedModel, nodes: NDArray[np.int64], seed: int
) -> tuple[list[float], list[list[Version]]]:
    """The levels, and for every node its ego-graph and one reconstruction per level."""
    cpu = choose_device(-1)
    egos = model.ego_graphs(graph, cpu)
    rows = []
    with torch.inference_mode():
        process = Reconstruction(egos, model.scoring_networks().to(cpu), model.settings, seed)
        for node in nodes:
            batch = egos.batch(np.array([node]))
            restored_x, restored_adj = process.restore(batch, [0])  # (K, 1, 1, n, …)
            x = torch.cat([batch.x, restored_x[:, 0, 0]])
            if not bool(torch.isfinite(x).all()):
                raise TrainingError(
                    f"The reconstruction of node {graph.ids[node]!r} is not finite; train with a "
                    "smaller lr."
                )
            adj = torch.cat([batch.adj, binarise(restored_adj[:, 0, 0])])
            distance = (x - batch.x).norm(dim=-1)  # (K + 1, n)
            # relative to features that are all zero an error is infinite, and no error is 0
            error = (distance / batch.x.norm(dim=-1)).where(distance > 0, 0.0)
            rows.append(list(map(Version, adj.numpy(), error.numpy())))
    return process.taus, rows


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

"""What the figures of a benchmark show: train on its data sets, measure, draw, write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from egoscore.bench.figures import (
    PAPER_SOLVERS,
    Reconstructions,
    Version,
    energy_differences,
    energy_histograms,
    plate,
    require_drawing,
    solver_errors,
)
from egoscore.bench.protocol import HIDDEN_SIZES, Hyperparameters
from egoscore.detectors.paper.components import ComponentTable, binarise, measure
from egoscore.detectors.paper.ego import EgoGraphs
from egoscore.detectors.paper.model import FittedModel, fit_model
from egoscore.detectors.paper.reconstruct import Reconstruction
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.settings import resolve
from egoscore.errors import RunError, TrainingError
from egoscore.graph import AttributedGraph
from egoscore.load.source import load_source
from egoscore.random import Purpose, uniforms
from egoscore.run.files import replacing, writing
from egoscore.runtime import choose_device, one_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LARGE = 3000  # nodes; above, with fewer epochs and on a sample of the nodes
_LARGE_EPOCHS, _LARGE_SAMPLE = 30, 2000
_RUNS, _RUN_SAMPLE = 5, 500
_PLATE_ROWS = 8
FEWEST, MOST = 3, 30  # nodes of an ego-graph that is worth drawing and legible
_LONGEST_NAME = 60


@dataclass(frozen=True)
class _Case:
    """A data set to draw, its `name` in files and titles, and its graph."""

    dataset: str
    name: str
    graph: AttributedGraph

    @property
    def epochs(self) -> int:
        full = Hyperparameters(self.dataset, "gdss", 0).epochs
        return min(full, _LARGE_EPOCHS) if self.graph.num_nodes > _LARGE else full

    def fit(self, seed: int, **chosen: Any) -> FittedModel:
        batch_size = Hyperparameters(self.dataset, "gdss", seed).batch_size
        settings = resolve(
            PaperSettings, {"epochs": self.epochs, "batch_size": batch_size} | chosen
        )
        return fit_model(self.graph, settings, seed, choose_device(-1))

    def some(self, num_nodes: int) -> str:
        """How many of all nodes."""
        every = self.graph.num_nodes
        return f"{every:,} nodes" if num_nodes == every else f"{num_nodes:,} of {every:,} nodes"

    def title(self, what: str) -> str:
        """A title with the length of training."""
        return f"{self.name.capitalize()}: {what}, {self.epochs} epochs of training"


def draw_figures(
    results_path: Path,
    datasets: tuple[str, ...],
    data_dir: str | None,
    say: Callable[[str], None],
) -> list[Path]:
    """Train on the data sets and draw all figures into the folder `figures`; the files written.

    In a graph of more than 3,000 nodes, 2,000 are reconstructed by a model trained for at most 30
    epochs. Solvers are compared on 500 nodes of "books", or else of the first data set. Titles say
    so. Figures are left out, with a message, if training diverges.
    """
    require_drawing()
    folder = results_path / "figures"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"Cannot make {folder}: {error.strerror}.") from error
    files: list[Path] = []

    def write(figure: Figure, name: str) -> None:
        files.append(folder / f"{name}.png")
        with replacing(files[-1]) as draft, writing(files[-1]):
            figure.savefig(draft, format="png", dpi=150)
        say(f"Drew {files[-1]}.")

    tables: dict[str, ComponentTable] = {}
    for dataset, name in zip(datasets, safe_names(datasets), strict=True):
        case = _Case(dataset, name, load_source(dataset, data_dir))
        say(f"{name}: training for {case.epochs} epochs.")
        try:
            with one_thread():
                model = case.fit(0, hidden_size=HIDDEN_SIZES.get(dataset, (16,))[0])
                write(_draw_plate(case, model), f"plate_{name}")
                tables |= _measure_energies(case, model)
                if dataset == ("books" if "books" in datasets else datasets[0]):
                    say(f"{name}: comparing solvers in {_RUNS} runs.")
                    write(_compare_solvers(case), "solver_errors")
        except TrainingError as error:
            say(f"{name}: not all figures can be drawn. {error}")
    if tables:
        write(energy_histograms(tables), "energies")
        write(energy_differences(tables), "energy_differences")
    return files


def _draw_plate(case: _Case, model: FittedModel) -> Figure:
    centres = choose_centres(model.ego_sizes(case.graph), _PLATE_ROWS, model.seed)
    title = case.title(f"ego-graphs of {case.some(len(centres))}")
    how = (
        f"nodes drawn at random (seed {model.seed}), those with ego-graphs of "
        f"{FEWEST} to {MOST} nodes first"
    )
    return plate(reconstruct(case.graph, model, centres, model.seed), f"{title}\n{how}")


def _measure_energies(case: _Case, model: FittedModel) -> dict[str, ComponentTable]:
    """All single reconstructions, by title."""
    every, settings = case.graph.num_nodes, model.settings
    nodes = choose_nodes(every, _LARGE_SAMPLE if every > _LARGE else every, model.seed)
    egos = model.ego_graphs(case.graph, choose_device(-1))
    # one seed for each, as samples would be averaged
    parts = [
        measure_levels(model, egos, settings.solver, settings.num_levels, seed, nodes)
        for seed in range(model.seed, model.seed + settings.num_samples)
    ]
    title = case.title(f"{case.some(len(nodes))}, {len(parts)} reconstructions each")
    return {title: ComponentTable.join(parts)}


def _compare_solvers(case: _Case) -> Figure:
    """Compare solvers in the first trials, with the lr and hidden size that they draw."""
    trials = [Hyperparameters(case.dataset, "gdss", trial) for trial in range(_RUNS)]
    runs = [
        case.fit(one.seed, lr=one.choose("lr"), hidden_size=one.choose("hidden_size"))
        for one in trials
    ]
    nodes = choose_nodes(case.graph.num_nodes, _RUN_SAMPLE, seed=0)
    title = case.title(f"{case.some(len(nodes))}, mean ± standard deviation of {len(runs)} runs")
    return solver_errors(measure_solvers(case.graph, PAPER_SOLVERS, runs, nodes), title)


def measure_solvers(
    graph: AttributedGraph,
    solvers: Iterable[str],
    runs: Sequence[FittedModel],
    nodes: NDArray[np.int64],
    num_levels: int = 9,
) -> dict[str, list[ComponentTable]]:
    """One reconstruction of `nodes` by every solver and run, a trained model whose seed is used."""
    tables: dict[str, list[ComponentTable]] = {solver: [] for solver in solvers}
    for model in runs:
        egos = model.ego_graphs(graph, choose_device(-1))
        for solver, measured in tables.items():
            measured.append(measure_levels(model, egos, solver, num_levels, model.seed, nodes))
    return tables


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


def reconstruct(
    graph: AttributedGraph, model: FittedModel, nodes: NDArray[np.int64], seed: int
) -> Reconstructions:
    """The ego-graphs of `nodes`, and one reconstruction per level; `seed` keys the noise."""
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
    names = [str(graph.ids[node]) for node in nodes]
    return Reconstructions(process.taus, names, rows, graph.directed, seed)


def safe_names(datasets: Sequence[str]) -> list[str]:
    """A short, safe and unique name for each data set."""
    names: list[str] = []
    for dataset in datasets:
        plain = re.sub(r"[^a-z0-9._-]+", "-", dataset.lower())[-_LONGEST_NAME:].strip("-.")
        name = plain or "graph"
        others = (f"{name}-{number}" for number in count(2))
        names.append(next(free for free in chain([name], others) if free not in names))
    return names


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

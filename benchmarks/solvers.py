"""How error and ranking move with the number of network evaluations, for every solver.

    python benchmarks/solvers.py [builtin books] --data-dir ../shared/data [--smoke]

One model per network (paper preset, 300 epochs). The reference ranking is that of the mean score of
ten samples a level with Euler-Maruyama in 1000 steps. Every solver then scores the network with few
and many steps and S = 1: Spearman correlation with the reference, and the mean reconstruction
errors of features and adjacency. Writes docs/solvers.svg and docs/solvers.md (needs the extra
`bench`: matplotlib).
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from scipy.stats import spearmanr

from egoscore import EgoScore, load_dataset
from egoscore.detectors.paper.combine import combine
from egoscore.detectors.paper.components import measure
from egoscore.detectors.paper.model import fit_model
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.paper.solve import SOLVERS
from egoscore.detectors.paper.steps import levels, num_steps

INTRODUCTION = """# Solvers and evaluations

Written by `python benchmarks/solvers.py`. One model per graph (preset `paper`, 300 epochs). The
reference ranking is that of the mean score of ten samples per level with Euler-Maruyama in 1000
steps. Each solver then scores the graph with one sample per level: Spearman correlation with the
reference, and mean reconstruction errors of features and adjacency. [Time and
memory](performance.md#solvers) says what follows.
"""
DOCS = Path(__file__).resolve().parents[1] / "docs"
COMPARED = tuple(solver for solver in SOLVERS if solver != "em-overshoot")
LEVELS = 4


@dataclass(frozen=True)
class Effort:
    """How long to train, with how many steps to score, and how well to know the reference."""

    epochs: int
    steps: tuple[int, ...]
    reference: PaperSettings


_REFERENCE = PaperSettings(num_levels=LEVELS, num_samples=10, steps=1000, solver="em")
FULL = Effort(300, (5, 7, 10, 20, 50, 100, 200), _REFERENCE)
SMOKE = Effort(1, (5,), replace(_REFERENCE, num_samples=1, steps=5))
CPU = torch.device("cpu")
Row = dict[str, Any]


def evaluations(solver: str, steps: int) -> int:
    """Network evaluations a node and sample."""
    return SOLVERS[solver].evaluations * sum(num_steps(tau, steps) for tau in levels(LEVELS))


def compare(name: str, data_dir: str | None, effort: Effort) -> list[Row]:
    """One row for every solver and number of steps."""
    graph = load_dataset(name, data_dir)
    settings = EgoScore(preset="paper", epochs=effort.epochs).settings()
    model = fit_model(graph, settings, 0, CPU)
    egos, nodes = model.ego_graphs(graph, CPU), np.arange(graph.num_nodes)

    def scored(config: PaperSettings, seed: int) -> tuple[Any, dict[str, Any]]:
        table = measure(egos, model.networks, config, seed, nodes)
        return table, {
            kind: combine(table, kind, settings.alpha, settings.weighting, model.sde)
            for kind in ("rec", "energy")
        }

    _, reference = scored(effort.reference, seed=1)  # noise of its own
    rows = []
    for solver in COMPARED:
        for steps in effort.steps:
            config = PaperSettings(num_levels=LEVELS, num_samples=1, steps=steps, solver=solver)
            table, scores = scored(config, seed=0)
            row: Row = {"network": name, "solver": solver, "steps": steps}
            row["evaluations"] = evaluations(solver, steps)
            for kind, score in scores.items():
                row[kind] = spearmanr(score, reference[kind]).statistic
            row["error_x"] = float(table.component("feature_error").mean())
            row["error_adj"] = float(table.component("structure_error").mean())
            rows.append(row)
            print(row, flush=True)
    return rows


def draw(rows: list[Row], file: Path | IO[bytes]) -> None:
    """Two panels for each network: ranking and feature error against evaluations."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "egoscore"
    from matplotlib import pyplot as plt

    networks = list(dict.fromkeys(row["network"] for row in rows))
    figure, axes = plt.subplots(len(networks), 2, figsize=(9, 3.4 * len(networks)), squeeze=False)
    marks = dict(zip(COMPARED, "os^vDP", strict=True))
    for line, network in zip(axes, networks, strict=True):
        for axis, column in zip(line, ("rec", "error_x"), strict=True):
            for solver, mark in marks.items():
                own = [r for r in rows if r["network"] == network and r["solver"] == solver]
                axis.plot(
                    [r["evaluations"] for r in own], [r[column] for r in own], marker=mark,
                    label=solver, markersize=4, linewidth=1,
                )  # fmt: skip
            axis.set_xscale("log")
            axis.set_xlabel("network evaluations a node and sample")
            axis.set_title(network)
            axis.grid(alpha=0.3)
        line[0].set_ylabel("Spearman with EM, 1000 steps")
        line[1].set_ylabel("mean feature error")
        line[1].set_yscale("log")
    axes[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, format="svg", metadata={"Date": None})


def table(rows: list[Row]) -> str:
    """The same in Markdown."""
    lines = [
        "| network | solver | steps | evaluations | Spearman, Rec | Spearman, Energy "
        "| feature error | structure error |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['network']} | {r['solver']} | {r['steps']} | {r['evaluations']} | {r['rec']:.3f} | "
        f"{r['energy']:.3f} | {r['error_x']:.4f} | {r['error_adj']:.4f} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compare, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["builtin", "books"])
    parser.add_argument("--data-dir")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.smoke:
        with tempfile.TemporaryFile() as svg:
            rows = compare("builtin", None, SMOKE)
            draw(rows, svg)
        print(table(rows))
        return
    rows = [row for name in arguments.names for row in compare(name, arguments.data_dir, FULL)]
    draw(rows, DOCS / "solvers.svg")
    (DOCS / "solvers.md").write_text(
        INTRODUCTION + "\n![Ranking and error against evaluations](solvers.svg)\n\n" + table(rows)
    )


if __name__ == "__main__":
    main()

"""What the published numbers owe to a step too far: the same models, scored with two time grids.

    python benchmarks/last_step.py enron --data-dir ../shared/data
    python benchmarks/last_step.py --smoke

A known implementation of the method steps tau/steps at a time along a grid that already ends at
1e-4 after steps - 1 of them, so that it steps once more when time has run out. Here models are
trained for 60 epochs with settings from the paper's grid, and all outliers and 1,500 other nodes
are scored with the right grid and with that one. ROC-AUC in percent; labels are only printed with.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from egoscore import EgoScore, load_dataset
from egoscore.detectors.paper.combine import combine
from egoscore.detectors.paper.components import measure
from egoscore.detectors.paper.model import FittedModel, fit_model
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.graph import AttributedGraph

TRIALS = ((0.05, 8), (0.01, 16), (0.1, 8))  # lr, hidden size; the seed is the trial's number
CPU = torch.device("cpu")


def scored(
    model: FittedModel,
    graph: AttributedGraph,
    nodes: np.ndarray,
    seed: int,
    steps: int,
    solver: str,
) -> str:
    """ROC-AUC of both dissimilarities."""
    config = PaperSettings(num_levels=4, num_samples=3, steps=steps, solver=solver)
    table = measure(model.ego_graphs(graph, CPU), model.networks, config, seed, nodes)
    return "   ".join(
        f"{name} {100 * roc_auc_score(graph.labels[table.node], score):5.1f}"
        for name in ("rec", "energy")
        for score in [combine(table, name, 0.5, "sqrt_snr", model.sde)]
    )


def main() -> None:
    """Train, score twice, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="builtin")
    parser.add_argument("--data-dir")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    arguments = parser.parse_args()
    epochs, steps, trials = (1, 5, TRIALS[:1]) if arguments.smoke else (60, 100, TRIALS)
    torch.set_num_threads(1)
    graph = load_dataset(arguments.name, arguments.data_dir)
    others = np.random.default_rng(0).permutation(np.flatnonzero(graph.labels == 0))[:1500]
    nodes = np.sort(np.concatenate([np.flatnonzero(graph.labels), others]))
    for seed, (lr, hidden_size) in enumerate(trials):
        chosen = {"lr": lr, "hidden_size": hidden_size, "epochs": epochs}
        settings = EgoScore(preset="paper", **chosen).settings()
        model = fit_model(graph, settings, seed, CPU)
        for title, solver in (("right grid", "em"), ("step too far", "em-overshoot")):
            result = scored(model, graph, nodes, seed, steps, solver)
            print(f"lr {lr}, hidden {hidden_size}: {title:12}   {result}", flush=True)


if __name__ == "__main__":
    main()

"""What training and scoring twenty models in one vectorised batch could save, at most.

    python benchmarks/models_at_once.py --data-dir ../shared/data

A batch of models does the arithmetic of as many models; it saves the overhead of calling one
operation after the other. As much is saved by one model over as many copies of the network, whose
products are never slower, as it has one matrix of weights for all copies. So CPU seconds of one
model over copies, divided by those of as many models over one network, are the least that a batch
of models could take. Minimum of three runs.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from egoscore import AttributedGraph, EgoScore, load_dataset
from egoscore.device import one_thread

PARTS = {
    "training": {"epochs": 300, "num_levels": 1, "num_samples": 1, "steps": 1},
    "scoring": {"epochs": 0},
}
SIZES = (8, 16)  # hidden, the least and the largest of the paper's grid


def copies_of(graph: AttributedGraph, count: int) -> AttributedGraph:
    """As many copies side by side."""
    sources = np.repeat(np.arange(graph.num_nodes), graph.adjacency.degrees)
    edges = np.stack([sources, graph.adjacency.indices])
    moved = [edges + copy * graph.num_nodes for copy in range(count)]
    return AttributedGraph.from_edges(
        np.concatenate(moved, axis=1), np.tile(graph.features, (count, 1))
    )


def cost(graph: AttributedGraph, largest: int, **settings: int) -> float:
    """CPU seconds of the paper's detector, full batches."""
    detector = EgoScore(preset="paper", batch_size=0, max_nodes=largest, **settings)
    began = time.process_time()
    detector.fit(graph)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    given = parser.parse_args()
    print("| network | copies | hidden | part | one | all copies | all / (copies x one) |")
    print("|---|---|---|---|---|---|---|")
    for name, count, largest in (("disney", 20, 12), ("books", 5, 13)):
        alone = load_dataset(name, given.data_dir)
        many = copies_of(alone, count)
        cost(alone, largest, epochs=1)  # compiles
        for size in SIZES:
            for part, settings in PARTS.items():
                one, all_of_them = (
                    min(cost(graph, largest, hidden_size=size, **settings) for _ in range(3))
                    for graph in (alone, many)
                )
                print(
                    f"| {name} | {count} | {size} | {part} | {one:.2f} s | {all_of_them:.2f} s | "
                    f"{all_of_them / (count * one):.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    with one_thread():
        main()

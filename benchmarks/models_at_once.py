"""What several models as one stack cost, compared with the same models one by one.

    python benchmarks/models_at_once.py --data-dir ../shared/data

CPU seconds of the paper's model with as many seeds, full batches. Both ways take turns; of two
runs the cheaper one counts. Their component tables must be the same.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from egoscore import AttributedGraph, load_dataset
from egoscore.device import choose_device, one_thread
from egoscore.engine.fit import fit_models
from egoscore.engine.measure import measure_models
from egoscore.score import ComponentTable
from egoscore.settings import Settings, resolve_paper

SIZES = (8, 16)  # hidden, the least and the largest of the paper's grid
CPU = choose_device(-1)


def run(
    graph: AttributedGraph, settings: Settings, seeds: list[int]
) -> tuple[list[ComponentTable], float, float]:
    """Component tables, and CPU seconds of training and scoring."""
    began = time.process_time()
    models = fit_models(graph, [settings] * len(seeds), seeds, CPU)
    trained = time.process_time()
    tables = measure_models(models, graph, CPU)
    return tables, trained - began, time.process_time() - trained


def compare(graph: AttributedGraph, settings: Settings, count: int) -> list[tuple[float, float]]:
    """Training and scoring: seconds of a stack, and of as many models one by one."""
    costs = []
    for _ in range(2):
        together, *stacked = run(graph, settings, list(range(count)))
        alone = [run(graph, settings, [seed]) for seed in range(count)]
        for found, (expected, *_) in zip(together, alone, strict=True):
            np.testing.assert_allclose(found.values, expected[0].values, rtol=1e-4, atol=1e-6)
        costs.append([stacked, [sum(one[1] for one in alone), sum(one[2] for one in alone)]])
    (stack, single) = np.min(costs, axis=0)
    return list(zip(stack, single, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    given = parser.parse_args()
    print("| network | models | hidden | part | one by one | one stack | stack / one by one |")
    print("|---|---|---|---|---|---|---|")
    for name, count, epochs in (("disney", 7, 300), ("books", 4, 100)):
        graph = load_dataset(name, given.data_dir)
        for size in SIZES:
            chosen = {"hidden_size": size, "epochs": epochs, "batch_size": 0}
            run(graph, resolve_paper(chosen | {"epochs": 2}), [0, 1])  # compiles
            costs = compare(graph, resolve_paper(chosen), count)
            for part, (stack, single) in zip(("training", "scoring"), costs, strict=True):
                print(
                    f"| {name} | {count} | {size} | {part} | {single:.2f} s | {stack:.2f} s | "
                    f"{stack / single:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    with one_thread():
        main()

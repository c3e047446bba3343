"""What judging amounts by their logarithms is worth, on generated networks.

    python benchmarks/amounts.py [--smoke]

Every network of varied-00 … varied-26 whose features are numbers is judged as it was drawn, and
with its features turned into amounts (the exponential of each column, of a spread and a size drawn
for it, two fifths of the columns rounded to whole numbers): with logarithms, as the default preset
has it, and without. Prints mean ROC-AUC and average precision as a Markdown table.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from unittest import mock

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from egoscore import AttributedGraph, EgoScore, load_dataset
from egoscore.detectors.conditional import preprocess

FARTHEST = 6.0  # deviations: the exponential of more would be no number


def as_amounts(graph: AttributedGraph, seed: int) -> AttributedGraph:
    """The same network with features that spread over orders of magnitude."""
    rng = np.random.default_rng(seed)
    x = graph.features.astype(np.float64)
    deviations = np.clip((x - x.mean(axis=0)) / x.std(axis=0), -FARTHEST, FARTHEST)
    width = x.shape[1]
    values = np.exp(deviations * rng.uniform(0.3, 1.2, width) + rng.normal(3, 2, width))
    whole = rng.random(width) < 0.4
    values[:, whole] = np.round(values[:, whole])
    return replace(graph, features=values.astype(np.float32))


def accuracy(graph: AttributedGraph, updates: int | None) -> tuple[float, float]:
    """ROC-AUC and average precision of the default preset in percent."""
    score = EgoScore(updates=updates).fit(graph).decision_score_.numpy()
    return (
        100 * roc_auc_score(graph.labels, score),
        100 * average_precision_score(graph.labels, score),
    )


def main() -> None:
    """Score every network three times, print means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    count, updates = (1, 2) if parser.parse_args().smoke else (27, None)
    found: dict[str, list[tuple[float, float]]] = {}
    for number in range(count):
        graph = load_dataset(f"varied-{number:02d}")
        if np.isin(graph.features, (0, 1)).all():
            continue
        changed = as_amounts(graph, number)
        found.setdefault("as drawn", []).append(accuracy(graph, updates))
        found.setdefault("as amounts", []).append(accuracy(changed, updates))
        with mock.patch.object(preprocess, "_shift", return_value=np.nan):
            found.setdefault("as amounts, without logarithms", []).append(
                accuracy(changed, updates)
            )
    print(f"{len(found['as drawn'])} networks\n\n| features | ROC-AUC | AP |\n|---|---|---|")
    for title, cells in found.items():
        auc, precision = np.mean(cells, axis=0)
        print(f"| {title} | {auc:.1f} | {precision:.1f} |")


if __name__ == "__main__":
    main()

"""What each part of the default recipe adds, on the networks it was chosen on.

    python benchmarks/ablation.py

Fits the default preset on varied-00 … varied-26 once, and combines its channels in several ways;
prints mean ROC-AUC and average precision as a Markdown table.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from egoscore import EgoScore
from egoscore.graph.varied import CHOOSING, varied_network
from egoscore.surprise import calibrate
from egoscore.surprise.calibrate import BySize, Calibration
from egoscore.surprise.model import QUESTIONS, Surprises, seen_as

Questions = dict[str, tuple[str, ...]]
CHANNELS = (*QUESTIONS["features"], *QUESTIONS["company"])


def surprise(values: np.ndarray) -> np.ndarray:
    """Calibrated by the values themselves."""
    return Calibration.fit(values).surprise(values)


def answers(table: Surprises, questions: Questions) -> list[np.ndarray]:
    """The mean surprise of every question's channels."""
    channels = {n: surprise(seen_as(n, table.channels[n])) for q in questions.values() for n in q}
    return [np.mean([channels[name] for name in names], axis=0) for names in questions.values()]


def among_equals(table: Surprises, total: np.ndarray) -> np.ndarray:
    """Compared with nodes that have about as many neighbours."""
    return BySize.fit(total, table.ego_size).apply(total, table.ego_size)


def score(table: Surprises, questions: Questions = QUESTIONS) -> np.ndarray:
    """The recipe with other questions."""
    total = np.sum([surprise(answer) for answer in answers(table, questions)], axis=0)
    return among_equals(table, total)


def size_counts(table: Surprises) -> np.ndarray:
    """Not compared with nodes of the same size."""
    return np.sum([surprise(answer) for answer in answers(table, QUESTIONS)], axis=0)


def uncalibrated(table: Surprises) -> np.ndarray:
    """Means over channels summed as they are."""
    return among_equals(table, np.sum(answers(table, QUESTIONS), axis=0))


def alike(table: Surprises) -> np.ndarray:
    """All channels count the same."""
    single = {name: (name,) for group in QUESTIONS.values() for name in group}
    return among_equals(table, np.sum(answers(table, single), axis=0))


def largest(table: Surprises) -> np.ndarray:
    """The most surprising answer alone."""
    return among_equals(table, np.max([surprise(a) for a in answers(table, QUESTIONS)], axis=0))


def without(channel: str) -> Questions:
    """The recipe's questions less a channel."""
    return {q: tuple(c for c in names if c != channel) for q, names in QUESTIONS.items()}


def main() -> None:
    """Fit, combine, print."""
    found = []
    for number in CHOOSING:
        graph = varied_network(number)
        found.append((graph.labels, EgoScore().fit(graph).components_))
    with_norm = QUESTIONS | {"features": ("feature_norm", *QUESTIONS["features"])}
    ways = {
        "the recipe": score,
        **{f"without `{name}`": partial(score, questions=without(name)) for name in CHANNELS},
        "with `feature_norm` among the features": partial(score, questions=with_norm),
        "not compared with nodes of the same size": size_counts,
        "answers not calibrated again": uncalibrated,
        "all channels alike": alike,
        "the largest answer": largest,
        **{f"only {q}": partial(score, questions={q: QUESTIONS[q]}) for q in QUESTIONS},
    }
    print("| | AUC | AP |\n|---|---|---|")
    for title, way in ways.items():
        report(title, [(labels, way(table)) for labels, table in found])
    for body in (0.9, 0.7):
        calibrate.BODY = body
        scored = [(labels, score(table)) for labels, table in found]
        report(f"tails fitted from the {100 * body:.0f}% quantile on", scored)


def report(title: str, scored: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """One row."""
    auc = 100 * np.mean([roc_auc_score(*pair) for pair in scored])
    precision = 100 * np.mean([average_precision_score(*pair) for pair in scored])
    print(f"| {title} | {auc:.1f} | {precision:.1f} |", flush=True)


if __name__ == "__main__":
    main()

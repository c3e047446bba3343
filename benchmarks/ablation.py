"""What each part of the default recipe adds, on the networks it was chosen on.

    python benchmarks/ablation.py [--smoke]

Fits the default preset on varied-00 … varied-26 and injected-00 … injected-09 once, and combines
its channels in several ways; prints mean ROC-AUC and average precision of both families as a
Markdown table.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from egoscore import EgoScore
from egoscore.detectors import calibration
from egoscore.detectors.calibration import Calibration
from egoscore.detectors.conditional.by_size import BySize
from egoscore.detectors.conditional.channels import CHANNELS, QUESTIONS, channels_of
from egoscore.detectors.conditional.scoring import ChannelTable, combine
from egoscore.load.families import injected, varied

Questions = dict[str, tuple[str, ...]]
BY_QUESTION: Questions = {question: channels_of(question) for question in QUESTIONS}
Found = list[tuple[np.ndarray, ChannelTable]]
Way = Callable[[ChannelTable], np.ndarray]


def surprise(values: np.ndarray) -> np.ndarray:
    """Calibrated by the values themselves."""
    return Calibration.fit(values).surprise(values)


def channel(table: ChannelTable, name: str) -> np.ndarray:
    """How surprising a channel is."""
    values = CHANNELS[name].scaled(table.channels[name])
    return Calibration.fit(values).bounded_surprise(values)


def answers(table: ChannelTable, questions: Questions) -> list[np.ndarray]:
    """The mean surprise of the channels of every question that is asked of this network."""
    asked = [names for q, names in questions.items() if q in table.questions or len(questions) == 1]
    return [np.mean([channel(table, name) for name in names], axis=0) for names in asked]


def among_equals(table: ChannelTable, total: np.ndarray) -> np.ndarray:
    """Compared with nodes that have about as many neighbours."""
    return BySize.fit(total, table.ego_size).apply(total, table.ego_size)


def score(table: ChannelTable, questions: Questions = BY_QUESTION) -> np.ndarray:
    """The recipe with other questions."""
    total = combine([surprise(answer) for answer in answers(table, questions)])
    return among_equals(table, total)


def by_groups(table: ChannelTable) -> np.ndarray:
    """Compared with a fifth of the nodes, those nearest in size, whatever the other fifths are."""
    total = size_counts(table)
    cuts = np.unique(np.quantile(table.ego_size, (0.2, 0.4, 0.6, 0.8)))
    group = np.searchsorted(cuts, table.ego_size, side="right")
    found = np.empty_like(total)
    for number in np.unique(group):
        mine = group == number
        middle, above = np.quantile(total[mine], (0.5, 0.84))
        found[mine] = (total[mine] - middle) / max(above - middle, 1e-9)
    return found


def size_counts(table: ChannelTable) -> np.ndarray:
    """Not compared with nodes of the same size."""
    return combine([surprise(answer) for answer in answers(table, BY_QUESTION)])


def uncalibrated(table: ChannelTable) -> np.ndarray:
    """Means over channels summed as they are."""
    return among_equals(table, combine(answers(table, BY_QUESTION)))


def alike(table: ChannelTable) -> np.ndarray:
    """All channels count the same."""
    names = [name for question in table.questions for name in BY_QUESTION[question]]
    return among_equals(table, np.sum([channel(table, name) for name in names], axis=0))


def plain_sum(table: ChannelTable) -> np.ndarray:
    """All answers count once."""
    return among_equals(table, np.sum([surprise(a) for a in answers(table, BY_QUESTION)], axis=0))


def largest(table: ChannelTable) -> np.ndarray:
    """The most surprising answer alone."""
    return among_equals(table, np.max([surprise(a) for a in answers(table, BY_QUESTION)], axis=0))


def without(left_out: str) -> Questions:
    """The recipe's questions less a channel."""
    return {q: tuple(c for c in names if c != left_out) for q, names in BY_QUESTION.items()}


def main() -> None:
    """Fit, combine, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    count, updates = (1, 2) if parser.parse_args().smoke else (None, None)
    graphs = [
        [varied.varied_network(number) for number in varied.CHOOSING[:count]],
        [injected.injected_network(number) for number in injected.CHOOSING[:count]],
    ]
    detector = EgoScore(updates=updates)
    families = [[(g.labels, detector.fit(g).components_) for g in family] for family in graphs]
    with_norm = BY_QUESTION | {"features": ("feature_norm", *BY_QUESTION["features"])}
    ways = {
        "the recipe": score,
        **{
            f"without `{name}`": partial(score, questions=without(name))
            for names in BY_QUESTION.values()
            for name in names
        },
        "with `feature_norm` among the features": partial(score, questions=with_norm),
        "not compared with nodes of the same size": size_counts,
        "compared group by group, not along a line": by_groups,
        "answers not calibrated again": uncalibrated,
        "all channels alike": alike,
        "the largest answer counts once, as the others": plain_sum,
        "the largest answer alone": largest,
        **{f"only {q}": partial(score, questions={q: names}) for q, names in BY_QUESTION.items()},
    }
    print("| | varied: AUC | AP | injected: AUC | AP |\n|---|---|---|---|---|")
    for title, way in ways.items():
        report(title, way, families)
    for body in (0.9, 0.7):
        calibration.BODY = body
        report(f"tails fitted from the {100 * body:.0f}% quantile on", score, families)


def report(title: str, way: Way, families: Iterable[Found]) -> None:
    """One row."""
    cells = []
    for found in families:
        scored = [(labels, way(table)) for labels, table in found]
        for metric in (roc_auc_score, average_precision_score):
            cells.append(f"{100 * np.mean([metric(*pair) for pair in scored]):.1f}")
    print(f"| {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

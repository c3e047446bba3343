"""What measured results are compared with: published results, and those of a random ranking."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import sqrt

import numpy as np


@dataclass(frozen=True)
class Published:
    """Mean, standard deviation and maximum in percent, or the `failure` instead."""

    mean: float = 0.0
    std: float = 0.0
    largest: float = 0.0
    failure: str = ""


@cache
def published() -> dict[tuple[str, str, str], Published]:
    """The published results by (metric, method, data set)."""
    text = (files("egoscore.bench") / "published.csv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    found = {}
    for row in csv.DictReader(lines):
        key = row["metric"], row["method"], row["dataset"]
        if row["std"]:
            found[key] = Published(float(row["mean"]), float(row["std"]), float(row["max"]))
        else:
            found[key] = Published(failure=row["mean"])
    return found


@dataclass(frozen=True)
class Chance:
    """Mean and standard deviation of a metric over all rankings, in percent.

    Every ranking of n nodes is equally likely; k of them are outliers.
    """

    mean: float
    std: float


def roc_auc(n: int, k: int) -> Chance:
    """Mann and Whitney (1947)."""
    return Chance(50.0, 100 * sqrt((n + 1) / (12 * k * (n - k))))


@cache  # its sums run over all nodes
def average_precision(n: int, k: int) -> Chance:
    """Mean by Bestgen (2015), variance as by Manzhos et al. (2025).

    The sum over places i of y_i (y_1 + … + y_i) / i, divided by k; y_i is 1 if an outlier is at i.
    """
    place = np.arange(1.0, n + 1)
    before = np.cumsum(1 / place) - 1 / place  # 1 + 1/2 + … + 1/(i - 1)
    # p1 is the probability of an outlier at one given place, p2 at both of two, and so on
    p1, p2, p3, p4 = np.cumprod([(k - j) / (n - j) if k > j else 0.0 for j in range(4)])
    mean = np.sum((p1 + (place - 1) * p2) / place)
    squares = (p1 + 3 * (place - 1) * p2 + (place - 1) * (place - 2) * p3) / place**2
    # products of the term at place i with all earlier terms
    once = (2 * p2 + (place - 5) * p3) * before + 3 * (place - 1) * p3
    products = (once + (place - 3) * (place - 1 - before) * p4) / place
    variance = np.sum(squares + 2 * products) - mean**2
    return Chance(100 * float(mean) / k, 100 * sqrt(max(0.0, variance)) / k)


def recall_at_k(n: int, k: int) -> Chance:
    """The number of outliers among the first k is hypergeometric."""
    return Chance(100 * k / n, 100 * (n - k) / (n * sqrt(n - 1)))


CHANCE: dict[str, Callable[[int, int], Chance]] = {
    "roc_auc": roc_auc,
    "average_precision": average_precision,
    "recall_at_k": recall_at_k,
}

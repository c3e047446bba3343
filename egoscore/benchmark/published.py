"""What was published, for comparison."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Published:
    """Mean, standard deviation and maximum in percent; or why there is none (`failure`)."""

    mean: float = 0.0
    std: float = 0.0
    largest: float = 0.0
    failure: str = ""


@cache
def published() -> dict[tuple[str, str, str], Published]:
    """By (metric, method, data set)."""
    text = (files("egoscore.benchmark") / "published.csv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    found = {}
    for row in csv.DictReader(lines):
        key = row["metric"], row["method"], row["dataset"]
        if row["std"]:
            numbers = float(row["mean"]), float(row["std"]), float(row["max"])
            found[key] = Published(*numbers)
        else:
            found[key] = Published(failure=row["mean"])
    return found

"""One page that needs nothing else: no scripts, no network, no other file."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import pyarrow as pa
from jinja2 import Environment
from numpy.typing import NDArray

from egoscore.tell.metrics import Evaluation
from egoscore.tell.words import accuracy, meaning, printable

_TOP = 50
_COLOURS = ("--mark", "--warm", "--soft")
_WIDTH, _HEIGHT, _BINS = 640.0, 176.0, 60
_MEANS = ("feature_error", "structure_error", "energy_shift")
_COLUMNS = {
    "default": (
        *("significant", "p_value"),
        *("surprise_features", "surprise_company", "surprise_place"),
    ),
    "paper": (*_MEANS, "energy"),
}
_LOSSES = {
    "default": ("first third", "second third", "last third"),
    "paper": ("features", "adjacency"),
}


def render_report(
    config: dict[str, Any],
    ranking: pa.Table,
    threshold: float,
    losses: NDArray[np.float64],
    evaluation: Evaluation | None,
    remarks: Sequence[str] = (),
) -> str:
    """The report as HTML; every value that comes from the data is escaped."""
    environment = Environment(autoescape=True, trim_blocks=True)
    source = (files("egoscore.tell") / "report.html.j2").read_text(encoding="utf-8")
    score = ranking["score"].to_numpy()
    heads, rows = _top_rows(ranking, config["preset"])
    return environment.from_string(source).render(
        source=printable(config["source"]),
        network=config["network"],
        contamination=config["contamination"],
        num_flagged=int(ranking["label"].to_numpy().sum()),
        threshold=f"{threshold:.4g}",
        meaning=meaning(config["preset"], len(score)),
        evaluation=evaluation and accuracy(evaluation, len(score)),
        remarks=list(remarks),
        histogram=histogram(score, threshold),
        heads=heads,
        rows=rows,
        losses=_loss_lines(losses, _LOSSES[config["preset"]]),
        num_epochs=len(losses),
        preset=config["preset"],
        unit="epoch" if config["preset"] == "paper" else "update",
        facts=_facts(config),
    )


def histogram(score: NDArray[np.float64], threshold: float) -> dict[str, Any]:
    """Bars of a histogram of `score` in the coordinates of the page."""
    low, high = float(score.min()), float(score.max())
    spread = (high - low) or 1.0
    counts, edges = np.histogram(score, bins=_BINS, range=(low, low + spread))
    heights = np.sqrt(counts / max(1, counts.max())) * _HEIGHT
    width = _WIDTH / _BINS
    bars = [
        {
            "x": round(i * width, 2),
            "y": round(_HEIGHT - height, 2),
            "width": round(width - 1, 2),
            "height": round(height, 2),
            "above": edges[i] >= threshold,
            "title": f"{counts[i]} nodes from {edges[i]:.4g} to {edges[i + 1]:.4g}",
        }
        for i, height in enumerate(heights)
        if counts[i]
    ]
    cut = round((threshold - low) / spread * _WIDTH, 2)
    return {"bars": bars, "cut": cut, "low": f"{low:.4g}", "high": f"{high:.4g}"}


def _top_rows(ranking: pa.Table, preset: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    known = [name for name in ("known_label", "kind") if name in ranking.column_names]
    names = ["rank", "node", "score", "percentile", "ego_size", *_COLUMNS[preset], *known]
    heads = [{"name": name.replace("_", " "), "text": name in ("node", "kind")} for name in names]
    rows = []
    for row in ranking.slice(0, _TOP).to_pylist():
        for part in _MEANS if preset == "paper" else ():
            row[part] = float(np.mean([row[key] for key in row if key.startswith(f"{part}@")]))
        row["node"] = printable(row["node"])
        rows.append({"flagged": row["label"], "cells": [_cell(row[name]) for name in names]})
    return heads, rows


def _cell(value: Any) -> str:
    return f"{value:#.4g}" if isinstance(value, float) else printable(value)


def _loss_lines(losses: NDArray[np.float64], names: Sequence[str]) -> list[dict[str, Any]]:
    if len(losses) < 2:
        return []
    lines = []
    for column, name in enumerate(names):
        colour = _COLOURS[column]
        values = losses[:, column]
        top = float((losses / np.maximum(losses[0], 1e-12)).max())
        y = _HEIGHT - values / max(values[0], 1e-12) / top * (_HEIGHT - 16)
        x = np.linspace(0.0, _WIDTH, len(values))
        keep = np.unique(np.linspace(0, len(values) - 1, 600).astype(int))
        lines.append(
            {
                "name": name,
                "colour": f"var({colour})",
                "points": " ".join(f"{x[i]:.1f},{y[i]:.1f}" for i in keep),
                "first": f"{values[0]:.4g}",
                "last": f"{values[-1]:.4g}",
                "label_y": 12 + 14 * column,
            }
        )
    return lines


def _facts(config: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = [("seed", config["seed"]), ("preset", config["preset"])]
    pairs += list(config["settings"].items())
    pairs += [("data fingerprint", config["fingerprint"])]
    pairs += [(f"{name} version", value) for name, value in config["versions"].items()]
    return [(name.replace("_", " "), printable(value)) for name, value in pairs]

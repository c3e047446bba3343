"""The training losses as a chart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egoscore.report.charts import WIDE, Chart, Line, Scale, Values, points
from egoscore.text import number


def training_curve(losses: Values, num_steps: int, names: Sequence[str], step: str) -> Chart | None:
    """Losses (steps, names) relative to the first; None if there are fewer than two steps."""
    if len(losses) < 2:
        return None
    relative = _relative(losses)
    across, up = _training_axes(relative, num_steps)
    steps = across(np.linspace(1.0, max(2, num_steps), len(losses)))
    lines = tuple(
        Line(name, _from_to(relative[:, column]), points(steps, up(relative[:, column])))
        for column, name in enumerate(names)
    )
    return _training_chart(across, up, step, lines)


def training_band(losses: Values, num_steps: int, step: str) -> Chart | None:
    """The same for networks (steps, networks) with one target: their mean and their range."""
    if len(losses) < 2:
        return None
    relative = _relative(losses)
    there = np.isfinite(relative).any(axis=1)
    across, up = _training_axes(relative, num_steps)
    steps = across(np.linspace(1.0, max(2, num_steps), len(losses)))[there]
    known = relative[there]
    mean, least, most = (f(known, axis=1) for f in (np.nanmean, np.nanmin, np.nanmax))
    count = losses.shape[1]
    name = f"mean of {count} networks" if count > 1 else "network"
    line = Line(name, _from_to(mean), points(steps, up(mean)))
    if count == 1:
        return _training_chart(across, up, step, (line,))
    outline = points(np.append(steps, steps[::-1]), up(np.append(least, most[::-1])))
    ends = f"{number(least[-1])} to {number(most[-1])} at the end" if len(known) else ""
    band = Line("range", ends, outline)
    return _training_chart(across, up, step, (line,), band)


def _relative(losses: Values) -> Values:
    """Losses divided by the first row; NaN where they are not finite."""
    relative: Values = losses / np.where(losses[0] > 0, losses[0], 1.0)
    return np.where(np.isfinite(relative), relative, np.nan)


def _training_axes(relative: Values, num_steps: int) -> tuple[Scale, Scale]:
    most = float(np.max(relative[np.isfinite(relative)], initial=1.0))
    return WIDE.across(1.0, float(max(2, num_steps))), WIDE.up(most)


def _from_to(relative: Values) -> str:
    return f"{number(relative[0])} → {number(relative[-1])}" if len(relative) else ""


def _training_chart(
    across: Scale, up: Scale, step: str, lines: tuple[Line, ...], band: Line | None = None
) -> Chart:
    drawn = (*lines, *([band] if band else []))
    ends = "; ".join(f"{line.name} {line.summary}" for line in drawn)
    titles = (f"Training losses as shares of the first: {ends}.", step, "loss (first = 1)")
    return Chart(WIDE, *titles, across.ticks(6), up.ticks(4), lines=lines, band=band)

"""The chart of training losses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egoscore.report.charts import WIDE, Chart, Line, Scale, Values, points
from egoscore.text import number


def training_curve(losses: Values, num_steps: int, names: Sequence[str], step: str) -> Chart | None:
    """Losses (steps, curves) relative to the first; None if there are fewer than two steps.

    Curves without names are networks with one target: their mean and their range are drawn.
    """
    if len(losses) < 2:
        return None
    relative = losses / np.where(losses[0] > 0, losses[0], 1.0)
    relative = np.where(np.isfinite(relative), relative, np.nan)
    x = np.linspace(1.0, max(2, num_steps), len(losses))
    across, up = WIDE.across(1.0, x[-1]), WIDE.up(float(np.nanmax(relative, initial=1.0)))
    band: tuple[Line, ...] = ()
    if names:
        lines = tuple(
            Line(name, _from_to(curve), points(across(x), up(curve)))
            for name, curve in zip(names, relative.T, strict=True)
        )
    else:
        known = np.isfinite(relative).any(axis=1)
        lines, band = _mean_and_range(across(x[known]), up, relative[known])
    shown = "; ".join(f"{one.name} {one.summary}" for one in (*lines, *band))
    titles = (f"Training losses as shares of the first: {shown}.", step, "loss (first = 1)")
    return Chart(
        WIDE, *titles, across.ticks(6), up.ticks(4), lines=lines, band=next(iter(band), None)
    )


def _mean_and_range(
    x: Values, up: Scale, losses: Values
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """The mean of losses (steps, networks), and their range if there are several networks."""
    mean, least, most = (f(losses, axis=1) for f in (np.nanmean, np.nanmin, np.nanmax))
    count = losses.shape[1]
    name = f"mean of {count} networks" if count > 1 else "network"
    lines = (Line(name, _from_to(mean), points(x, up(mean))),)
    if count == 1:
        return lines, ()
    outline = points(np.append(x, x[::-1]), up(np.append(least, most[::-1])))
    ends = f"{number(least[-1])} to {number(most[-1])} at the end" if len(x) else ""
    return lines, (Line("range", ends, outline),)


def _from_to(curve: Values) -> str:
    return f"{number(curve[0])} → {number(curve[-1])}" if len(curve) else ""

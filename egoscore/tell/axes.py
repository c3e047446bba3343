"""Where values lie on a page, and which of them are written beside an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from egoscore.tell.brief import number

_ROUND = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: the coordinate `at` which it lies, and what is written beside it."""

    at: float
    text: str


@dataclass(frozen=True)
class Frame:
    """The size of a chart, and where its axes begin and end."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    def across(self, low: float, high: float) -> Scale:
        """Values along the horizontal axis."""
        return Scale(low, high, self.left, self.right)

    def up(self, high: float) -> Scale:
        """Values from zero along the vertical axis."""
        return Scale(0.0, high, self.bottom, self.top)


WIDE = Frame(400.0, 196.0, 50.0, 386.0, 22.0, 160.0)
SQUARE = Frame(300.0, 280.0, 34.0, 288.0, 22.0, 242.0)


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high` as coordinates from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, values: ArrayLike) -> NDArray[np.float64]:
        """The coordinates of values, rounded to what an eye can tell apart."""
        share = (np.asarray(values, dtype=np.float64) - self.low) / (self.high - self.low)
        found: NDArray[np.float64] = np.round(self.start + share * (self.end - self.start), 1)
        return found

    def ticks(self, count: int) -> tuple[Tick, ...]:
        """About `count` round numbers."""
        values = round_numbers(self.low, self.high, count)
        places = self(values)
        return tuple(Tick(float(p), number(v)) for p, v in zip(places, values, strict=True))


def round_numbers(low: float, high: float, count: int) -> list[float]:
    """About `count` round numbers from `low` to `high`, evenly spaced."""
    rough = (high - low) / max(1, count)
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(nice for nice in _ROUND if nice * power >= rough * (1 - 1e-9))
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(f"{place * step:.12g}") for place in range(first, last + 1)]


def count_ticks(most: int, height: Scale, apart: float) -> tuple[Tick, ...]:
    """Round counts up to `most` on a square-root scale, at least `apart` from each other."""
    found = [Tick(float(height(0.0)), "0")]
    for count in _round_counts(most):
        place = float(height(np.sqrt(count)))
        if abs(place - found[-1].at) >= apart:
            found.append(Tick(place, f"{count:,}"))
    return tuple(found)


def _round_counts(most: int) -> list[int]:
    powers = [10**power for power in range(len(str(most)))]
    return [nice * power for power in powers for nice in (1, 2, 5) if nice * power <= most]

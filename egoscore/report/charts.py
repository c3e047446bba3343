"""Charts as coordinates; the templates and the style sheet decide how they look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from egoscore.text import counted, number

_ROUND = (1.0, 2.0, 5.0, 10.0)
_BINS = 40
_MOST_POINTS = 300
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Tick:
    """A tick of an axis: its coordinate `at`, and its label."""

    at: float
    text: str


@dataclass(frozen=True)
class Frame:
    """The size of a chart, and where its axes start and end."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    def across(self, low: float, high: float) -> Scale:
        """The scale of the horizontal axis."""
        return Scale(low, high, self.left, self.right)

    def up(self, high: float) -> Scale:
        """The scale of the vertical axis, which starts at zero."""
        return Scale(0.0, high, self.bottom, self.top)


WIDE = Frame(400.0, 196.0, 50.0, 386.0, 22.0, 160.0)
SQUARE = Frame(300.0, 280.0, 34.0, 288.0, 22.0, 242.0)


@dataclass(frozen=True)
class Scale:
    """Maps values from `low` to `high` to coordinates from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, values: ArrayLike) -> NDArray[np.float64]:
        """The coordinates of values, rounded to a tenth of a pixel."""
        share = (np.asarray(values, dtype=np.float64) - self.low) / (self.high - self.low)
        found: NDArray[np.float64] = np.round(self.start + share * (self.end - self.start), 1)
        return found

    def ticks(self, count: int) -> tuple[Tick, ...]:
        """Ticks at about `count` round numbers."""
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
    """Ticks at round counts up to `most` on a square-root scale, at least `apart` pixels apart."""
    found = [Tick(float(height(0.0)), "0")]
    for count in _round_counts(most):
        place = float(height(np.sqrt(count)))
        if abs(place - found[-1].at) >= apart:
            found.append(Tick(place, f"{count:,}"))
    return tuple(found)


def _round_counts(most: int) -> list[int]:
    powers = [10**power for power in range(len(str(most)))]
    return [nice * power for power in powers for nice in (1, 2, 5) if nice * power <= most]


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram; `above` says whether it lies above the threshold."""

    x: float
    y: float
    width: float
    height: float
    above: bool
    title: str


@dataclass(frozen=True)
class Line:
    """A line through `points`; the legend shows its `name` and `summary`."""

    name: str
    summary: str
    points: str


@dataclass(frozen=True)
class Chart:
    """One chart.

    Attributes: `label`, a description for screen readers; `band`, the outline of the range between
    the least and the greatest line; `cut`, the threshold; `chance`, the points of the line that a
    random score would give.
    """

    frame: Frame
    label: str
    x_title: str
    y_title: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    bars: tuple[Bar, ...] = ()
    lines: tuple[Line, ...] = ()
    band: Line | None = None
    cut: Tick | None = None
    chance: str = ""


def histogram(score: Values, threshold: float, start: float = np.inf) -> Chart:
    """The histogram of the scores; no bar spans the threshold.

    The first bar starts at `start`, or at the lowest score if that is less.
    """
    edges = _edges(score, threshold, min(start, float(score.min())))
    counts, _ = np.histogram(score, bins=edges)
    across = WIDE.across(edges[0], edges[-1])
    up = WIDE.up(float(np.sqrt(counts.max())))
    is_shown = edges[0] <= threshold <= edges[-1]
    return Chart(
        frame=WIDE,
        label=(
            f"Histogram of {counted(len(score), 'score')} from {number(score.min())} to "
            f"{number(score.max())}, half of them up to {number(np.median(score))}; "
            f"{int((score > threshold).sum()):,} above the threshold {number(threshold)}."
        ),
        x_title="score",
        y_title="nodes (square-root scale)",
        x_ticks=across.ticks(6),
        y_ticks=count_ticks(int(counts.max()), up, apart=17.0),
        bars=_bars(counts, edges, across(edges), up(np.sqrt(counts)), threshold),
        cut=Tick(float(across(threshold)), f"threshold {number(threshold)}") if is_shown else None,
    )


def _bars(
    counts: NDArray[np.int64], edges: Values, places: Values, tops: Values, threshold: float
) -> tuple[Bar, ...]:
    return tuple(
        Bar(
            x=places[i],
            y=tops[i],
            width=round(max(0.5, places[i + 1] - places[i] - 0.8), 1),
            height=round(WIDE.bottom - tops[i], 1),
            above=bool(edges[i] > threshold),
            title=f"{counted(int(n), 'node')} from {number(edges[i])} to {number(edges[i + 1])}",
        )
        for i, n in enumerate(counts)
        if n
    )


def _edges(score: Values, threshold: float, low: float) -> Values:
    """The edges of the bins; the threshold is one of them unless it is far from all scores."""
    high = float(score.max())
    spread = max(high - low, 1e-9 * max(abs(low), abs(high)), 1e-12)
    if not low - spread <= threshold <= high + spread:
        return np.linspace(low, low + spread, _BINS + 1)
    cut = np.nextafter(threshold, np.inf)  # a node on the threshold is not above it
    low, high = min(low, cut), max(high, cut, low + spread)
    width = (high - low) / _BINS
    below = round((cut - low) / width)
    width = (cut - low) / below if below else width  # equal widths, the first bar at `low`
    above = int(np.ceil((high - cut) / width))
    edges: Values = cut + width * np.arange(-below, above + 1)
    edges[-1] = max(edges[-1], high)
    if below:
        edges[0] = low
        return edges
    return np.concatenate([[low], edges]) if low < cut else edges


def roc(labels: NDArray[np.integer], score: Values, area: float) -> Chart:
    """The ROC curve: share of outliers found against share of other nodes flagged."""
    from sklearn.metrics import roc_curve

    wrong, found, _ = roc_curve(labels, score)
    titles = ("share of other nodes flagged", "share of known outliers found")
    label = f"ROC curve; the area under it is {100 * area:.1f}%, that of chance 50%."
    return _square(label, titles, wrong, found, (0.0, 1.0))


def precision_recall(labels: NDArray[np.integer], score: Values, mean: float) -> Chart:
    """The precision-recall curve, from the first outlier found on."""
    from sklearn.metrics import precision_recall_curve

    right, found, _ = precision_recall_curve(labels, score)
    right, found = right[found > 0], found[found > 0]
    chance = float(np.mean(labels))
    titles = ("share of known outliers found", "share of flagged that are known")
    label = (
        f"Precision-recall curve; average precision {100 * mean:.1f}%, that of chance "
        f"{100 * chance:.1f}%."
    )
    return _square(label, titles, found[::-1], right[::-1], (chance, chance))


def _square(
    label: str,
    titles: tuple[str, str],
    x: Values,
    y: Values,
    chance: tuple[float, float],
) -> Chart:
    """A square chart of one share against another, with the line of a random score."""
    across, up = SQUARE.across(0.0, 1.0), SQUARE.up(1.0)
    kept = thinned(x, y)
    line = Line("ranking", "", points(across(x[kept]), up(y[kept])))
    dashed = points(across([0.0, 1.0]), up(chance))
    ticks = (across.ticks(5), up.ticks(5))
    return Chart(SQUARE, label, *titles, *ticks, lines=(line,), chance=dashed)


def thinned(x: Values, y: Values, most: int = _MOST_POINTS) -> NDArray[np.int64]:
    """The points of a curve to keep: at most `most`, evenly spaced, including both ends."""
    if len(x) <= most:
        return np.arange(len(x))
    travelled = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    marks = np.linspace(0.0, travelled[-1], most)
    found: NDArray[np.int64] = np.unique(np.searchsorted(travelled, marks).clip(0, len(x) - 1))
    found[-1] = len(x) - 1
    return found


def points(x: Values, y: Values) -> str:
    """The coordinates of a line; points that are not finite are skipped."""
    both = np.isfinite(x) & np.isfinite(y)
    return " ".join(f"{a:g},{b:g}" for a, b in zip(x[both], y[both], strict=True))

"""Charts as coordinates: what there is to draw, not how it looks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.numerals import counted
from egoscore.tell.axes import SQUARE, WIDE, Frame, Tick, count_ticks
from egoscore.tell.brief import number

Values = NDArray[np.float64]
_BINS = 40
_MOST_POINTS = 300


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram; `above` the threshold."""

    x: float
    y: float
    width: float
    height: float
    above: bool
    title: str


@dataclass(frozen=True)
class Line:
    """A line through `points`; `name` and `tells` stand in the legend."""

    name: str
    tells: str
    points: str


@dataclass(frozen=True)
class Chart:
    """One chart.

    Attributes: `label` what it shows, for those who do not see it; `band` the outline of what lies
    between the least and the greatest line; `cut` where the threshold is; `chance` the points of
    what a score that knows nothing would give.
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
    """How many nodes have which score; no bar lies on both sides of the threshold.

    The first bar begins at `start`, or at the least score if that is less.
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
    """Where bars begin and end: the threshold is among them if it is anywhere near."""
    high = float(score.max())
    spread = max(high - low, 1e-9 * max(abs(low), abs(high)), 1e-12)
    if not low - spread <= threshold <= high + spread:
        return np.linspace(low, low + spread, _BINS + 1)
    cut = np.nextafter(threshold, np.inf)  # a node on the threshold is not above it
    low, high = min(low, cut), max(high, cut, low + spread)
    width = (high - low) / _BINS
    below = round((cut - low) / width)
    width = (cut - low) / below if below else width  # all bars alike, the first at `low`
    above = int(np.ceil((high - cut) / width))
    edges: Values = cut + width * np.arange(-below, above + 1)
    edges[-1] = max(edges[-1], high)
    if below:
        edges[0] = low
        return edges
    return np.concatenate([[low], edges]) if low < cut else edges


def roc(labels: NDArray[np.integer], score: Values, area: float) -> Chart:
    """Share of known outliers found against share of others flagged, for every threshold."""
    from sklearn.metrics import roc_curve

    wrong, found, _ = roc_curve(labels, score)
    titles = ("share of other nodes flagged", "share of known outliers found")
    label = f"ROC curve; the area under it is {100 * area:.1f}%, that of chance 50%."
    return _square(label, titles, wrong, found, (0.0, 1.0))


def precision_recall(labels: NDArray[np.integer], score: Values, mean: float) -> Chart:
    """Share of flagged nodes that are known outliers against share of these that are found.

    It begins where the first is found: before that there is no share to speak of.
    """
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
    """A chart of shares against shares, with the line that chance gives."""
    across, up = SQUARE.across(0.0, 1.0), SQUARE.up(1.0)
    kept = thinned(x, y)
    line = Line("ranking", "", points(across(x[kept]), up(y[kept])))
    dashed = points(across([0.0, 1.0]), up(chance))
    ticks = (across.ticks(5), up.ticks(5))
    return Chart(SQUARE, label, *titles, *ticks, lines=(line,), chance=dashed)


def thinned(x: Values, y: Values, most: int = _MOST_POINTS) -> NDArray[np.int64]:
    """Which points of a curve to keep: at most `most`, evenly along it, its ends among them."""
    if len(x) <= most:
        return np.arange(len(x))
    travelled = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    marks = np.linspace(0.0, travelled[-1], most)
    found: NDArray[np.int64] = np.unique(np.searchsorted(travelled, marks).clip(0, len(x) - 1))
    found[-1] = len(x) - 1
    return found


def points(x: Values, y: Values) -> str:
    """The coordinates of a line; what is no number is passed over."""
    both = np.isfinite(x) & np.isfinite(y)
    return " ".join(f"{a:g},{b:g}" for a, b in zip(x[both], y[both], strict=True))

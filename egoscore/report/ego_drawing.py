"""The actual and the expected ego-graph as coordinates; nodes have the same place in both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Picture
from egoscore.report.ego_labels import Circle, Label, labels
from egoscore.text import brief, counted

SHADES = 9  # the number of shades in the style sheet
WIDTH, HEIGHT = 420.0, 300.0
_NAMED = 12  # neighbours; of more, the most important ones have labels
_FEW, _MANY = (112.0, 96.0), (122.0, 120.0)  # half the axes of the ellipse they are on
_CENTRE, RING, _DOT = 11.0, 4.0, 9.0  # the radius of the centre, the width of its ring, other radii
_LONGEST = 100  # characters of a name that is shown on hover
_FADES = 0.8  # the weight of an edge falls by this factor per place in between

Edge = tuple[int, int]


@dataclass(frozen=True)
class Dot:
    """A node: its place, its shade (0 least, `SHADES` - 1 greatest, -1 unknown) and its name.

    Attributes: `label`, the name as drawn, None if it is left out or there is no room.
    """

    x: float
    y: float
    radius: float
    shade: int
    name: str
    label: Label | None


@dataclass(frozen=True)
class View:
    """One of the two pictures; `shared` edges are in both, `own` edges only in this one."""

    dots: tuple[Dot, ...]
    shared: str
    own: str
    label: str


@dataclass(frozen=True)
class Drawing:
    """Both pictures; `left_out` nodes are in neither."""

    actual: View
    expected: View
    shade: str
    left_out: int


def draw(picture: Picture) -> Drawing:
    """Lay out a picture: the centre in the middle, its neighbours around it."""
    actual, expected = _edges(picture.actual), _edges(picture.expected)
    places = layout(len(picture.nodes), actual | expected)
    order = by_importance(picture)[: 1 + _NAMED]
    views = []
    for edges, others, shades, where in (
        (actual, expected, picture.shade_actual, "actual"),
        (expected, actual, picture.shade_expected, "expected"),
    ):
        own = edges - others
        text = (
            f"Ego-graph of {brief(picture.nodes[0])}, {where}: {counted(len(places), 'node')}, "
            f"{counted(len(edges), 'edge')}, {len(own)} of them only in this picture."
        )
        dots = _dots(picture.nodes, shades, places, order)
        views.append(View(dots, _path(edges & others, places), _path(own, places), text))
    return Drawing(views[0], views[1], picture.shade, picture.left_out)


def layout(count: int, edges: Iterable[Edge]) -> NDArray[np.float64]:
    """Coordinates (count, 2): the first node in the middle, the others on an ellipse around it."""
    places = np.tile([WIDTH / 2, HEIGHT / 2], (count, 1))
    around = count - 1
    slots = around + 1 - around % 2  # an odd number: no edge between two runs through the centre
    reach = _FEW if around <= _NAMED else _MANY
    angles = 2 * np.pi * np.arange(around) / slots - np.pi / 2
    order = around_the_circle(count, edges)
    places[order] += reach * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.round(places, 1)


def around_the_circle(count: int, edges: Iterable[Edge]) -> list[int]:
    """The neighbours in an order that puts linked nodes close to each other.

    The next node is the one with the most edges to those placed last; if there is none, the one
    with the fewest edges, as it is likely the end of a chain.
    """
    linked = np.zeros((count, count))
    for a, b in edges:
        if a and b:  # the centre is linked to all
            linked[a, b] = linked[b, a] = 1.0
    left, order = list(range(1, count)), list[int]()
    pull = np.zeros(count)
    while left:
        best = max(left, key=lambda node: (pull[node], -linked[node].sum(), -node))
        left.remove(best)
        order.append(best)
        pull = _FADES * pull + linked[best]
    return order


def by_importance(picture: Picture) -> list[int]:
    """All nodes, the centre first, then those that the comparison is about.

    These are missing neighbours, of which there are few, then unexpected ones, then those with
    the largest deviation of the feature shown. Where these are equal, the order of the picture
    counts, which has unexpected neighbours first.
    """
    actual, expected = _edges(picture.actual), _edges(picture.expected)
    shades = zip(picture.shade_actual, picture.shade_expected, strict=False)
    deviations = dict(enumerate(abs(a - b) if a == a and b == b else 0.0 for a, b in shades))

    def rank(node: int) -> tuple[bool, bool, bool, float, int]:
        is_missing = (0, node) in expected - actual
        is_unexpected = (0, node) in actual - expected
        return node > 0, not is_missing, not is_unexpected, -deviations.get(node, 0.0), node

    return sorted(range(len(picture.nodes)), key=rank)


def _edges(pairs: Iterable[Edge]) -> set[Edge]:
    return {(min(a, b), max(a, b)) for a, b in pairs if a != b}


def _path(edges: Iterable[Edge], places: NDArray[np.float64]) -> str:
    parts = []
    for a, b in sorted(edges):
        (x, y), (to_x, to_y) = places[a], places[b]
        parts.append(f"M{x:g} {y:g}L{to_x:g} {to_y:g}")
    return "".join(parts)


def _dots(
    nodes: tuple[str, ...],
    shades: tuple[float, ...],
    places: NDArray[np.float64],
    order: list[int],
) -> tuple[Dot, ...]:
    """The nodes; those in `order` have labels, where there is room."""
    sizes = [_CENTRE, *[_DOT] * (len(nodes) - 1)]
    circles = [Circle(float(x), float(y), r) for (x, y), r in zip(places, sizes, strict=True)]
    ringed = [replace(circles[0], radius=_CENTRE + RING), *circles[1:]]
    written = labels(nodes, ringed, WIDTH, HEIGHT, order)
    found = []
    for number, (name, dot) in enumerate(zip(nodes, circles, strict=True)):
        shade = _step(shades[number] if number < len(shades) else np.nan)
        found.append(Dot(dot.x, dot.y, dot.radius, shade, brief(name, _LONGEST), written[number]))
    return tuple(found)


def _step(shade: float) -> int:
    if not np.isfinite(shade):
        return -1
    return int(np.clip(shade, 0.0, 1.0) * (SHADES - 1) + 0.5)

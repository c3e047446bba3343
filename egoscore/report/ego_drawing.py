"""The actual and the expected ego-graph as coordinates; nodes have the same place in both."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Picture
from egoscore.text import brief, counted, label

_SIZE = 11.0  # the largest font size of names in the style sheet
_WIDTHS = (14, 9)  # in letters; a name without room is tried again, shortened
_GAP = 4.0


@dataclass(frozen=True)
class Box:
    """An occupied rectangle of the picture."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: Box) -> bool:
        """Whether two boxes overlap."""
        beside = self.left < other.right and other.left < self.right
        return beside and self.top < other.bottom and other.top < self.bottom

    def is_within(self, width: float, height: float) -> bool:
        """Whether the box lies within the picture."""
        return self.left >= 0 and self.top >= 0 and self.right <= width and self.bottom <= height


@dataclass(frozen=True)
class Label:
    """A name drawn at `x`, `y`, which is its start, middle or end, as `anchor` says."""

    text: str
    x: float
    y: float
    anchor: str

    @property
    def box(self) -> Box:
        """The rectangle it occupies, an upper bound."""
        width = text_width(self.text)
        left = self.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * width
        return Box(left, self.y - 0.9 * _SIZE, left + width, self.y + 0.3 * _SIZE)


def text_width(text: str) -> float:
    """An upper bound for the width of a text in common fonts."""
    return _SIZE * sum(map(_advance, text))


def _advance(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in "mwMW@%…":
        return 1.0
    return 0.85 if letter.isupper() or letter in "<>=+~#&" else 0.65


@dataclass(frozen=True)
class Circle:
    """A dot with a name."""

    x: float
    y: float
    radius: float

    @property
    def box(self) -> Box:
        """The square it occupies."""
        r = self.radius
        return Box(self.x - r, self.y - r, self.x + r, self.y + r)


def labels(
    names: Sequence[str], circles: Sequence[Circle], width: float, height: float
) -> list[Label | None]:
    """A label for each name, or None if there is no room; the first name is the centre's."""
    taken, found = [circle.box for circle in circles], list[Label | None]()
    for name, circle in zip(names, circles, strict=True):
        free = (
            one
            for one in _tries(name, circle, circles[0])
            if one.box.is_within(width, height) and not any(map(one.box.touches, taken))
        )
        chosen = next(free, None)
        found.append(chosen)
        taken += [chosen.box] if chosen else []
    return found


def _tries(name: str, circle: Circle, centre: Circle) -> Iterator[Label]:
    """Places for a name, those away from the centre first; the centre's own is below it."""
    aside, level = circle.radius + _GAP, circle.y + 0.35 * _SIZE
    right, left = (circle.x + aside, level, "start"), (circle.x - aside, level, "end")
    below = (circle.x, circle.y + aside + 0.8 * _SIZE, "middle")
    above = (circle.x, circle.y - aside, "middle")
    aside_first = abs(circle.x - centre.x) > abs(circle.y - centre.y)
    outer, inner = (right, left) if circle.x > centre.x else (left, right)
    far, near = (below, above) if circle.y >= centre.y else (above, below)
    places = [outer, far, near, inner] if aside_first else [far, outer, inner, near]
    for letters in _WIDTHS:
        for x, y, anchor in places:
            yield Label(label(name, letters), round(x, 1), round(y, 1), anchor)


SHADES = 9  # the number of shades in the style sheet
WIDTH, HEIGHT = 340.0, 270.0
_NAMED = 12  # neighbours; names of more are shown on hover only
_CENTRE, RING, _DOT = 11.0, 4.0, 9.0  # the radius of the centre, the width of its ring, other radii
_FADES = 0.8  # the weight of an edge falls by this factor per place in between

Edge = tuple[int, int]


@dataclass(frozen=True)
class Dot:
    """A node: its place, its shade (0 least, `SHADES` - 1 greatest, -1 unknown) and its name.

    Attributes: `label`, the name as drawn, None if there is no room.
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

    before: View
    after: View
    shade: str
    left_out: int


def draw(picture: Picture) -> Drawing:
    """Lay out a picture: the centre in the middle, its neighbours around it."""
    before, after = _edges(picture.before), _edges(picture.after)
    places = layout(len(picture.nodes), before | after)
    views = []
    for edges, others, shades, where in (
        (before, after, picture.shade_before, "actual"),
        (after, before, picture.shade_after, "expected"),
    ):
        own = edges - others
        text = (
            f"Ego-graph of {brief(picture.nodes[0])}, {where}: {counted(len(places), 'node')}, "
            f"{counted(len(edges), 'edge')}, {len(own)} of them only in this picture."
        )
        dots = _dots(picture.nodes, shades, places)
        views.append(View(dots, _path(edges & others, places), _path(own, places), text))
    return Drawing(views[0], views[1], picture.shade, picture.left_out)


def layout(count: int, edges: Iterable[Edge]) -> NDArray[np.float64]:
    """Coordinates (count, 2): the first node in the middle, the others on a circle around it."""
    places = np.tile([WIDTH / 2, HEIGHT / 2], (count, 1))
    around = count - 1
    slots = around + 1 - around % 2  # an odd number: no edge between two runs through the centre
    reach = 92.0 if around <= _NAMED else 118.0
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


def _edges(pairs: Iterable[Edge]) -> set[Edge]:
    return {(min(a, b), max(a, b)) for a, b in pairs if a != b}


def _path(edges: Iterable[Edge], places: NDArray[np.float64]) -> str:
    parts = []
    for a, b in sorted(edges):
        (x, y), (to_x, to_y) = places[a], places[b]
        parts.append(f"M{x:g} {y:g}L{to_x:g} {to_y:g}")
    return "".join(parts)


def _dots(
    nodes: tuple[str, ...], shades: tuple[float, ...], places: NDArray[np.float64]
) -> tuple[Dot, ...]:
    """The nodes; neighbours have labels if there are few."""
    sizes = [_CENTRE, *[_DOT] * (len(nodes) - 1)]
    circles = [Circle(float(x), float(y), r) for (x, y), r in zip(places, sizes, strict=True)]
    ringed = [replace(circles[0], radius=_CENTRE + RING), *circles[1:]]
    written = labels(nodes, ringed, WIDTH, HEIGHT)
    found = []
    for number, (name, dot) in enumerate(zip(nodes, circles, strict=True)):
        shade = _step(shades[number] if number < len(shades) else np.nan)
        text = written[number] if number == 0 or len(nodes) - 1 <= _NAMED else None
        found.append(Dot(dot.x, dot.y, dot.radius, shade, brief(name), text))
    return tuple(found)


def _step(shade: float) -> int:
    if not np.isfinite(shade):
        return -1
    return int(np.clip(shade, 0.0, 1.0) * (SHADES - 1) + 0.5)

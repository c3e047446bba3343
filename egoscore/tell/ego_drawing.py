"""An ego-graph before and after as coordinates: the same node in the same place in both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Picture
from egoscore.numerals import counted
from egoscore.tell.brief import brief
from egoscore.tell.ego_labels import Circle, Label, labels

SHADES = 9  # how many the page tells apart
WIDTH, HEIGHT = 340.0, 270.0
_MOST_NODES = 60
_ONE_RING = 16  # neighbours; more are put on two
_NAMED = 12  # neighbours; of more, names are only told when pointed at
_CENTRE, RING = 11.0, 4.0  # its radius, and how much wider the ring around it is
_FADES = 0.8  # how much less a link counts with every place between

Edge = tuple[int, int]


@dataclass(frozen=True)
class Dot:
    """A node: where it is, its shade (0 least, `SHADES` - 1 greatest, -1 unknown), its name.

    Attributes: `label` its name as it is written, None where there is no room.
    """

    x: float
    y: float
    radius: float
    shade: int
    name: str
    label: Label | None


@dataclass(frozen=True)
class View:
    """One of the two pictures: `shared` edges are in both, `own` only in this one."""

    dots: tuple[Dot, ...]
    shared: str
    own: str
    label: str


@dataclass(frozen=True)
class Drawing:
    """Both pictures; `left_out` nodes are on neither."""

    before: View
    after: View
    shade: str
    left_out: int


def draw(picture: Picture) -> Drawing:
    """Lay out a picture: the centre in the middle, its neighbours around it."""
    count = min(len(picture.nodes), _MOST_NODES)
    before, after = _edges(picture.before, count), _edges(picture.after, count)
    places = layout(count, before | after)
    views = []
    for edges, others, shades, where in (
        (before, after, picture.shade_before, "as it is"),
        (after, before, picture.shade_after, "as expected"),
    ):
        own = edges - others
        text = (
            f"Ego-graph of {brief(picture.nodes[0])} {where}: {counted(count, 'node')}, "
            f"{counted(len(edges), 'edge')}, {len(own)} of them only in this picture."
        )
        dots = _dots(picture.nodes[:count], shades, places)
        views.append(View(dots, _path(edges & others, places), _path(own, places), text))
    left_out = picture.left_out + len(picture.nodes) - count
    return Drawing(views[0], views[1], picture.shade, left_out)


def layout(count: int, edges: Iterable[Edge]) -> NDArray[np.float64]:
    """Coordinates (count, 2), the centre first. Beyond some number there are two rings."""
    places = np.tile([WIDTH / 2, HEIGHT / 2], (count, 1))
    around = count - 1
    slots = around + 1 - around % 2  # an odd number: no edge between two runs through the centre
    outer = 92.0 if around <= _NAMED else 118.0
    for turn, node in enumerate(around_the_circle(count, edges)):
        is_inner = around > _ONE_RING and turn % 2 == 1
        angle = 2 * np.pi * turn / slots - np.pi / 2
        reach = 0.62 * outer if is_inner else outer
        places[node] += reach * np.array([np.cos(angle), np.sin(angle)])
    return np.round(places, 1)


def around_the_circle(count: int, edges: Iterable[Edge]) -> list[int]:
    """The neighbours in an order in which those linked with each other are close.

    Next comes always who is linked most with those placed last; where nobody is, the neighbour
    with the fewest links begins anew, for it is the end of something.
    """
    linked = np.zeros((count, count))
    for a, b in edges:
        if a and b:  # all are linked with the centre
            linked[a, b] = linked[b, a] = 1.0
    left, order = list(range(1, count)), list[int]()
    pull = np.zeros(count)
    while left:
        best = max(left, key=lambda node: (pull[node], -linked[node].sum(), -node))
        left.remove(best)
        order.append(best)
        pull = _FADES * pull + linked[best]
    return order


def _edges(pairs: Iterable[Edge], count: int) -> set[Edge]:
    return {(min(a, b), max(a, b)) for a, b in pairs if a != b and max(a, b) < count}


def _path(edges: Iterable[Edge], places: NDArray[np.float64]) -> str:
    parts = []
    for a, b in sorted(edges):
        (x, y), (to_x, to_y) = places[a], places[b]
        parts.append(f"M{x:g} {y:g}L{to_x:g} {to_y:g}")
    return "".join(parts)


def _dots(
    nodes: tuple[str, ...], shades: tuple[float, ...], places: NDArray[np.float64]
) -> tuple[Dot, ...]:
    around = len(nodes) - 1
    per_ring = max(1, around if around <= _ONE_RING else around // 2)
    radius = round(float(np.clip(0.35 * 2 * np.pi * 92.0 / per_ring, 4.0, 9.0)), 1)
    written = _written(nodes, radius, places)
    found = []
    for number, name in enumerate(nodes):
        x, y = map(float, places[number])
        shade = _step(shades[number] if number < len(shades) else np.nan)
        size = radius if number else _CENTRE
        found.append(Dot(x, y, size, shade, brief(name), written[number]))
    return tuple(found)


def _written(
    nodes: tuple[str, ...], radius: float, places: NDArray[np.float64]
) -> list[Label | None]:
    """The centre's name; and those of its neighbours if they are few."""
    sizes = [_CENTRE + RING, *[radius] * (len(nodes) - 1)]
    circles = [Circle(float(x), float(y), r) for (x, y), r in zip(places, sizes, strict=True)]
    found = labels(nodes, circles, WIDTH, HEIGHT)
    return found if len(nodes) - 1 <= _NAMED else [found[0]] + [None] * (len(nodes) - 1)


def _step(shade: float) -> int:
    if not np.isfinite(shade):
        return -1
    return int(np.clip(shade, 0.0, 1.0) * (SHADES - 1) + 0.5)

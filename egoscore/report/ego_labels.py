"""Names in a drawing: within it, and none over a dot or another name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from egoscore.text import label

_SIZE = 13.0  # the largest font size of names in the style sheet
_WIDTHS = (18, 12, 8)  # in letters; a name without room is tried again, shortened
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
    names: Sequence[str],
    circles: Sequence[Circle],
    width: float,
    height: float,
    order: Iterable[int] | None = None,
) -> list[Label | None]:
    """A label for each name, or None if there is no room; the first name is the centre's.

    `order` says which names to write, the most important first; without it, all are.
    """
    taken, found = [circle.box for circle in circles], list[Label | None]([None] * len(names))
    for number in range(len(names)) if order is None else order:
        free = (
            one
            for one in _tries(names[number], circles[number], circles[0])
            if one.box.is_within(width, height) and not any(map(one.box.touches, taken))
        )
        if chosen := next(free, None):
            found[number] = chosen
            taken.append(chosen.box)
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
    outside = [outer, far] if aside_first else [far, outer]
    inside = [near, inner] if aside_first else [inner, near]
    for places in (outside, inside):  # a short name outside is better than a long one over edges
        for letters in _WIDTHS:
            for x, y, anchor in places:
                yield Label(label(name, letters), round(x, 1), round(y, 1), anchor)

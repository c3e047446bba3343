"""Which names are written into a picture: none over another, over a dot or over the edge."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from egoscore.tell.brief import label

_SIZE = 11.0  # the largest that the page writes names in, as its style sheet says
_WIDTHS = (14, 9)  # letters: a name that has no room is tried once more, shortened
_GAP = 4.0


@dataclass(frozen=True)
class Box:
    """A part of the picture that is taken."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: Box) -> bool:
        """Whether two boxes share some room."""
        beside = self.left < other.right and other.left < self.right
        return beside and self.top < other.bottom and other.top < self.bottom

    def is_within(self, width: float, height: float) -> bool:
        """Whether nothing of it is cut off."""
        return self.left >= 0 and self.top >= 0 and self.right <= width and self.bottom <= height


@dataclass(frozen=True)
class Label:
    """A name written at `x`, `y`, from where it extends to where `anchor` says."""

    text: str
    x: float
    y: float
    anchor: str

    @property
    def box(self) -> Box:
        """The room it takes, rather too much than too little."""
        width = text_width(self.text)
        left = self.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * width
        return Box(left, self.y - 0.9 * _SIZE, left + width, self.y + 0.3 * _SIZE)


def text_width(text: str) -> float:
    """How wide a text is at most in the usual fonts."""
    return _SIZE * sum(map(_advance, text))


def _advance(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in "mwMW@%…":
        return 1.0
    return 0.85 if letter.isupper() or letter in "<>=+~#&" else 0.65


@dataclass(frozen=True)
class Circle:
    """A dot that a name may belong to."""

    x: float
    y: float
    radius: float

    @property
    def box(self) -> Box:
        """The room it takes."""
        r = self.radius
        return Box(self.x - r, self.y - r, self.x + r, self.y + r)


def labels(
    names: Sequence[str], circles: Sequence[Circle], width: float, height: float
) -> list[Label | None]:
    """A label for each name, or None where there is no room; the first, the centre's, is kept."""
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
    """Where a name could be written: first away from the centre, whose own is below it."""
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

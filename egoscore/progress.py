"""Progress bars as those see them who do the work: whoever shows them hands them down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int], None]
BYTES = "B"  # the unit of what is counted in bytes


class Bars(Protocol):
    """Makes progress bars."""

    def __call__(self, title: str, total: int | None, unit: str) -> AbstractContextManager[Advance]:
        """A bar over `total` of `unit`, if that is known; told how many more are done."""


@contextmanager
def no_bars(title: str, total: int | None, unit: str) -> Iterator[Advance]:
    """For those who show none."""
    yield lambda count: None

"""Notes: every decision and caveat as data. `egoscore.report.notes` renders them to text.

The phrases at the end also occur in error messages, which are raised before there is a report.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Self

from egoscore.text import counted

Severity = Literal["info", "warning"]


@dataclass(frozen=True)
class Note:
    """One decision or caveat.

    Attributes: `code` names it and never changes; `severity` says whether the user should act on
    it; `fields` hold the names and numbers it is about, as JSON can hold them.
    """

    code: str
    severity: Severity = "info"
    fields: dict[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def info(cls, code: str, **fields: Any) -> Self:
        """A decision that needs no action."""
        return cls(code, "info", fields)

    @classmethod
    def warning(cls, code: str, **fields: Any) -> Self:
        """Something that limits how far the result can be trusted."""
        return cls(code, "warning", fields)


WHY_UNUSABLE = {
    "empty": "is empty",
    "type": "has type {kind}, which cannot be turned into numbers",
    "not-categories": "has type {kind}, whose values cannot be categories",
    "many-texts": "is text with {count:,} distinct values, more than the {limit:,} allowed for "
    "categories",
    "many-values": "has {count:,} distinct values, more than the {limit:,} allowed for categories",
    "padded-codes": "holds digits with leading zeros, which are codes; write them without if they "
    "are numbers",
    "row-numbers": "has no name and only counts the rows",
    "index": "is the index of the data frame",
    "ids": "holds ids, as its name or its values suggest: nearly all of them differ",
    "all-different": "is text with {count} distinct values, nearly as many as cells",
}


def unusable_phrase(reason: str, **fields: Any) -> str:
    """Why a column cannot be used: `is empty`, `has no name and ...`."""
    return WHY_UNUSABLE[reason].format(**fields)


def damage_phrase(kind: str, count: int, cell: str, row: int) -> str:
    """Which cells are unlike the others of their column."""
    return (
        f"holds {kind}s except for {counted(count, 'cell')}, the first {cell!r} in row {row} below "
        "the header"
    )

"""Notes: every decision and caveat as data. `egoscore.report.notes` renders them to text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Self

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

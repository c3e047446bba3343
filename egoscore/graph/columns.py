"""What a feature is to the user: the column it comes from, and how its number is to be read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

KINDS = ("number", "yes/no", "date", "category", "missing", "weight", "structure")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class FeatureColumn:
    """One feature.

    Attributes: `name` of the column in the user's table; `kind`, one of `KINDS`: "date" counts
    days since 1970, "category" is 1 where the column holds `detail`, "missing" is 1 where the
    column was empty, "weight" is the `detail` (total, mean, largest) of the weights of a node's
    edges, "structure" is computed from the network itself.
    """

    name: str
    kind: str = "number"
    detail: str = ""

    @property
    def title(self) -> str:
        """A name that no other feature of the same table has."""
        if self.kind == "category":
            return f"{self.name} = {self.detail}"
        if self.kind == "missing":
            return f"{self.name} is missing"
        return f"{self.name} ({self.detail})" if self.kind == "weight" else self.name

    def show(self, value: float) -> str:
        """A value as the user would write it."""
        if self.kind == "date":
            try:
                return (_EPOCH + timedelta(days=value)).strftime("%Y-%m-%d")
            except OverflowError:
                return f"{value:.4g} days after 1970"
        if self.kind in ("yes/no", "category", "missing"):
            if value in (0.0, 1.0):
                return "yes" if value else "no"
            return f"{100 * min(max(value, 0.0), 1.0):.0f}% yes"
        return f"{value:,.0f}" if 9999.5 <= abs(value) < 1e15 else f"{value:.4g}"

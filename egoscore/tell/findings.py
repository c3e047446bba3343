"""What a run found besides the ranking: kept in the run, told by the page and the terminal."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from egoscore.errors import RunError
from egoscore.explain.explanation import Explanation
from egoscore.tell.mending import is_known, needing, remedy

FILE = "findings.json"


@dataclass(frozen=True)
class Findings:
    """What there is to say about a ranking.

    Attributes: `threshold` nodes that score more are flagged, `num_flagged` of them; `rule` why it
    lies there, in a sentence; `remarks` how far the ranking can be trusted; `notes` how the data
    were read and what was left out; `losses` of training, a row for each step shown and a column
    for each network, with `num_steps` in all; `explanations` of the highest nodes; `uses_networks`
    whether what they learned is in the scores.
    """

    threshold: float
    num_flagged: int
    rule: str
    remarks: tuple[str, ...]
    notes: tuple[str, ...]
    losses: tuple[tuple[float, ...], ...]
    num_steps: int
    explanations: tuple[Explanation, ...]
    uses_networks: bool = True

    def to_json(self) -> str:
        """Everything as text."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, run: Path) -> Self:
        """The findings of a finished run."""
        if not (run / FILE).exists():
            first = remedy(run) if is_known(run) else "run `egoscore detect` with --out first"
            raise RunError(f"{run} holds no finished run of egoscore; {first}.")
        with needing(run, FILE):
            return cls._restored(json.loads((run / FILE).read_text(encoding="utf-8")))

    @classmethod
    def _restored(cls, record: dict[str, Any]) -> Self:
        lists = {name: tuple(record[name]) for name in ("remarks", "notes")}
        losses = tuple(tuple(map(float, row)) for row in record["losses"])
        found = tuple(Explanation.from_dict(part) for part in record["explanations"])
        return cls(**(record | lists | {"losses": losses, "explanations": found}))

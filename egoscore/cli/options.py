"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder with data files; else $EGOSCORE_DATA, the cache, the public home."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON for another program, and nothing else.")
]


def names(*texts: str) -> tuple[str, ...]:
    """The names in texts with commas between them, each once."""
    parts = (name.strip() for text in texts for name in text.split(","))
    return tuple(dict.fromkeys(name for name in parts if name))

"""Options that several commands share."""

from __future__ import annotations

import csv
from collections.abc import Callable
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
    """The names in texts with commas between them, each once; one with a comma is in quotes."""
    parts = (name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row)
    return tuple(dict.fromkeys(name for name in parts if name))


def data_sets(incomplete: str) -> list[str]:
    """The data sets a shell offers; where there is none it offers files."""
    from egoscore.graph.datasets import names_like

    return names_like(incomplete)


def one_of(*values: str) -> Callable[[str], list[str]]:
    """A function that gives a shell those of `values` that begin with what was typed."""

    def offered(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return offered

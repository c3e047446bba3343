"""The network a user means by one word: a data set's name, a folder, or a file."""

from __future__ import annotations

import os
from pathlib import Path

from egoscore.bars import Bars, no_bars
from egoscore.errors import DatasetError, InputError
from egoscore.graph.datasets import is_dataset, load_dataset, unknown_dataset
from egoscore.graph.network import AttributedGraph
from egoscore.read.assemble import read_tables
from egoscore.read.choices import Choices, Reading
from egoscore.read.network_file import read_network_file
from egoscore.read.opening import at_home, plain_ending, require_file, spreadsheet
from egoscore.read.pipes import is_pipe
from egoscore.read.tables import NETWORK_ENDINGS, SPREADSHEET_ENDINGS

_TABLE_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".feather", ".arrow", ".edges")
_ENDINGS = (*_TABLE_ENDINGS, *NETWORK_ENDINGS, *SPREADSHEET_ENDINGS)


def load_source(source: str, data_dir: str | Path | None = None) -> AttributedGraph:
    """The network of `read_source`, for those who need no notes."""
    return read_source(source, data_dir).graph


def read_source(
    source: str,
    data_dir: str | Path | None = None,
    choices: Choices | None = None,
    bars: Bars = no_bars,
) -> Reading:
    """A data set by name, or else the network in a folder or a file.

    A folder has a table called edges (edges.csv, edges.parquet and so on) and perhaps one called
    nodes. A folder that has the name of a data set is meant by a path: ./books.
    """
    choices = choices or Choices()
    if is_dataset(source):
        choices.refuse(choices.made, f"'{source}' is a data set, whose columns are settled")
        with bars(f"Reading {source}", None, ""):
            return Reading(load_dataset(source, data_dir), ())
    if not source.strip():
        raise InputError("SOURCE is empty; name a data set, a folder or a file.")
    path = at_home(source)
    if os.path.isdir(path):
        return read_tables(*_tables_in(path), choices, bars)
    if is_pipe(path):
        raise InputError(
            f"{path} is a pipe, whose name does not say what is in it; give a table of edges with "
            "--edges."
        )
    if os.path.isfile(path) or _is_path(path):
        return _read_file(require_file(path), choices, bars)
    raise DatasetError(
        f"{unknown_dataset(source)} There is no folder {source} either, and no file."
    )


def _is_path(path: Path) -> bool:
    """Whether a word can only mean a file, be it there or not."""
    return len(path.parts) > 1 or plain_ending(path) in _ENDINGS


def _read_file(path: Path, choices: Choices, bars: Bars) -> Reading:
    if plain_ending(path) in SPREADSHEET_ENDINGS:
        raise spreadsheet(path)
    if plain_ending(path) in NETWORK_ENDINGS:
        with bars(f"Reading {path.name}", None, ""):
            return read_network_file(path, choices)
    if plain_ending(path) in _TABLE_ENDINGS:
        reading = read_tables(path, None, choices, bars)
        return Reading(reading.graph, (f"{path} is read as a list of edges.", *reading.notes))
    raise InputError(
        f"{path} is no kind of file that is known here; there are {', '.join(_TABLE_ENDINGS)} for "
        f"tables and {', '.join(NETWORK_ENDINGS)} for networks."
    )


def _tables_in(folder: Path) -> tuple[Path, Path | None]:
    """The tables of edges and of nodes in a folder."""
    edges, nodes = (_only(folder, stem) for stem in ("edges", "nodes"))
    if edges is None:
        raise InputError(
            f"{folder / 'edges.csv'} is not there; the folder needs a table called edges (.csv, "
            ".parquet and so on), and may have one called nodes."
        )
    return edges, nodes


def _only(folder: Path, stem: str) -> Path | None:
    found = sorted(
        path
        for path in folder.iterdir()
        if path.name.lower().split(".")[0] == stem and plain_ending(path) in _TABLE_ENDINGS
    )
    if len(found) > 1:
        raise InputError(
            f"{folder} has both {found[0].name} and {found[1].name}; keep one of them."
        )
    return found[0] if found else None

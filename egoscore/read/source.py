"""The network a user means by one word: a data set's name, a folder, or a file."""

from __future__ import annotations

from pathlib import Path

from egoscore.errors import DatasetError, InputError
from egoscore.graph.datasets import is_dataset, load_dataset
from egoscore.graph.network import AttributedGraph
from egoscore.read.assemble import read_tables
from egoscore.read.choices import Choices, Reading
from egoscore.read.network_file import read_network_file
from egoscore.read.opening import plain_ending
from egoscore.read.tables import NETWORK_ENDINGS

_TABLE_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".feather", ".arrow", ".edges")


def load_source(source: str, data_dir: str | Path | None = None) -> AttributedGraph:
    """The network of `read_source`, for those who need no notes."""
    return read_source(source, data_dir).graph


def read_source(
    source: str, data_dir: str | Path | None = None, choices: Choices | None = None
) -> Reading:
    """A data set by name, or else the network in a folder or a file.

    A folder has a table called edges (edges.csv, edges.parquet and so on) and perhaps one called
    nodes. A folder that has the name of a data set is meant by a path: ./books.
    """
    choices = choices or Choices()
    path = Path(source).expanduser()
    if not is_dataset(source) and path.is_dir():
        return read_tables(*_tables_in(path), choices)
    if not is_dataset(source) and path.is_file():
        return _read_file(path, choices)
    try:
        graph = load_dataset(source, data_dir)
    except DatasetError as error:
        if is_dataset(source):
            raise
        raise DatasetError(f"{error} There is no folder {source} either, and no file.") from error
    choices.refuse(choices.made, f"'{source}' is a data set, whose columns are settled")
    return Reading(graph, ())


def _read_file(path: Path, choices: Choices) -> Reading:
    if plain_ending(path) in NETWORK_ENDINGS:
        return read_network_file(path, choices)
    if plain_ending(path) in _TABLE_ENDINGS:
        reading = read_tables(path, None, choices)
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

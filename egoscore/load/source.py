"""The graph a user means by one word: the name of a data set, a folder, or a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from egoscore.errors import DatasetError, InputError
from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.load.build import read_tables
from egoscore.load.datasets import is_dataset, load_dataset, unknown_dataset
from egoscore.load.graph_files import read_graph_xml
from egoscore.load.matrix_files import read_matrix_file
from egoscore.load.open_table import (
    SPREADSHEET_ENDINGS,
    TABLE_READERS,
    TEXT_ENDINGS,
    is_pipe,
)
from egoscore.load.options import Loaded, Options
from egoscore.load.unpack import expand_home, plain_ending, require_file
from egoscore.notes import Note
from egoscore.progress import Bars, no_bars
from egoscore.text import option

_TABLE_ENDINGS = (*TEXT_ENDINGS, *TABLE_READERS)


def _read_pyg(path: Path, options: Options) -> Loaded:
    from egoscore.load.pyg_files import read_pyg_file  # which takes a second to import torch

    return read_pyg_file(path, options)


_GRAPH_READERS: dict[str, Callable[[Path, Options], Loaded]] = {
    ".graphml": read_graph_xml,
    ".gexf": read_graph_xml,
    ".npz": read_matrix_file,
    ".mat": read_matrix_file,
    ".pt": _read_pyg,
}
_ENDINGS = (*_TABLE_ENDINGS, *_GRAPH_READERS, *SPREADSHEET_ENDINGS)


def load_source(source: str, data_dir: str | Path | None = None) -> AttributedGraph:
    """The graph of `read_source`, without notes."""
    return read_source(source, data_dir).graph


def read_source(
    source: str,
    data_dir: str | Path | None = None,
    options: Options | None = None,
    bars: Bars = no_bars,
) -> Loaded:
    """A data set by name, or else the graph in a folder or a file.

    A folder has a table called edges (edges.csv, edges.parquet and so on) and perhaps one called
    nodes. If a folder has the name of a data set, give its path: ./books.
    """
    options = options or Options()
    if is_dataset(source):
        options.refuse(options.given, f"'{source}' is a data set, whose columns are settled")
        with bars(f"Reading {source}", None, ""):
            return Loaded(load_dataset(source, data_dir))
    if not source.strip():
        raise InputError("SOURCE is empty; name a data set, a folder or a file.")
    path = expand_home(source)
    if os.path.isdir(path):
        return read_tables(*_tables_in(path), options, bars)
    if is_pipe(path):
        raise InputError(
            f"{path} is a pipe, whose name does not say what is in it; pass a table of edges as "
            f"{option('edges')}."
        )
    if os.path.isfile(path) or _is_path(path):
        return _read_file(require_file(path), options, bars)
    raise DatasetError(f"There is no file or folder {source}. {unknown_dataset(source)}")


def _is_path(path: Path) -> bool:
    """Whether a word can only be the path of a file, even if it does not exist."""
    return len(path.parts) > 1 or plain_ending(path) in _ENDINGS


def _read_file(path: Path, options: Options, bars: Bars) -> Loaded:
    if plain_ending(path) in _GRAPH_READERS:
        with bars(f"Reading {path.name}", None, ""):
            return read_network_file(path, options)
    if plain_ending(path) in (*_TABLE_ENDINGS, *SPREADSHEET_ENDINGS):  # which is refused
        loaded = read_tables(path, None, options, bars)
        note = Note.info("edge-list", table=str(path))
        return replace(loaded, notes=(note, *loaded.notes))
    raise InputError(
        f"{path} is not of a known type; known types are {', '.join(_TABLE_ENDINGS)} for tables "
        f"and {', '.join(_GRAPH_READERS)} for graphs."
    )


def read_network_file(path: str | Path, options: Options | None = None) -> Loaded:
    """The graph in a GraphML, GEXF, `.npz`, `.mat` or PyG `.pt` file."""
    options = options or Options()
    path = require_file(path)
    reader = _GRAPH_READERS.get(plain_ending(path))
    if reader is None:
        raise InputError(
            f"{path} does not have the extension of a file with a whole graph "
            f"({', '.join(_GRAPH_READERS)}); pass tables as {option('edges')} and "
            f"{option('nodes')}."
        )
    return reader(path, options)


def _tables_in(folder: Path) -> tuple[Path, Path | None]:
    """The tables of edges and of nodes in a folder."""
    edges, nodes = (_find_table(folder, stem) for stem in ("edges", "nodes"))
    if edges is None:
        raise InputError(
            f"{folder / 'edges.csv'} does not exist; the folder needs a table called edges (.csv, "
            ".parquet and so on), and may have one called nodes."
        )
    return edges, nodes


def _find_table(folder: Path, stem: str) -> Path | None:
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

"""The network a user means by one word: a data set's name, or a folder."""

from __future__ import annotations

from pathlib import Path

from egoscore.errors import DatasetError
from egoscore.graph.datasets import is_dataset, load_dataset
from egoscore.graph.network import AttributedGraph


def load_source(source: str, data_dir: str | Path | None = None) -> AttributedGraph:
    """A data set by name, or else the network in a folder with Parquet files.

    A folder that has the name of a data set is meant by a path: ./books.
    """
    if not is_dataset(source) and Path(source).is_dir():
        from egoscore.graph.parquet_file import read_folder

        return read_folder(source)
    try:
        return load_dataset(source, data_dir)
    except DatasetError as error:
        if is_dataset(source):
            raise
        raise DatasetError(f"{error} There is no folder {source} either.") from error

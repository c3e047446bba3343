"""Data sets by name: listing, finding, downloading and loading them."""

from __future__ import annotations

import difflib
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egoscore.errors import DatasetError
from egoscore.load import families
from egoscore.runtime import ProcessWide

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from egoscore.graph.attributed_graph import AttributedGraph

_BASE_URL = "https://github.com/pygod-team/data/raw/main/"
_DGRAPH_HOME = "https://dgraph.xinye.com"
_TIMEOUT_SECONDS = 5
_KINDS = ("normal", "contextual", "structural", "both")
_GENERATED = {
    "builtin": "small example graph with planted outliers",
    "weibo-like": "generated graph shaped like weibo",
    "dgraph-like": "generated graph shaped like dgraph",
}
_FILES = {
    "disney": "films bought together, outliers named by students",
    "books": "books bought together, outliers tagged by readers",
    "reddit": "users and subreddits, outliers are banned users",
    "enron": "e-mail addresses, outliers sent spam",
    "weibo": "users and hashtags, outliers are suspicious users",
    "inj_cora": "citations, outliers injected",
    "inj_amazon": "computers bought together, outliers injected",
    "inj_flickr": "images that share metadata, outliers injected",
    "gen_time": "random graph of 1,000 nodes, many outliers",
    "gen_100": "random graph of 100 nodes",
    "gen_500": "random graph of 500 nodes",
    "gen_1000": "random graph of 1,000 nodes",
    "gen_5000": "random graph of 5,000 nodes",
    "gen_10000": "random graph of 10,000 nodes",
    "dgraph": "users of a lender, outliers are fraudsters",
}
_DIRECTED = ("weibo", "weibo-like")
_SHA256 = {
    "books": "c9de331ddf4c893e205fad552a9d1074c0fe4730edd7b47952f0c05ac360612c",
    "disney": "761d111a6ec9d545445241fab8a6056333d9f1c65a61a6b72604ce486fffe949",
    "enron": "ac9f74f9a0ff09b2ec3534099d124479fc590fce7f3f9fa86a38fbd436f7c7bf",
    "reddit": "276432d36219349b7ad98e974649f73c94e124e11f5282f53b1ec41086c1e18a",
}


@dataclass(frozen=True)
class DatasetEntry:
    """A data set that can be loaded.

    Attributes:
        name: its name for `load_dataset`; graphs of a family share an entry.
        about: what it is, in a few words.
        directed: whether its edges have a direction.
        where: the path of its file, else its address on the web, or "generated".
        available: whether it can be loaded without the web.
    """

    name: str
    about: str
    directed: bool
    where: str
    available: bool


def list_datasets(data_dir: str | Path | None = None) -> list[DatasetEntry]:
    """All data sets, and where each would be loaded from now."""
    folders = _folders(data_dir)
    made = [
        DatasetEntry(name, about, name in _DIRECTED, "generated", True)
        for name, about in [*_GENERATED.items(), *_about_families().items()]
    ]
    return made + [_entry(name, about, folders) for name, about in _FILES.items()]


def _entry(name: str, about: str, folders: list[Path]) -> DatasetEntry:
    path = _find(name, folders)
    where = _home(name) if path is None else str(path)
    return DatasetEntry(name, about, name in _DIRECTED, where, path is not None)


def load_dataset(name: str, data_dir: str | Path | None = None) -> AttributedGraph:
    """The graph called `name`; see `list_datasets`.

    A file is looked for in `data_dir`, then in the folder that the environment variable
    EGOSCORE_DATA names (in both also in `bond/`), then in the user's cache, and is otherwise
    downloaded into the cache. Only downloads are compared with known checksums: the user's own
    files may be of another release.
    """
    folders = _folders(data_dir)
    if not is_dataset(name):
        raise unknown_dataset(name)
    if name not in _FILES:
        return _generate(name)
    path = _find(name, folders) or _download(name, folders)
    if name == "dgraph":
        from egoscore.load.matrix_files import read_dgraph

        return read_dgraph(path)
    return _read_bond(name, path)


def names_like(start: str) -> list[str]:
    """The names of data sets that begin with `start`; those of a family only if no other does."""
    found = [name for name in (*_GENERATED, *_FILES) if name.startswith(start)]
    generated = families.NAMES.values()
    return found or [name for names in generated for name in names if name.startswith(start)]


def is_dataset(name: str) -> bool:
    """Whether `name` is a data set."""
    return name in _GENERATED or name in _FILES or _is_of_family(name)


def _is_of_family(name: str) -> bool:
    return any(name in names for names in families.NAMES.values())


def _about_families() -> dict[str, str]:
    return {
        f"{names[0]} to {names[-1]}": f"{len(names)} generated graphs to choose settings on"
        for names in families.NAMES.values()
    }


def _generate(name: str) -> AttributedGraph:
    if _is_of_family(name):
        return families.generate(name)
    from egoscore.load import generate

    makers = {
        "builtin": generate.builtin_network,
        "weibo-like": generate.weibo_like,
        "dgraph-like": generate.dgraph_like,
    }
    return makers[name]()


def unknown_dataset(name: str) -> DatasetError:
    """The error for an unknown name; it lists the known ones."""
    names = [*_GENERATED, *_about_families(), *_FILES]
    near = difflib.get_close_matches(name.lower(), [*_GENERATED, *_FILES], n=1)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    return DatasetError(
        f"There is no data set '{name}'{hint}; there are {', '.join(names)} "
        "(`egoscore datasets` describes them)."
    )


def _read_bond(name: str, path: Path) -> AttributedGraph:
    from egoscore.graph.attributed_graph import AttributedGraph
    from egoscore.load.pyg_files import read_pyg
    from egoscore.load.unpack import naming

    contents = read_pyg(path)
    labels, node_info = _labels(name, contents.y, path)
    with naming(path):
        return AttributedGraph.from_edges(
            contents.edge_index.numpy(),
            contents.x.numpy(),
            directed=name in _DIRECTED,
            labels=labels,
            node_info=node_info,
        )


def _labels(
    name: str, values: torch.Tensor | None, path: Path
) -> tuple[NDArray[np.bool_] | None, dict[str, NDArray[Any]]]:
    """Which nodes are outliers and, if planted, the kind: bit 0 contextual, bit 1 structural."""
    if values is None:
        return None, {}
    import numpy as np

    y = values.numpy()
    is_planted = name.startswith(("inj_", "gen_"))
    most = 3 if is_planted else 1
    if not np.isin(y, range(most + 1)).all():
        raise DatasetError(f"In the file {path}, 'y' must be whole numbers from 0 to {most}.")
    return y != 0, {"kind": np.array(_KINDS)[y.astype(np.int64)]} if is_planted else {}


def _folders(data_dir: str | Path | None) -> list[Path]:
    """Where files are looked for, in order."""
    folders = []
    if data_dir is not None:
        root = Path(data_dir).expanduser()
        if not root.is_dir():
            raise DatasetError(f"The data folder {root} does not exist or is not a folder.")
        folders += [root, root / "bond"]
    if os.environ.get("EGOSCORE_DATA"):
        root = Path(os.environ["EGOSCORE_DATA"]).expanduser()
        folders += [root, root / "bond"]
    return [*folders, cache_dir()]


def _file_names(name: str) -> tuple[str, ...]:
    return ("dgraphfin.npz",) if name == "dgraph" else (f"{name}.pt.zip", f"{name}.pt")


def _home(name: str) -> str:
    return _DGRAPH_HOME if name == "dgraph" else f"{_BASE_URL}{name}.pt.zip"


def _find(name: str, folders: list[Path]) -> Path | None:
    candidates = (folder / file for folder in folders for file in _file_names(name))
    return next((path for path in candidates if path.is_file()), None)


def _download(name: str, folders: list[Path]) -> Path:
    if name == "dgraph":
        raise _missing(name, folders, "its home asks visitors to register")
    try:
        return fetch(_home(name), f"{name}.pt.zip", _SHA256.get(name))
    except DownloadError as error:
        raise _missing(name, folders, str(error)) from error


def _missing(name: str, folders: list[Path], reason: str) -> DatasetError:
    return DatasetError(
        f"The data set '{name}' needs the file {' or '.join(_file_names(name))}, which is not in "
        f"{', '.join(str(folder) for folder in folders)} and cannot be downloaded from "
        f"{_home(name)} ({reason}); put the file into one of these folders, or pass its folder as "
        "data_dir (--data-dir), or set EGOSCORE_DATA to it."
    )


class DownloadError(Exception):
    """Why a file could not be downloaded, in a few words."""


def cache_dir() -> Path:
    """Where downloads are kept."""
    import pooch

    return Path(pooch.os_cache("egoscore"))


def fetch(url: str, file_name: str, sha256: str | None) -> Path:
    """Download the zip file at `url` into the cache, where only whole, correct files stay.

    pooch writes to a temporary file with a unique name and renames it at the end.
    """
    import pooch

    checksum = None if sha256 is None else f"sha256:{sha256}"
    web = pooch.HTTPDownloader(timeout=_TIMEOUT_SECONDS)
    try:
        with _quiet_pooch():
            file = pooch.retrieve(url, checksum, file_name, cache_dir(), downloader=web)
    except OSError as error:
        raise DownloadError(_reason(error)) from error
    except ValueError as error:
        raise DownloadError("the download is not the published file") from error
    if not zipfile.is_zipfile(file):
        # without a known checksum: it may be the login page of a hotel
        Path(file).unlink()
        raise DownloadError("the download is not a zip file")
    return Path(file)


@ProcessWide
@contextmanager
def _quiet_pooch() -> Iterator[None]:
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("CRITICAL")
    try:
        yield
    finally:
        logger.setLevel(level)


def _reason(error: OSError) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code}"
    if "Timeout" in type(error).__name__:
        return f"no answer within {_TIMEOUT_SECONDS} seconds"
    if isinstance(error, PermissionError):
        return "the cache cannot be written to"
    return error.strerror or "the connection failed"

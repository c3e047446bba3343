"""Graphs saved by PyG with `torch.save`, read without PyG and without executing anything.

Such a file is a zip container with a pickle inside; BOND's files are zipped once more. A pickle
can name any function to be called. Here it may name tensors and a handful of PyG classes, which
are replaced by inert stand-ins; anything else is refused. Files from before torch 1.6, which are
not zip containers, are refused too.
"""

from __future__ import annotations

import io
import pickle
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import torch
from torch import serialization

from egoscore.errors import DatasetError
from egoscore.load.build import graph_from_arrays
from egoscore.load.matrix_files import (
    check_num_nodes,
    find_labels,
    refuse_column_options,
)
from egoscore.load.options import Loaded, Options
from egoscore.load.unpack import (
    ANY_ERROR,
    open_archive,
    open_archive_file,
    parsing,
    read_member,
)
from egoscore.notes import Note
from egoscore.runtime import no_warnings

_NUMBERS = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.float32, torch.float64),
)


@dataclass(frozen=True)
class PygContents:
    """`x` (N, F), `edge_index` (2, E) and, if the file has labels, `y` (N,).

    F is 0 if it has no features; `unused` are the names of edge attributes.
    """

    x: torch.Tensor
    edge_index: torch.Tensor
    y: torch.Tensor | None
    unused: tuple[str, ...] = ()


class _StandIn:
    """Stands in for a PyG object: keeps its state and does nothing."""

    state: Any = None

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state


def _plain_dict(*_: Any) -> dict[Any, Any]:
    """Stands in for defaultdict, which torch's reader cannot fill."""
    return {}


# The last three occur in files of graphs that were used before they were saved: PyG keeps there
# which attributes belong to nodes and which to edges.
_STAND_INS: list[Any] = [
    (_StandIn, "torch_geometric.data.data.Data"),
    (_StandIn, "torch_geometric.data.data.DataEdgeAttr"),
    (_StandIn, "torch_geometric.data.data.DataTensorAttr"),
    (_StandIn, "torch_geometric.data.storage.GlobalStorage"),
    (_StandIn, "torch_geometric.data.storage.AttrType"),
    (_StandIn, "torch_geometric.data.graph_store.EdgeLayout"),
    (_plain_dict, "collections.defaultdict"),
]
_EDGE_ATTRIBUTES = ("edge_attr", "edge_weight")
_TORCH_LOCK = Lock()


def read_pyg_file(path: Path, options: Options) -> Loaded:
    """The graph in a PyG `.pt` file."""
    refuse_column_options(path, options)
    contents = read_pyg(path)
    notes: list[Note] = []
    size, y = len(contents.x), None if contents.y is None else contents.y.numpy()
    labels, _ = find_labels({"y": y}, size, path, notes)
    for name in contents.unused:
        notes.append(Note.info("edge-values-unused", file=str(path), name=name))
    features = contents.x.numpy() if contents.x.shape[1] else None
    edges = contents.edge_index.numpy()
    return graph_from_arrays(path, edges, features, size, labels, options, notes)


def read_pyg(path: str | Path) -> PygContents:
    """The tensors of a PyG `Data`, or of a plain dict, in a `.pt` or `.pt.zip` file."""
    path = Path(path)
    with open_archive_file(path) as archive:
        if _is_container(archive):
            container = _repacked(archive, path)
        else:
            packed = read_member(archive, _pt_member(archive, path), path)
            with open_archive(packed, path) as inner:
                container = _repacked(inner, path)
    size = container.getbuffer().nbytes
    return _contents(_fields(_unpickle(container, path), path), size, path)


def _is_container(archive: zipfile.ZipFile) -> bool:
    return any(name.endswith("/data.pkl") for name in archive.namelist())


def _pt_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    # macOS adds a hidden "._" companion for every file it zips.
    found = [
        member
        for member in archive.infolist()
        if member.filename.endswith(".pt") and not Path(member.filename).name.startswith("._")
    ]
    if len(found) != 1:
        raise DatasetError(
            f"The file {path} must hold exactly one .pt file (found {len(found)} of them)."
        )
    return found[0]


def _repacked(archive: zipfile.ZipFile, path: Path) -> io.BytesIO:
    """The members of an archive in a new one.

    Torch parses zip files with its own code; so it only sees sizes that were checked.
    """
    if not _is_container(archive):
        raise DatasetError(f"The .pt file in {path} was not written by torch.save.")
    container = io.BytesIO()
    with zipfile.ZipFile(container, "w", zipfile.ZIP_STORED) as sealed:
        for member in archive.infolist():
            sealed.writestr(member.filename, read_member(archive, member, path).getvalue())
    container.seek(0)
    return container


def _unpickle(container: io.BytesIO, path: Path) -> Any:
    with _TORCH_LOCK, no_warnings(), _only_stand_ins(), parsing(path, ANY_ERROR):
        try:
            return torch.load(container, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            foreign = re.search(r"GLOBAL ([\w.]+)", str(error))
            if foreign is None:
                raise
            raise DatasetError(
                f"The file {path} asks for {foreign[1]}, which is neither a tensor nor a PyG Data; "
                "it is refused and nothing in it was run; save x, edge_index and y as a plain dict."
            ) from error


@contextmanager
def _only_stand_ins() -> Iterator[None]:
    """Allow torch's reader the stand-ins and nothing else.

    If PyG is imported, it has allowed its own classes under the same names, and which of the two
    torch takes would be left to chance.
    """
    allowed_before = serialization.get_safe_globals()
    serialization.clear_safe_globals()
    try:
        with serialization.safe_globals(_STAND_INS):
            yield
    finally:
        serialization.add_safe_globals(allowed_before)


def _fields(content: Any, path: Path) -> Mapping[Any, Any]:
    """The named tensors of a dict or a `Data`; before PyG 2, a `Data` held them without a store."""
    fields = content.state if isinstance(content, _StandIn) else content
    if isinstance(fields, dict) and isinstance(fields.get("_store"), _StandIn):
        store = fields["_store"].state
        fields = store.get("_mapping") if isinstance(store, dict) else None
    if not isinstance(fields, dict):
        raise DatasetError(
            f"The file {path} must hold a PyG Data or a dict with x, edge_index and y "
            f"(found {type(content).__name__.lstrip('_')})."
        )
    return fields


def _contents(fields: Mapping[Any, Any], size: int, path: Path) -> PygContents:
    edge_index = _tensor(fields, "edge_index", size, path)
    y = None if fields.get("y") is None else _tensor(fields, "y", size, path)
    if edge_index.ndim != 2 or len(edge_index) != 2 or edge_index.dtype.is_floating_point:
        found = f"{edge_index.dtype} of shape {tuple(edge_index.shape)}"
        raise _wrong(path, "edge_index", "be whole numbers of shape (2, E)", found)
    if fields.get("x") is None:
        num_nodes = _num_nodes(fields, edge_index, y)
        check_num_nodes(num_nodes, path)
        x = torch.empty(num_nodes, 0)
    else:
        x = _tensor(fields, "x", size, path)
    if x.ndim != 2:
        raise _wrong(path, "x", "have shape (N, F)", tuple(x.shape))
    if y is not None and y.numel() != len(x):
        raise _wrong(path, "y", f"have one value for each of the {len(x)} nodes", tuple(y.shape))
    unused = tuple(name for name in _EDGE_ATTRIBUTES if fields.get(name) is not None)
    return PygContents(x, edge_index, None if y is None else y.reshape(-1), unused)


def _num_nodes(fields: Mapping[Any, Any], edge_index: torch.Tensor, y: torch.Tensor | None) -> int:
    """The number of nodes without features: at least those of the edges."""
    given = fields.get("num_nodes")
    least = int(edge_index.max()) + 1 if edge_index.numel() else 0
    known = given if isinstance(given, int) else 0 if y is None else y.numel()
    return max(least, known)


def _tensor(fields: Mapping[Any, Any], name: str, size: int, path: Path) -> torch.Tensor:
    value = fields.get(name)
    if value is None:
        raise DatasetError(f"The file {path} has no '{name}'; it needs one.")
    if type(value) is not torch.Tensor:
        raise _wrong(path, name, "be a tensor", type(value).__name__.lstrip("_"))
    if value.layout != torch.strided or value.device.type != "cpu" or value.dtype not in _NUMBERS:
        raise _wrong(path, name, "be a dense tensor of numbers", f"{value.layout}, {value.dtype}")
    if value.numel() * value.element_size() > size:
        raise _wrong(path, name, "be stored in full", f"{tuple(value.shape)} in {size} bytes")
    return value.detach()


def _wrong(path: Path, name: str, rule: str, found: object) -> DatasetError:
    return DatasetError(f"In the file {path}, '{name}' must {rule} (found {found}).")

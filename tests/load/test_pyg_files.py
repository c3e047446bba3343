"""PyG's files, read without executing anything."""

from __future__ import annotations

import builtins
import io
import os
import pickle
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from egoscore.errors import DatasetError
from egoscore.load.pyg_files import read_pyg

MIB = 2**20


def fields(**changes: Any) -> dict[str, Any]:
    given = {
        "x": torch.arange(8.0).reshape(4, 2),
        "edge_index": torch.tensor([[0, 1, 2], [1, 2, 3]]),
        "y": torch.tensor([0, 0, 1, 0]),
        **changes,
    }
    return {name: value for name, value in given.items() if value is not None}


def save(path: Path, content: Any) -> Path:
    """Write `.pt`, or `.pt.zip` as BOND does, whichever `path` says."""
    buffer = io.BytesIO()
    torch.save(content, buffer)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(path.stem, buffer.getvalue())
    else:
        path.write_bytes(buffer.getvalue())
    return path


def same(path: Path) -> bool:
    contents, expected = read_pyg(path), fields()
    return all(
        torch.equal(getattr(contents, name), expected[name]) for name in ("x", "edge_index", "y")
    )


@pytest.fixture(scope="module")
def pyg_data() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("torch_geometric.data")


@pytest.mark.parametrize("name", ["f.pt", "f.pt.zip"])
def test_reads_a_plain_dict(tmp_path: Path, name: str) -> None:
    assert same(save(tmp_path / name, fields()))


@pytest.mark.parametrize("name", ["f.pt", "f.pt.zip"])
def test_reads_what_pyg_writes(tmp_path: Path, pyg_data: Any, name: str) -> None:
    assert same(save(tmp_path / name, pyg_data.Data(**fields(), train_mask=torch.ones(4))))


def test_reads_what_pyg_writes_after_use(tmp_path: Path, pyg_data: Any) -> None:
    data = pyg_data.Data(x=fields()["x"], y=fields()["y"])
    assert data.is_node_attr("x")
    data.put_edge_index(fields()["edge_index"], layout="coo")
    data.get_all_edge_attrs()
    path = save(tmp_path / "f.pt", data)
    assert b"AttrType" in path.read_bytes()
    assert b"EdgeLayout" in path.read_bytes()
    assert same(path)


def test_reads_a_data_from_before_pyg_2(
    tmp_path: Path, pyg_data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = pyg_data.Data()
    monkeypatch.setattr(pyg_data.Data, "__getstate__", lambda self: fields())
    path = save(tmp_path / "f.pt", data)
    assert b"_store" not in path.read_bytes()
    assert same(path)


def test_what_else_is_allowed_is_neither_used_nor_lost(tmp_path: Path, pyg_data: Any) -> None:
    path = save(tmp_path / "f.pt", fields(x=np.float64(1.0)))
    scalar: list[Any] = [(lambda *_: torch.zeros(4, 2), "numpy._core.multiarray.scalar")]
    with torch.serialization.safe_globals(scalar):
        before = set(torch.serialization.get_safe_globals())
        with pytest.raises(DatasetError, match=r"asks for numpy\._core\.multiarray\.scalar"):
            read_pyg(path)
        assert set(torch.serialization.get_safe_globals()) == before


def test_labels_may_be_missing_or_a_column(tmp_path: Path) -> None:
    assert read_pyg(save(tmp_path / "f.pt", fields(y=None))).y is None
    column = read_pyg(save(tmp_path / "g.pt", fields(y=torch.zeros(4, 1)))).y
    assert column is not None
    assert column.shape == (4,)


class Malice:
    """Calls `function(*arguments)` when it is unpickled without care."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


def malices(marker: Path) -> dict[str, Malice]:
    return {
        "posix.system": Malice(os.system, f"touch {marker}"),
        "exec": Malice(builtins.exec, f"open({str(marker)!r}, 'w').close()"),
        "io.open": Malice(io.open, str(marker), "w"),
    }


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", ["f.pt", "f.pt.zip"])
@pytest.mark.parametrize("call", ["posix.system", "exec", "io.open"])
def test_malice_is_refused_and_not_run(tmp_path: Path, call: str, name: str) -> None:
    marker = tmp_path / "marker"
    content = fields(extra=malices(marker)[call])
    torch.load(save(tmp_path / "proof.pt", content), weights_only=False)
    assert marker.exists(), "the file must be truly malicious for this test to mean anything"
    marker.unlink()
    path = save(tmp_path / name, content)
    with pytest.raises(DatasetError, match=f"asks for {call}.*refused") as caught:
        read_pyg(path)
    assert str(path) in str(caught.value)
    assert not marker.exists()


@pytest.mark.parametrize("wrapped", [False, True])
def test_bare_pickles_are_refused_and_not_run(tmp_path: Path, wrapped: bool) -> None:
    marker = tmp_path / "marker"
    content = pickle.dumps(malices(marker)["posix.system"])
    path = tmp_path / "f.pt"
    path.write_bytes(content)
    if wrapped:
        path = tmp_path / "f.pt.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("f.pt", content)
    with pytest.raises(DatasetError, match="not a zip archive"):
        read_pyg(path)
    assert not marker.exists()


def test_names_in_the_archive_never_reach_the_disk(tmp_path: Path) -> None:
    inner = save(tmp_path / "inner.pt", fields()).read_bytes()
    folder = tmp_path / "deep" / "deeper"
    folder.mkdir(parents=True)
    path = folder / "f.pt.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../escaped.pt", inner)
        archive.writestr("__MACOSX/._escaped.pt", b"companion")
    before = sorted(tmp_path.rglob("*"))
    assert same(path)
    assert sorted(tmp_path.rglob("*")) == before


def repack(content: bytes, method: int, **extra: bytes) -> bytes:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(buffer, "w", method) as new,
    ):
        for member in old.infolist():
            new.writestr(member.filename, old.read(member))
        for name, data in extra.items():
            new.writestr(name, data)
    return buffer.getvalue()


def test_bomb_in_the_outer_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pt.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.pt", bytes(65 * MIB))
    with pytest.raises(DatasetError, match=r"bomb\.pt\.zip would expand to"):
        read_pyg(path)


@pytest.mark.parametrize("name", ["bomb.pt", "bomb.pt.zip"])
def test_bomb_in_the_container_is_refused(tmp_path: Path, name: str) -> None:
    small = save(tmp_path / "small.pt", fields()).read_bytes()
    bomb = repack(small, zipfile.ZIP_DEFLATED, zeros=bytes(65 * MIB))
    path = tmp_path / name
    path.write_bytes(bomb)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("bomb.pt", bomb)
    with pytest.raises(DatasetError, match=f"{name} would expand to"):
        read_pyg(path)


def test_tensors_blown_up_by_their_strides_are_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "f.pt", fields(x=torch.zeros(1).expand(100_000, 100_000)))
    with pytest.raises(DatasetError, match="'x' must be stored in full"):
        read_pyg(path)


def test_tensors_made_from_nothing_are_refused(tmp_path: Path) -> None:
    nothing = Malice(torch.FloatTensor, 10_000, 100)
    with pytest.raises(DatasetError, match="'x' must be stored in full"):
        read_pyg(save(tmp_path / "f.pt", fields(x=nothing)))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"edge_index": None}, "has no 'edge_index'"),
        ({"x": [[1.0]]}, r"'x' must be a tensor \(found list\)"),
        ({"x": torch.zeros(4)}, r"'x' must have shape \(N, F\) \(found \(4,\)\)"),
        ({"x": torch.zeros(4, 2).to_sparse()}, "'x' must be a dense tensor"),
        ({"x": torch.zeros(4, 2, dtype=torch.complex64)}, "'x' must be .* numbers"),
        ({"x": torch.zeros(4, 2, device="meta")}, "'x' must be a dense tensor"),
        ({"edge_index": torch.zeros(3, 2, dtype=torch.int64)}, r"shape \(2, E\)"),
        ({"edge_index": torch.zeros(2, 3)}, "whole numbers"),
        ({"y": torch.zeros(3)}, "one value for each of the 4 nodes"),
        ({"y": "labels"}, r"'y' must be a tensor \(found str\)"),
    ],
)
def test_wrong_content_is_refused_in_one_sentence(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    path = save(tmp_path / "f.pt", fields(**changes))
    with pytest.raises(DatasetError, match=says) as caught:
        read_pyg(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [torch.zeros(3), [1, 2], 1, None])
def test_other_objects_are_refused(tmp_path: Path, content: Any) -> None:
    with pytest.raises(DatasetError, match="must hold a PyG Data or a dict"):
        read_pyg(save(tmp_path / "f.pt", content))


def test_archives_without_one_pt_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.pt.zip"
    for names, found in (((), 0), (("readme.txt",), 0), (("a.pt", "b.pt"), 2)):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, b"text")
        with pytest.raises(DatasetError, match=rf"exactly one \.pt file \(found {found}"):
            read_pyg(path)


def test_a_zip_that_torch_did_not_write_is_refused(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with zipfile.ZipFile(tmp_path / "f.pt.zip", "w") as archive:
        archive.writestr("f.pt", inner.getvalue())
    with pytest.raises(DatasetError, match=r"not written by torch\.save"):
        read_pyg(tmp_path / "f.pt.zip")


def test_missing_and_empty_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"nothing\.pt cannot be read: No such file"):
        read_pyg(tmp_path / "nothing.pt")
    (tmp_path / "empty.pt").touch()
    with pytest.raises(DatasetError, match=r"empty\.pt is empty"):
        read_pyg(tmp_path / "empty.pt")


@pytest.mark.parametrize("name", ["f.pt", "f.pt.zip"])
def test_damage_anywhere_is_a_dataset_error_or_harmless(tmp_path: Path, name: str) -> None:
    path = save(tmp_path / name, fields())
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for cut in range(0, len(whole), 53):
        path.write_bytes(whole[:cut])
        with pytest.raises(DatasetError):
            read_pyg(path)
    for place in rng.integers(0, len(whole), 300):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            read_pyg(path)
        except DatasetError as error:
            assert str(path) in str(error)  # noqa: PT017


def test_damage_of_the_pickle_itself_is_a_dataset_error_or_harmless(tmp_path: Path) -> None:
    """Here the checksums are right, so that torch's reader meets the damage."""
    path = save(tmp_path / "f.pt", fields())
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    pickled = next(name for name in members if name.endswith("/data.pkl"))
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(members[pickled]), 300):
        damaged = bytearray(members[pickled])
        damaged[place] ^= 1 << int(rng.integers(8))
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in {**members, pickled: bytes(damaged)}.items():
                archive.writestr(name, data)
        try:
            read_pyg(path)
        except DatasetError as error:
            assert str(path) in str(error)  # noqa: PT017


def test_a_file_without_features_still_says_how_many_nodes_there_are(tmp_path: Path) -> None:
    for changes, size in [({}, 4), ({"y": None, "num_nodes": 9}, 9), ({"y": None}, 4)]:
        contents = read_pyg(save(tmp_path / "f.pt", fields(x=None, **changes)))
        assert contents.x.shape == (size, 0)
    with pytest.raises(DatasetError, match="one value for each of the 4 nodes"):
        read_pyg(save(tmp_path / "f.pt", fields(x=None, y=torch.zeros(3))))


def test_what_is_known_of_edges_is_named(tmp_path: Path) -> None:
    assert read_pyg(save(tmp_path / "f.pt", fields())).unused == ()
    values = {"edge_attr": torch.zeros(3, 2), "edge_weight": torch.ones(3)}
    contents = read_pyg(save(tmp_path / "f.pt", fields(**values)))
    assert contents.unused == ("edge_attr", "edge_weight")

from __future__ import annotations

import hashlib
import io
import os
import socket
import subprocess
import sys
import zipfile
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from egoscore.errors import DatasetError
from egoscore.load import datasets
from egoscore.load.datasets import list_datasets, load_dataset

BOND = [
    *("disney", "books", "reddit", "enron", "weibo", "inj_cora", "inj_amazon", "inj_flickr"),
    *("gen_time", "gen_100", "gen_500", "gen_1000", "gen_5000", "gen_10000"),
]
GENERATED = [
    "builtin",
    "weibo-like",
    "dgraph-like",
    "injected-00 to injected-19",
    "varied-00 to varied-53",
]


def real_data() -> Path | None:
    """Where the real files are, if they are anywhere: they are not part of the project."""
    given = os.environ.get("EGOSCORE_DATA")
    folder = Path(given or Path(__file__).resolve().parents[2].parent / "shared" / "data")
    return folder if (folder / "bond").is_dir() else None


REAL_DATA = real_data()
needs_real_data = pytest.mark.skipif(
    REAL_DATA is None, reason="BOND's files are not here; set EGOSCORE_DATA to their folder"
)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, no folder from outside, and no way out to the web."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(datasets, "cache_dir", lambda: folder)
    monkeypatch.delenv("EGOSCORE_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setattr(datasets, "_BASE_URL", f"http://127.0.0.1:{port}/")
    return folder


def network_file(nodes: int = 4, y: torch.Tensor | None = None) -> bytes:
    """A `.pt.zip` with a path of `nodes` nodes, whose number tells files apart."""
    ends = torch.arange(nodes - 1)
    content: dict[str, Any] = {
        "x": torch.rand(nodes, 3),
        "edge_index": torch.stack([ends, ends + 1]),
    }
    if y is not None:
        content["y"] = y
    inner, outer = io.BytesIO(), io.BytesIO()
    torch.save(content, inner)
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("network.pt", inner.getvalue())
    return outer.getvalue()


def put(folder: Path, name: str, content: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


class TestNames:
    def test_every_name_is_listed(self) -> None:
        entries = list_datasets()
        assert sorted(entry.name for entry in entries) == sorted([*BOND, "dgraph", *GENERATED])
        assert all(entry.about for entry in entries)

    def test_only_weibo_is_directed(self) -> None:
        assert {e.name for e in list_datasets() if e.directed} == {"weibo", "weibo-like"}

    def test_entries_say_where_data_would_come_from(self, tmp_path: Path) -> None:
        path = put(tmp_path / "data", "books.pt.zip", network_file())
        entries = {entry.name: entry for entry in list_datasets(tmp_path / "data")}
        assert (entries["books"].where, entries["books"].available) == (str(path), True)
        assert entries["weibo"].where == f"{datasets._BASE_URL}weibo.pt.zip"
        assert not entries["weibo"].available
        assert entries["dgraph"].where == "https://dgraph.xinye.com"
        assert (entries["builtin"].where, entries["builtin"].available) == ("generated", True)
        with pytest.raises(FrozenInstanceError):
            entries["books"].name = "other"  # type: ignore[misc]

    @pytest.mark.parametrize(
        ("name", "near"), [("disny", "disney"), ("Weibo", "weibo"), ("weibo_like", "weibo-like")]
    )
    def test_an_unknown_name_suggests_the_nearest(self, name: str, near: str) -> None:
        with pytest.raises(DatasetError, match=rf"'{name}' \(did you mean '{near}'\?\)") as caught:
            load_dataset(name)
        assert all(known in str(caught.value) for known in [*BOND, "dgraph", *GENERATED])

    def test_a_name_near_to_nothing_is_refused(self) -> None:
        with pytest.raises(DatasetError, match=r"no data set '\.\./\.\./etc/passwd'; there"):
            load_dataset("../../etc/passwd")

    def test_the_built_in_network_needs_no_file(self) -> None:
        graph = load_dataset("builtin")
        assert graph.num_nodes > 0
        assert graph.labels is not None
        assert not graph.directed

    def test_weibo_like_is_generated(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from egoscore.load import generate as generated

        monkeypatch.setattr(generated, "weibo_like", lambda: "weibo_like")
        monkeypatch.setattr(generated, "dgraph_like", lambda: "dgraph_like")
        assert load_dataset("weibo-like") == "weibo_like"
        assert load_dataset("dgraph-like") == "dgraph_like"

    def test_varied_networks_are_generated(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("egoscore.load.families.varied.varied_network", lambda number: number)
        for number in (0, 7, 53):
            assert load_dataset(f"varied-{number:02}") == number

    @pytest.mark.parametrize("name", ["varied-54", "varied-99", "varied-7", GENERATED[-1]])
    def test_other_varied_networks_are_refused(self, name: str) -> None:
        with pytest.raises(DatasetError, match=f"no data set '{name}'; .* varied-00 to varied-53"):
            load_dataset(name)


class TestPlaces:
    def test_places_are_searched_in_order(
        self, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given, named = tmp_path / "given", tmp_path / "named"
        given.mkdir()
        monkeypatch.setenv("EGOSCORE_DATA", str(named))
        for nodes, folder in enumerate(
            [cache, named / "bond", named, given / "bond", given], start=2
        ):
            put(folder, "books.pt.zip", network_file(nodes))
            assert load_dataset("books", given).num_nodes == nodes

    def test_a_file_without_zip_comes_second(self, tmp_path: Path) -> None:
        torch.save(
            {"x": torch.rand(2, 3), "edge_index": torch.tensor([[0], [1]])}, tmp_path / "books.pt"
        )
        assert load_dataset("books", str(tmp_path)).num_nodes == 2
        put(tmp_path, "books.pt.zip", network_file(5))
        assert load_dataset("books", tmp_path).num_nodes == 5

    def test_the_users_own_file_may_differ_from_the_published_one(self, tmp_path: Path) -> None:
        put(tmp_path, "disney.pt.zip", network_file(7))
        assert load_dataset("disney", tmp_path).num_nodes == 7

    def test_a_folder_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        for call in (lambda p: load_dataset("disney", p), list_datasets):
            with pytest.raises(DatasetError, match=r"data folder .*nowhere does not exist"):
                call(tmp_path / "nowhere")

    def test_dgraph_is_read_from_its_own_file(self, tmp_path: Path) -> None:
        with (tmp_path / "dgraphfin.npz").open("wb") as file:
            np.savez(file, x=np.ones((3, 17)), y=np.array([0, 1, 2]), edge_index=[[0, 1], [1, 2]])
        graph = load_dataset("dgraph", tmp_path)
        np.testing.assert_array_equal(graph.labels, [0, 1, 0])
        assert (graph.num_edges, graph.directed) == (2, False)

    def test_dgraph_cannot_be_downloaded(self, cache: Path) -> None:
        with pytest.raises(DatasetError, match=r"dgraphfin\.npz.*register") as caught:
            load_dataset("dgraph")
        assert "https://dgraph.xinye.com" in str(caught.value)
        assert str(cache) in str(caught.value)


class TestLabels:
    @pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.float32, torch.float64])
    @pytest.mark.parametrize("name", ["inj_cora", "gen_time"])
    def test_planted_outliers_have_kinds(
        self, tmp_path: Path, name: str, dtype: torch.dtype
    ) -> None:
        y = torch.tensor([0, 1, 2, 3], dtype=dtype)
        put(tmp_path, f"{name}.pt.zip", network_file(4, y))
        graph = load_dataset(name, tmp_path)
        np.testing.assert_array_equal(graph.labels, [0, 1, 1, 1])
        words = ["normal", "contextual", "structural", "both"]
        np.testing.assert_array_equal(graph.node_info["kind"], words)

    @pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float64])
    def test_organic_outliers_are_just_outliers(self, tmp_path: Path, dtype: torch.dtype) -> None:
        y = torch.tensor([0, 1, 0, 1]).to(dtype)
        put(tmp_path, "weibo.pt.zip", network_file(4, y))
        graph = load_dataset("weibo", tmp_path)
        np.testing.assert_array_equal(graph.labels, [0, 1, 0, 1])
        assert not graph.node_info
        assert (graph.directed, graph.num_edges) == (True, 3)

    def test_labels_may_be_missing(self, tmp_path: Path) -> None:
        put(tmp_path, "inj_cora.pt.zip", network_file(4))
        assert load_dataset("inj_cora", tmp_path).labels is None

    @pytest.mark.parametrize(
        ("name", "bad", "most"), [("books", 2, 1), ("gen_100", 4, 3), ("gen_100", float("nan"), 3)]
    )
    def test_other_labels_are_refused(
        self, tmp_path: Path, name: str, bad: float, most: int
    ) -> None:
        put(tmp_path, f"{name}.pt.zip", network_file(4, torch.tensor([0, 0, 1, bad])))
        with pytest.raises(DatasetError, match=f"'y' must be whole numbers from 0 to {most}"):
            load_dataset(name, tmp_path)

    def test_a_network_that_cannot_be_used_names_its_file(self, tmp_path: Path) -> None:
        content = {"x": torch.rand(2, 3), "edge_index": torch.tensor([[0], [2]])}
        torch.save(content, tmp_path / "books.pt")
        with pytest.raises(
            DatasetError, match=r"books\.pt cannot be used: Edge 0 points to node 2"
        ):
            load_dataset("books", tmp_path)


class TestDownload:
    @pytest.fixture
    def fetched(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
        """What was asked of the web, which has a network of six nodes under every address."""
        asked: list[tuple[Any, ...]] = []

        def fetch(url: str, file_name: str, sha256: str | None) -> Path:
            asked.append((url, file_name, sha256))
            return put(cache, file_name, network_file(6))

        monkeypatch.setattr(datasets, "fetch", fetch)
        return asked

    def test_what_is_nowhere_is_downloaded_once(
        self, cache: Path, fetched: list[tuple[Any, ...]]
    ) -> None:
        for _ in range(2):
            assert load_dataset("weibo").num_nodes == 6
        assert fetched == [(f"{datasets._BASE_URL}weibo.pt.zip", "weibo.pt.zip", None)]
        found = {entry.name: entry for entry in list_datasets()}["weibo"]
        assert (found.where, found.available) == (str(cache / "weibo.pt.zip"), True)

    @pytest.mark.parametrize("name", sorted(datasets._SHA256))
    def test_known_checksums_are_demanded(self, name: str, fetched: list[tuple[Any, ...]]) -> None:
        load_dataset(name)
        assert fetched[0][2] == datasets._SHA256[name]

    def test_offline_it_says_what_to_do_in_one_sentence(
        self, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given = tmp_path / "given"
        given.mkdir()
        monkeypatch.setenv("EGOSCORE_DATA", str(tmp_path / "named"))
        with pytest.raises(DatasetError) as caught:
            load_dataset("weibo", given)
        message = str(caught.value)
        searched = [given, given / "bond", tmp_path / "named", tmp_path / "named" / "bond", cache]
        assert ", ".join(str(folder) for folder in searched) in message
        for part in (
            "weibo.pt.zip",
            "the connection failed",
            "data_dir",
            "--data-dir",
            "EGOSCORE_DATA",
        ):
            assert part in message
        assert message.endswith(".")
        assert ". " not in message
        assert "\n" not in message


@needs_real_data
class TestRealFiles:
    @pytest.mark.parametrize(
        ("name", "nodes", "edges", "features", "outliers"),
        [
            ("disney", 124, 335, 28, 6),
            ("books", 1418, 3695, 21, 28),
            ("reddit", 10984, 78516, 64, 366),
            ("enron", 13533, 176987, 18, 5),
        ],
    )
    def test_they_are_as_published(
        self, name: str, nodes: int, edges: int, features: int, outliers: int
    ) -> None:
        graph = load_dataset(name, REAL_DATA)
        assert (graph.num_nodes, graph.num_edges, graph.num_features) == (nodes, edges, features)
        assert graph.labels is not None
        assert graph.labels.sum() == outliers
        assert not graph.directed

    def test_reddit_is_counted_in_both_directions_and_with_loops_by_the_paper(self) -> None:
        graph = load_dataset("reddit", REAL_DATA)
        assert graph.dropped_self_loops == graph.num_nodes
        assert graph.dropped_duplicates == 0
        assert 2 * graph.num_edges + graph.dropped_self_loops == 168016

    @pytest.mark.parametrize("name", sorted(datasets._SHA256))
    def test_they_have_the_checksums_we_expect_of_downloads(self, name: str) -> None:
        assert REAL_DATA is not None
        content = (REAL_DATA / "bond" / f"{name}.pt.zip").read_bytes()
        assert hashlib.sha256(content).hexdigest() == datasets._SHA256[name]

    def test_reading_them_does_not_import_pyg(self) -> None:
        code = (
            "import sys\n"
            "from egoscore import load_dataset\n"
            f"assert load_dataset('disney', {str(REAL_DATA)!r}).num_nodes == 124\n"
            "assert 'torch_geometric' not in sys.modules\n"
        )
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_listing_imports_neither_torch_nor_pyg() -> None:
    code = (
        "import sys\n"
        "from egoscore.load.datasets import list_datasets\n"
        "list_datasets()\n"
        "assert not {'torch', 'torch_geometric'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)

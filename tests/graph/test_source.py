"""What a user means by one word: names come before folders."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoscore.errors import DatasetError
from egoscore.graph.source import load_source


def test_a_data_sets_name_comes_before_a_folder_and_a_path_means_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "builtin"
    folder.mkdir()
    pq.write_table(pa.table({"id": [5, 6, 7], "x": [0.0, 1.0, 2.0]}), folder / "nodes.parquet")
    pq.write_table(pa.table({"a": [5], "b": [7]}), folder / "edges.parquet")
    assert load_source("builtin").num_nodes == 1000
    assert load_source("./builtin").ids.tolist() == [5, 6, 7]


def test_what_is_neither_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    for source in ("file", "nothing"):
        with pytest.raises(
            DatasetError, match=f"There is no data set '{source}'.* no folder {source}"
        ):
            load_source(source)

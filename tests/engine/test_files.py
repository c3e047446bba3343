"""Files: either whole or not there."""

import json
import os

import pytest
import torch

from egoscore import EgoScore, generate_network
from egoscore.detect import Origin, describe
from egoscore.engine.files import (
    CONFIG_FILE,
    UNFINISHED,
    load_tensors,
    model_path,
    read_config,
    replacing,
    save_tensors,
    write_text,
)
from egoscore.errors import RunError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class TestReplacing:
    def test_until_it_is_complete_the_old_file_stays(self, tmp_path):
        path = tmp_path / "file"
        path.write_text("old")
        with replacing(path) as draft:
            draft.write_text("new")
            assert path.read_text() == "old"
            assert draft.parent == tmp_path
            assert draft.name.startswith(UNFINISHED)
        assert path.read_text() == "new"
        assert names(tmp_path) == ["file"]

    def test_a_failure_leaves_the_old_file_and_no_draft(self, tmp_path):
        path = tmp_path / "file"
        path.write_text("old")

        def fail():
            with replacing(path) as draft:
                draft.write_text("half")
                raise RuntimeError("power cut")

        with pytest.raises(RuntimeError, match="power cut"):
            fail()
        assert path.read_text() == "old"
        assert names(tmp_path) == ["file"]

    def test_the_content_is_on_the_disk_before_it_has_its_name(self, tmp_path, monkeypatch):
        path, seen = tmp_path / "file", []
        flush = os.fsync

        def fsync(number):
            seen.append((os.fstat(number).st_size, path.exists()))
            flush(number)

        monkeypatch.setattr(os, "fsync", fsync)
        with replacing(path) as draft:
            draft.write_text("12345")
        assert seen == [(5, False)]

    def test_text_is_kept_in_any_language(self, tmp_path):
        write_text(tmp_path / "file", "Ärger 漢字\n")
        assert (tmp_path / "file").read_bytes() == "Ärger 漢字\n".encode()


class TestTensors:
    def test_tensors_and_what_they_are_come_back(self, tmp_path):
        tensors = {
            "weights": torch.rand(3, 2),
            "mean": torch.rand(2, dtype=torch.float64),
            "node": torch.arange(4),
            "nothing": torch.empty(0, 2),
            "step": torch.tensor(7),
        }
        save_tensors(tmp_path / "file", tensors, {"taus": [0.1, 0.2], "name": "é"})
        loaded, metadata = load_tensors(tmp_path / "file")
        assert loaded.keys() == tensors.keys()
        for name, value in tensors.items():
            assert torch.equal(loaded[name], value)
            assert loaded[name].dtype == value.dtype
        assert metadata == {"egoscore": '{"taus": [0.1, 0.2], "name": "\\u00e9"}'}
        assert names(tmp_path) == ["file"]

    def test_a_file_that_is_not_there_is_told(self, tmp_path):
        with pytest.raises(RunError, match=r"Cannot read .*nothing: No such file"):
            load_tensors(tmp_path / "nothing")

    @pytest.mark.parametrize("content", [b"", b"hello", b"\xff" * 100, b"\x80\x02}q\x00."])
    def test_other_content_is_refused(self, tmp_path, content):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(RunError, match="file is not a complete safetensors file"):
            load_tensors(tmp_path / "file")

    def test_a_place_that_cannot_be_written_is_told(self, tmp_path):
        with pytest.raises(RunError, match=r"Cannot write .*: No such file or directory\.$"):
            save_tensors(tmp_path / "no" / "file", {}, {})


class TestModelPath:
    def test_a_file_is_itself(self, tmp_path):
        (tmp_path / "my.model").touch()
        assert model_path(tmp_path / "my.model") == tmp_path / "my.model"

    def test_a_directory_holds_one(self, tmp_path):
        (tmp_path / "model.safetensors").touch()
        assert model_path(tmp_path) == tmp_path / "model.safetensors"

    @pytest.mark.parametrize("name", ["", "nothing"])
    def test_otherwise_it_says_where_it_looked(self, tmp_path, name):
        with pytest.raises(RunError, match=f"no model at {tmp_path}"):
            model_path(tmp_path / name)


class TestReadConfig:
    CONFIG = json.loads(
        json.dumps(describe(generate_network(9, 9, 1), Origin("friends"), EgoScore()))
    )

    def test_what_a_run_was_made_with_comes_back(self, tmp_path):
        write_text(tmp_path / CONFIG_FILE, json.dumps(self.CONFIG))
        assert read_config(tmp_path) == self.CONFIG

    @pytest.mark.parametrize("content", ["", "{", "[]", '["fingerprint"]', '"fingerprint"', "\0"])
    def test_other_content_is_that_of_no_run(self, tmp_path, content):
        write_text(tmp_path / CONFIG_FILE, content)
        with pytest.raises(RunError, match="not that of a run; choose another directory"):
            read_config(tmp_path)

    @pytest.mark.parametrize("name", ["fingerprint", "preset", "settings", "network", "versions"])
    @pytest.mark.parametrize("value", [None, 7])
    def test_a_part_of_another_kind_is_that_of_no_run(self, tmp_path, name, value):
        write_text(tmp_path / CONFIG_FILE, json.dumps(self.CONFIG | {name: value}))
        with pytest.raises(RunError, match="not that of a run"):
            read_config(tmp_path)

    def test_a_file_that_is_not_there_is_not_damaged(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            read_config(tmp_path)

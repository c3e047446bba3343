"""Files are either complete or not there; tensors carry a checksum; a directory can be locked."""

import errno
import json
import os
import random
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from egoscore.errors import RunError
from egoscore.run.files import (
    UNFINISHED,
    load_json,
    load_tensors,
    lock_directory,
    parse_json,
    replacing,
    save_json,
    save_tensors,
    write_text,
)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class TestReplacing:
    def test_the_old_file_stays_until_the_new_one_is_complete(self, tmp_path):
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

    @pytest.mark.parametrize("defect", [OSError("ours"), FileNotFoundError(2, "missing", "ours")])
    def test_an_error_inside_is_not_taken_for_one_of_writing(self, tmp_path, defect):
        with pytest.raises(OSError, match="ours") as raised, replacing(tmp_path / "file"):
            raise defect
        assert raised.value is defect
        assert names(tmp_path) == []

    @pytest.mark.parametrize("function", ["open", "fsync", "replace"])
    def test_what_the_system_refuses_is_reported(self, tmp_path, monkeypatch, function):
        def full(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        place = Path if function == "replace" else os
        monkeypatch.setattr(place, function, full)
        with pytest.raises(RunError, match=f"Cannot write {tmp_path / 'file'}: No space left"):
            write_text(tmp_path / "file", "new")

    def test_so_is_a_full_disk_while_the_content_is_written(self, tmp_path, monkeypatch):
        def full(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(Path, "write_text", full)
        with pytest.raises(RunError, match=f"Cannot write {tmp_path / 'file'}: No space left"):
            write_text(tmp_path / "file", "new")

    def test_the_content_is_flushed_to_disk_before_the_rename(self, tmp_path, monkeypatch):
        path, seen = tmp_path / "file", []
        flush = os.fsync

        def fsync(number):
            seen.append((os.fstat(number).st_size, path.exists()))
            flush(number)

        monkeypatch.setattr(os, "fsync", fsync)
        with replacing(path) as draft:
            draft.write_text("12345")
        assert seen == [(5, False)]

    def test_text_is_written_as_utf8(self, tmp_path):
        write_text(tmp_path / "file", "Ärger 漢字\n")
        assert (tmp_path / "file").read_bytes() == "Ärger 漢字\n".encode()

    def test_a_symlink_is_replaced_and_its_target_untouched(self, tmp_path):
        victim, link = tmp_path / "victim", tmp_path / "link"
        victim.write_text("precious")
        link.symlink_to(victim)
        write_text(link, "new")
        assert not link.is_symlink()
        assert (link.read_text(), victim.read_text()) == ("new", "precious")

    def test_a_symlink_under_the_temporary_name_is_not_followed(self, tmp_path, monkeypatch):
        """Even an attacker who guesses the name cannot redirect the output."""
        victim = tmp_path / "victim"
        victim.write_text("precious")
        monkeypatch.setattr("egoscore.run.files.token_hex", lambda size: "guessed")
        (tmp_path / f"{UNFINISHED}guessed-file").symlink_to(victim)
        with pytest.raises(RunError, match="Cannot write"):
            write_text(tmp_path / "file", "new")
        assert victim.read_text() == "precious"
        assert not (tmp_path / "file").exists()

    def test_writers_of_the_same_file_do_not_collide(self, tmp_path):
        path, size = tmp_path / "file", 10_000
        with replacing(path) as first, replacing(path) as second:
            assert first != second
        failed = []

        def write(letter):
            try:
                for _ in range(30):
                    write_text(path, letter * size)
            except RunError as error:
                failed.append(error)

        writers = [threading.Thread(target=write, args=(letter,)) for letter in "abcd"]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert failed == []
        text = path.read_text()
        assert text == text[0] * size
        assert names(tmp_path) == ["file"]

    def test_a_very_long_name_leaves_room_for_the_temporary_one(self, tmp_path):
        write_text(tmp_path / ("n" * 255), "text")
        assert (tmp_path / ("n" * 255)).read_text() == "text"


TENSORS = {
    "weights": torch.arange(6, dtype=torch.float32).reshape(3, 2) / 7,
    "mean": torch.linspace(0, 1, 2, dtype=torch.float64),
    "node": torch.arange(4),
    "nothing": torch.empty(0, 2),
    "step": torch.tensor(7),
}
FACTS = {"taus": [0.1, 0.2], "name": "é"}


class TestTensors:
    @pytest.fixture
    def saved(self, tmp_path):
        save_tensors(tmp_path / "file", TENSORS, FACTS)
        return tmp_path / "file"

    def test_tensors_and_facts_come_back(self, saved):
        loaded, facts = load_tensors(saved)
        assert loaded.keys() == TENSORS.keys()
        for name, value in TENSORS.items():
            assert torch.equal(loaded[name], value)
            assert loaded[name].dtype == value.dtype
        assert facts == FACTS
        assert names(saved.parent) == ["file"]

    def test_a_missing_file_is_reported(self, tmp_path):
        with pytest.raises(RunError, match=r"Cannot read .*nothing: No such file"):
            load_tensors(tmp_path / "nothing")

    @pytest.mark.parametrize("content", [b"", b"hello", b"\xff" * 100, b"\x80\x02}q\x00."])
    def test_another_format_is_refused(self, tmp_path, content):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(RunError, match="file is not a complete safetensors file"):
            load_tensors(tmp_path / "file")

    def test_a_file_of_another_program_is_refused(self, tmp_path):
        save_file({"a": torch.zeros(1)}, tmp_path / "file")
        with pytest.raises(RunError, match="egoscore did not write it"):
            load_tensors(tmp_path / "file")

    @pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, "[]", "no"])
    def test_facts_that_are_not_a_json_object_are_refused(self, tmp_path, text):
        save_file({"a": torch.zeros(1)}, tmp_path / "file", {"egoscore": text})
        with pytest.raises(RunError, match="damaged"):
            load_tensors(tmp_path / "file")

    def test_a_changed_byte_anywhere_is_noticed(self, saved):
        """The only harmless one is in the name of the checksum: the contents are the same."""
        whole, draw = saved.read_bytes(), random.Random(0)
        for position in range(len(whole)):
            changed = bytearray(whole)
            changed[position] ^= draw.randrange(1, 256)
            saved.write_bytes(changed)
            try:
                loaded, facts = load_tensors(saved)
            except RunError:
                continue
            assert facts == FACTS, position
            assert loaded.keys() == TENSORS.keys()
            assert all(torch.equal(loaded[n], t) for n, t in TENSORS.items()), position

    def test_a_folder_that_does_not_exist_is_reported(self, tmp_path):
        with pytest.raises(
            RunError, match=r"Cannot write .*no/file: the folder .*no does not exist"
        ):
            save_tensors(tmp_path / "no" / "file", {}, {})


class TestJson:
    RECORD = {"share": 0.1 + 0.2, "name": "é\ud800", "list": [1, None, float("inf")]}  # noqa: RUF012

    @pytest.fixture
    def saved(self, tmp_path):
        save_json(tmp_path / "file.json", json.dumps(self.RECORD))
        return tmp_path / "file.json"

    def test_an_object_comes_back_without_the_checksum(self, saved):
        assert load_json(saved) == self.RECORD
        assert json.loads(saved.read_text()).keys() == {"checksum", *self.RECORD}

    def test_a_changed_byte_is_noticed_unless_it_is_a_space(self, saved):
        whole, draw = saved.read_bytes(), random.Random(0)
        for position in range(len(whole)):
            changed = bytearray(whole)
            changed[position] ^= draw.randrange(1, 256)
            saved.write_bytes(changed)
            if (
                whole[position : position + 1].isspace()
                and changed[position : position + 1].isspace()
            ):
                assert load_json(saved) == self.RECORD
            else:
                with pytest.raises(RunError, match=str(saved)):
                    load_json(saved)

    @pytest.mark.parametrize("text", ["", "[]", "null", "[" * 200_000, "{}", '{"checksum": 1}'])
    def test_other_json_is_refused(self, tmp_path, text):
        (tmp_path / "file.json").write_text(text)
        with pytest.raises(RunError, match=r"file\.json"):
            load_json(tmp_path / "file.json")


@pytest.mark.parametrize("text", ["", "{", "[" * 200_000, '{"a":' * 200_000])
def test_text_that_is_not_json_or_nested_too_deeply_is_none(text):
    assert parse_json(text) is None


def test_json_is_parsed():
    assert parse_json(json.dumps({"a": [1.5, None]})) == {"a": [1.5, None]}


class TestLock:
    TRY = (
        "import sys\n"
        "from pathlib import Path\n"
        "from egoscore.errors import RunError\n"
        "from egoscore.run.files import lock_directory\n"
        "try:\n"
        "    with lock_directory(Path(sys.argv[1])):\n"
        "        print('locked')\n"
        "except RunError as error:\n"
        "    print(error)\n"
    )

    def locked_elsewhere(self, folder):
        done = subprocess.run(
            [sys.executable, "-c", self.TRY, folder], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def test_a_second_process_is_refused_until_the_first_lets_go(self, tmp_path):
        with lock_directory(tmp_path):
            refusal = self.locked_elsewhere(tmp_path)
        assert "Another process" in refusal
        assert str(tmp_path) in refusal
        assert self.locked_elsewhere(tmp_path) == "locked"

    def test_the_lock_of_a_killed_process_is_released(self, tmp_path):
        code = self.TRY.replace("print('locked')", "import os; os.kill(os.getpid(), 9)")
        killed = subprocess.run([sys.executable, "-c", code, tmp_path], check=False)
        assert killed.returncode == -9
        assert self.locked_elsewhere(tmp_path) == "locked"

    def test_a_symlink_in_place_of_the_lock_does_no_harm(self, tmp_path):
        victim = tmp_path / "victim"
        victim.write_text("precious")
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / ".lock").symlink_to(victim)
        with suppress(OSError, RunError), lock_directory(tmp_path / "run"):
            pass
        assert victim.read_text() == "precious"

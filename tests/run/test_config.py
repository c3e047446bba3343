"""The files of a run: where its model is, and what its config.json must hold."""

import json

import pytest

from egoscore import EgoScore, generate_network
from egoscore.detect import Origin, describe
from egoscore.errors import RunError
from egoscore.run.directory import CONFIG_FILE, model_path, read_config
from egoscore.run.files import write_text


class TestModelPath:
    def test_a_file_stands_for_itself(self, tmp_path):
        (tmp_path / "my.model").touch()
        assert model_path(tmp_path / "my.model") == tmp_path / "my.model"

    def test_a_run_directory_holds_one(self, tmp_path):
        (tmp_path / "model.safetensors").touch()
        assert model_path(tmp_path) == tmp_path / "model.safetensors"

    @pytest.mark.parametrize("name", ["", "nothing"])
    def test_a_missing_model_is_reported_with_its_path(self, tmp_path, name):
        with pytest.raises(RunError, match=str(tmp_path / name)):
            model_path(tmp_path / name)


CONFIG = json.loads(json.dumps(describe(generate_network(9, 9, 1), Origin("friends"), EgoScore())))


class TestReadConfig:
    def test_it_returns_what_was_written(self, tmp_path):
        write_text(tmp_path / CONFIG_FILE, json.dumps(CONFIG))
        assert read_config(tmp_path) == CONFIG

    @pytest.mark.parametrize(
        "content", ["", "{", "[]", '["fingerprint"]', '"fingerprint"', "\0", "[" * 200_000]
    )
    def test_other_json_is_refused(self, tmp_path, content):
        write_text(tmp_path / CONFIG_FILE, content)
        with pytest.raises(RunError, match=r"config\.json is damaged"):
            read_config(tmp_path)

    def test_bytes_that_are_not_utf8_are_refused(self, tmp_path):
        (tmp_path / CONFIG_FILE).write_bytes(b"\xff\xfe{}")
        with pytest.raises(RunError, match=r"config\.json is damaged"):
            read_config(tmp_path)

    @pytest.mark.parametrize("name", ["fingerprint", "preset", "settings", "network", "versions"])
    @pytest.mark.parametrize("value", [None, 7])
    def test_a_value_of_the_wrong_type_is_refused(self, tmp_path, name, value):
        write_text(tmp_path / CONFIG_FILE, json.dumps(CONFIG | {name: value}))
        with pytest.raises(RunError, match=r"config\.json is damaged"):
            read_config(tmp_path)

    def test_a_missing_file_is_refused(self, tmp_path):
        with pytest.raises(RunError, match=r"config\.json"):
            read_config(tmp_path)

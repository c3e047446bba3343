"""Parquet files: readable by other programs, with a checksum that covers every byte."""

import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoscore.errors import RunError
from egoscore.run import tables
from egoscore.run.tables import described, facts_of, read_table, table_writer, write_table

TABLE = pa.table(
    {
        "number": np.arange(50),
        "fraction": np.linspace(-1, 1, 50),
        "text": pa.array(["ä", None, "", "=1", "c"] * 10),
        "flag": np.arange(50) % 3 == 0,
    }
)
FACTS = {"taus": [0.25, 0.5], "name": "é"}


@pytest.fixture
def saved(tmp_path):
    write_table(TABLE, tmp_path / "table.parquet", FACTS)
    return tmp_path / "table.parquet"


def test_a_table_and_its_facts_come_back(saved):
    found = read_table(saved)
    assert found.equals(TABLE)
    assert facts_of(found.schema) == FACTS
    assert [path.name for path in saved.parent.iterdir()] == ["table.parquet"]


def test_other_programs_can_read_it(saved):
    assert pq.read_table(saved).equals(TABLE)


def test_an_empty_table_comes_back(tmp_path):
    write_table(TABLE.slice(0, 0), tmp_path / "empty.parquet")
    assert read_table(tmp_path / "empty.parquet").equals(TABLE.slice(0, 0))


def test_without_facts_there_are_none(tmp_path):
    write_table(TABLE, tmp_path / "table.parquet")
    assert facts_of(read_table(tmp_path / "table.parquet").schema) == {}


@pytest.mark.parametrize("text", [b"[1]", b"no", b"\xff", b"[" * 200_000])
def test_metadata_that_are_not_a_json_object_are_no_facts(text):
    assert facts_of(TABLE.schema.with_metadata({"egoscore": text})) == {}


def test_writing_it_again_gives_the_same_bytes(saved):
    before = saved.read_bytes()
    write_table(TABLE, saved, FACTS)
    assert saved.read_bytes() == before


@pytest.mark.parametrize("rows", [1, 7, 50, 51])
def test_progress_counts_every_row_once(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(tables, "_ROWS_AT_ONCE", rows)
    steps = []
    write_table(TABLE, tmp_path / "table.parquet", advance=steps.append)
    assert (sum(steps), max(steps)) == (50, min(rows, 50))
    assert read_table(tmp_path / "table.parquet").equals(TABLE)


def test_a_changed_byte_anywhere_is_noticed(saved):
    whole, draw = saved.read_bytes(), random.Random(0)
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= draw.randrange(1, 256)
        saved.write_bytes(changed)
        with pytest.raises(RunError, match=r"table\.parquet is damaged"):
            read_table(saved)


@pytest.mark.parametrize("length", [0, 1, 40, 500])
def test_a_truncated_file_is_noticed(saved, length):
    saved.write_bytes(saved.read_bytes()[:length])
    with pytest.raises(RunError, match=r"table\.parquet is damaged"):
        read_table(saved)


def test_a_table_of_another_program_is_refused(tmp_path):
    pq.write_table(TABLE, tmp_path / "table.parquet")
    with pytest.raises(RunError, match="checksum"):
        read_table(tmp_path / "table.parquet")


def test_a_checksum_among_the_data_is_not_taken_for_that_of_the_file(tmp_path):
    mark = (tables._MARK + tables._BLANK).decode()
    table = pa.table({mark: [mark, mark[::-1]]})
    write_table(table, tmp_path / "table.parquet", {mark: mark})
    assert read_table(tmp_path / "table.parquet").equals(table)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(RunError, match=r"Cannot read .*no\.parquet: No such file"):
        read_table(tmp_path / "no.parquet")


def test_a_failure_while_writing_leaves_the_old_table(saved):
    schema = described(TABLE.schema, {})

    def fail():
        with table_writer(saved, schema) as writer:
            writer.write_table(TABLE.slice(0, 3).cast(schema))
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        fail()
    assert read_table(saved).equals(TABLE)
    assert [path.name for path in saved.parent.iterdir()] == ["table.parquet"]

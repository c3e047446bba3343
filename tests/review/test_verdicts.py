"""Verdicts as people write them, and as CSV."""

import numpy as np
import pytest

from egoscore.errors import InputError
from egoscore.review.verdicts import Verdict, kind_of, kinds_of, read_verdicts, write_verdicts


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "abnormal"),
        (np.True_, "abnormal"),
        (1, "abnormal"),
        (np.int64(0), "normal"),
        (0.0, "normal"),
        (" Yes ", "abnormal"),
        ("OK", "normal"),
        ("?", "unsure"),
        ("unsure", "unsure"),
    ],
)
def test_spellings(value, kind):
    assert kind_of(value) == kind


@pytest.mark.parametrize("value", ["perhaps so", 2, "", 0.5, object()])
def test_what_is_no_verdict_is_refused(value):
    with pytest.raises(InputError, match="must be True, False"):
        kind_of(value)


def test_none_forgets():
    assert kinds_of({"a": None, "b": True}) == {"a": None, "b": "abnormal"}


def test_csv_round_trip(tmp_path):
    given = [
        Verdict("a,b", "abnormal", 'said "no"\nand left', "Alder", "2026-01-01T00:00:00+00:00"),
        Verdict("=1+1", "unsure", "@x"),
        Verdict("-7", "normal"),
    ]
    write_verdicts(given, tmp_path / "v.csv")
    assert read_verdicts(tmp_path / "v.csv") == given
    assert "'=1+1" in (tmp_path / "v.csv").read_text()


@pytest.mark.parametrize(
    "text",
    [
        "node,verdict\na,1\nb,0\nc,\n",
        "\ufeffID;Label;Comment\r\na;abnormal;x\r\nb;normal;\r\n",
        "verdict\tname\nyes\ta\nno\tb\n",
    ],
)
def test_columns_and_separators(tmp_path, text):
    (tmp_path / "v.csv").write_text(text, encoding="utf-8", newline="")
    found = {one.node: one.kind for one in read_verdicts(tmp_path / "v.csv")}
    assert found == {"a": "abnormal", "b": "normal"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs a column 'node'"),
        ("node,score\na,1\n", "needs a column 'verdict'"),
        ("node,verdict\na,1\nb,dubious\n", "line 3"),
        ('node,verdict\n"a,1\n', "not a CSV file"),
        ("node,verdict\n\xff\n", "UTF-8"),
    ],
)
def test_other_files_are_refused(tmp_path, text, said):
    (tmp_path / "v.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=said):
        read_verdicts(tmp_path / "v.csv")

"""What a reviewer says about a node, and reading and writing it as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egoscore.errors import InputError
from egoscore.text import shown

ABNORMAL, NORMAL, UNSURE = "abnormal", "normal", "unsure"
KINDS = (ABNORMAL, NORMAL, UNSURE)
COLUMNS = ("node", "verdict", "note", "author", "time")
_SPELLINGS = {
    ABNORMAL: "abnormal anomaly anomalous outlier suspicious fraud bad positive confirmed a y yes "
    "true t 1 1.0",
    NORMAL: "normal inlier ok okay good benign legitimate clean negative n no false f 0 0.0",
    UNSURE: "unsure unclear unknown undecided maybe skip u ?",
}
_KIND_OF = {word: kind for kind, words in _SPELLINGS.items() for word in words.split()}
_HEADERS = {
    "node": ("node", "id", "node_id", "name"),
    "verdict": ("verdict", "abnormal", "label", "known_label", "review", "is_abnormal", "outlier"),
    "note": ("note", "notes", "comment", "comments", "remark"),
    "author": ("author", "reviewer", "by", "user", "analyst"),
    "time": ("time", "timestamp", "date"),
}
_DELIMITERS = (",", ";", "\t")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Verdict:
    """One verdict. `time` is in UTC as in ISO 8601; an empty text means that nothing was said."""

    node: str
    kind: str
    note: str = ""
    author: str = ""
    time: str = ""


def kind_of(value: Any) -> str:
    """The verdict that a value means: True, 1, "yes" and "abnormal" are the same."""
    text = str(value.item() if hasattr(value, "item") else value).strip().casefold()
    if text in _KIND_OF:
        return _KIND_OF[text]
    raise InputError(
        f"A verdict must be True, False, 'abnormal', 'normal' or 'unsure' (found {value!r})."
    )


def read_verdicts(path: str | Path) -> list[Verdict]:
    """Verdicts from a CSV file with the columns node or id, verdict, and perhaps note and author.

    Rows without a verdict have not been reviewed and are left out.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text file in UTF-8; save it as CSV in UTF-8.") from error
    lines = text.splitlines(keepends=True)
    first = lines[0] if lines else ""
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise InputError(f"{path} is not a CSV file: {error}.") from error
    return _parsed(path, rows)


def _parsed(path: Path, rows: Sequence[Sequence[str]]) -> list[Verdict]:
    header = [name.strip().casefold() for name in rows[0]] if rows else []
    places = {name: _place(header, known) for name, known in _HEADERS.items()}
    for name in ("node", "verdict"):
        if places[name] is None:
            raise InputError(
                f"{path} needs a column '{name}' (found {', '.join(map(repr, header)) or 'none'})."
            )
    found = []
    for number, row in enumerate(rows[1:], 2):
        cells = {name: _cell(row, place) for name, place in places.items()}
        if not cells["verdict"]:
            continue
        kind = _KIND_OF.get(cells["verdict"].casefold())
        if kind is None:
            raise InputError(
                f"The verdict in line {number} of {path} must be abnormal, normal or unsure, or "
                f"1 or 0 (found {shown(cells['verdict'])})."
            )
        rest = {name: cells[name] for name in ("note", "author", "time")}
        found.append(Verdict(node=cells["node"], kind=kind, **rest))
    return found


def _place(header: Sequence[str], known: Sequence[str]) -> int | None:
    return next((header.index(name) for name in known if name in header), None)


def _cell(row: Sequence[str], place: int | None) -> str:
    text = row[place].strip() if place is not None and place < len(row) else ""
    # a quote that `write_verdicts` put in front of what a spreadsheet would compute
    return text[1:] if text[:1] == "'" and text[1:].startswith(_FORMULA) else text


def write_verdicts(verdicts: Iterable[Verdict], path: str | Path) -> None:
    """Write verdicts as a CSV file, which is safe to open in a spreadsheet."""
    try:
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(map(cells_of, verdicts))
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}.") from error


def cells_of(one: Verdict) -> list[str]:
    """The cells of a verdict in a CSV file; none is a formula to a spreadsheet."""
    cells = (one.node, one.kind, one.note, one.author, one.time)
    return [f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells]


def kinds_of(verdicts: Mapping[Any, Any]) -> dict[Any, str | None]:
    """The kinds of verdicts by node; None where an earlier one is to be forgotten."""
    return {node: None if value is None else kind_of(value) for node, value in verdicts.items()}

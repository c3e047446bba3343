"""Which nodes are known outliers: a column of 0 and 1, or of words for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.read.column import Column
from egoscore.read.kinds import MOST_CATEGORIES, decide
from egoscore.read.names import DOUBTFUL_ANSWERS, LABEL, bare, find, is_answer
from egoscore.read.numbers import Writing
from egoscore.read.table import Table

# Words for normal and outlier, beside those for no and yes.
_WORDS = (("normal", "outlier"), ("normal", "anomaly"), ("genuine", "fraud"))


def find_label(table: Table, given: str | None) -> str | None:
    """The column of labels: the one given, or the one called label."""
    if given is not None:
        return find("label", given, table)
    return next((column for column in table.columns if bare(column) == LABEL), None)


def drop_answers(
    loaded: dict[str, pa.ChunkedArray], asked: set[str], table: Table, notes: list[str]
) -> None:
    """Leave out of `loaded` what would give the answer away, unless it is `asked` for."""
    for name in [c for c in loaded if is_answer(c) and bare(c) not in asked]:
        if bare(name) in DOUBTFUL_ANSWERS and _is_measured(loaded[name], name, table):
            continue
        del loaded[name]
        notes.append(
            f"{table.name}: column '{name}' looks like the answer and is left out; --label "
            f"'{name}' evaluates with it, and naming it in --features uses it."
        )


def _is_measured(column: pa.ChunkedArray, name: str, table: Table) -> bool:
    """Whether a column holds more different numbers than there would be classes."""
    found = _decided(column, name, table)
    if found is None or found.kind != "number":
        return False
    return len(np.unique(found.parts[0][~found.is_missing])) > MOST_CATEGORIES


def read_labels(
    column: pa.ChunkedArray, name: str, table: Table, is_given: bool, notes: list[str]
) -> NDArray[np.int8] | None:
    """The labels, (rows,); None if a column only happens to be called so."""
    found = _decided(column, name, table)
    values, pair = _zeros_and_ones(found)
    if found is None or values is None:
        rule = f"Column '{name}' of {table.name} must hold 0 (normal) or 1 (outlier), or yes and no"
        if is_given:
            raise InputError(f"{rule}, for every node; give another with --label, or none.")
        notes.append(
            f"{table.name}: column '{name}' looks like the answer but holds other values than 0 "
            "and 1, so it is left out; naming it in --features uses it."
        )
        return None
    missing = int(np.count_nonzero(found.is_missing))
    if missing:
        raise InputError(
            f"Column '{name}' of {table.name} must hold 0 (normal) or 1 (outlier) for every node, "
            f"and {missing} of {len(values)} are missing; fill them in, or leave the column out "
            f"with --ignore '{name}'."
        )
    if pair is not None:
        notes.append(
            f"{table.name}: column '{name}' holds {pair[0]} and {pair[1]}; {pair[1]} is taken to "
            "mean an outlier."
        )
    return values.astype(np.int8)


def _decided(column: pa.ChunkedArray, name: str, table: Table) -> Column | None:
    try:
        found = decide(name, column, table.name, Writing(table.separator))
    except InputError:  # numbers no feature could have
        return None
    return found if isinstance(found, Column) else None


def _zeros_and_ones(
    column: Column | None,
) -> tuple[NDArray[Any] | None, tuple[str, str] | None]:
    """The labels, zero where there is none, and the pair they are made from if not 0 and 1."""
    if column is None:
        return None, None
    if column.kind == "category":
        return _from_words(column)
    values = column.parts[0]
    known = values[~column.is_missing]
    if column.kind not in ("number", "yes/no") or column.offset:
        return None, None
    if np.isin(known, (0.0, 1.0)).all():
        return values, None
    return (values == 1.0, ("-1", "1")) if np.isin(known, (-1.0, 1.0)).all() else (None, None)


def _from_words(column: Column) -> tuple[NDArray[Any] | None, tuple[str, str] | None]:
    words = [detail.strip().casefold() for detail in column.details]
    pair = next((pair for pair in _WORDS if set(words) <= set(pair)), None)
    if pair is None:
        return None, None
    outliers = [part for word, part in zip(words, column.parts, strict=True) if word == pair[1]]
    return sum(outliers, np.zeros(len(column.is_missing))), pair

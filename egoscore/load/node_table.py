"""The columns of a node table by role: ids, labels, features, or none of these."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.checks import UNKNOWN
from egoscore.load.column_names import (
    DOUBTFUL_ANSWERS,
    LABEL,
    find,
    folded,
    is_answer,
    named_in,
)
from egoscore.load.column_roles import find_ids, sure_ids
from egoscore.load.ids import IdColumn
from egoscore.load.infer import MAX_CATEGORIES, Column, infer_column
from egoscore.load.node_names import name_columns
from egoscore.load.numbers import Notation
from egoscore.load.options import Options
from egoscore.load.table import Table
from egoscore.notes import Note
from egoscore.runtime import release_memory
from egoscore.text import option

# Words for normal and outlier, besides those for no and yes.
_WORDS = (("normal", "outlier"), ("normal", "anomaly"), ("genuine", "fraud"))


def read_nodes(
    nodes: Table,
    ends: tuple[str, str],
    columns: list[IdColumn],
    options: Options,
    notes: list[Note],
) -> tuple[dict[str, pa.ChunkedArray], IdColumn]:
    """The columns that may be features, labels or names, and the ids.

    `ends` are the names of the columns of the edges that hold ids, `columns` these ids.
    """
    ignored = set(named_in(nodes.columns, options.ignore))
    chosen = [find("features", name, nodes) for name in options.features or ()]
    label = _label_column(nodes, options.label)
    names = [column for column in name_columns(nodes, options) if column not in chosen]
    needed = _needed(nodes, ignored, [*chosen, label, *names], options)
    sure = sure_ids(needed, nodes, options.id)
    loaded = nodes.read(needed, encoded=() if sure is None else (sure,))
    release_memory()
    id_name, ids = find_ids(loaded, nodes, ends, columns, options.id, notes)
    _refuse_twice("features", chosen, {"ignore": ignored, "id": {id_name}})
    if options.label is not None:
        others = {"features": set(chosen), "ignore": ignored, "id": {id_name}}
        _refuse_twice("label", [label], others)
    if options.name is not None:
        given = {label} if options.label is not None and label is not None else set()
        others = {"features": set(chosen), "ignore": ignored, "id": {id_name}, "label": given}
        _refuse_twice("name", [find("name", options.name, nodes)], others)
    del loaded[id_name]
    if options.features is None:
        _drop_index(loaded, nodes, notes)
    else:
        wanted = dict.fromkeys([*chosen, label, *names])
        loaded = {c: loaded[c] for c in wanted if c in loaded}
    return loaded, ids


def _drop_index(loaded: dict[str, pa.ChunkedArray], nodes: Table, notes: list[Note]) -> None:
    """Remove the index of a pandas frame, which names rows."""
    for name in nodes.index & loaded.keys():
        del loaded[name]
        fields = {"table": nodes.name, "column": name, "reason": "index"}
        notes.append(Note.info("column-unusable", **fields))


def _label_column(table: Table, given: str | None) -> str | None:
    """The column of labels: the one given, or the one called label."""
    if given is not None:
        return find("label", given, table)
    return next(iter(named_in(table.columns, (LABEL,))), None)


def _needed(
    nodes: Table, ignored: set[str], named: list[str | None], options: Options
) -> list[str]:
    """The columns to read: those `named`, or all that are not `ignored` if any may be needed."""
    kept = [c for c in nodes.columns if c not in ignored]
    if options.features is None or options.id is None:
        return kept
    named = [*named, find("id", options.id, nodes)]
    return [c for c in kept if c in named]


def _refuse_twice(parameter: str, names: Iterable[str | None], others: dict[str, set[str]]) -> None:
    """Refuse a column with two roles."""
    for name in names:
        other = next((other for other, taken in others.items() if name in taken), None)
        if other == "id":
            raise InputError(
                f"{option(parameter)} names the column '{name}', which holds the ids; choose one."
            )
        if other is not None:
            both = f"{option(parameter)} and {option(other)}"
            raise InputError(f"{both} both name the column '{name}'; choose one.")


def take_labels(
    loaded: dict[str, pa.ChunkedArray],
    nodes: Table,
    options: Options,
    extra: int,
    notes: list[Note],
) -> NDArray[np.int8] | None:
    """The labels (N,) int8, -1 where unknown, as for `extra` nodes; None if there are none.

    They are taken out of `loaded`, and so is whatever else may be labels and is not named as a
    feature.
    """
    name = _label_column(nodes, options.label)
    asked = {folded(feature) for feature in options.features or ()}
    column = None if name is None or folded(name) in asked else loaded.pop(name, None)
    _drop_answers(loaded, asked, nodes, notes)
    if name is None or column is None:
        return None
    labels = _read_labels(column, name, nodes, options.label is not None, notes)
    if labels is None:
        return None
    labels = np.concatenate([labels, np.full(extra, UNKNOWN)])
    known = int(np.count_nonzero(labels != UNKNOWN))
    fields = {"table": nodes.name, "column": name, "known": known, "count": len(labels)}
    notes.append(Note.info("labels", **fields))
    return labels


def _drop_answers(
    loaded: dict[str, pa.ChunkedArray], asked: set[str], table: Table, notes: list[Note]
) -> None:
    """Remove columns from `loaded` that may hold the answer, unless they are `asked` for."""
    for name in [c for c in loaded if is_answer(c) and folded(c) not in asked]:
        if folded(name) in DOUBTFUL_ANSWERS and _is_measured(loaded[name], name, table):
            continue
        del loaded[name]
        notes.append(Note.info("answer-left-out", table=table.name, column=name))


def _is_measured(column: pa.ChunkedArray, name: str, table: Table) -> bool:
    """Whether a column holds more distinct numbers than there would be classes."""
    found = _inferred(column, name, table)
    if found is None or found.kind != "number":
        return False
    return len(np.unique(found.known())) > MAX_CATEGORIES


def _read_labels(
    column: pa.ChunkedArray, name: str, table: Table, is_given: bool, notes: list[Note]
) -> NDArray[np.int8] | None:
    """The labels (rows,), -1 where unknown; None if the column does not hold labels after all."""
    found = _inferred(column, name, table)
    values, pair = _zeros_and_ones(found)
    rule = f"Column '{name}' of {table.name} must hold 0 (normal) or 1 (outlier)"
    if found is None or values is None:
        if is_given:
            raise InputError(
                f"{rule}, or yes and no, or be empty or -1 (unknown); name another with "
                f"{option('label')}, or none."
            )
        notes.append(Note.info("answer-not-binary", table=table.name, column=name))
        return None
    if pair is not None:
        fields = {"table": table.name, "column": name, "normal": pair[0], "outlier": pair[1]}
        notes.append(Note.info("label-words", **fields))
    return np.where(found.is_missing, UNKNOWN, values.astype(np.int8))


def _inferred(column: pa.ChunkedArray, name: str, table: Table) -> Column | None:
    try:
        found = infer_column(name, column, table.name, Notation(table.separator))
    except InputError:  # numbers that no feature could have
        return None
    return found if isinstance(found, Column) else None


def _zeros_and_ones(
    column: Column | None,
) -> tuple[NDArray[Any] | None, tuple[str, str] | None]:
    """The labels, and the pair they are made from if not 0 and 1."""
    if column is None:
        return None, None
    if column.kind == "category":
        return _from_words(column)
    values, known = column.parts[0], column.known()
    if column.kind not in ("number", "yes/no") or column.offset:
        return None, None
    if np.isin(known, (-1.0, 1.0)).all() and (known == -1.0).any():
        return values == 1.0, ("-1", "1")
    # beside 0, -1 is not normal but unknown
    return (values, None) if np.isin(known, (UNKNOWN, 0.0, 1.0)).all() else (None, None)


def _from_words(column: Column) -> tuple[NDArray[Any] | None, tuple[str, str] | None]:
    words = [detail.strip().casefold() for detail in column.details]
    pair = next((pair for pair in _WORDS if set(words) <= set(pair)), None)
    if pair is None:
        return None, None
    outliers = [part for word, part in zip(words, column.parts, strict=True) if word == pair[1]]
    return sum(outliers, np.zeros(len(column.is_missing))), pair

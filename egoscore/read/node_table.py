"""The table of nodes: which of its columns are ids, labels, features, or none of these."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.memory import give_back_memory
from egoscore.numerals import counted
from egoscore.read.choices import Choices
from egoscore.read.ids import IdColumn
from egoscore.read.labels import drop_answers, find_label, read_labels
from egoscore.read.names import bare, find
from egoscore.read.node_ids import find_ids, sure_ids
from egoscore.read.table import Table


def read_nodes(
    nodes: Table,
    ends: tuple[str, str],
    columns: list[IdColumn],
    choices: Choices,
    notes: list[str],
) -> tuple[dict[str, pa.ChunkedArray], IdColumn]:
    """The columns that may be features or labels, and the ids.

    `ends` are the names of the columns of the edges that hold ids, `columns` these ids.
    """
    ignored = {c for c in nodes.columns if any(bare(c) == bare(name) for name in choices.ignore)}
    chosen = [find("features", name, nodes) for name in choices.features or ()]
    label = find_label(nodes, choices.label)
    needed = _needed(nodes, ignored, [*chosen, label], choices)
    sure = sure_ids(needed, nodes, choices.id)
    loaded = nodes.read(needed, coded=() if sure is None else (sure,))
    give_back_memory()
    id_name, ids = find_ids(loaded, nodes, ends, columns, choices.id, notes)
    _refuse_twice("--features", chosen, {"--ignore": ignored, "--id": {id_name}})
    if choices.label is not None:
        others = {"--features": set(chosen), "--ignore": ignored, "--id": {id_name}}
        _refuse_twice("--label", [label], others)
    del loaded[id_name]
    if choices.features is not None:
        wanted = dict.fromkeys([*chosen, label])
        loaded = {c: loaded[c] for c in wanted if c in loaded}
    return loaded, ids


def _needed(
    nodes: Table, ignored: set[str], named: list[str | None], choices: Choices
) -> list[str]:
    """The columns to read: those `named`, or all that are not `ignored` if any may be needed."""
    kept = [c for c in nodes.columns if c not in ignored]
    if choices.features is None or choices.id is None:
        return kept
    named = [*named, find("id", choices.id, nodes)]
    return [c for c in kept if c in named]


def _refuse_twice(option: str, names: Iterable[str | None], others: dict[str, set[str]]) -> None:
    """Refuse a column that is to be two things."""
    for name in names:
        other = next((other for other, taken in others.items() if name in taken), None)
        if other == "--id":
            raise InputError(
                f"{option} names the column '{name}', which holds the ids; choose one."
            )
        if other is not None:
            raise InputError(f"{option} and {other} both name the column '{name}'; choose one.")


def take_labels(
    loaded: dict[str, pa.ChunkedArray],
    nodes: Table,
    choices: Choices,
    extra: int,
    notes: list[str],
) -> NDArray[np.int8] | None:
    """The labels; none if `extra` nodes have none.

    They are taken out of `loaded`, and so is whatever else may be labels and is not named as a
    feature.
    """
    name = find_label(nodes, choices.label)
    asked = {bare(feature) for feature in choices.features or ()}
    column = None if name is None or bare(name) in asked else loaded.pop(name, None)
    drop_answers(loaded, asked, nodes, notes)
    if name is None or column is None:
        return None
    labels = read_labels(column, name, nodes, choices.label is not None, notes)
    if labels is None:
        return None
    if extra:
        notes.append(
            f"No label is known of {counted(extra, 'node')} only in the edges, so the column "
            f"'{name}' is not used; --label '{name}' uses it and leaves them out."
        )
        return None
    notes.append(f"{nodes.name}: column '{name}' says which nodes are known outliers.")
    return labels

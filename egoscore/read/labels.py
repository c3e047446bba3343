"""Which nodes are known outliers: a column of 0 and 1, or of words for them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.read.kinds import Column, decide
from egoscore.read.names import LABEL, bare, find
from egoscore.read.table import Table


def find_label(table: Table, given: str | None) -> str | None:
    """The column of labels: the one given, or the one called label."""
    if given is not None:
        return find("label", given, table)
    return next((column for column in table.columns if bare(column) == LABEL), None)


def read_labels(
    column: pa.ChunkedArray, name: str, table: Table, is_given: bool, notes: list[str]
) -> NDArray[np.int8] | None:
    """The labels, (rows,); None if a column only happens to be called so."""
    values, is_missing = _zeros_and_ones(column, name, table)
    if values is None:
        rule = f"Column '{name}' of {table.name} must hold 0 (normal) or 1 (outlier), or yes and no"
        if is_given:
            raise InputError(f"{rule}, for every node; give another with --label, or none.")
        notes.append(
            f"{table.name}: column '{name}' holds other values than 0 and 1, so it is no label of "
            "outliers and treated as any other column."
        )
        return None
    missing = int(np.count_nonzero(is_missing))
    if missing:
        raise InputError(
            f"Column '{name}' of {table.name} must hold 0 (normal) or 1 (outlier) for every node, "
            f"and {missing} of {len(values)} are missing; fill them in, or leave the column out "
            f"with --ignore '{name}'."
        )
    return values


def _zeros_and_ones(
    column: pa.ChunkedArray, name: str, table: Table
) -> tuple[NDArray[np.int8] | None, NDArray[np.bool_]]:
    try:
        found = decide(name, column, table.name, table.is_comma_free)
    except InputError:  # numbers no feature could have
        return None, np.empty(0, dtype=bool)
    if not isinstance(found, Column) or found.kind not in ("number", "yes/no"):
        return None, np.empty(0, dtype=bool)
    values = found.parts[0]
    if not np.isin(values, (0.0, 1.0)).all():
        return None, np.empty(0, dtype=bool)
    return values.astype(np.int8), found.is_missing

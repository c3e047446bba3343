"""Columns that only name the rows of a node table: row numbers, ids, texts that are all different.

They may be the ids of the nodes, but say nothing about a node and are no features.
"""

from __future__ import annotations

import numpy as np

from egoscore.graph.number_form import is_code
from egoscore.load.column_names import is_id, is_measure
from egoscore.load.infer import Column, Unusable
from egoscore.load.table import Table

_UNNAMED = "unnamed: 0"  # pandas' name for an index that was written, when it is read again
_MAX_EXACT = 1 << 24  # whole numbers up to which float32 holds them all
_NEARLY_ALL = 0.9  # of the cells are different
_MIN_TEXTS = 5  # fewer may be different by chance


def without_row_names(found: Column, table: Table) -> Column | Unusable:
    """The column, unless it only names the rows."""
    is_nameless = found.name in table.nameless or found.name.strip().casefold() == _UNNAMED
    if is_nameless and _counts_rows(found):
        return Unusable(found.name, "row-numbers")
    if found.kind == "number" and (is_code(found.name) or is_id(found.name)):
        known = found.known()
        is_whole = found.offset != 0 or bool((known == np.round(known)).all())
        if is_whole and len(np.unique(known)) > _NEARLY_ALL * len(known):
            return Unusable(found.name, "ids")
    if found.is_assigned and not is_measure(found.name):
        return Unusable(found.name, "ids")
    if found.kind == "category" and len(found.parts) >= _MIN_TEXTS:
        count = len(found.parts)
        if count > _NEARLY_ALL * (len(found.is_missing) - found.num_missing):
            return Unusable(found.name, "all-different", {"count": count})
    return found


def _counts_rows(column: Column) -> bool:
    """Whether a column is 0, 1, 2 ..., or such numbers with gaps where rows were dropped."""
    if column.kind != "number" or column.num_missing:
        return False
    numbers = column.parts[0][:_MAX_EXACT]
    return bool((np.diff(numbers) > 0).all() and (numbers == np.round(numbers)).all())

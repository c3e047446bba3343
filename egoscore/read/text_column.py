"""A column of text, looked at once for every different cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.memory import MANY_ROWS, give_back_memory
from egoscore.read.column import Column, Unusable, numeric
from egoscore.read.marks import around_numbers
from egoscore.read.ways import Parsed


@dataclass(frozen=True)
class TextColumn:
    """The different `cells` of a column, and for each of its `rows` which one it has.

    `rows` is one beyond the last cell where the row has none; `where` is the table.
    """

    name: str
    where: str
    cells: pa.Array
    rows: NDArray[np.int64]

    def read_as(self, kind: str, parsed: Parsed) -> Column | Unusable:
        """The column with the numbers of its cells."""
        values, how = parsed
        around = around_numbers(self._read(values)) if kind == "number" else ("", "")
        of_rows = np.append(values, np.nan)[self.rows]
        return numeric(self.name, kind, of_rows, self.where, how, around)

    def _read(self, values: NDArray[np.float64]) -> pa.Array:
        """The cells that were read as numbers."""
        was_read = ~np.isnan(values)
        return self.cells if was_read.all() else self.cells.filter(pa.array(was_read))


def text_column(name: str, column: pa.ChunkedArray, where: str) -> TextColumn:
    """A column of text by its different cells."""
    coded = column.combine_chunks().dictionary_encode()
    if len(column) >= MANY_ROWS:
        give_back_memory()
    cells = coded.dictionary.cast(pa.string())
    rows = coded.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False)
    return TextColumn(name, where, cells, rows)

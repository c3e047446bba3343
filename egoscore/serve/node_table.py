"""All nodes as columns in memory: sorted, filtered and searched in a few hundredths of a second.

Rows are those of the graph. Sorted orders and the last answers are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.ranking import id_column
from egoscore.serve.columns import Column
from egoscore.serve.query import CODES, Limit, Query

Rows = NDArray[np.int32]
_MOST_ORDERS = 8
_MOST_ANSWERS = 4


class NodeTable:
    """The nodes of a run: `ids` and `names` (N,), and `columns` by their keys."""

    def __init__(
        self, ids: NDArray[Any], names: NDArray[Any] | None, columns: Iterable[Column]
    ) -> None:
        self.num_nodes = len(ids)
        self.columns = {column.key: column for column in columns}
        self.ids = id_column(ids).cast(pa.string())
        self.names = None if names is None else pa.array(names.tolist(), pa.string())
        self._orders: OrderedDict[tuple[Any, ...], Rows] = OrderedDict()
        self._answers: OrderedDict[tuple[Any, ...], Rows] = OrderedDict()
        self._lock = Lock()

    def shown(self, row: int) -> str:
        """The name of a node, or else its id."""
        return str((self.ids if self.names is None else self.names)[row])

    def rows_of(self, texts: Sequence[str]) -> dict[str, int]:
        """The rows of ids as text; those that no node has are left out."""
        found = np.flatnonzero(pc.is_in(self.ids, value_set=pa.array(texts, pa.string())))
        return {str(self.ids[row]): row for row in reversed(found.tolist())}

    def warm_up(self) -> None:
        """Prepare what sorting by name and searching need."""
        _ = self._by_name, self._folded

    @cached_property
    def _by_name(self) -> Rows:
        return sorted_rows(self.ids if self.names is None else self.names)

    @cached_property
    def _folded(self) -> list[pa.Array]:
        """Ids and names as they are searched."""
        return [_folded(one) for one in (self.ids, self.names) if one is not None]

    def select(self, query: Query, live: Mapping[str, NDArray[Any]], version: object) -> Rows:
        """The rows that a query asks for, in its order.

        `live` are columns that verdicts change; `version` is another one whenever they do.
        """
        key = (query, version)
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
            order = self._order(query, live, version)
            wanted = self._wanted(query, live)
            answer = order if wanted is None else order[wanted[order]]
            return _keep(self._answers, key, answer, _MOST_ANSWERS)

    def _order(self, query: Query, live: Mapping[str, NDArray[Any]], version: object) -> Rows:
        """All rows in the order of a query; rows without a value come last."""
        key = (query.sort, query.descending, version if query.sort in live else None)
        if key in self._orders:
            self._orders.move_to_end(key)
            return self._orders[key]
        if query.sort == "name":
            order = self._by_name[::-1] if query.descending else self._by_name
        else:
            order = sorted_rows(self._values(query.sort, live), query.descending)
        return _keep(self._orders, key, order, _MOST_ORDERS)

    def _values(self, key: str, live: Mapping[str, NDArray[Any]]) -> Any:
        return live[key] if key in live else self.columns[key].values()

    def _wanted(self, query: Query, live: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_] | None:
        """Which rows pass all filters; None if all do."""
        masks = [self._within(limit, live) for limit in query.limits]
        if query.verdict is not None:
            masks.append(np.isin(live["verdict"], [CODES.index(kind) for kind in query.verdict]))
        if query.search:
            masks.append(self._containing(query.search))
        return np.logical_and.reduce(masks) if masks else None

    def _within(self, limit: Limit, live: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        values = self._values(limit.key, live)
        if isinstance(values, pa.Array):
            return _matching(values, limit.text)
        mask = np.ones(self.num_nodes, dtype=bool)
        if limit.low is not None:
            mask &= values >= limit.low
        if limit.high is not None:
            mask &= values <= limit.high
        return mask

    def _containing(self, text: str) -> NDArray[np.bool_]:
        """Which nodes have a text in their name or id, whatever the case and accents."""
        wanted = _folded(pa.array([text.strip()]))[0].as_py()
        masks = [pc.match_substring(one, wanted) for one in self._folded]
        found: NDArray[np.bool_] = np.logical_or.reduce([_as_mask(mask) for mask in masks])
        return found


def sorted_rows(values: Any, descending: bool = False) -> Rows:
    """All rows by their values; of equal ones the earlier row comes first."""
    if isinstance(values, pa.Array):
        kind = "descending" if descending else "ascending"
        found: Rows = pc.array_sort_indices(values, order=kind).to_numpy().astype(np.int32)
        return found
    keys = np.negative(values, dtype=np.float64) if descending else values
    order = np.argsort(keys)  # an eighth of the time of a stable sort
    ranked = keys[order]
    is_next = (ranked[1:] != ranked[:-1]) & ~np.isnan(ranked[:-1])
    group = np.concatenate([[0], np.cumsum(is_next)])
    # one integer per row, sorted by group and then by row
    return (np.sort(group * len(order) + order) % len(order)).astype(np.int32)


def ranks(score: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rank of every row, 1 for the highest score."""
    found = np.empty(len(score), dtype=np.int64)
    found[sorted_rows(score, descending=True)] = np.arange(1, len(score) + 1)
    return found


def _keep(
    kept: OrderedDict[tuple[Any, ...], Rows], key: tuple[Any, ...], rows: Rows, most: int
) -> Rows:
    kept[key] = rows
    while len(kept) > most:
        kept.popitem(last=False)
    return rows


def _matching(values: pa.Array, text: str) -> NDArray[np.bool_]:
    return _as_mask(pc.match_substring(values, text, ignore_case=True))


def _as_mask(found: pa.Array) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = found.fill_null(False).to_numpy(zero_copy_only=False)
    return mask


def _folded(texts: pa.Array) -> pa.Array:
    """Texts without differences of case and accents."""
    if not pc.all(pc.string_is_ascii(texts)).as_py():
        texts = pc.replace_substring_regex(
            pc.utf8_normalize(texts, form="NFKD"), pattern=r"\p{Mn}", replacement=""
        )
    return pc.utf8_lower(texts)

"""The columns that the page can sort, filter and show: one per quantity of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.graph import AttributedGraph
from egoscore.graph.feature_column import LOGARITHM, FeatureColumn
from egoscore.ranking import own_columns
from egoscore.text import brief, number, shown

MOST_ATTRIBUTES = 300  # in the lists of the page
NUMBER, TEXT, YES_NO = "number", "text", "yes/no"
_LONGEST = 200  # characters of a value


@dataclass(frozen=True)
class Column:
    """One quantity of all nodes.

    Attributes: `key` in requests; `label` on the page; `group` in which it is listed; `kind`;
    `values` gives all of them, (N,), by row: numbers, or an Arrow array of text; `show` writes
    the value of one row.
    """

    key: str
    label: str
    group: str
    kind: str
    values: Callable[[], Any]
    show: Callable[[int], str]

    def described(self) -> dict[str, str]:
        """What the page needs to list it."""
        return {"key": self.key, "label": self.label, "group": self.group, "kind": self.kind}


def plain_column(key: str, label: str, values: NDArray[Any], group: str = "ranking") -> Column:
    """A column of numbers that is in memory anyway."""
    return Column(key, label, group, NUMBER, lambda: values, lambda row: number(float(values[row])))


def attributes(graph: AttributedGraph) -> Iterator[Column]:
    """The features of the nodes, in the user's units."""
    for place, about in enumerate(graph.described[:MOST_ATTRIBUTES]):
        kind = YES_NO if about.is_yes_or_no else NUMBER
        stored = graph.features[:, place]
        yield Column(
            key=f"x{place}",
            label=brief(about.title, _LONGEST),
            group="attributes",
            kind=kind,
            values=lambda stored=stored, about=about: in_units(stored, about),  # type: ignore[misc]
            show=lambda row, stored=stored, about=about: about.show(float(stored[row])),  # type: ignore[misc]
        )


def in_units(stored: NDArray[np.float32], about: FeatureColumn) -> NDArray[np.float64]:
    """Features (N,) as the numbers that `FeatureColumn.show` writes."""
    whole = stored.astype(np.float64) + about.offset
    if about.kind == "structure" and about.detail == LOGARITHM:
        return np.expm1(whole)
    if about.kind == "frequency":
        return 100.0 * np.exp(np.minimum(whole, 0.0))
    return 100.0 * whole if about.kind == "agreement" else whole


def components(columns: dict[str, NDArray[Any]], labels: dict[str, str]) -> Iterator[Column]:
    """What the detector measured."""
    for name, values in columns.items():
        label = labels.get(name, name.replace("_", " "))
        yield plain_column(f"c:{name}", label, values, "components")


def own(ranking: pa.Table, order: NDArray[np.int32]) -> Iterator[Column]:
    """The user's further columns, from the ranking, whose places hold the rows `order`."""
    for name in own_columns(ranking):
        column = ranking[name].combine_chunks()
        by_row = column.take(pa.array(_places(order)))
        yield _own(name, by_row)


def _places(order: NDArray[np.int32]) -> NDArray[np.int32]:
    """The place of every row, given the row at every place."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def _own(name: str, by_row: pa.Array) -> Column:
    kind, values = TEXT, by_row
    if pa.types.is_integer(by_row.type) or pa.types.is_floating(by_row.type):
        kind, values = NUMBER, by_row.cast(pa.float64()).to_numpy(zero_copy_only=False)
    elif not pa.types.is_string(by_row.type):
        values = pa.array([None if one is None else str(one) for one in by_row.to_pylist()])
    return Column(
        key=f"o:{name}",
        label=brief(name, _LONGEST),
        group="other columns",
        kind=kind,
        values=lambda: values,
        show=lambda row: shown(by_row[row].as_py(), _LONGEST),
    )

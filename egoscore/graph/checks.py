"""What a graph must be: one function for each rule, with its error message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from egoscore.errors import InputError
from egoscore.graph.feature_column import FeatureColumn, narrowed
from egoscore.graph.number_form import form_of
from egoscore.text import encodable, quoted

NO_FEATURES = (
    "The graph has no node features and the model learns from them; give every node at least "
    "one number, for instance its log degree and clustering coefficient."
)
NO_NODES = "The graph is empty: it has no nodes; give it at least one."
UNKNOWN = -1  # the label of a node that may be an outlier or not
_MAX_NODES = 2**31 - 1
_MOST_TITLES = 5  # in a sentence


def to_numpy(value: Any) -> NDArray[Any]:
    """An array from a torch tensor (wherever it lives), a frame, or anything numpy takes."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value if str(value.layout) == "torch.strided" else value.to_dense()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    try:
        return np.asarray(value)
    except ValueError:
        raise InputError(
            "All rows of a table must have the same length; pad or cut them."
        ) from None


def features(
    table: Any, given_names: Sequence[str] | None = None
) -> tuple[NDArray[np.float32], tuple[FeatureColumn, ...]]:
    """Features as (N, F) finite float32, and a description of each: its name and its offset."""
    found = getattr(table, "columns", ()) if given_names is None else given_names
    names = tuple(str(name) for name in found)
    if hasattr(table, "toarray"):
        table = table.toarray()
    values = to_numpy(table)
    if values.ndim != 2:
        raise InputError(
            f"Features must be a table of shape (nodes, features) (found shape {values.shape})."
        )
    if values.shape[0] == 0:
        raise InputError(NO_NODES)
    if values.shape[1] == 0:
        raise InputError(NO_FEATURES)
    if values.shape[0] > _MAX_NODES:
        raise InputError(f"At most {_MAX_NODES} nodes are supported (found {values.shape[0]}).")
    names = names or numbered_names(values.shape[1])
    if len(names) != values.shape[1]:
        raise InputError(
            f"There must be one name for each of the {values.shape[1]} features "
            f"(found {len(names)})."
        )
    if values.dtype.kind not in "fiub":
        values = _numbers(values, names)
    narrow = _finite(values, names)
    offsets = _measured(values, narrow)
    described = zip(names, offsets, values.T, strict=True)
    return narrow, tuple(
        FeatureColumn(name, offset=offset, form=form_of(name, column) if any(offsets) else "")
        for name, offset, column in described
    )


def numbered_names(count: int) -> tuple[str, ...]:
    """The names of features to which the user gave none."""
    return tuple(f"x{column}" for column in range(count))


def same_features(fitted: Sequence[str], found: Sequence[str]) -> None:
    """Refuse features with other titles than the detector was fitted on, if both are known."""
    if not fitted or not found or list(fitted) == list(found):
        return
    new = [title for title in found if title not in fitted]
    missing = [title for title in fitted if title not in found]
    parts = (("has", new), ("lacks", missing))
    how = " and ".join(f"{verb} {quoted(some, _MOST_TITLES)}" for verb, some in parts if some)
    how = how or f"has them in another order, {quoted(found, _MOST_TITLES)}"
    raise InputError(
        f"The detector was fitted on other features: the graph {how}; its columns must be the same "
        "in the same order and be read the same way, with the same categories, dates and columns "
        "with missing values; or fit a detector on it."
    )


def _measured(values: NDArray[Any], narrow: NDArray[np.float32]) -> list[float]:
    """Offsets, taken off the columns of `narrow` (N, F) where float32 would blur `values`."""
    offsets = [0.0] * values.shape[1]
    if np.can_cast(values.dtype, np.float32):
        return offsets
    for column in np.flatnonzero((narrow != values).any(axis=0)).tolist():
        narrow[:, column], offsets[column] = narrowed(values[:, column].astype(np.float64))
    return offsets


def _numbers(values: NDArray[Any], names: tuple[str, ...]) -> NDArray[np.float64]:
    numbers = np.empty(values.shape, dtype=np.float64)
    for column, name in enumerate(names):
        if values.dtype.kind != "O":
            raise _not_a_number(name, values[0, column])
        for row, value in enumerate(values[:, column]):
            try:
                if isinstance(value, (str, bytes)):
                    raise TypeError
                numbers[row, column] = value
            except (TypeError, ValueError):
                raise _not_a_number(name, value) from None
            except OverflowError:
                numbers[row, column] = np.inf  # reported with the other values that are not finite
    return numbers


def _not_a_number(name: str, value: Any) -> InputError:
    found = value.item() if isinstance(value, np.generic) else value
    return InputError(
        f"Feature column '{name}' is not numeric (found {found!r}); turn it into numbers or "
        "leave it out."
    )


def _finite(values: NDArray[Any], names: tuple[str, ...]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        # a copy: what the user does to the array later must not reach the graph
        result = np.array(values, dtype=np.float32, order="C")
    finite = np.isfinite(result)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        count = int(np.count_nonzero(~finite))
        raise InputError(
            f"Features must be finite numbers within float32; {count} of them are not, the first "
            f"in column '{names[column]}', row {row} (found {values[row, column]}); fill or drop "
            "them first."
        )
    return result


def edges(
    pairs: ArrayLike, size: int, known_ids: NDArray[Any] | None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sources and targets, both (E,), every one a row number below `size`."""
    array = to_numpy(pairs)
    if array.size == 0:
        nothing = np.empty(0, dtype=np.int32)
        return nothing, nothing
    if array.ndim != 2 or array.shape[0] != 2:
        raise InputError(
            f"Edges must have shape (2, E) (found shape {array.shape}){_edge_hint(array, size)}."
        )
    if array.dtype.kind not in "iu":
        array = _looked_up(array, known_ids)
    if array.min() < 0 or array.max() >= size:
        outside = (array < 0) | (array >= size)
        end, position = np.argwhere(outside)[0]
        raise InputError(
            f"Edge {position} points to node {array[end, position]}, but the nodes are numbered "
            f"0 to {size - 1}, one for each row of the features."
        )
    return array[0].astype(np.int32, copy=False), array[1].astype(np.int32, copy=False)


def _edge_hint(array: NDArray[Any], size: int) -> str:
    if array.ndim == 2 and array.shape[1] == 2:
        return "; transpose it"
    if array.shape == (size, size):
        return "; an adjacency matrix must be sparse: give scipy.sparse.csr_array(matrix)"
    return ""


def _looked_up(array: NDArray[Any], known_ids: NDArray[Any] | None) -> NDArray[np.int64]:
    if known_ids is None or array.dtype.kind == "f":
        raise InputError(
            f"Edges must hold row numbers of the features (found {array.dtype}); to refer to "
            "nodes by other ids, pass these as `ids`."
        )
    index = {name: row for row, name in enumerate(known_ids.tolist())}
    try:
        rows = [index[name] for name in array.ravel().tolist()]
    except KeyError as missing:
        raise InputError(
            f"An edge points to node {missing.args[0]!r}, which is not among the ids; add it or "
            "drop the edge."
        ) from None
    return np.array(rows, dtype=np.int64).reshape(2, -1)


def square(shape: tuple[int, ...], size: int) -> None:
    """Refuse the shape of an adjacency matrix that does not fit the features."""
    if len(shape) != 2:
        raise InputError(f"The adjacency matrix must have two dimensions (found shape {shape}).")
    rows, columns = shape
    if rows != columns:
        raise InputError(
            f"The adjacency matrix must be square (found {rows} rows and {columns} columns)."
        )
    if rows != size:
        raise InputError(
            f"The adjacency matrix has {rows} rows but the features have {size}; both need one "
            "row per node, in the same order."
        )


def ids(names: ArrayLike | None, size: int) -> NDArray[Any]:
    """Node ids, one each, all different; row numbers when none are given."""
    if names is None:
        return np.arange(size)
    array = to_numpy(names)
    if array.ndim != 1 or len(array) != size:
        raise InputError(
            f"There must be one id for each of the {size} nodes (found shape {array.shape})."
        )
    if array.dtype.kind in "iu":  # millions of numbers need no set of objects
        names_sorted = np.sort(array)
        twice = names_sorted[1:][names_sorted[1:] == names_sorted[:-1]]
        if len(twice):
            raise InputError(f"Node ids must be different; {twice[0]} occurs more than once.")
        return array
    every = array.tolist()
    try:
        if len(set(every)) == size:
            return array
    except TypeError:
        pass  # one of them is not hashable; `_bad_id` finds it
    raise _bad_id(every)


def _bad_id(names: list[Any]) -> InputError:
    seen: set[Any] = set()
    for name in names:
        try:
            if name in seen:
                return InputError(f"Node ids must be different; {name!r} occurs more than once.")
            seen.add(name)
        except TypeError:
            break
    return InputError(f"Node ids must be numbers, text or other hashable values (found {name!r}).")


def names(given: Sequence[Any] | NDArray[Any] | None, ids: NDArray[Any]) -> NDArray[Any] | None:
    """Names as text, one for each of `ids` (N,), which stand in where a name is empty or None."""
    if given is None:
        return None
    if len(given) != len(ids):
        raise InputError(
            f"There must be one name for each of the {len(ids)} nodes (found {len(given)})."
        )
    pairs = zip(given, ids.tolist(), strict=True)
    texts = [encodable(one if name is None or name == "" else name) for name, one in pairs]
    return np.array(texts, dtype=np.dtypes.StringDType())


def node_info(columns: Mapping[str, Any] | None, size: int) -> dict[str, NDArray[Any]]:
    """Further columns, each with one value per node."""
    checked = {str(name): to_numpy(column) for name, column in (columns or {}).items()}
    for name, column in checked.items():
        if column.shape != (size,):
            raise InputError(
                f"The node_info column '{name}' must have one value for each of the {size} nodes "
                f"(found shape {column.shape})."
            )
    return checked


def labels(values: ArrayLike, size: int) -> NDArray[np.int8]:
    """Labels as (N,) int8: 0, 1, and -1 where they are unknown (-1 or NaN)."""
    array = to_numpy(values)
    if array.shape not in ((size,), (size, 1)):
        raise InputError(
            f"There must be one label for each of the {size} nodes (found shape {array.shape})."
        )
    known = binary_or_none(array, size)
    if known is None:
        raise InputError(
            "Labels must be 0 (normal), 1 (outlier), or NaN, None or -1 beside 0 (unknown)."
        )
    return known


def binary_or_none(values: Any, size: int) -> NDArray[np.int8] | None:
    """The values as 0 and 1, -1 where unknown; None if they hold anything else or nothing known.

    Unknown are NaN, None and, beside a 0, -1. Without any 0, -1 may mean normal.
    """
    if values is None:
        return None
    array = _gaps_as_nan(to_numpy(values))
    if array.size != size or array.dtype.kind not in "biuf":
        return None
    is_unknown = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, dtype=bool)
    if 0 in array:
        is_unknown = is_unknown | (array == UNKNOWN)
    if is_unknown.all() or not np.isin(array[~is_unknown], (0, 1)).all():
        return None
    return np.where(is_unknown, UNKNOWN, array).reshape(size).astype(np.int8)


def _gaps_as_nan(array: NDArray[Any]) -> NDArray[Any]:
    """Numbers with gaps, which numpy keeps as objects, as floats; anything else unchanged."""
    if array.dtype.kind != "O":
        return array
    cells = [np.nan if cell is None or str(cell) == "<NA>" else cell for cell in array.ravel()]
    is_number = all(isinstance(cell, (Real, np.bool_)) for cell in cells)
    return np.array(cells, dtype=np.float64).reshape(array.shape) if is_number else array

"""Sorting and merging of edges in place: the compiled part of `csr`, imported on use."""

from egoscore.jit import compiled

_SHORT = 20  # rows up to this length are sorted by insertion


@compiled
def _add_up(indptr):  # type: ignore[no-untyped-def]
    """Turn row lengths, each stored in the place after its row, into row starts."""
    for node in range(1, len(indptr)):
        indptr[node] += indptr[node - 1]


@compiled
def _ends_to_starts(indptr):  # type: ignore[no-untyped-def]
    """Turn row ends into row starts."""
    for node in range(len(indptr) - 1, 0, -1):
        indptr[node] = indptr[node - 1]
    indptr[0] = 0


@compiled
def sort_by_source(sources, targets, indptr, indices):  # type: ignore[no-untyped-def]
    """Fill `indptr` (N + 1,), zero on entry, and `indices` (E,), rows in the order given."""
    for source in sources:
        indptr[source + 1] += 1
    _add_up(indptr)
    for edge in range(len(sources)):
        source = sources[edge]
        indices[indptr[source]] = targets[edge]
        indptr[source] += 1
    _ends_to_starts(indptr)


@compiled
def _sort(row):  # type: ignore[no-untyped-def]
    """Sort in place; insertion is fastest for short rows, and most rows are short."""
    if len(row) > _SHORT:
        row.sort()
        return
    for place in range(1, len(row)):
        value, gap = row[place], place
        while gap > 0 and row[gap - 1] > value:
            row[gap] = row[gap - 1]
            gap -= 1
        row[gap] = value


@compiled
def sort_rows(indptr, indices):  # type: ignore[no-untyped-def]
    """Sort every row and drop repeats, in place; returns the number of edges left."""
    count = 0
    for node in range(len(indptr) - 1):
        row = indices[indptr[node] : indptr[node + 1]]
        _sort(row)
        indptr[node] = count
        for place in range(len(row)):
            if place == 0 or row[place] != row[place - 1]:
                indices[count] = row[place]
                count += 1
    indptr[-1] = count
    return count


@compiled
def drop_loops(indptr, indices):  # type: ignore[no-untyped-def]
    """Drop edges from a node to itself, in place; returns the number of edges left."""
    count, start = 0, 0
    for node in range(len(indptr) - 1):
        end = indptr[node + 1]
        for edge in range(start, end):
            if indices[edge] != node:
                indices[count] = indices[edge]
                count += 1
        start, indptr[node + 1] = end, count
    return count


@compiled
def count_targets(indices, counts):  # type: ignore[no-untyped-def]
    """Add to `counts` (N,) how often every node occurs; `numpy.bincount` would copy all edges."""
    for target in indices:
        counts[target] += 1


@compiled
def reverse_edges(indptr, indices, both, merged):  # type: ignore[no-untyped-def]
    """Fill rows of `merged` with reversed edges, leaving room for the original ones after them.

    Rows are sorted, as sources come in order. `both` (N + 1,) is zero on entry, and holds the ends
    of the reversed edges on return.
    """
    for node in range(len(indptr) - 1):
        both[node + 1] += indptr[node + 1] - indptr[node]
    for target in indices:
        both[target + 1] += 1
    _add_up(both)
    for source in range(len(indptr) - 1):
        for edge in range(indptr[source], indptr[source + 1]):
            target = indices[edge]
            merged[both[target]] = source
            both[target] += 1


@compiled
def merge_rows(indptr, indices, both, merged):  # type: ignore[no-untyped-def]
    """Merge the original edges into the rows that `reverse_edges` filled; repeats are dropped.

    `both` holds row starts on return. Returns the number of edges left.
    """
    count, start = 0, 0
    for node in range(len(indptr) - 1):
        reverse, own = both[node], indptr[node + 1]
        end = reverse + own - indptr[node]
        # from the end, where there is room
        for place in range(end - 1, start - 1, -1):
            if own == indptr[node]:
                break
            if reverse > start and merged[reverse - 1] > indices[own - 1]:
                reverse -= 1
                merged[place] = merged[reverse]
            else:
                own -= 1
                merged[place] = indices[own]
        both[node] = count
        last = -1
        for place in range(start, end):
            if merged[place] != last:
                last = merged[place]
                merged[count] = last
                count += 1
        start = end
    both[-1] = count
    return count

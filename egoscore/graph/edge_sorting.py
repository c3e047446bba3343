"""Edges sorted by node, in place: the compiled part of `csr`, loaded where edges are sorted."""

from egoscore.jit import compiled

_SHORT = 20


@compiled
def _starts(indptr):  # type: ignore[no-untyped-def]
    """From how many edges each node has, one place further on, to where they begin."""
    for node in range(1, len(indptr)):
        indptr[node] += indptr[node - 1]


@compiled
def _back(indptr):  # type: ignore[no-untyped-def]
    """From where the edges of every node end to where they begin."""
    for node in range(len(indptr) - 1, 0, -1):
        indptr[node] = indptr[node - 1]
    indptr[0] = 0


@compiled
def sort_by_source(sources, targets, indptr, indices):  # type: ignore[no-untyped-def]
    """Fill `indptr` (N + 1,), zero before, and `indices` (E,), in the order given in every row."""
    for source in sources:
        indptr[source + 1] += 1
    _starts(indptr)
    for edge in range(len(sources)):
        source = sources[edge]
        indices[indptr[source]] = targets[edge]
        indptr[source] += 1
    _back(indptr)


@compiled
def _sort(row):  # type: ignore[no-untyped-def]
    """Sort in place; most rows are short, and insertion is the fastest for these."""
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
def tidy(indptr, indices):  # type: ignore[no-untyped-def]
    """Sort every row and leave out repeats, in place; returns how many are left."""
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
    """Leave out edges from a node to itself, in place; returns how many are left."""
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
def turn_round(indptr, indices, both, merged):  # type: ignore[no-untyped-def]
    """Rows of `merged` with room for edges of both directions, those turned round at their start.

    They are sorted, as sources come in order. `both` (N + 1,) is zero before.
    """
    for node in range(len(indptr) - 1):
        both[node + 1] += indptr[node + 1] - indptr[node]
    for target in indices:
        both[target + 1] += 1
    _starts(both)
    for source in range(len(indptr) - 1):
        for edge in range(indptr[source], indptr[source + 1]):
            target = indices[edge]
            merged[both[target]] = source
            both[target] += 1


@compiled
def merge(indptr, indices, both, merged):  # type: ignore[no-untyped-def]
    """Merge the rows into those that were turned round, without repeats, all in place.

    `both` holds where what was turned round ends, and in the end where rows begin.
    """
    count, start = 0, 0
    for node in range(len(indptr) - 1):
        turned, own = both[node], indptr[node + 1]
        end = turned + own - indptr[node]
        # from the back, where there is room
        for place in range(end - 1, start - 1, -1):
            if own == indptr[node]:
                break
            if turned > start and merged[turned - 1] > indices[own - 1]:
                turned -= 1
                merged[place] = merged[turned]
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

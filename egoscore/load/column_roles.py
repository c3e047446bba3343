"""Which columns hold ids: those of the two ends of the edges, and those of the nodes.

A column is given, known by its name, recognized by its content, or, of the edges, taken by its
position.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from egoscore.errors import InputError
from egoscore.load.cell_formats import all_match
from egoscore.load.column_names import LIKELY_IDS, SURE_IDS, find, folded, known_pair, named_in
from egoscore.load.dates import MONTH_ONLY, parse_dates
from egoscore.load.ids import IdColumn, comparable, count_in, read_ids
from egoscore.load.numbers import Notation, parse_numbers
from egoscore.load.options import Options
from egoscore.load.table import INDEX, SAMPLE, Table, decoded, is_text
from egoscore.notes import Note
from egoscore.text import option

DATES, ROW_NUMBERS = "dates", "row-numbers"
_MOST = 0.5
_NEARLY_ALL = 0.95  # of the edges' ids; fewer may be in a column of numbers by chance
_FEW_REPEATS = 0.25  # of the rows: by mistake, and refused later
_MIN_ROWS = 5  # fewer may count by chance


def find_endpoints(
    edges: Table, nodes: Table | None, options: Options, notes: list[Note]
) -> tuple[str, str]:
    """The columns of both ends of the edges."""
    named = [c for c in edges.columns if c not in edges.nameless]
    if len(named) < 2:
        raise InputError(
            f"{edges.name} needs two columns, the ids at both ends of the edges (found "
            f"{len(named)}); check what separates its cells, and {option('encoding')}."
        )
    source = None if options.source is None else find("source", options.source, edges)
    target = None if options.target is None else find("target", options.target, edges)
    if source is None or target is None:
        guess = _Guess(edges, nodes, options, notes)
        source, target = _by_name(source, target, named) or guess.ends(source, target, named)
    if source == target:
        both = f"{option('source')} and {option('target')}"
        raise InputError(f"{both} both name the column '{source}'; name two.")
    return source, target


def _by_name(source: str | None, target: str | None, named: list[str]) -> tuple[str, str] | None:
    """Both ends by their names, where at most one was given."""
    pair = known_pair(named)
    fits = pair is not None and source in (None, pair[0]) and target in (None, pair[1])
    return pair if fits else None


@dataclass(frozen=True)
class _Guess:
    """Guesses the ends by the content or the position of columns, and notes it."""

    edges: Table
    nodes: Table | None
    options: Options
    notes: list[Note]

    def ends(self, source: str | None, target: str | None, named: list[str]) -> tuple[str, str]:
        """Both ends, where at most one was given."""
        wanted = (source is None) + (target is None)
        others = [column for column in named if column not in (source, target)]
        aside = named_in(others, (*self.options.ignore, self.options.weight or ""))
        free = [column for column in others if column not in aside]
        others = free if len(free) >= wanted else others
        oddities = {column: oddity(self.edges.sample(column)) for column in others}
        usual = [column for column in others if oddities[column] is None]
        taken = self._full_of_ids(usual, wanted) or self._full_of_ids(others, wanted)
        because = "ids" if taken else "position"
        taken = taken or self._by_position(others, oddities, wanted)
        for column in taken:
            if oddities[column] is not None:
                self._note("odd-end", column, oddities[column])
        found = (source or taken[0], target or taken[-1])
        fields = {"table": self.edges.name, "source": found[0], "target": found[1]}
        nodes = None if self.nodes is None else self.nodes.name
        note = Note.info("ends-guessed", **fields, because=because, guessed=taken, nodes=nodes)
        self.notes.append(note)
        return found

    def _full_of_ids(self, columns: list[str], wanted: int) -> list[str]:
        """The columns that hold ids of the nodes, if there are as many as `wanted`."""
        if self.nodes is None or len(columns) < wanted:
            return []
        samples = {c: _comparable_ids(self.edges.sample(c), self.edges) for c in columns}
        for known in _id_candidates(self.nodes, self.options):
            full = [c for c, ids in samples.items() if count_in(ids, known) > _MOST * len(ids)]
            if len(full) == wanted:
                return full
        return []

    def _by_position(
        self, columns: list[str], oddities: dict[str, str | None], wanted: int
    ) -> list[str]:
        """The first columns that are not clearly something else, if there are enough of them.

        Dates are, and so are row numbers where a table of nodes has the ids; without one they may
        be ids that count.
        """

        def may_be_end(column: str) -> bool:
            odd = oddities[column]
            return odd is None or (odd != DATES and self.nodes is None)

        kept = [column for column in columns if may_be_end(column)]
        if len(kept) < wanted:
            return columns[:wanted]
        taken = kept[:wanted]
        for column in columns[: columns.index(taken[-1])]:
            if column not in kept:
                self._note("skipped-end", column, oddities[column])
        return taken

    def _note(self, code: str, column: str, odd: str | None) -> None:
        make = Note.warning if code == "odd-end" else Note.info
        self.notes.append(make(code, table=self.edges.name, column=column, holds=odd))


def _id_candidates(nodes: Table, options: Options) -> list[pa.Array]:
    """The ids of the nodes, or what may be: every column with few repeats, if no name says so.

    Those that only count the rows come last.
    """
    ignored = named_in(nodes.columns, options.ignore)
    columns = [column for column in nodes.columns if column not in ignored]
    name = sure_ids(columns, nodes, options.id)
    if name is not None:
        return [_comparable_ids(nodes.read([name])[name], nodes)]
    cells = sorted(nodes.read(columns).items(), key=lambda one: oddity(one[1][:SAMPLE]) is not None)
    found = (_distinct_ids(column, name, nodes, _FEW_REPEATS) for name, column in cells)
    return [comparable(ids) for ids in found if ids is not None]


def _comparable_ids(column: pa.ChunkedArray, table: Table) -> pa.Array:
    """The distinct ids in a column as text; none if its type does not allow ids."""
    ids = _ids_or_none(column, "", table)
    return pa.array([], pa.string()) if ids is None else comparable(ids)


def oddity(sample: pa.ChunkedArray) -> str | None:
    """Why a column is probably not an end of edges: DATES, ROW_NUMBERS, or None."""
    sample = decoded(sample)
    kind = sample.type
    if pa.types.is_temporal(kind):
        return DATES
    if not is_text(kind) and not pa.types.is_integer(kind):
        return None
    cells = sample.combine_chunks().cast(pa.string())
    if parse_dates(cells) is not None and not all_match(cells, MONTH_ONLY):  # 2015-01 may be a name
        return DATES
    numbers = parse_numbers(cells, Notation())
    if numbers is None or len(cells) < _MIN_ROWS:
        return None
    start = numbers[0][0]
    counts = start in (0.0, 1.0) and np.array_equal(numbers[0], start + np.arange(len(cells)))
    return ROW_NUMBERS if counts else None


def find_ids(
    loaded: dict[str, pa.ChunkedArray],
    table: Table,
    ends: tuple[str, str],
    edges: list[IdColumn],
    given: str | None,
    notes: list[Note],
) -> tuple[str, IdColumn]:
    """The column of ids: given, known by its name, or the one that holds the ids of the edges.

    A name does not count if another column holds these ids and the one of that name does not.

    `ends` are the names of the edges' columns, `edges` their ids.
    """
    sure = sure_ids(loaded, table, given)
    if sure is None:
        found = _best(_likely_first(loaded, ends), table, edges)
    else:
        of_ids: list[Note] = []
        ids = read_ids(loaded[sure], sure, table.name, of_ids)
        is_sure = given is not None or _names_ends(ids, edges)
        every = {sure: loaded[sure], **loaded}
        found = None if is_sure else _best(every, table, edges, _NEARLY_ALL)
        if found is None or found[0] == sure:
            notes += of_ids
            return sure, ids
    if found is None:
        raise InputError(
            f"{table.name} needs a column 'id' with the values that '{ends[0]}' and '{ends[1]}' "
            f"of the edges refer to{_example_ids(edges)}, and no other column has them; "
            f"{_advice(loaded, table, edges)}."
        )
    column = None if found[0] == INDEX else found[0]
    notes.append(Note.info("ids-guessed", table=table.name, column=column))
    return found


def _likely_first(
    loaded: dict[str, pa.ChunkedArray], ends: tuple[str, str]
) -> dict[str, pa.ChunkedArray]:
    """The columns, those first whose names suggest ids or the ends of edges.

    The index of a data frame comes last: it is there whether or not it means anything.
    """
    named = [c for n in (*LIKELY_IDS, *map(folded, ends)) for c in loaded if folded(c) == n]
    others = sorted((c for c in loaded if c not in named), key=lambda c: c == INDEX)
    return {name: loaded[name] for name in (*named, *others)}


def _names_ends(ids: IdColumn, edges: list[IdColumn]) -> bool:
    """Whether `ids` have most of the first ids at one end of the edges, in whatever spelling."""
    some = [replace(end, values=end.values.slice(0, SAMPLE)) for end in edges if len(end.values)]
    if not some:
        return True
    if any(_most_are_in(end.values, ids.values) for end in some):
        return True
    known = comparable(ids)  # takes seconds for millions
    return any(_most_are_in(comparable(end), known) for end in some)


def _most_are_in(values: pa.Array, known: pa.Array) -> bool:
    if values.type != known.type:
        values, known = values.cast(pa.string()), known.cast(pa.string())
    return count_in(values, known) > _MOST * len(values)


def sure_ids(columns: Collection[str], table: Table, given: str | None) -> str | None:
    """The column that is given as the ids or has a name that only ids have."""
    if given is None:
        return next((c for n in SURE_IDS for c in columns if folded(c) == n), None)
    name = find("id", given, table)
    if name not in columns:
        both = f"{option('id')} and {option('ignore')}"
        raise InputError(f"{both} both name the column '{name}'; choose one.")
    return name


def _example_ids(edges: list[IdColumn]) -> str:
    some = dict.fromkeys(end.values[0].as_py() for end in edges if len(end.values))
    return f" ({' and '.join(repr(one) for one in some)})" if some else ""


def _advice(columns: dict[str, pa.ChunkedArray], table: Table, edges: list[IdColumn]) -> str:
    """What to do about a table without node ids."""
    swapped = f"perhaps {option('edges')} and {option('nodes')} are swapped"
    if known_pair(list(columns)) is not None:
        return f"it has two endpoint columns: {swapped}"
    ends = [comparable(*edges), *(comparable(end) for end in edges)]  # both, or one of them
    read = {name: _ids_or_none(column, name, table) for name, column in columns.items()}
    for wanted in ends:
        for name, ids in read.items():
            if ids is not None and count_in(wanted, comparable(ids)) > len(wanted) / 2:
                flaw = _flaw(name, ids, swapped)
                if flaw is not None:
                    return flaw
    return (
        f"name it with {option('id')}, or name other endpoint columns with {option('source')} and "
        f"{option('target')}"
    )


def _flaw(name: str, ids: IdColumn, swapped: str) -> str | None:
    """Why a column with ids of the edges cannot name nodes, if there is a reason."""
    times = np.bincount(ids.codes[ids.codes >= 0])
    if len(ids.values) == len(ids.codes):
        return None
    if times.max() == 1:
        return f"'{name}' matches, but some of its cells are empty: fill in or drop such rows"
    again = ids.values[int(times.argmax())]
    if np.mean(times > 1) > _MOST:
        return f"'{name}' matches, but most ids occur several times, such as '{again}': {swapped}"
    return f"'{name}' matches, but some ids occur twice, such as '{again}': drop such rows"


def _best(
    columns: dict[str, pa.ChunkedArray], table: Table, edges: list[IdColumn], least: float = _MOST
) -> tuple[str, IdColumn] | None:
    """The first column that holds more of the edges' ids than others do, and than `least`."""
    wanted = comparable(*edges)
    best, most = None, least * len(wanted)
    for name, column in columns.items():
        ids = _distinct_ids(column, name, table)
        if ids is None:
            continue
        found = count_in(wanted, comparable(ids))
        if found > most:
            best, most = (name, ids), found
        if found == len(wanted):
            break
    return best


def _distinct_ids(
    column: pa.ChunkedArray, name: str, table: Table, repeats: float = 0.0
) -> IdColumn | None:
    """The column as ids, if there are any and at most a share `repeats` of them is not distinct."""
    ids = _ids_or_none(column, name, table)
    differ = ids is not None and len(ids.values) >= (1.0 - repeats) * len(column)
    return ids if len(column) and differ else None


def _ids_or_none(column: pa.ChunkedArray, name: str, table: Table) -> IdColumn | None:
    """The column as ids, if its type allows ids."""
    try:
        return read_ids(column, name, table.name, [])
    except InputError:
        return None

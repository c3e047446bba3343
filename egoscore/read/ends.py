"""Which columns of an edge table are the ends: given, known by name, full of ids, or the first."""

from __future__ import annotations

from egoscore.errors import InputError
from egoscore.read.choices import Choices
from egoscore.read.end_guess import DATES, full_of_ids, odd_words
from egoscore.read.names import bare, find, known_pair
from egoscore.read.table import Table


def find_ends(
    edges: Table, nodes: Table | None, choices: Choices, notes: list[str]
) -> tuple[str, str]:
    """The columns of both ends of the edges."""
    named = [c for c in edges.columns if c not in edges.nameless]
    if len(named) < 2:
        raise InputError(
            f"{edges.name} needs two columns, the ids at both ends of the edges (found "
            f"{len(named)}); check what separates its cells."
        )
    source = None if choices.source is None else find("source", choices.source, edges)
    target = None if choices.target is None else find("target", choices.target, edges)
    if source is None or target is None:
        source, target = _by_name(source, target, named) or _guessed(
            source, target, named, (edges, nodes), choices, notes
        )
    if source == target:
        raise InputError(f"--source and --target both name the column '{source}'; give two.")
    return source, target


def _by_name(source: str | None, target: str | None, named: list[str]) -> tuple[str, str] | None:
    """Both ends by their names, where at most one was given."""
    pair = known_pair(named)
    fits = pair is not None and source in (None, pair[0]) and target in (None, pair[1])
    return pair if fits else None


def _guessed(
    source: str | None,
    target: str | None,
    named: list[str],
    tables: tuple[Table, Table | None],
    choices: Choices,
    notes: list[str],
) -> tuple[str, str]:
    """Both ends by what columns hold or by their place, where at most one was given; said aloud."""
    edges, nodes = tables
    wanted = (source is None) + (target is None)
    others = [column for column in named if column not in (source, target)]
    aside = {bare(name) for name in (*choices.ignore, choices.weight or "")}
    free = [column for column in others if bare(column) not in aside]
    others = free if len(free) >= wanted else others
    full = [] if nodes is None else full_of_ids(edges, others, nodes, choices)
    if nodes is not None and len(full) == wanted:
        which = "both hold" if wanted == 2 else f"'{full[0]}' holds"
        why = f"as {which} ids of {nodes.name}"
        others = full
    else:
        why = "taken by their place"
        others = _without_odd(others, wanted, tables, full, notes)
    found = (source or others.pop(0), target or others.pop(0))
    notes.append(
        f"{edges.name}: edges go from column '{found[0]}' to column '{found[1]}', {why}; --source "
        "and --target say otherwise."
    )
    return found


def _without_odd(
    columns: list[str],
    wanted: int,
    tables: tuple[Table, Table | None],
    full: list[str],
    notes: list[str],
) -> list[str]:
    """Without those of the first `wanted` columns that are evidently no ends, if others are left.

    These are dates, and numbers of rows that are not among the ids of a table of nodes. What cannot
    be passed over is warned of.
    """
    edges, nodes = tables
    kept, place = list(columns), 0
    while place < wanted:
        column = kept[place]
        odd = odd_words(edges.sample(column))
        is_no_end = column not in full and (nodes is not None or odd == DATES)
        if odd is not None and is_no_end and len(kept) > wanted:
            kept.remove(column)
            notes.append(f"{edges.name}: column '{column}' {odd}, so it is taken for no end.")
            continue
        if odd is not None:
            notes.append(
                f"{edges.name}: column '{column}' {odd} and is taken as an end of the edges all "
                "the same; if it is none, name the ends with --source and --target."
            )
        place += 1
    return kept

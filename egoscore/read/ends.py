"""Which columns of an edge table are the ends: given, known by name, full of ids, or the first."""

from __future__ import annotations

from dataclasses import dataclass

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
            f"{len(named)}); check what separates its cells, and --encoding."
        )
    source = None if choices.source is None else find("source", choices.source, edges)
    target = None if choices.target is None else find("target", choices.target, edges)
    if source is None or target is None:
        guess = _Guess(edges, nodes, choices, notes)
        source, target = _by_name(source, target, named) or guess.ends(source, target, named)
    if source == target:
        raise InputError(f"--source and --target both name the column '{source}'; give two.")
    return source, target


def _by_name(source: str | None, target: str | None, named: list[str]) -> tuple[str, str] | None:
    """Both ends by their names, where at most one was given."""
    pair = known_pair(named)
    fits = pair is not None and source in (None, pair[0]) and target in (None, pair[1])
    return pair if fits else None


@dataclass(frozen=True)
class _Guess:
    """Looks for ends by what columns hold or by their place, and says so in `notes`."""

    edges: Table
    nodes: Table | None
    choices: Choices
    notes: list[str]

    def ends(self, source: str | None, target: str | None, named: list[str]) -> tuple[str, str]:
        """Both ends, where at most one was given."""
        wanted = (source is None) + (target is None)
        others = [column for column in named if column not in (source, target)]
        aside = {bare(name) for name in (*self.choices.ignore, self.choices.weight or "")}
        free = [column for column in others if bare(column) not in aside]
        others = free if len(free) >= wanted else others
        odd = {column: odd_words(self.edges.sample(column)) for column in others}
        usual = [column for column in others if odd[column] is None]
        full = self._full_of_ids(usual, wanted) or self._full_of_ids(others, wanted)
        if full and self.nodes is not None:
            which = "both hold" if wanted == 2 else f"'{full[0]}' holds"
            why, taken = f"as {which} ids of {self.nodes.name}", full
        else:
            why, taken = "taken by their place", self._by_place(others, odd, wanted)
        self._warn({column: words for column in taken if (words := odd[column]) is not None})
        found = (source or taken[0], target or taken[-1])
        self.notes.append(
            f"{self.edges.name}: edges go from column '{found[0]}' to column '{found[1]}', {why}; "
            "--source and --target say otherwise."
        )
        return found

    def _full_of_ids(self, columns: list[str], wanted: int) -> list[str]:
        """The columns that hold ids of the nodes, if there are as many as `wanted`."""
        if self.nodes is None or len(columns) < wanted:
            return []
        return full_of_ids(self.edges, columns, self.nodes, self.choices, wanted)

    def _by_place(self, columns: list[str], odd: dict[str, str | None], wanted: int) -> list[str]:
        """The first columns that are not evidently something else, if there are enough of these.

        Dates are, and so are numbers of rows where a table of nodes has the ids; without one they
        may be ids that are counted.
        """
        kept = [c for c in columns if odd[c] is None or (odd[c] != DATES and self.nodes is None)]
        if len(kept) < wanted:
            return columns[:wanted]
        taken = kept[:wanted]
        for column in columns[: columns.index(taken[-1])]:
            if column not in kept:
                said = f"column '{column}' {odd[column]}, so it is taken for no end."
                self.notes.append(f"{self.edges.name}: {said}")
        return taken

    def _warn(self, odd: dict[str, str]) -> None:
        for column, words in odd.items():
            self.notes.append(
                f"{self.edges.name}: column '{column}' {words} and is taken as an end of the edges "
                "all the same; if it is none, name the ends with --source and --target."
            )

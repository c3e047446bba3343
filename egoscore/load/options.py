"""What the user specifies about the tables, and the result of loading them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from egoscore.errors import InputError, ParameterError
from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.load.dialect import known_encoding
from egoscore.notes import Note
from egoscore.text import option

_LISTS = ("features", "ignore", "categories", "columns", "node_columns")
_COLUMNS = ("source", "target", "id", "label", "name", "weight", *_LISTS)


@dataclass(frozen=True)
class Options:
    """How to load tables; the names are the long options of the command line.

    Attributes:
        source, target: the columns of the edge table with the ids of both ends.
        id: the column of the node table with the node ids.
        features: the only columns of the node table to use; None for all usable ones.
        ignore: columns of either table to leave out.
        categories: columns of the node table to treat as categories even if they hold numbers.
        label: the column that marks known outliers; only used to evaluate.
        name: the column of the node table whose text is shown for the nodes; None to detect it.
        weight: the only column of the edge table to turn into node features; None for all usable.
        directed: whether an edge from a to b differs from one from b to a.
        impute: "median" to fill missing values and flag where they were; None or "none" to refuse
            them.
        encoding: the encoding of text files; None to detect it.
        columns: the names of all columns of the edge table, for a text file without a header.
        node_columns: the same for the node table.
    """

    source: str | None = None
    target: str | None = None
    id: str | None = None
    features: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    label: str | None = None
    name: str | None = None
    weight: str | None = None
    directed: bool = False
    impute: str | None = "median"
    encoding: str | None = None
    columns: tuple[str, ...] = ()
    node_columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.impute == "none":
            object.__setattr__(self, "impute", None)
        if self.impute not in (None, "median"):
            raise ParameterError("impute", "'median' or 'none'", self.impute, "Options")
        for name in _LISTS:
            given = getattr(self, name)
            if given is not None:  # Python users may pass a list or a single name
                several = (given,) if isinstance(given, str) else tuple(given)
                object.__setattr__(self, name, several)
        for name in _COLUMNS:
            given = getattr(self, name)
            names = given if isinstance(given, tuple) else (given,)
            if any(one is not None and not str(one).strip() for one in names):
                raise InputError(f"{option(name)} is empty; name a column or omit the option.")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", known_encoding(self.encoding))

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the options that differ from their defaults."""
        default = Options()
        names = (field.name for field in fields(self))
        return tuple(name for name in names if getattr(self, name) != getattr(default, name))

    def refuse(self, names: tuple[str, ...], reason: str) -> None:
        """Refuse the named options that were given, so that none is silently ignored."""
        found = [option(name) for name in self.given if name in names]
        if found:
            raise InputError(f"{', '.join(found)} cannot be used here: {reason}.")


@dataclass(frozen=True)
class Loaded:
    """A graph, and every decision made while loading it."""

    graph: AttributedGraph
    notes: tuple[Note, ...] = ()

"""What the user says about the tables, and what comes of reading them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from egoscore.errors import InputError, ParameterError
from egoscore.graph.network import AttributedGraph
from egoscore.read.encoding import known_encoding

_COLUMNS = ("source", "target", "id", "features", "ignore", "categories", "label", "weight")


@dataclass(frozen=True)
class Choices:
    """What the user says about the tables; the names are the long options of the command line.

    Attributes:
        source, target: the columns of the edge table that hold the ids at both ends.
        id: the column of the node table that names the nodes.
        features: the only columns of the node table to use; None for all that can be used.
        ignore: columns of either table to leave aside.
        categories: columns of the node table whose values are names, also where they are numbers.
        label: the column that says which nodes are known outliers; only used to evaluate.
        weight: a numeric column of the edge table to turn into features of the nodes.
        directed: whether an edge from a to b differs from one from b to a.
        impute: "median" to fill missing values; None to refuse them.
        encoding: the encoding of tables that are text files; None to find it out.
    """

    source: str | None = None
    target: str | None = None
    id: str | None = None
    features: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    label: str | None = None
    weight: str | None = None
    directed: bool = False
    impute: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.impute not in (None, "median"):
            raise ParameterError("impute", "None or 'median'", self.impute, "Choices")
        for name in ("features", "ignore", "categories"):
            given = getattr(self, name)
            if given is not None:  # from Python a list will do, and so will one name
                several = (given,) if isinstance(given, str) else tuple(given)
                object.__setattr__(self, name, several)
        self._refuse_nameless()
        if self.encoding is not None:
            object.__setattr__(self, "encoding", known_encoding(self.encoding))

    def _refuse_nameless(self) -> None:
        """Refuse an option that is there but names nothing: it would mean something else."""
        for name in _COLUMNS:
            given = getattr(self, name)
            names = given if isinstance(given, tuple) else (given,)
            if any(one is not None and not str(one).strip() for one in names):
                raise InputError(f"--{name} is empty; name a column, or leave the option out.")

    @property
    def made(self) -> tuple[str, ...]:
        """Which of them the user made, as options."""
        default = Choices()
        given = (f.name for f in fields(self) if getattr(self, f.name) != getattr(default, f.name))
        return tuple(f"--{name}" for name in given)

    def refuse(self, options: tuple[str, ...], reason: str) -> None:
        """Refuse those of `options` that were given: nothing a user says is dropped silently."""
        found = [option for option in self.made if option in options]
        if found:
            raise InputError(f"{', '.join(found)} cannot be used here: {reason}.")


@dataclass(frozen=True)
class Reading:
    """What was read, and every decision on the way as a sentence."""

    graph: AttributedGraph
    notes: tuple[str, ...]

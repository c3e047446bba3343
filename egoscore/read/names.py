"""Which column is what, by its name: without regard to case and surrounding space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from egoscore.errors import InputError
from egoscore.graph.columns import words_of
from egoscore.read.table import Table, quoted

LABEL = "label"
# What columns are called that say which nodes are the ones to be found.
ANSWERS = (
    LABEL,
    "labels",
    "y",
    "fraud",
    "is_fraud",
    "isfraud",
    "fraudulent",
    "outlier",
    "is_outlier",
    "anomaly",
    "is_anomaly",
    "abnormal",
    "ground_truth",
)
# Names of the two ends of an edge, as pairs: `from` beside `name` says nothing.
PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("source_id", "target_id"),
    ("sourceid", "targetid"),
    ("src_id", "dst_id"),
    ("from_id", "to_id"),
    ("fromid", "toid"),
    ("from_node", "to_node"),
    ("fromnodeid", "tonodeid"),
    ("source_node", "target_node"),
    ("source", "destination"),
    ("origin", "destination"),
    ("sender", "receiver"),
    ("sender_id", "receiver_id"),
    ("payer", "payee"),
    ("buyer", "seller"),
    ("follower", "followee"),
    ("citing", "cited"),
    ("caller", "callee"),
    ("head", "tail"),
    ("start", "end"),
    ("u", "v"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("node_a", "node_b"),
    ("user1", "user2"),
    ("user_1", "user_2"),
    ("id1", "id2"),
    ("id_1", "id_2"),
)
# Beginnings or ends of such names, before or after what both have in common: from_account.
STEMS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("origin", "destination"),
    ("orig", "dest"),
    ("payer", "payee"),
    ("buyer", "seller"),
    ("debtor", "creditor"),
)
_TIMES = ("date", "time", "day", "month", "year", "timestamp", "ts", "at")  # from_date is no end
# Last words in the name of a column whose numbers are names.
_CODES = ("id", "code", "zip", "zipcode", "postcode", "postalcode", "plz")
# Words in the name of a column of days.
_DATES = ("date", "day", "dt", "dob", "birthday", "birthdate", "at", "on", "since")
# Columns so called are no answer if they hold many different numbers: y is also a coordinate.
DOUBTFUL_ANSWERS = ("y",)
# The first names are only ever ids; the others are ids if they hold those of the edges.
SURE_IDS = ("id", "node_id", "nodeid", "node", "vertex", "vertex_id")
LIKELY_IDS = ("name", "key", "user_id", "userid", "user", "account_id", "account", "uid")


def bare(name: str) -> str:
    """A name as it is compared."""
    return name.strip().casefold()


def is_answer(name: str) -> bool:
    """Whether a column is called as if it said which nodes are outliers."""
    return _joined(name) in ANSWERS


def says_code(name: str) -> bool:
    """Whether a column is called as if its numbers were names: AirportID, zip, post_code."""
    words = words_of(name)
    return bool(words) and words[-1].casefold() in _CODES


def says_date(name: str) -> bool:
    """Whether a column is called as if it held days: date, opened_on, birthDate."""
    return any(word.casefold() in _DATES for word in words_of(name))


def find(option: str, given: str, table: Table) -> str:
    """The column a user means, exactly or without regard to case and space."""
    if given in table.columns:
        return given
    alike = [column for column in table.columns if bare(column) == bare(str(given))]
    if len(alike) != 1:
        columns = quoted([column for column in table.columns if column not in table.nameless])
        raise InputError(
            f"--{option} names the column '{given}', which {table.name} does not have; it has "
            f"{columns}."
        )
    return alike[0]


def known_pair(columns: Sequence[str]) -> tuple[str, str] | None:
    """The first pair of names that both stand for the ends of an edge."""
    by_name = {_joined(column): column for column in columns}
    meant = [*PAIRS, *(pair for name in by_name for pair in _counterparts(name))]
    found = ((by_name.get(first), by_name.get(second)) for first, second in meant)
    return next(((a, b) for a, b in found if a is not None and b is not None), None)


def _counterparts(name: str) -> Iterator[tuple[str, str]]:
    """A name that a source may have, each time with what the target would be called."""
    for first, second in STEMS:
        common = name.removeprefix(first)
        if common != name and common.strip("_") not in _TIMES:
            yield name, second + common
        common = name.removesuffix(f"_{first}")
        if common != name and common not in _TIMES:
            yield name, f"{common}_{second}"


def _joined(name: str) -> str:
    return bare(name).replace(" ", "_").replace("-", "_")


def is_header(cells: Sequence[str], given: Sequence[str]) -> bool:
    """Whether a row of cells names columns that are known, or that the user gave."""
    bares = {bare(cell) for cell in cells}
    known = {*SURE_IDS, *LIKELY_IDS, LABEL, *(bare(name) for name in given)}
    return known_pair(cells) is not None or bool(bares & known)

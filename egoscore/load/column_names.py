"""What the name of a column says about it, regardless of case and surrounding space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from egoscore.errors import InputError
from egoscore.graph.number_form import last_word, words_of
from egoscore.text import option, quoted

if TYPE_CHECKING:
    from egoscore.load.table import Table


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Names with a slash between them, as pairs."""
    return tuple((a, b) for a, _, b in (pair.partition("/") for pair in text.split()))


LABEL = "label"
# Columns that say which nodes are the outliers to be found.
ANSWERS = (
    *(LABEL, "labels", "y", "fraud", "is_fraud", "isfraud", "fraudulent", "outlier"),
    *("is_outlier", "anomaly", "is_anomaly", "abnormal", "ground_truth"),
)
# The two ends of an edge, as pairs: `from` beside `name` says nothing.
PAIRS = _pairs(
    "source/target src/dst from/to source_id/target_id sourceid/targetid src_id/dst_id "
    "from_id/to_id fromid/toid from_node/to_node fromnodeid/tonodeid source_node/target_node "
    "source/destination origin/destination sender/receiver sender_id/receiver_id payer/payee "
    "buyer/seller follower/followee citing/cited caller/callee head/tail start/end u/v "
    "node1/node2 node_1/node_2 node_a/node_b user1/user2 user_1/user_2 id1/id2 id_1/id_2"
)
# Beginnings or ends of such names, before or after what both have in common: from_account.
STEMS = _pairs(
    "source/target src/dst from/to sender/receiver sender/recipient origin/destination "
    "orig/dest payer/payee buyer/seller debtor/creditor"
)
_TIMES = ("date", "time", "day", "month", "year", "timestamp", "ts", "at")  # not from_date
# Last words in the name of a column of ids, beside those of codes.
_IDS = (
    *("ids", "uid", "uuid", "guid", "key", "number", "nr", "no", "num", "ref", "reference"),
    *("isbn", "issn", "ean", "gtin", "upc", "barcode", "sku", "serial", "imei", "ssn", "npi"),
    *("phone", "telephone", "mobile", "fax", "nummer"),
)
# Words in the name of a column of quantities, which may be all different whole numbers.
_MEASURES = (
    *("rank", "ranking", "x", "y", "z", "lat", "latitude", "lon", "lng", "long", "longitude"),
    *("easting", "northing", "coordinate", "coordinates", "altitude", "elevation", "height"),
    *("amount", "balance", "total", "sum", "price", "cost", "costs", "value", "cents", "salary"),
    *("income", "revenue", "sales", "turnover", "profit", "budget", "assets", "gdp", "money"),
    *("population", "views", "visits", "clicks", "followers", "likes", "count", "counts", "size"),
    *("length", "width", "area", "distance", "weight", "volume", "duration", "age", "score"),
    *("points", "days", "hours", "minutes", "seconds", "time", "timestamp", "date", "year"),
)
# Words in the name of a column of days.
_DATES = ("date", "day", "dt", "dob", "birthday", "birthdate", "at", "on", "since")
_TIME_OF_DAY = ("time", "timestamp", "ts", "epoch", "datetime")
# Not an answer if it holds many different numbers: y is also a coordinate.
DOUBTFUL_ANSWERS = ("y",)
# Columns with the names of nodes, the most telling first; also as last words, as in page_name.
_FULL_NAMES = ("name", "title", "label", "fullname", "displayname")
_OTHER_NAMES = (
    *("username", "nickname", "nick", "handle", "login"),
    *("company", "organization", "organisation", "institution", "firm"),
    *("email", "e_mail", "mail"),
)
_PART_OF_NAME = ("first", "last", "middle", "given", "family", "file", "host", "job", "type")
# The first names are only ever ids; the others are ids if they hold those of the edges.
SURE_IDS = ("id", "node_id", "nodeid", "node", "vertex", "vertex_id")
LIKELY_IDS = ("name", "key", "user_id", "userid", "user", "account_id", "account", "uid")


def folded(name: str) -> str:
    """A name without differences of case and surrounding space."""
    return name.strip().casefold()


def is_answer(name: str) -> bool:
    """Whether the name of a column suggests that it marks outliers."""
    return _joined(name) in ANSWERS


def is_id(name: str) -> bool:
    """Whether the name of a column suggests ids: userid, phone_number."""
    return _joined(name) in (*SURE_IDS, *LIKELY_IDS) or last_word(name) in _IDS


def is_measure(name: str) -> bool:
    """Whether the name of a column suggests quantities: balance_cents, lat, world_rank."""
    return any(word.casefold() in _MEASURES for word in words_of(name))


def suggested_names(columns: Sequence[str]) -> list[str]:
    """The columns that may have the names of nodes, as their own names say, most likely first."""
    found = []
    for known in (_FULL_NAMES, _OTHER_NAMES):
        exact = [column for column in columns if _joined(column) in known]
        ending = {column: _last_word(column) for column in columns if column not in exact}
        ending = {column: word for column, word in ending.items() if word in known}
        found += sorted(exact, key=lambda column: known.index(_joined(column)))
        found += sorted(ending, key=lambda column: known.index(ending[column]))
    return list(dict.fromkeys(found))


def _last_word(column: str) -> str:
    """The last word if others precede it that do not make it part of a name, as in first_name."""
    *before, last = [word.casefold() for word in words_of(column)] or [""]
    return last if before and before[-1] not in _PART_OF_NAME else ""


def is_date(name: str) -> bool:
    """Whether the name of a column suggests dates: date, opened_on, birthDate."""
    return any(word.casefold() in _DATES for word in words_of(name))


def is_time(name: str) -> bool:
    """Whether the name of a column suggests moments: timestamp, start_time."""
    return any(word.casefold() in _TIME_OF_DAY for word in words_of(name))


def named_in(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns that one of the names refers to."""
    wanted = {folded(name) for name in names}
    return [column for column in columns if folded(column) in wanted]


def find(parameter: str, given: str, table: Table) -> str:
    """The column that a parameter names, exactly or regardless of case and space."""
    if given in table.columns:
        return given
    alike = named_in(table.columns, (str(given),))
    if len(alike) != 1:
        columns = quoted([column for column in table.columns if column not in table.nameless])
        raise InputError(
            f"{option(parameter)} names the column '{given}', which {table.name} does not have; it "
            f"has {columns}."
        )
    return alike[0]


def known_pair(columns: Sequence[str]) -> tuple[str, str] | None:
    """The first pair of columns named like the two ends of an edge."""
    by_name = {_joined(column): column for column in columns}
    meant = [*PAIRS, *(pair for name in by_name for pair in _counterparts(name))]
    found = ((by_name.get(first), by_name.get(second)) for first, second in meant)
    return next(((a, b) for a, b in found if a is not None and b is not None), None)


def _counterparts(name: str) -> Iterator[tuple[str, str]]:
    """A possible name of a source, each time with the corresponding name of the target."""
    for first, second in STEMS:
        common = name.removeprefix(first)
        if common != name and common.strip("_") not in _TIMES:
            yield name, second + common
        common = name.removesuffix(f"_{first}")
        if common != name and common not in _TIMES:
            yield name, f"{common}_{second}"


def _joined(name: str) -> str:
    return folded(name).replace(" ", "_").replace("-", "_")


def names_columns(cells: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether a row of cells holds well-known names of columns, or `expected` ones."""
    bares = {folded(cell) for cell in cells}
    known = {*SURE_IDS, *LIKELY_IDS, LABEL, *(folded(name) for name in expected)}
    return known_pair(cells) is not None or bool(bares & known)

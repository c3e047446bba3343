"""What the page asks of the ranking, read from the parameters of a request."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from egoscore.errors import InputError
from egoscore.review.verdicts import ABNORMAL, KINDS, NORMAL, UNSURE

MOST_ROWS = 200  # of a page
_MOST_LIMITS = 12
_LONGEST = 200  # characters of a text
NONE = "none"
CODES = ("", NORMAL, UNSURE, ABNORMAL)  # verdicts as numbers, in the order of the page


@dataclass(frozen=True)
class Limit:
    """A filter on the column `key`: from `low` to `high`, or a `text` that it contains."""

    key: str
    low: float | None = None
    high: float | None = None
    text: str = ""


@dataclass(frozen=True)
class Query:
    """Which nodes, in which order. `verdict` are the kinds wanted, "" for no verdict; None: all."""

    sort: str = "updated_rank"
    descending: bool = False
    search: str = ""
    verdict: tuple[str, ...] | None = None
    limits: tuple[Limit, ...] = ()


def parse_query(given: Mapping[str, str], keys: Collection[str]) -> Query:
    """The query of a request; `keys` are the columns there are."""
    sort = given.get("sort", "updated_rank")
    _require_known(sort, keys)
    return Query(
        sort=sort,
        descending=given.get("desc") == "1",
        search=_short(given.get("search", "")),
        verdict=_kinds(given.get("verdict", "")),
        limits=_limits(given.get("where", ""), keys),
    )


def whole(given: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    """A whole number from a request, within its bounds."""
    text = given.get(name, default)
    try:
        value = int(text)
    except (TypeError, ValueError):
        value = least - 1
    if isinstance(text, bool | float) or not least <= value <= most:
        raise InputError(f"'{name}' must be a whole number from {least} to {most}.")
    return value


def _kinds(text: str) -> tuple[str, ...] | None:
    if not text:
        return None
    kinds = tuple("" if kind == NONE else kind for kind in text.split(","))
    if not set(kinds) <= {"", *KINDS}:
        raise InputError(f"'verdict' must be of {', '.join((*KINDS, NONE))}.")
    return kinds


def _limits(text: str, keys: Collection[str]) -> tuple[Limit, ...]:
    """Filters, from a JSON list of [key, low, high] and [key, text]."""
    if not text:
        return ()
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, list) or len(given) > _MOST_LIMITS:
        raise InputError(f"'where' must be a JSON list of at most {_MOST_LIMITS} filters.")
    return tuple(_limit(one, keys) for one in given)


def _limit(given: Any, keys: Collection[str]) -> Limit:
    match given:
        case [str(key), str(text)]:
            _require_known(key, keys)
            return Limit(key, text=_short(text))
        case [str(key), low, high]:
            _require_known(key, keys)
            return Limit(key, _bound(low), _bound(high))
    raise InputError("A filter must be [column, from, to] or [column, text].")


def _bound(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError("A bound of a filter must be a number or null.")
    return float(value)


def _require_known(key: str, keys: Collection[str]) -> None:
    if key not in keys:
        raise InputError("There is no column of that name.")


def _short(text: str) -> str:
    if len(text) > _LONGEST:
        raise InputError(f"A search text may have {_LONGEST} characters.")
    return text

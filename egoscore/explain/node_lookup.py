"""Nodes by their ids or names, and what was probably meant if there is none."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from egoscore.errors import InputError
from egoscore.explain.explainer import shortened
from egoscore.graph import AttributedGraph
from egoscore.text import counted, printable, quoted

_LOOKED_THROUGH = 20_000  # ids and names each, for those that look like one that is not there
_MOST_MEANT = 3
_LEAST_LETTERS = 3  # of a part of a name
_APOSTROPHES = "'\u2019\u02bc`"
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "\u0131": "i"})


def rows_of(graph: AttributedGraph, nodes: Sequence[Any]) -> list[int]:
    """The row numbers of nodes given by their ids or, where there is no such id, by their names.

    Text also finds the id that is written so, or else displayed so, with control characters spelled
    out. Names may differ in case, accents and surrounding space. A name that several nodes have is
    refused.
    """
    ids = graph.ids.tolist()
    alike = _by_text(ids, nodes)
    rows = [_row_of_id(node, ids, alike[str(node)]) for node in nodes]
    if None not in rows:
        return [row for row in rows if row is not None]
    names = [] if graph.names is None else graph.names.tolist()
    called = _by_text(names, nodes)
    if not all(called.values()):
        folded = _written(names, [_folded(str(node)) for node in nodes], _folded)
        called = {text: rows or folded[_folded(text)] for text, rows in called.items()}
    return [
        _row_of_name(node, called[str(node)], ids, names) if row is None else row
        for node, row in zip(nodes, rows, strict=True)
    ]


def _by_text(known: list[Any], nodes: Sequence[Any]) -> dict[str, list[int]]:
    """The rows of what is written, or else displayed, as one of the nodes is, by that text."""
    alike = _written(known, nodes, str)
    if all(alike.values()):
        return alike
    shown = _written(known, nodes, printable)
    return {text: rows or shown[text] for text, rows in alike.items()}


def _written(
    known: list[Any], nodes: Sequence[Any], written: Callable[[Any], str]
) -> dict[str, list[int]]:
    """The rows of what is `written` as one of the nodes is, by that text."""
    alike: dict[str, list[int]] = {str(node): [] for node in nodes}
    for row, one in enumerate(known):
        if (text := written(one)) in alike:
            alike[text].append(row)
    return alike


def _row_of_id(node: Any, ids: list[Any], alike: list[int]) -> int | None:
    """The row among `alike`, whose ids are written like `node`: one of the same type if possible.

    If `alike` is empty, the row whose id equals `node`, if there is one.
    """
    if alike:
        return next((row for row in alike if type(ids[row]) is type(node)), alike[0])
    try:
        return ids.index(node)  # {8, 0} equals {0, 8} and does not look like it
    except (RuntimeError, ValueError):  # the first from tensors, which cannot be compared
        return None


def _row_of_name(node: Any, alike: list[int], ids: list[Any], names: list[str]) -> int:
    """The only row in `alike`, whose names are `node`."""
    if not alike:
        known = f"There is no node {node!r} in the graph; {_near(ids, names, str(node))}"
        raise InputError(known)
    if len(alike) > 1:
        which = quoted([printable(ids[row]) for row in alike])
        raise InputError(
            f"{counted(len(alike), 'node')} have the name {shortened(str(node))!r}; give the id of "
            f"one of them: {which}."
        )
    return alike[0]


def _near(ids: list[Any], names: list[str], text: str) -> str:
    """A hint at ids and names that are like `text`."""
    meant = [shortened(one) for one in _alike([*map(str, ids)], names, text)]
    if not meant:
        return f"its ids look like {str(ids[0])!r}."
    *others, last = map(repr, dict.fromkeys(meant))
    return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"


def _alike(ids: list[str], names: list[str], text: str) -> list[str]:
    """What equals the text but for case; else what contains its words; else the closest."""
    folded = _folded(text)
    same = [one for one in (*ids, *names) if _folded(one) == folded]
    found = same or _containing(names or ids, text)
    if found:
        return found[:_MOST_MEANT]
    some = {_folded(one): one for one in (*ids[:_LOOKED_THROUGH], *names[:_LOOKED_THROUGH])}
    return [some[one] for one in difflib.get_close_matches(folded, some, n=_MOST_MEANT)]


def _containing(names: list[str], text: str) -> list[str]:
    """The names with all words of a text, those first that have them as whole words."""
    words = _plain(text).split()
    whole = "".join(words)
    if len(whole) < _LEAST_LETTERS:
        return []
    found = []
    for name in names:
        plain = _plain(name)
        if all(word in plain for word in words) or whole in plain.replace(" ", ""):
            found.append((not set(words) <= set(plain.split()), len(name), name))
    return [name for _, _, name in sorted(found)[:_MOST_MEANT]]


def _plain(text: str) -> str:
    """Words without case, accents and punctuation; O'Hare is one word."""
    letters = (c if c.isalnum() else " " for c in _folded(text) if c not in _APOSTROPHES)
    return "".join(letters)


def _folded(text: str) -> str:
    """Text without differences of case, accents and surrounding space."""
    text = text.strip().casefold()
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(c for c in parts if not unicodedata.combining(c))

"""Which encoding a text file has, and whether it is a text file at all, by its first bytes."""

from __future__ import annotations

import codecs
import re

from egoscore.errors import InputError, ParameterError

_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1f]")
_STARTS = {
    b"{": "JSON",
    b"[": "JSON",
    b"<": "a web page or XML",
    b"%PDF": "a PDF",
    b"{\\rtf": "a text document",
}


def known_encoding(name: str) -> str:
    """The name that Python has for an encoding of text."""
    try:
        b"a".decode(name, "replace")
        return codecs.lookup(name).name
    except (LookupError, UnicodeError, ValueError):
        rule = "the name of an encoding, such as 'cp1251' or 'shift_jis'"
        raise ParameterError("encoding", rule, name, "Choices") from None


def find_encoding(head: bytes, where: str) -> tuple[str, list[str]]:
    """The encoding of a text that begins with `head`; what is no text is refused."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", [f"{where}: read as UTF-16."]
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    kind = next((name for start, name in _STARTS.items() if text.startswith(start)), None)
    if kind is not None or b"\x00" in head:
        raise not_a_table(where, kind)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        if _CONTROL.search(head):
            raise not_a_table(where) from None
        return _western(head), [not_utf8(where)]
    return "utf-8", []


def not_a_table(where: str, kind: str | None = None) -> InputError:
    """The refusal of what is something else."""
    encoding = "" if kind else ", or name its encoding, such as utf-16-le, with --encoding"
    return InputError(
        f"{where} is {kind or 'no text file'}, not a table; save the table as CSV or Parquet and "
        f"give that{encoding}."
    )


def not_utf8(where: str) -> str:
    """The note on an encoding that had to be guessed."""
    return (
        f"{where}: not UTF-8, so read as Western European text (Windows-1252); if letters look "
        "wrong, name the encoding, such as cp1251 or shift_jis, with --encoding."
    )


def _western(head: bytes) -> str:
    """The encoding of old Western European files; a few bytes mean nothing in Windows-1252."""
    try:
        head.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"

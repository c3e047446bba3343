"""Pipes such as <(zcat edges.csv.gz) and /dev/stdin, copied to a temporary file first."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egoscore.errors import InputError
from egoscore.load.unpack import empty
from egoscore.progress import Bars, no_bars

_STDIN = "/dev/stdin"  # what - stands for


@dataclass(frozen=True)
class Copy:
    """A file with the content of a pipe, and the name of the pipe for messages."""

    path: Path
    name: str


@contextmanager
def pipes_copied(*sources: Any, bars: Bars = no_bars) -> Iterator[tuple[Any, ...]]:
    """The same sources with a `Copy` in place of every pipe; copies are removed at the end."""
    with ExitStack() as copies:
        named = [_STDIN if _is_dash(source) else source for source in sources]
        if sum(isinstance(source, str) and source == _STDIN for source in named) > 1:
            raise InputError("Standard input holds one table; pass the other as a file.")
        yield tuple(
            copies.enter_context(_copied(source, bars)) if is_pipe(source) else source
            for source in named
        )


def _is_dash(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike)) and os.fspath(source) == "-"


def is_pipe(source: Any) -> bool:
    """Whether a source is the path of a pipe."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    try:
        return stat.S_ISFIFO(os.stat(source).st_mode)
    except (OSError, ValueError):  # it does not exist, or no file can have that name
        return False


@contextmanager
def _copied(pipe: str | os.PathLike[str], bars: Bars) -> Iterator[Copy]:
    name = os.fspath(pipe)
    with tempfile.TemporaryDirectory(prefix="egoscore-pipe-") as folder:
        path = Path(folder) / "copy"
        try:
            with (
                bars(f"Copying {name}", None, ""),
                open(name, "rb") as source,
                path.open("wb") as target,
            ):
                shutil.copyfileobj(source, target, 1 << 20)
        except OSError as error:
            raise InputError(
                f"{name} is a pipe that cannot be copied to {tempfile.gettempdir()} "
                f"({error.strerror or error}); save its output as a file and pass that."
            ) from error
        if not path.stat().st_size:
            raise empty(name)
        yield Copy(path, name)

"""What to do about a run of which something is missing or damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from egoscore.engine.files import read_config
from egoscore.errors import InputError, RunError

# what reading a damaged file raises; a defect of ours may raise the same
_DAMAGED = (
    RunError,
    OSError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    pa.ArrowException,
)


@contextmanager
def needing(run: Path, *names: str) -> Iterator[None]:
    """While the block reads these files of a run: whatever is wrong with them, say what to do.

    The block only reads and checks: a defect in what is made of the files would look like damage.
    """
    for name in names:
        if not (run / name).exists():
            raise RunError(f"{run / name} is missing; {remedy(run)}.")
    try:
        yield
    except InputError:  # it is not the run that is wrong
        raise
    except _DAMAGED as error:
        files = " or ".join(str(run / name) for name in names)
        raise RunError(f"{files} is damaged; {remedy(run)}.") from error


def remedy(run: Path) -> str:
    """How a run is made whole: where `detect` knows its own run, it writes what is not there."""
    if is_known(run):
        return "give the same `egoscore detect` command again, which makes the run whole"
    return "give the `egoscore detect` command again, with another directory after --out"


def is_known(run: Path) -> bool:
    """Whether `detect` can tell which run this is."""
    try:
        read_config(run)
    except (OSError, RunError):
        return False
    return True

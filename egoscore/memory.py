"""Memory that was freed goes back to the system."""

from __future__ import annotations

import ctypes
import os

import pyarrow as pa


def give_back_memory() -> None:
    """Return to the system what was freed between things still in use.

    glibc often does not reuse freed aligned blocks (its bug 14581): without this, scoring may take
    several times the memory that it has in use. Arrow keeps what it freed, too.
    """
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)

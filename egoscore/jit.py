"""Compiles kernels with numba and keeps the machine code on disk.

numba's own cache notices a change in the file that defines a kernel, but not in the functions that
the kernel inlines from other modules. The cache folder is therefore named after the sources of all
kernels: a change in any of them makes numba compile all of them again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numba

_PACKAGE = Path(__file__).parent
_PREFIX = "kernels-"
# Every module that compiles something, relative to the package; a test keeps the list complete.
KERNEL_SOURCES = (
    "jit.py",
    "random.py",
    "bench/rivals/egonets.py",
    "detectors/conditional/neighbours.py",
    "detectors/elu.py",
    "detectors/paper/extract.py",
    "detectors/paper/noise.py",
    "detectors/paper/kernels/attention.py",
    "detectors/paper/kernels/packed.py",
    "detectors/paper/kernels/simd.py",
    "graph/bridges.py",
    "graph/cliques.py",
    "graph/edge_sorting.py",
    "graph/structure.py",
    "load/text_blocks.py",
    "review/ranks.py",
)
_config: Any = numba.config
_decorating = Lock()

inlined = numba.njit(inline="always", error_model="numpy")


def compiled(function: Callable[..., Any], flags: Any = False) -> Any:
    """`function` as machine code, cached on disk if there is a writable folder."""
    with _cache_folder() as folder:
        cached = folder is not None
        return numba.njit(function, cache=cached, error_model="numpy", fastmath=flags)


def fused(function: Callable[..., Any]) -> Any:
    """`compiled`, but a product and the sum it goes into may be rounded once instead of twice."""
    return compiled(function, {"contract"})


@contextmanager
def _cache_folder() -> Iterator[Path | None]:
    """Point numba to our cache folder while it decorates a function."""
    folder = _writable_folder()
    with _decorating:
        before = _config.CACHE_DIR
        _config.CACHE_DIR = str(folder or "")
        try:
            yield folder
        finally:
            _config.CACHE_DIR = before


@cache
def _writable_folder() -> Path | None:
    """The cache folder of the current kernels; None if no place is writable."""
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    places = [_config.CACHE_DIR, _PACKAGE / "__pycache__", user / "egoscore"]
    for place in map(Path, filter(None, places)):
        folder = place / f"{_PREFIX}{source_key()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            _remove_outdated(folder)
            return folder
    return None


def _remove_outdated(current: Path) -> None:
    for folder in current.parent.glob(f"{_PREFIX}*"):
        if folder != current:
            shutil.rmtree(folder, ignore_errors=True)


@cache
def source_key() -> str:
    """A hash of the sources of all kernels."""
    digest = hashlib.sha256()
    for name in KERNEL_SOURCES:
        path = _PACKAGE / name
        if path.exists():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]

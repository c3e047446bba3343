"""The machine: devices, threads and memory. No other module knows about them."""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock, local
from typing import TYPE_CHECKING

from egoscore.errors import DeviceError

if TYPE_CHECKING:
    import torch


MANY_ROWS = 1 << 18  # from this length on, freeing a column is worth `release_memory`


def choose_device(gpu: int) -> torch.device:
    """The CPU for -1, otherwise the CUDA device of that number."""
    import torch

    if gpu < 0:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise DeviceError(
            f"GPU {gpu} was requested, but PyTorch finds no CUDA device; use -1 to run on the CPU, "
            "or install a CUDA build of PyTorch and its driver."
        )
    if gpu >= torch.cuda.device_count():
        raise DeviceError(
            f"GPU {gpu} was requested, but there are only {torch.cuda.device_count()} CUDA "
            "devices, numbered from 0."
        )
    return torch.device("cuda", gpu)


class _Mine(local):
    is_inside = False


_mine = _Mine()
_guard = Lock()
_num_inside = 0
_num_threads_outside = 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch in one thread: the tensors are small, and sums keep their order.

    Denormal numbers count as zero meanwhile: trained networks produce them, they mean nothing, and
    processors are a hundred times slower with them.

    A thread that starts inside another thread's block inherits its single thread, so it restores
    the number from before the first block. Never hold this across a `yield` of a generator.
    """
    import torch

    if _mine.is_inside:
        yield
        return
    flushed = float(torch.tensor(1e-40) * 1.0) == 0.0
    num_threads = _enter()
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(flushed)
        _leave(num_threads)


def _enter() -> int:
    """Switch to one thread; the number of threads to restore."""
    import torch

    global _num_inside, _num_threads_outside
    with _guard:
        own = torch.get_num_threads()
        if _num_inside == 0:
            _num_threads_outside = own
        _num_inside += 1
        torch.set_num_threads(1)
        _mine.is_inside = True
        return _num_threads_outside if own == 1 else own


def _leave(num_threads: int) -> None:
    import torch

    global _num_inside
    with _guard:
        _num_inside -= 1
        torch.set_num_threads(num_threads)
        _mine.is_inside = False


def release_memory() -> None:
    """Return freed memory to the system.

    glibc often does not reuse freed aligned blocks (its bug 14581); without this, scoring may take
    several times the memory it uses. Arrow keeps freed memory, too.
    """
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


class ProcessWide:
    """A block that changes a setting of the whole process and restores it.

    Several threads may be in it at a time: the first that enters makes the change, the last that
    leaves undoes it, whichever that is.
    """

    def __init__(self, block: Callable[[], AbstractContextManager[None]]) -> None:
        self._block, self._change = block, ExitStack()
        self._guard, self._num_inside = Lock(), 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Enter the block."""
        with self._guard:
            if self._num_inside == 0:
                self._change.enter_context(self._block())
            self._num_inside += 1
        try:
            yield
        finally:
            with self._guard:
                self._num_inside -= 1
                if self._num_inside == 0:
                    self._change.close()


@ProcessWide
@contextmanager
def no_warnings() -> Iterator[None]:
    """Ignore all warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@ProcessWide
@contextmanager
def system_memory_pool() -> Iterator[None]:
    """Let Arrow allocate from the system: its own allocator keeps freed memory.

    Reading five million edges and a million nodes takes 296 MB this way, 343 MB otherwise.
    """
    import pyarrow as pa

    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)

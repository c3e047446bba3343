"""Where computations run: the one place that knows about devices and threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from egoscore.errors import DeviceError


def choose_device(gpu: int) -> torch.device:
    """The CPU for -1, otherwise the CUDA device of that number, or a clear refusal."""
    if gpu < 0:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise DeviceError(
            f"GPU {gpu} was asked for, but PyTorch finds no CUDA device here; ask for -1 to run on "
            "the CPU, or install a CUDA build of PyTorch and its driver."
        )
    if gpu >= torch.cuda.device_count():
        raise DeviceError(
            f"GPU {gpu} was asked for, but there are only {torch.cuda.device_count()} CUDA "
            "devices, numbered from 0."
        )
    return torch.device("cuda", gpu)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread inside a process: these tensors are small, and sums keep their order.

    Numbers below 1e-38 count as zero meanwhile: trained networks produce them, they mean nothing,
    and a processor takes a hundred times longer over them.
    """
    before, flushed = torch.get_num_threads(), float(torch.tensor(1e-40) * 1.0) == 0.0
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        torch.set_flush_denormal(flushed)

"""Memory that was freed goes back."""

import platform
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from egoscore.runtime import release_memory, system_memory_pool


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="for glibc only")
def test_what_was_freed_between_things_in_use_goes_back_to_the_system():
    blocks = [np.ones(12_000) for _ in range(1500)]  # 96 kB each: below what is mapped by itself
    kept = blocks[::30]
    before = resident_mb()
    del blocks
    assert resident_mb() > before - 50, "freed blocks go back by themselves: nothing is shown here"
    release_memory()
    assert resident_mb() < before - 100
    assert all((block == 1.0).all() for block in kept)


def test_arrow_has_its_own_memory_back_whatever_happens():
    def fail():
        with system_memory_pool():
            raise KeyError(pa.default_memory_pool().backend_name)

    before = pa.default_memory_pool().backend_name
    with pytest.raises(KeyError, match="system"):
        fail()
    assert pa.default_memory_pool().backend_name == before


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024

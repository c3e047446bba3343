"""Two threads that read at the same time, in any order, leave the process as it was."""

import csv
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event

import networkx
import numpy as np
import pooch
import pyarrow as pa
import pytest
import scipy.io

from egoscore.load import datasets, dialect
from egoscore.load.graph_files import read_graph_xml
from egoscore.load.matrix_files import read_mat
from egoscore.load.options import Options
from egoscore.runtime import no_warnings, system_memory_pool

BLOCKS = {
    "memory pool": (system_memory_pool, lambda: pa.default_memory_pool().backend_name),
    "length of cells": (dialect._long_cells, csv.field_size_limit),
    "level of messages": (datasets._quiet_pooch, lambda: pooch.get_logger().level),
    "warnings": (no_warnings, lambda: list(warnings.filters)),
}


@pytest.mark.parametrize("first_out", [0, 1])
@pytest.mark.parametrize("name", BLOCKS)
def test_the_last_to_leave_restores_the_setting(name, first_out):
    block, setting = BLOCKS[name]
    leave, left = [Event(), Event()], [Event(), Event()]
    entered = Barrier(3)

    def inside(number):
        with block():
            entered.wait(10)
            leave[number].wait(10)
        left[number].set()

    before = setting()
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(inside, number) for number in (0, 1)]
        entered.wait(10)
        changed = setting()
        for number in (first_out, 1 - first_out):
            assert setting() == changed != before
            leave[number].set()
            left[number].wait(10)
        for one in running:
            one.result()
    assert setting() == before


@pytest.mark.parametrize("name", BLOCKS)
def test_an_error_inside_restores_it_and_the_block_can_be_entered_again(name):
    block, setting = BLOCKS[name]
    before = setting()
    for _ in range(2):
        with pytest.raises(KeyError), block():
            raise KeyError(name)
        assert setting() == before


@contextmanager
def pausing(monkeypatch, module, function):
    """Let a function of another library wait: where it is, and the event that ends the pause."""
    reached, resume, whole = Event(), Event(), getattr(module, function)

    def paused(*arguments, **options):
        reached.set()
        resume.wait(10)
        return whole(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(module, function, paused)
        yield reached, resume


def test_readers_that_overlap_leave_the_warnings_as_they_were(tmp_path, monkeypatch):
    xml, mat = tmp_path / "graph.graphml", tmp_path / "graph.mat"
    networkx.write_graphml(networkx.path_graph(3), xml)
    scipy.io.savemat(mat, {"Network": np.eye(3)})
    before = list(warnings.filters)
    with (
        ThreadPoolExecutor(2) as pool,
        pausing(monkeypatch, networkx, "read_graphml") as (in_xml, resume_xml),
        pausing(monkeypatch, scipy.io, "loadmat") as (in_mat, resume_mat),
    ):
        first = pool.submit(read_graph_xml, xml, Options())
        in_xml.wait(10)
        second = pool.submit(read_mat, mat)
        in_mat.wait(10)
        resume_xml.set()
        assert first.result().graph.num_nodes == 3
        resume_mat.set()
        assert second.result()["network"].shape == (3, 3)
    assert list(warnings.filters) == before

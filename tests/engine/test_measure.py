"""Measuring many nodes: in shards, in processes, never twice."""

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest
import torch

from egoscore import EgoScore, generate_network
from egoscore.engine import fit_model, measure, measure_nodes
from egoscore.engine.measure import shards
from egoscore.errors import RunError

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def graph():
    return generate_network(50, 120, 3)


@pytest.fixture(scope="module")
def model(graph):
    quick = EgoScore(epochs=2, num_levels=2, num_samples=1, steps=10, hidden_size=8)
    return fit_model(graph, quick.settings(), 0, CPU)


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(measure, "_SMALLEST_SHARD", 16)


class Store:
    """A shelf for shards that remembers what was put there."""

    def __init__(self, kept=()):
        self.kept = dict(kept)
        self.saved = []

    def load_shard(self, number, nodes):
        return self.kept.get(number)

    def save_shard(self, number, table):
        self.saved.append(number)
        self.kept[number] = table


def assert_equal_tables(one, other, **tolerance):
    np.testing.assert_array_equal(one.node, other.node)
    np.testing.assert_array_equal(one.ego_size, other.ego_size)
    np.testing.assert_allclose(one.energy, other.energy, **tolerance)
    np.testing.assert_allclose(one.values, other.values, **tolerance)
    assert (one.taus, one.num_samples) == (other.taus, other.num_samples)


@pytest.mark.parametrize("count", [1, 2, 1023, 1024, 1025, 70_000, 300_001])
def test_shards_hold_every_node_once_and_in_order(count):
    np.testing.assert_array_equal(np.concatenate(shards(count)), np.arange(count))


def test_shards_are_neither_tiny_nor_huge():
    assert len(shards(1000)) == 1
    assert {len(part) for part in shards(64 * 5000)} == {5000}
    assert max(len(part) for part in shards(5_000_000)) == 65_536


def test_the_table_holds_every_node_in_order(graph, model, small_shards):
    table = measure_nodes(model, graph, CPU)
    np.testing.assert_array_equal(table.node, np.arange(50))
    assert table.values.shape == (50, 2, 6)
    np.testing.assert_array_equal(
        table.ego_size, np.minimum(graph.neighbours.degrees + 1, model.max_nodes)
    )


def test_shards_that_are_kept_are_not_measured_again(graph, model, small_shards, monkeypatch):
    store = Store()
    whole = measure_nodes(model, graph, CPU, store=store)
    assert store.saved == [0, 1, 2, 3]
    half = Store({number: store.kept[number] for number in (0, 2)})
    measured, real = [], measure.measure

    def recording(*args):
        measured.append(args[5].tolist())
        return real(*args)

    monkeypatch.setattr(measure, "measure", recording)
    assert_equal_tables(measure_nodes(model, graph, CPU, store=half), whole, rtol=0)
    assert measured == [list(range(16, 32)), [48, 49]]
    assert half.saved == [1, 3]


def test_when_all_is_kept_nothing_is_prepared(graph, model, small_shards, monkeypatch):
    store = Store()
    whole = measure_nodes(model, graph, CPU, store=store)
    monkeypatch.setattr(measure._Job, "prepare", None)
    assert_equal_tables(measure_nodes(model, graph, CPU, 2, store=store), whole, rtol=0)


def test_a_shard_is_kept_as_soon_as_it_is_finished(graph, model, small_shards, monkeypatch):
    store, real = Store(), measure.measure

    def power_cut(*args):
        if args[5][0] == 32:
            raise RuntimeError("power cut")
        return real(*args)

    monkeypatch.setattr(measure, "measure", power_cut)
    with pytest.raises(RuntimeError, match="power cut"):
        measure_nodes(model, graph, CPU, store=store)
    assert store.saved == [0, 1]


@pytest.mark.parametrize("kept", [(), (0, 3)])
def test_progress_counts_every_node_once(graph, model, small_shards, kept):
    full = Store()
    measure_nodes(model, graph, CPU, store=full)
    store, steps = Store({number: full.kept[number] for number in kept}), []
    measure_nodes(model, graph, CPU, store=store, advance=steps.append)
    assert sum(steps) == 50


def test_processes_measure_what_one_process_measures(graph, model, small_shards):
    store, steps = Store(), []
    several = measure_nodes(model, graph, CPU, 2, store, steps.append)
    assert_equal_tables(several, measure_nodes(model, graph, CPU), rtol=1e-6)
    assert sorted(store.saved) == [0, 1, 2, 3]
    assert sum(steps) == 50


def test_there_are_never_more_processes_than_shards(graph, model, monkeypatch):
    monkeypatch.setattr(measure, "ProcessPoolExecutor", None)
    assert len(measure_nodes(model, graph, CPU, num_workers=8).node) == 50


def test_a_process_that_dies_is_told_and_the_rest_is_not_waited_for(
    graph, model, small_shards, monkeypatch
):
    class Dying:
        def __init__(self, *_):
            self.cancelled = False

        def submit(self, _, nodes):
            future = Future()
            future.set_exception(BrokenProcessPool("killed"))
            return future

        def shutdown(self, cancel_futures):
            assert cancel_futures

    monkeypatch.setattr(measure, "ProcessPoolExecutor", Dying)
    with pytest.raises(RunError, match="scoring process died"):
        measure_nodes(model, graph, CPU, num_workers=2)

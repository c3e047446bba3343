"""Measuring many nodes: in shards, in processes, never twice."""

import itertools
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

import numpy as np
import pytest
import torch
from memory_store import MemoryStore

from egoscore import EgoScore, generate_network
from egoscore.detectors.paper import shards as measure
from egoscore.detectors.paper.components import LEVEL_COMPONENTS, ComponentTable
from egoscore.detectors.paper.ego import padded_entries
from egoscore.detectors.paper.model import fit_model
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.paper.shards import measure_nodes, shards
from egoscore.engine import processes
from egoscore.errors import RunError

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def graph():
    return generate_network(50, 120, 3)


@pytest.fixture(scope="module")
def model(graph):
    quick = EgoScore(preset="paper", epochs=2, num_levels=2, num_samples=1, steps=10, hidden_size=8)
    return fit_model(graph, quick.settings(), 0, CPU)


@pytest.fixture
def small_shards(graph, model, monkeypatch):
    """Four of them."""
    entries = padded_entries(np.minimum(graph.neighbours.degrees + 1, model.max_nodes)).sum()
    monkeypatch.setattr(measure, "_SMALLEST_SHARD", -(-entries // 4))


def assert_equal_tables(one, other, **tolerance):
    np.testing.assert_array_equal(one.node, other.node)
    np.testing.assert_array_equal(one.ego_size, other.ego_size)
    np.testing.assert_allclose(one.energy, other.energy, **tolerance)
    np.testing.assert_allclose(one.values, other.values, **tolerance)
    assert (one.taus, one.num_samples) == (other.taus, other.num_samples)


def some_sizes(count):
    return np.random.default_rng(count).geometric(0.2, count).clip(max=40)


@pytest.mark.parametrize("count", [1, 2, 1023, 1024, 1025, 70_000, 300_001])
def test_shards_hold_every_node_once_and_large_ego_graphs_first(count):
    sizes, parts = some_sizes(count), shards(some_sizes(count))
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(count))
    for part, after in itertools.pairwise(parts):
        assert sizes[part].min() >= sizes[after].max()
        assert (np.diff(part) > 0).all()


@pytest.mark.parametrize("count", [70_000, 300_001])
def test_shards_are_about_the_same_work(count):
    sizes = some_sizes(count)
    work = [padded_entries(sizes[part]).sum() for part in shards(sizes)]
    assert 58 <= len(work) <= 65
    largest_ego_graph = padded_entries(sizes.max())
    assert max(work[:-1]) - min(work[:-1]) <= 2 * largest_ego_graph


def test_shards_are_neither_tiny_nor_huge():
    assert len(shards(np.full(500, 10))) == 1
    assert len(shards(np.full(1500, 10))) == 3
    assert max(len(part) for part in shards(np.full(5_000_000, 10))) == 41_944


def test_enormous_ego_graphs_make_no_empty_shards():
    sizes = np.array([3, 9000, 3, 9000, 3])
    parts = shards(sizes)
    assert all(len(part) for part in parts)
    assert parts[0].tolist() == [1]
    assert sorted(np.concatenate(parts)) == [0, 1, 2, 3, 4]


def test_the_table_holds_every_node_in_order(graph, model, small_shards):
    table = measure_nodes(model, graph, CPU)
    np.testing.assert_array_equal(table.node, np.arange(50))
    assert table.values.shape == (50, 2, 6)
    np.testing.assert_array_equal(
        table.ego_size, np.minimum(graph.neighbours.degrees + 1, model.max_nodes)
    )


def test_shards_that_are_kept_are_not_measured_again(graph, model, small_shards, monkeypatch):
    store = MemoryStore()
    whole = measure_nodes(model, graph, CPU, store=store)
    assert store.saved == [0, 1, 2, 3]
    half = MemoryStore({number: store.shards[number] for number in (0, 2)})
    measured, real = [], measure.measure

    def recording(*args):
        measured.append(args[4].tolist())
        return real(*args)

    monkeypatch.setattr(measure, "measure", recording)
    assert_equal_tables(measure_nodes(model, graph, CPU, store=half), whole, rtol=0)
    parts = shards(model.ego_sizes(graph))
    assert measured == [parts[1].tolist(), parts[3].tolist()]
    assert half.saved == [1, 3]


def test_when_all_is_kept_nothing_is_prepared(graph, model, small_shards, monkeypatch):
    store = MemoryStore()
    whole = measure_nodes(model, graph, CPU, store=store)
    monkeypatch.setattr(measure.MeasureTask, "prepare", None)
    assert_equal_tables(measure_nodes(model, graph, CPU, 2, store=store), whole, rtol=0)


def test_a_shard_is_kept_as_soon_as_it_is_finished(graph, model, small_shards, monkeypatch):
    store, real = MemoryStore(), measure.measure

    def power_cut(*args):
        if args[4][0] == shards(model.ego_sizes(graph))[2][0]:
            raise RuntimeError("power cut")
        return real(*args)

    monkeypatch.setattr(measure, "measure", power_cut)
    with pytest.raises(RuntimeError, match="power cut"):
        measure_nodes(model, graph, CPU, store=store)
    assert store.saved == [0, 1]


@pytest.mark.parametrize("kept", [(), (0, 3)])
def test_progress_counts_every_node_once(graph, model, small_shards, kept):
    full = MemoryStore()
    measure_nodes(model, graph, CPU, store=full)
    store, steps = MemoryStore({number: full.shards[number] for number in kept}), []
    measure_nodes(model, graph, CPU, store=store, advance=steps.append)
    assert sum(steps) == 50


def test_processes_measure_what_one_process_measures(graph, model, small_shards):
    store, steps = MemoryStore(), []
    several = measure_nodes(model, graph, CPU, 2, store, steps.append)
    assert_equal_tables(several, measure_nodes(model, graph, CPU), rtol=1e-6)
    assert sorted(store.saved) == [0, 1, 2, 3]
    assert sum(steps) == 50


def test_there_are_never_more_processes_than_shards(graph, model, monkeypatch):
    monkeypatch.setattr(processes, "ProcessPoolExecutor", None)
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

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Dying)
    with pytest.raises(RunError, match="worker process died"):
        measure_nodes(model, graph, CPU, num_workers=2)


class TestLoading:
    """A shard is taken only if it is whole and belongs to the same nodes and settings."""

    SETTINGS = PaperSettings(num_levels=1, num_samples=1)

    @pytest.fixture
    def table(self):
        values = np.random.default_rng(0).random((2, 1, len(LEVEL_COMPONENTS)), dtype=np.float32)
        size, energy = np.array([2, 5]), np.array([0.5, 1.0], dtype=np.float32)
        return ComponentTable(np.array([3, 4]), size, energy, values, (0.5,), 1)

    @pytest.fixture
    def store(self, table):
        store = MemoryStore()
        store.save_shard(7, table.columns(), measure._facts(self.SETTINGS))
        return store

    def load(self, store, number, nodes, settings=SETTINGS):
        return measure._load(store, number, np.array(nodes), settings)

    def test_it_comes_back_as_it_was(self, store, table):
        again = self.load(store, 7, [3, 4])
        assert_equal_tables(again, table, rtol=0)
        assert self.load(store, 8, [3, 4]) is None

    def test_one_of_other_nodes_is_computed_again(self, store):
        assert self.load(store, 7, [3, 5]) is None

    @pytest.mark.parametrize("change", [{"num_levels": 2}, {"num_samples": 2}])
    def test_one_of_other_settings_is_computed_again(self, store, change):
        assert self.load(store, 7, [3, 4], replace(self.SETTINGS, **change)) is None

    @pytest.mark.parametrize("lost", ["node", "energy", f"{LEVEL_COMPONENTS[0]}@0.5"])
    def test_one_without_a_column_is_computed_again(self, store, lost):
        del store.shards[7][0][lost]
        assert self.load(store, 7, [3, 4]) is None

    def test_one_with_a_column_too_many_is_computed_again(self, store):
        columns, _ = store.shards[7]
        columns["energy@0.5"] = columns["energy"]
        assert self.load(store, 7, [3, 4]) is None

    def test_a_defect_of_ours_is_not_taken_for_damage(self, store, monkeypatch):
        def fail(*_, **__):
            raise KeyError("ours")

        monkeypatch.setattr(ComponentTable, "from_columns", fail)
        with pytest.raises(KeyError, match="ours"):
            self.load(store, 7, [3, 4])

    @pytest.mark.parametrize("facts", [{}, {"taus": None, "num_samples": 1}])
    def test_one_without_its_levels_is_computed_again(self, store, facts):
        store.shards[7] = store.shards[7][0], facts
        assert self.load(store, 7, [3, 4]) is None

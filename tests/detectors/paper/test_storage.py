"""Checkpoints and shards: what was kept comes back; damaged shards are computed again."""

import numpy as np
import pytest
import torch

from egoscore.detectors.paper import storage
from egoscore.detectors.paper.components import LEVEL_COMPONENTS, ComponentTable
from egoscore.detectors.paper.generative import ScoreModel
from egoscore.detectors.paper.storage import PaperStore
from egoscore.detectors.paper.train import TrainingState
from egoscore.errors import RunError


class Memory:
    """A store in memory."""

    def __init__(self):
        self.parts, self.shards, self.losses = {}, {}, None

    def save(self, name, tensors, facts):
        self.parts[name] = tensors, facts

    def load(self, name):
        return self.parts.get(name)

    def save_losses(self, names, rows):
        self.losses = tuple(names), list(rows)

    def save_shard(self, number, columns, facts):
        self.shards[number] = dict(columns), facts

    def load_shard(self, number):
        return self.shards.get(number)


def state(seed=0, hidden_size=8):
    return TrainingState(ScoreModel(3, hidden_size, False, seed), lr=0.01, weight_decay=0.0)


def trained():
    found = state()
    for optimiser in found.optimisers:
        optimiser.gradient.fill_(0.5)
    found.step(0.9)
    found.epoch, found.history = 2, [(1.0, 2.0), (0.5, 1.5)]
    return found


def table(nodes=(3, 4)):
    values = np.random.default_rng(0).random((2, 1, len(LEVEL_COMPONENTS)), dtype=np.float32)
    size, energy = np.array([2, 5]), np.array([0.5, 1.0], dtype=np.float32)
    return ComponentTable(np.array(nodes), size, energy, values, (0.5,), 1)


class TestCheckpoints:
    def test_training_resumes_where_it_was(self):
        store, before, after = Memory(), trained(), state(seed=1)
        PaperStore(store).keep(before, finished=True)
        PaperStore(store).resume(after)
        assert (after.epoch, after.history) == (before.epoch, before.history)
        for name, tensor in before.tensors().items():
            assert torch.equal(after.tensors()[name], tensor), name
        assert store.losses == (("features", "adjacency"), before.history)

    def test_without_a_checkpoint_nothing_changes(self):
        fresh = state()
        PaperStore(Memory()).resume(fresh)
        assert (fresh.epoch, fresh.num_updates) == (0, 0)

    def test_they_are_written_now_and_then_and_at_the_end(self, monkeypatch):
        store = Memory()
        keeper = PaperStore(store)
        keeper.keep(trained(), finished=False)
        assert not store.parts
        monkeypatch.setattr(storage, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)
        keeper.keep(trained(), finished=False)
        assert store.parts

    @pytest.mark.parametrize("lost", ["num_updates", "model", "average", "optimiser0"])
    def test_an_incomplete_checkpoint_is_refused(self, lost):
        store = Memory()
        PaperStore(store).keep(trained(), finished=True)
        tensors, facts = store.parts["checkpoint"]
        store.save(
            "checkpoint", {n: t for n, t in tensors.items() if not n.startswith(lost)}, facts
        )
        with pytest.raises(RunError, match="damaged or belongs to another run"):
            PaperStore(store).resume(state())

    def test_a_checkpoint_of_other_networks_is_refused(self):
        store = Memory()
        PaperStore(store).keep(trained(), finished=True)
        with pytest.raises(RunError, match="damaged or belongs to another run"):
            PaperStore(store).resume(state(hidden_size=12))


class TestShards:
    def test_they_come_back_as_they_were(self):
        keeper, whole = PaperStore(Memory()), table()
        keeper.save_shard(7, whole)
        again = keeper.load_shard(7, whole.node)
        for name in ("node", "ego_size", "energy", "values"):
            np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
        assert (again.taus, again.num_samples) == (whole.taus, whole.num_samples)
        assert keeper.load_shard(8, whole.node) is None

    def test_a_shard_of_other_nodes_is_computed_again(self):
        keeper = PaperStore(Memory())
        keeper.save_shard(0, table())
        assert keeper.load_shard(0, np.array([3, 5])) is None

    @pytest.mark.parametrize("lost", ["node", "energy", f"{LEVEL_COMPONENTS[0]}@0.5"])
    def test_a_shard_without_a_column_is_computed_again(self, lost):
        store = Memory()
        PaperStore(store).save_shard(0, table())
        del store.shards[0][0][lost]
        assert PaperStore(store).load_shard(0, table().node) is None

    @pytest.mark.parametrize("facts", [{}, {"taus": None, "num_samples": 1}])
    def test_a_shard_without_its_levels_is_computed_again(self, facts):
        store = Memory()
        PaperStore(store).save_shard(0, table())
        store.shards[0] = store.shards[0][0], facts
        assert PaperStore(store).load_shard(0, table().node) is None

"""Checkpoints: what was kept comes back, and nothing else does."""

import pytest
import torch
from memory_store import MemoryStore

from egoscore.detectors.paper import train
from egoscore.detectors.paper.generative import ScoreModel
from egoscore.detectors.paper.train import Checkpoints, TrainingState
from egoscore.errors import RunError


def state(seed=0, hidden_size=8):
    return TrainingState(ScoreModel(3, hidden_size, False, seed), lr=0.01, weight_decay=0.0)


def trained():
    found = state()
    for optimiser in found.optimisers:
        optimiser.gradient.fill_(0.5)
    found.step()
    found.epoch, found.history = 2, [(1.0, 2.0), (0.5, 1.5)]
    return found


class TestCheckpoints:
    def test_training_resumes_where_it_was(self):
        store, before, after = MemoryStore(), trained(), state(seed=1)
        Checkpoints(store).keep(before, finished=True)
        Checkpoints(store).resume(after)
        assert (after.epoch, after.history) == (before.epoch, before.history)
        for name, tensor in before.tensors().items():
            assert torch.equal(after.tensors()[name], tensor), name
        assert store.losses == (("features", "adjacency"), before.history)

    def test_without_a_checkpoint_nothing_changes(self):
        fresh = state()
        Checkpoints(MemoryStore()).resume(fresh)
        assert (fresh.epoch, fresh.num_updates) == (0, 0)

    def test_they_are_written_now_and_then_and_at_the_end(self, monkeypatch):
        store = MemoryStore()
        keeper = Checkpoints(store)
        keeper.keep(trained(), finished=False)
        assert not store.parts
        monkeypatch.setattr(train, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)
        keeper.keep(trained(), finished=False)
        assert store.parts

    @pytest.mark.parametrize("lost", ["num_updates", "model", "average", "optimiser0"])
    def test_an_incomplete_checkpoint_is_refused(self, lost):
        store = MemoryStore()
        Checkpoints(store).keep(trained(), finished=True)
        tensors, facts = store.parts["checkpoint"]
        store.save(
            "checkpoint", {n: t for n, t in tensors.items() if not n.startswith(lost)}, facts
        )
        with pytest.raises(RunError, match="damaged or belongs to another run"):
            Checkpoints(store).resume(state())

    def test_a_checkpoint_of_other_networks_is_refused(self):
        store = MemoryStore()
        Checkpoints(store).keep(trained(), finished=True)
        with pytest.raises(RunError, match="damaged or belongs to another run"):
            Checkpoints(store).resume(state(hidden_size=12))

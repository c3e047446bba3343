"""Training: the gradient it follows, that it learns, and that it can be interrupted."""

import random

import numpy as np
import pytest
import safetensors.torch
import torch
from scipy import stats

from egoscore import AttributedGraph
from egoscore.device import one_thread
from egoscore.diffuse import VP, EgoNoise, Sde
from egoscore.ego import EgoGraphs
from egoscore.errors import TrainingError
from egoscore.keyed import Keys, Purpose, uniforms
from egoscore.learn import ScoreModel, TrainingConfig, TrainingState, train
from egoscore.learn.loss import denoising_losses

SEED = 6
UNCLIPPED = 1e9


@pytest.fixture(autouse=True, scope="module")
def in_one_thread():
    """Small graphs gain nothing from threads, and lose much when the machine is busy."""
    with one_thread():
        yield


def network(size=60, num_edges=150, scale=1.0, directed=False):
    """Ego-graphs of many sizes: a few nodes have most of the edges, five have none."""
    numbers = np.random.default_rng(1)
    ends = (numbers.random((2, num_edges)) ** 2 * (size - 5)).astype(np.int64)
    features = scale * numbers.normal(size=(size, 3))
    return AttributedGraph.from_edges(ends, features, directed=directed)


def configured(epochs, lr=0.01, weight_decay=0.01, batch_size=4096, **others):
    return TrainingConfig(epochs, lr, weight_decay, batch_size, **others)


def egos_of(graph, max_nodes=30, kind=EgoGraphs):
    return kind(graph, max_nodes=max_nodes, seed=SEED)


class RecordingEgos(EgoGraphs):
    """Remembers which centres were asked for: (epoch, updates so far, node)."""

    def watch(self, state):
        self.state, self.seen, self.num_batches = state, [], 0

    def batch(self, centres):
        self.num_batches += 1
        self.seen += [(self.state.epoch, self.state.num_updates, int(node)) for node in centres]
        return super().batch(centres)


class RecordingVP(Sde):
    """VP that remembers the times it was asked about."""

    def __init__(self):
        self.times = []

    def drift(self, t):
        return VP().drift(t)

    def diffusion(self, t):
        return VP().diffusion(t)

    def decay(self, t):
        self.times += t.tolist()
        return VP().decay(t)

    def variance(self, t):
        return VP().variance(t)


def new_state(config, directed=False):
    return TrainingState(ScoreModel(3, 8, directed, SEED), config.lr, config.weight_decay)


def trained(egos, config, seed=SEED):
    state = new_state(config, egos.graph.directed)
    train(state, egos, VP(), config, seed)
    return state


def gradients_of(state):
    return {name: p.grad for name, p in state.model.named_parameters()}


def direct_gradients(egos, seed):
    """Gradients and mean losses of epoch 0, from one padded batch of all ego-graphs."""
    centres = np.arange(len(egos))
    model = ScoreModel(3, 8, egos.graph.directed, SEED)
    batch = egos.batch(centres)
    keys = Keys.for_nodes(seed, centres)
    noise = EgoNoise(keys, batch.sizes, 3, egos.graph.directed, torch.device("cpu"))
    t = 1 - uniforms(seed, Purpose.TRAIN_TIME, 0, centres)[:, 0] * (1 - 1e-5)
    loss_x, loss_adj = denoising_losses(model, batch, noise, 0, torch.from_numpy(t), VP())
    (loss_x.mean() + loss_adj.mean()).backward()
    means = float(loss_x.detach().mean()), float(loss_adj.detach().mean())
    return {name: p.grad for name, p in model.named_parameters()}, means


def assert_same_state(first, second):
    found, expected = first.tensors(), second.tensors()
    assert found.keys() == expected.keys()
    for name in expected:
        assert torch.equal(found[name], expected[name]), name
    assert first.history == second.history
    assert (first.epoch, first.num_updates) == (second.epoch, second.num_updates)


@pytest.mark.parametrize("directed", [False, True])
def test_gradients_gathered_chunk_by_chunk_are_those_of_one_padded_batch(directed):
    graph = network(size=400, num_edges=2500, directed=directed)
    egos = egos_of(graph, max_nodes=40, kind=RecordingEgos)
    config = configured(epochs=1, batch_size=0, clip_norm=UNCLIPPED)
    state = new_state(config, directed)
    egos.watch(state)
    train(state, egos, VP(), config, SEED)
    assert state.num_updates == 1
    assert egos.num_batches > 3
    expected, losses = direct_gradients(EgoGraphs(graph, max_nodes=40, seed=SEED), SEED)
    assert state.history[0] == pytest.approx(losses, rel=1e-5)
    for name, gradient in gradients_of(state).items():
        scale = float(expected[name].abs().max())
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-4 * scale)


def test_the_first_step_is_adams_along_the_clipped_gradient():
    config = configured(epochs=1, batch_size=0, lr=0.02, weight_decay=0.1)
    egos = egos_of(network())
    state = trained(egos, config)
    expected = ScoreModel(3, 8, False, SEED)
    gradients, _ = direct_gradients(egos, SEED)
    for name, parameter in expected.named_parameters():
        parameter.grad = gradients[name]
    for part in (expected.feature_network, expected.adjacency_network):
        assert float(torch.nn.utils.clip_grad_norm_(part.parameters(), 1.0)) > 1
    torch.optim.Adam(expected.parameters(), lr=0.02, weight_decay=0.1).step()
    for name, parameter in expected.named_parameters():
        large = parameter.grad.abs() > 1e-4  # Adam turns the sign of a tiny one into a whole step
        found = state.model.get_parameter(name)
        torch.testing.assert_close(found[large], parameter[large], rtol=1e-4, atol=1e-5)


def test_losses_fall_and_all_parameters_move():
    config = configured(epochs=60, batch_size=0, lr=0.02)
    state = trained(egos_of(network()), config)
    history = np.array(state.history)
    assert history.shape == (60, 2)
    assert (history[-10:].mean(axis=0) < 0.9 * history[:3].mean(axis=0)).all()
    start = new_state(config).model.state_dict()
    assert all(
        not torch.equal(value, start[name]) for name, value in state.model.named_parameters()
    )


def test_the_running_average_lags_behind():
    state = trained(egos_of(network()), configured(epochs=5, batch_size=0))
    start = ScoreModel(3, 8, False, SEED).state_dict()
    for name, now in state.model.named_parameters():
        moved, lag = (now - start[name]).norm(), (now - state.average[name]).norm()
        assert 0 < lag < moved


@pytest.mark.parametrize("batch_size", [0, 16])
@pytest.mark.parametrize("through_bytes", [False, True])
def test_interrupted_training_equals_an_unbroken_one(batch_size, through_bytes):
    egos = egos_of(network())
    unbroken = trained(egos, configured(epochs=5, batch_size=batch_size))
    first_part = trained(egos, configured(epochs=2, batch_size=batch_size))
    tensors = first_part.tensors()
    if through_bytes:
        tensors = safetensors.torch.load(safetensors.torch.save(tensors))
    config = configured(epochs=5, batch_size=batch_size)
    resumed = TrainingState(ScoreModel(3, 8, seed=99), config.lr, config.weight_decay)
    resumed.restore(tensors, first_part.epoch, first_part.history)
    train(resumed, egos_of(network()), VP(), config, SEED)
    assert_same_state(resumed, unbroken)


def test_a_finished_training_is_left_alone():
    config = configured(epochs=2)
    egos = egos_of(network())
    state, same = trained(egos, config), trained(egos, config)
    train(state, egos, VP(), config, SEED)
    assert_same_state(state, same)


def test_another_seed_trains_differently():
    egos, config = egos_of(network()), configured(epochs=2)
    assert trained(egos, config, seed=1).history != trained(egos, config, seed=2).history


@pytest.mark.parametrize("batch_size", [7, 20, 59, 60, 1000, 0])
def test_every_epoch_takes_each_node_once_a_batch_at_a_time(batch_size):
    egos = egos_of(network(), kind=RecordingEgos)
    config = configured(epochs=3, batch_size=batch_size)
    state = new_state(config)
    egos.watch(state)
    train(state, egos, VP(), config, SEED)
    seen = np.array(egos.seen)
    per_update = 60 if batch_size == 0 else min(batch_size, 60)
    for epoch in range(3):
        nodes = seen[seen[:, 0] == epoch]
        assert sorted(nodes[:, 2]) == list(range(60))
        counts = np.unique(nodes[:, 1], return_counts=True)[1]
        assert len(counts) == -(-60 // per_update)
        assert (counts[:-1] == per_update).all()
    assert state.num_updates == 3 * -(-60 // per_update)


def test_every_epoch_shuffles_anew():
    egos = egos_of(network(), kind=RecordingEgos)
    config = configured(epochs=2, batch_size=20)
    state = new_state(config)
    egos.watch(state)
    train(state, egos, VP(), config, SEED)
    batches = [
        frozenset(node for _, update, node in egos.seen if update == number) for number in range(6)
    ]
    assert set(batches[:3]) != set(batches[3:])
    assert frozenset(range(20)) not in batches


def test_times_are_uniform_and_new_for_every_node_and_epoch():
    egos, sde = egos_of(network()), RecordingVP()
    config = configured(epochs=50)
    train(new_state(config), egos, sde, config, SEED)
    times = np.array(sorted(set(sde.times)))  # each is asked for twice, for x and for adj
    assert len(times) == 50 * 60
    assert times[0] > 1e-5
    assert times[-1] <= 1
    assert stats.kstest(times, "uniform").pvalue > 0.01


def test_the_history_is_the_mean_over_nodes_also_with_a_smaller_last_batch():
    egos = egos_of(network())
    # With a step too small to change anything, batches of 32 and 28 must give the mean over 60.
    config = configured(epochs=1, batch_size=32, lr=1e-12, weight_decay=0.0)
    _, losses = direct_gradients(egos, SEED)
    assert trained(egos, config).history[0] == pytest.approx(losses, rel=1e-5)


def test_gradients_are_clipped_for_each_network_by_itself():
    egos = egos_of(network(scale=30.0))
    norms = {}
    for clip_norm in (UNCLIPPED, 1.0, 0.25):
        state = trained(egos, configured(epochs=1, batch_size=0, clip_norm=clip_norm))
        norms[clip_norm] = [
            float(torch.stack([p.grad.norm() for p in optimiser.parameters]).norm())
            for optimiser in state.optimisers
        ]
    assert min(norms[UNCLIPPED]) > 1
    assert norms[1.0] == pytest.approx([1, 1], rel=1e-3)
    assert norms[0.25] == pytest.approx([0.25, 0.25], rel=1e-3)


def test_small_gradients_are_not_stretched():
    egos = egos_of(network())
    free, clipped = (
        trained(egos, configured(epochs=1, batch_size=0, clip_norm=clip_norm))
        for clip_norm in (UNCLIPPED, UNCLIPPED / 10)
    )
    assert_same_state(free, clipped)


@pytest.mark.parametrize(
    ("scale", "lr"), [(1e30, 0.01), (1.0, 1e30)], ids=["huge features", "huge lr"]
)
def test_divergence_is_an_error_with_advice(scale, lr):
    egos = egos_of(network(scale=scale))
    config = configured(epochs=5, lr=lr)
    state = new_state(config)
    with pytest.raises(TrainingError, match=r"smaller lr \(now .*\).*features") as caught:
        train(state, egos, VP(), config, SEED)
    assert f"epoch {state.epoch + 1}" in str(caught.value)
    assert all(value.isfinite().all() for value in state.model.parameters())
    assert all(np.isfinite(row).all() for row in state.history)


def test_after_every_epoch_the_caller_hears_of_it():
    heard = []
    config = configured(epochs=3)
    train(new_state(config), egos_of(network()), VP(), config, SEED,
          after_epoch=lambda state: heard.append((state.epoch, len(state.history))))  # fmt: skip
    assert heard == [(1, 1), (2, 2), (3, 3)]


def test_training_touches_no_global_generator():
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    trained(egos_of(network()), configured(epochs=2, batch_size=20))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    assert random.getstate() == before[2]


def test_clipping_and_averaging_are_the_papers():
    config = configured(epochs=1)
    assert (config.clip_norm, config.ema_decay) == (1.0, 0.999)


@pytest.mark.parametrize("lr", [0.5, 1.0, 3.0])
def test_a_loss_that_runs_away_stops_training_long_before_it_is_infinite(lr):
    egos = egos_of(network(200, 600))
    with pytest.raises(TrainingError, match="ran away") as caught:
        trained(egos, configured(epochs=100, lr=lr))
    assert f"smaller lr (now {lr})" in str(caught.value)


def test_the_largest_lr_of_the_papers_grid_does_not_count_as_running_away():
    state = trained(egos_of(network()), configured(epochs=60, lr=0.1))
    assert state.epoch == 60

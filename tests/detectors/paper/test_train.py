"""Training: the gradient it follows, that it learns, and that it can be interrupted."""

import random

import numpy as np
import pytest
import safetensors.torch
import torch
from scipy import stats

from egoscore import AttributedGraph
from egoscore.detectors.paper import train as training
from egoscore.detectors.paper.ego import EgoGraphs
from egoscore.detectors.paper.generative import ScoreModel
from egoscore.detectors.paper.noise import EgoNoise
from egoscore.detectors.paper.sde import SDES, VP, Sde
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.paper.train import TrainingState, denoising_losses, train
from egoscore.errors import TrainingError
from egoscore.random import Keys, Purpose, uniforms
from egoscore.runtime import one_thread

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
    train(state, egos, config, seed)
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
def test_gradients_gathered_chunk_by_chunk_are_those_of_one_padded_batch(directed, monkeypatch):
    monkeypatch.setattr(training, "CLIP_NORM", UNCLIPPED)
    graph = network(size=400, num_edges=2500, directed=directed)
    egos = egos_of(graph, max_nodes=40, kind=RecordingEgos)
    config = PaperSettings(epochs=1, batch_size=0)
    state = new_state(config, directed)
    egos.watch(state)
    train(state, egos, config, SEED)
    assert state.num_updates == 1
    assert egos.num_batches > 3
    expected, losses = direct_gradients(EgoGraphs(graph, max_nodes=40, seed=SEED), SEED)
    assert state.history[0] == pytest.approx(losses, rel=1e-5)
    for name, gradient in gradients_of(state).items():
        scale = float(expected[name].abs().max())
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-4 * scale)


def test_the_first_step_is_adams_along_the_clipped_gradient():
    config = PaperSettings(epochs=1, batch_size=0, lr=0.02, weight_decay=0.1)
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
    config = PaperSettings(epochs=60, batch_size=0, lr=0.02)
    state = trained(egos_of(network()), config)
    history = np.array(state.history)
    assert history.shape == (60, 2)
    assert (history[-10:].mean(axis=0) < 0.9 * history[:3].mean(axis=0)).all()
    start = new_state(config).model.state_dict()
    assert all(
        not torch.equal(value, start[name]) for name, value in state.model.named_parameters()
    )


def test_the_running_average_lags_behind():
    state = trained(egos_of(network()), PaperSettings(epochs=5, batch_size=0))
    start = ScoreModel(3, 8, False, SEED).state_dict()
    for name, now in state.model.named_parameters():
        moved, lag = (now - start[name]).norm(), (now - state.average[name]).norm()
        assert 0 < lag < moved


@pytest.mark.parametrize("batch_size", [0, 16])
@pytest.mark.parametrize("through_bytes", [False, True])
def test_interrupted_training_equals_an_unbroken_one(batch_size, through_bytes):
    egos = egos_of(network())
    unbroken = trained(egos, PaperSettings(epochs=5, batch_size=batch_size))
    first_part = trained(egos, PaperSettings(epochs=2, batch_size=batch_size))
    tensors = first_part.tensors()
    if through_bytes:
        tensors = safetensors.torch.load(safetensors.torch.save(tensors))
    config = PaperSettings(epochs=5, batch_size=batch_size)
    resumed = TrainingState(ScoreModel(3, 8, seed=99), config.lr, config.weight_decay)
    resumed.restore(tensors, first_part.epoch, first_part.history)
    train(resumed, egos_of(network()), config, SEED)
    assert_same_state(resumed, unbroken)


def test_a_finished_training_is_left_alone():
    config = PaperSettings(epochs=2)
    egos = egos_of(network())
    state, same = trained(egos, config), trained(egos, config)
    train(state, egos, config, SEED)
    assert_same_state(state, same)


def test_another_seed_trains_differently():
    egos, config = egos_of(network()), PaperSettings(epochs=2)
    assert trained(egos, config, seed=1).history != trained(egos, config, seed=2).history


@pytest.mark.parametrize("batch_size", [7, 20, 59, 60, 1000, 0])
def test_every_epoch_takes_each_node_once_a_batch_at_a_time(batch_size):
    egos = egos_of(network(), kind=RecordingEgos)
    config = PaperSettings(epochs=3, batch_size=batch_size)
    state = new_state(config)
    egos.watch(state)
    train(state, egos, config, SEED)
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
    config = PaperSettings(epochs=2, batch_size=20)
    state = new_state(config)
    egos.watch(state)
    train(state, egos, config, SEED)
    batches = [
        frozenset(node for _, update, node in egos.seen if update == number) for number in range(6)
    ]
    assert set(batches[:3]) != set(batches[3:])
    assert frozenset(range(20)) not in batches


def test_times_are_uniform_and_new_for_every_node_and_epoch(monkeypatch):
    egos, sde = egos_of(network()), RecordingVP()
    monkeypatch.setitem(SDES, "recording", sde)
    config = PaperSettings(epochs=50, sde="recording")
    train(new_state(config), egos, config, SEED)
    times = np.array(sorted(set(sde.times)))  # each is asked for twice, for x and for adj
    assert len(times) == 50 * 60
    assert times[0] > 1e-5
    assert times[-1] <= 1
    assert stats.kstest(times, "uniform").pvalue > 0.01


def test_the_history_is_the_mean_over_nodes_also_with_a_smaller_last_batch():
    egos = egos_of(network())
    # With a step too small to change anything, batches of 32 and 28 must give the mean over 60.
    config = PaperSettings(epochs=1, batch_size=32, lr=1e-12, weight_decay=0.0)
    _, losses = direct_gradients(egos, SEED)
    assert trained(egos, config).history[0] == pytest.approx(losses, rel=1e-5)


def test_gradients_are_clipped_for_each_network_by_itself(monkeypatch):
    egos = egos_of(network(scale=30.0))
    norms = {}
    for clip_norm in (UNCLIPPED, 1.0, 0.25):
        monkeypatch.setattr(training, "CLIP_NORM", clip_norm)
        state = trained(egos, PaperSettings(epochs=1, batch_size=0))
        norms[clip_norm] = [
            float(torch.stack([p.grad.norm() for p in optimiser.parameters]).norm())
            for optimiser in state.optimisers
        ]
    assert min(norms[UNCLIPPED]) > 1
    assert norms[1.0] == pytest.approx([1, 1], rel=1e-3)
    assert norms[0.25] == pytest.approx([0.25, 0.25], rel=1e-3)


def test_small_gradients_are_not_stretched(monkeypatch):
    egos, states = egos_of(network()), []
    for clip_norm in (UNCLIPPED, UNCLIPPED / 10):
        monkeypatch.setattr(training, "CLIP_NORM", clip_norm)
        states.append(trained(egos, PaperSettings(epochs=1, batch_size=0)))
    assert_same_state(*states)


@pytest.mark.parametrize(
    ("scale", "lr"), [(1e30, 0.01), (1.0, 1e30)], ids=["huge features", "huge lr"]
)
def test_divergence_is_an_error_with_advice(scale, lr):
    egos = egos_of(network(scale=scale))
    config = PaperSettings(epochs=5, lr=lr)
    state = new_state(config)
    with pytest.raises(TrainingError, match=r"smaller lr \(now .*\).*features") as caught:
        train(state, egos, config, SEED)
    assert f"epoch {state.epoch + 1}" in str(caught.value)
    assert all(value.isfinite().all() for value in state.model.parameters())
    assert all(np.isfinite(row).all() for row in state.history)


def test_after_every_epoch_the_caller_hears_of_it():
    heard = []
    config = PaperSettings(epochs=3)
    train(new_state(config), egos_of(network()), config, SEED,
          after_epoch=lambda state: heard.append((state.epoch, len(state.history))))  # fmt: skip
    assert heard == [(1, 1), (2, 2), (3, 3)]


def test_training_touches_no_global_generator():
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    trained(egos_of(network()), PaperSettings(epochs=2, batch_size=20))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    assert random.getstate() == before[2]


def test_clipping_and_averaging_are_the_papers():
    assert (training.CLIP_NORM, training.EMA_DECAY) == (1.0, 0.999)


@pytest.mark.parametrize("lr", [0.5, 1.0, 3.0])
def test_a_loss_that_runs_away_stops_training_long_before_it_is_infinite(lr):
    egos = egos_of(network(200, 600))
    with pytest.raises(TrainingError, match="ran away") as caught:
        trained(egos, PaperSettings(epochs=100, lr=lr))
    assert f"smaller lr (now {lr})" in str(caught.value)


def test_the_largest_lr_of_the_papers_grid_does_not_count_as_running_away():
    state = trained(egos_of(network()), PaperSettings(epochs=60, lr=0.1))
    assert state.epoch == 60


TIMES = torch.tensor([0.05, 0.3, 0.5, 0.8, 0.95, 1.0], dtype=torch.float64)


def ego_batch(directed, centres):
    random = np.random.default_rng(0)
    edges = random.integers(0, 18, (2, 50))
    graph = AttributedGraph.from_edges(edges, random.normal(size=(20, 3)), directed=directed)
    batch = EgoGraphs(graph, max_nodes=8).batch(np.asarray(centres))
    keys = Keys.for_nodes(4, batch.node)
    return batch, EgoNoise(keys, batch.sizes, 3, directed, torch.device("cpu"))


@torch.no_grad()
def by_hand(model, batch, noise, epoch, t, sde):
    """0.5·‖sigma·s + z‖² of features and adjacency, graph by graph, in float64."""
    width = batch.x.shape[1]
    z_x = noise.features(Purpose.TRAIN_FEATURES, epoch, width).double()
    z_adj = noise.adjacency(Purpose.TRAIN_ADJACENCY, epoch, width).double()
    losses = []
    for row in range(len(t)):
        decay, sigma = float(sde.decay(t[row])), float(sde.std(t[row]))
        x = decay * batch.x[row : row + 1].double() + sigma * z_x[row]
        adj = decay * batch.adj[row : row + 1].double() + sigma * z_adj[row]
        mask = batch.mask[row : row + 1].double()
        noises = model.predict_noise(
            x, adj, mask, t[row : row + 1], batch.positions[row : row + 1].double()
        )
        s_x, s_adj = (-noise / sigma for noise in noises)
        losses.append(
            [
                0.5 * float((sigma * s_x[0] + z_x[row]).norm()) ** 2,
                0.5 * float((sigma * s_adj[0] + z_adj[row]).norm()) ** 2,
            ]
        )
    return np.array(losses)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", SDES)
def test_losses_are_half_the_squared_norms_summed_per_graph(name, directed):
    batch, noise = ego_batch(directed, [0, 5, 9, 12, 17, 19])
    model = ScoreModel(3, 8, directed, seed=2).double()
    expected = by_hand(model, batch, noise, 7, TIMES, SDES[name])
    model.float()
    loss_x, loss_adj = denoising_losses(model, batch, noise, 7, TIMES, SDES[name])
    assert loss_x.shape == loss_adj.shape == (6,)
    np.testing.assert_allclose(loss_x.detach(), expected[:, 0], rtol=1e-4)
    np.testing.assert_allclose(loss_adj.detach(), expected[:, 1], rtol=1e-4)


def test_a_loss_does_not_depend_on_the_batch():
    model = ScoreModel(3, 8, seed=2)
    batch, noise = ego_batch(False, [0, 5, 9, 12, 17, 19])
    together = denoising_losses(model, batch, noise, 1, TIMES, VP())
    for row in range(6):
        one, its_noise = ego_batch(False, batch.node[row : row + 1])
        alone = denoising_losses(model, one, its_noise, 1, TIMES[row : row + 1], VP())
        for found, expected in zip(alone, together, strict=True):
            torch.testing.assert_close(found[0], expected[row], rtol=1e-4, atol=1e-5)


def test_every_epoch_has_its_own_noise():
    model = ScoreModel(3, 8)
    batch, noise = ego_batch(False, [0, 5, 9, 12, 17, 19])
    first, second = (
        torch.stack(denoising_losses(model, batch, noise, epoch, TIMES, VP())) for epoch in (0, 1)
    )
    assert (first != second).sum() >= 11  # an isolated node has no structure to lose


def test_an_isolated_node_has_no_loss_of_structure():
    batch, noise = ego_batch(False, [19])
    _, loss_adj = denoising_losses(ScoreModel(3, 8), batch, noise, 0, TIMES[:1], VP())
    assert batch.sizes.tolist() == [1]
    assert loss_adj.tolist() == [0.0]


def fresh_state(lr=0.05, weight_decay=0.01, seed=0):
    return TrainingState(ScoreModel(3, 8, seed=seed), lr, weight_decay)


def give_gradients(state, seed):
    randomness = torch.Generator().manual_seed(seed)
    for parameter in state.model.parameters():
        parameter.grad.copy_(torch.randn(parameter.shape, generator=randomness))


def stepped(state, seeds):
    for seed in seeds:
        give_gradients(state, seed)
        state.step()
    return state


def copied(parameters):
    return {name: value.detach().clone() for name, value in parameters}


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name in first:
        assert torch.equal(first[name], second[name]), name


def test_a_step_is_that_of_adam_with_weight_decay():
    state = stepped(fresh_state(lr=0.03, weight_decay=0.1), range(4))
    expected = ScoreModel(3, 8)
    adam = torch.optim.Adam(expected.parameters(), lr=0.03, weight_decay=0.1)
    for seed in range(4):
        randomness = torch.Generator().manual_seed(seed)
        for parameter in expected.parameters():
            parameter.grad = torch.randn(parameter.shape, generator=randomness)
        adam.step()
    for found, wanted in zip(state.model.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)


def test_the_running_average_follows_the_weights_faster_at_the_beginning(monkeypatch):
    monkeypatch.setattr(training, "EMA_DECAY", 0.3)
    state = fresh_state()
    expected = copied(state.model.named_parameters())
    for update in range(1, 6):
        stepped(state, [update])
        decay = min(0.3, (1 + update) / (10 + update))
        for name, value in state.model.named_parameters():
            expected[name] = decay * expected[name] + (1 - decay) * value.detach()
    assert (1 + 1) / (10 + 1) < 0.3 < (1 + 5) / (10 + 5)  # both kinds of decay took part
    for name, value in state.average.items():
        torch.testing.assert_close(value, expected[name])


def test_the_running_average_starts_at_the_weights_and_does_not_share_them():
    state = fresh_state()
    start = copied(state.model.named_parameters())
    assert_same(state.average, start)
    stepped(state, [0])
    for name, value in state.model.named_parameters():
        assert not torch.equal(value, start[name])
        assert not torch.equal(state.average[name], start[name])
        assert not torch.equal(state.average[name], value)


def test_each_network_has_its_own_optimiser():
    state = fresh_state()
    found = [{id(p) for p in optimiser.parameters} for optimiser in state.optimisers]
    networks = (state.model.feature_network, state.model.adjacency_network)
    assert found == [{id(p) for p in network.parameters()} for network in networks]


def test_gradients_are_forgotten():
    state = fresh_state()
    give_gradients(state, 0)
    state.zero_gradients()
    assert all(p.grad is None or not p.grad.any() for p in state.model.parameters())


@pytest.mark.parametrize("through_bytes", [False, True])
def test_what_was_put_away_goes_on_as_if_nothing_had_happened(through_bytes):
    unbroken = stepped(fresh_state(), range(8))
    first_half = stepped(fresh_state(), range(4))
    tensors = first_half.tensors()
    if through_bytes:
        tensors = safetensors.torch.load(safetensors.torch.save(tensors))
    second_half = fresh_state(seed=99)
    second_half.restore(tensors, epoch=4, history=[(1.0, 2.0)])
    assert (second_half.epoch, second_half.num_updates) == (4, 4)
    assert second_half.history == [(1.0, 2.0)]
    stepped(second_half, range(4, 8))
    assert_same(second_half.tensors(), unbroken.tensors())


def test_what_is_put_away_survives_bytes_unchanged():
    tensors = stepped(fresh_state(), range(3)).tensors()
    assert_same(safetensors.torch.load(safetensors.torch.save(tensors)), tensors)


def test_everything_that_changes_is_put_away():
    state = stepped(fresh_state(), range(2))
    tensors = state.tensors()
    num_parameters = len(list(state.model.parameters()))
    count = {
        part: sum(name.startswith(part) for name in tensors) for part in ("model.", "average.")
    }
    assert count == {"model.": num_parameters, "average.": num_parameters}
    for optimiser, network in enumerate(
        (state.model.feature_network, state.model.adjacency_network)
    ):
        size = sum(p.numel() for p in network.parameters())
        for moment in ("first", "second"):
            assert tensors[f"optimiser{optimiser}.{moment}"].shape == (size,)
    assert int(tensors["num_updates"]) == 2


def test_a_state_before_its_first_step_can_be_put_away():
    restored = fresh_state(seed=5)
    restored.restore(fresh_state().tensors(), epoch=0, history=[])
    stepped(restored, range(3))
    assert_same(restored.tensors(), stepped(fresh_state(), range(3)).tensors())


def test_history_is_taken_over_by_value():
    state, history = fresh_state(), [(3.0, 4.0)]
    state.restore(fresh_state().tensors(), epoch=1, history=history)
    state.history.append((1.0, 1.0))
    assert history == [(3.0, 4.0)]
    assert np.shape(state.history) == (2, 2)

"""Who judges whom: no node is judged by what has seen it, and only answers that help are used."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from egoscore.detectors.conditional import denoiser as centre
from egoscore.detectors.conditional.covariance import Distance
from egoscore.detectors.conditional.denoiser import NUM_FOLDS, NUM_NETWORKS, NUM_ROUNDS, CentreModel
from egoscore.detectors.conditional.mlp import SCORING_LEVEL, CentreNetwork, share_left
from egoscore.detectors.conditional.settings import ConditionalSettings

QUICK = ConditionalSettings(hidden_size=8, updates=2, batch_size=32)
SIGNAL = 1 / (1 + np.exp(-SCORING_LEVEL))  # what of a node is seen when it is judged


def data(size=120, num_known=4, width=3, seed=0):
    rng = np.random.default_rng(seed)
    known = rng.normal(size=(size, num_known)).astype(np.float32)
    white = known[:, :width] * 0.6 + 0.8 * rng.normal(size=(size, width))
    return known, white.astype(np.float32)


def fit(size=120, seed=0, **changes):
    return CentreModel.fit(*data(size), QUICK, seed, **changes)


class Marks(CentreNetwork):
    """A network that answers with a number of its own."""

    def __init__(self, mark):
        super().__init__(3, 4, 4)
        self.mark = mark

    def forward(self, noisy, guess, known, clarity):
        return torch.full_like(noisy, self.mark)


@pytest.fixture
def marked(monkeypatch):
    """Networks that answer 1, 2, 3 … in their order; what each was trained on."""
    trained = {}

    def mark(centres, nodes, config, seed, fold, advance):
        trained[fold] = nodes
        return Marks(fold + 1.0), [0.0] * config.updates

    monkeypatch.setattr(centre, "train_centre", mark)
    return trained


class Store:
    """Keeps networks in memory, as a run keeps them on disk."""

    def __init__(self, kept=()):
        self.kept, self.saved = dict(kept), []

    def load(self, name):
        return self.kept.get(name)

    def save(self, name, tensors, facts):
        self.kept[name] = dict(tensors), facts
        self.saved.append(name)


class TestJudges:
    def answers(self, model, seed, size=120):
        """Which networks answered for which node, (N,): what was added is the mean of marks."""
        known, white = data(size)
        folds = None if seed is None else centre.folds_of(size, seed)
        _, added = model._errors(known, white, folds)
        return added[:, 0] / np.sqrt(1 - SIGNAL)

    @pytest.mark.parametrize("seed", [0, 5])
    def test_every_node_is_judged_by_the_networks_that_have_not_seen_it(self, marked, seed):
        judge = self.answers(fit(seed=seed), seed)
        marks = np.zeros((NUM_NETWORKS, 120))
        for number, nodes in marked.items():
            marks[number, np.setdiff1d(np.arange(120), nodes)] = number + 1
        assert ((marks > 0).sum(axis=0) == NUM_ROUNDS).all()
        np.testing.assert_allclose(judge, marks.sum(axis=0) / NUM_ROUNDS, rtol=1e-5)

    def test_each_network_sees_about_two_thirds(self, marked):
        fit(size=3000)
        assert sorted(marked) == list(range(NUM_NETWORKS))
        shares = [len(nodes) / 3000 for nodes in marked.values()]
        assert shares == pytest.approx([2 / 3] * NUM_NETWORKS, abs=0.05)
        for number in range(NUM_FOLDS, NUM_NETWORKS):  # another division in every round
            assert not np.array_equal(marked[number], marked[number % NUM_FOLDS])

    def test_another_seed_makes_other_parts(self, marked):
        fit(seed=0)
        before = dict(marked)
        fit(seed=1)
        assert not np.array_equal(before[0], marked[0])

    def test_of_strangers_all_have_an_equal_say(self, marked):
        np.testing.assert_allclose(self.answers(fit(), None), (1 + NUM_NETWORKS) / 2, rtol=1e-5)

    def test_of_strangers_nothing_is_left_out_of_the_linear_part(self):
        known, white = data()
        model = fit()
        left, _ = model._errors(known, white, None)
        variance = model.context.variance
        gain = SIGNAL * variance / (SIGNAL * variance + 1 - SIGNAL)
        expected = (1 - gain) * (white - model.context.predict(known))
        np.testing.assert_allclose(left, expected, rtol=1e-3, atol=1e-5)
        own, _ = model._errors(known, white, centre.folds_of(120, 0))
        expected = (1 - gain) * model.context.left_out(known, white)
        np.testing.assert_allclose(own, expected, rtol=1e-3, atol=1e-5)

    def test_how_many_go_at_once_changes_nothing(self, monkeypatch):
        known, white = data()
        model = fit()
        before = model.residuals(known, white, 0)
        monkeypatch.setattr(centre, "_NODES_AT_ONCE", 7)
        for ours, theirs in zip(model.residuals(known, white, 0), before, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


class TestGate:
    @pytest.mark.parametrize("part", [0.0, 0.3, 1.0])
    def test_it_is_how_much_of_the_answer_is_right(self, part):
        added = np.random.default_rng(0).normal(size=(2000, 3)).astype(np.float32)
        noise = np.random.default_rng(1).normal(size=(2000, 3)).astype(np.float32)
        assert centre._gate(part * added + 0.01 * noise, added) == pytest.approx(part, abs=0.02)

    def test_answers_that_are_noise_are_not_used(self):
        left, added = np.random.default_rng(0).normal(size=(2, 5000, 3)).astype(np.float32)
        assert centre._gate(left, added) < 0.05

    def test_wrong_answers_are_not_turned_round_and_short_ones_not_stretched(self):
        added = np.random.default_rng(0).normal(size=(2000, 3)).astype(np.float32)
        assert centre._gate(-added, added) == 0
        assert centre._gate(3 * added, added) == 1

    def test_silence_has_no_part(self):
        assert centre._gate(np.ones((5, 2)), np.zeros((5, 2))) == 0

    def test_a_few_outliers_do_not_move_it(self):
        added = np.random.default_rng(0).normal(size=(2000, 3)).astype(np.float32)
        left = 0.5 * added
        left[:40] = -1000 * added[:40]
        assert centre._gate(left, added) == pytest.approx(0.5, abs=0.02)

    def test_networks_that_know_better_are_let_through(self):
        """Features that have two values, by the sign of what is around."""
        rng = np.random.default_rng(0)
        known = rng.normal(size=(900, 2)).astype(np.float32)
        white = np.repeat(np.sign(known[:, :1] * known[:, 1:]), 2, axis=1).astype(np.float32)
        config = ConditionalSettings(hidden_size=32, updates=200, batch_size=256)
        model = CentreModel.fit(known, white, config, 0)
        assert model.gate > 0.5
        linear, learned = model.skill
        assert linear < learned < 1
        assert (model.history[-10:].mean(axis=0) < model.history[:5].mean(axis=0)).all()

    def test_it_decides_what_the_second_residual_is(self, marked):
        known, white = data()
        model = fit()
        linear, learned = model.residuals(known, white, 0)
        assert model.gate < 0.2
        left, added = model._errors(known, white, centre.folds_of(120, 0))
        usual = Distance.fit(left, 0)
        np.testing.assert_allclose(model.distance.whiten, usual.whiten)
        np.testing.assert_array_equal(linear, model.distance.squared(left))
        rest = left - np.float32(model.gate) * added
        np.testing.assert_array_equal(learned, model.distance.squared(rest))


class TestSkill:
    def test_it_is_the_share_of_the_variance_that_is_explained(self):
        """The guess sees the node itself, at one noise level: that explains some in any case."""
        rng = np.random.default_rng(0)
        white = rng.normal(size=(3000, 3)).astype(np.float32)
        known = rng.normal(size=(3000, 2)).astype(np.float32)
        linear, _ = CentreModel.fit(known, white, QUICK, 0).skill
        assert linear == pytest.approx(1 - (1 - SIGNAL) ** 2, abs=0.02)

    def test_knowing_more_it_is_higher(self):
        known, white = data(2000)
        informed = CentreModel.fit(known, white, QUICK, 0)
        blind = CentreModel.fit(np.zeros_like(known), white, QUICK, 0)
        assert informed.skill[0] > blind.skill[0]

    def test_of_nothing_it_is_zero(self):
        zeros = np.zeros((30, 2), dtype=np.float32)
        model = CentreModel.fit(zeros, zeros, QUICK, 0)
        assert model.skill == (0, 0)
        assert not np.any(model.residuals(zeros, zeros, 0))


class TestStore:
    def test_finished_networks_are_kept_and_not_trained_again(self, monkeypatch):
        first = Store()
        model = fit(store=first)
        assert first.saved == [f"network-{number}" for number in range(NUM_NETWORKS)]

        def work(*_):
            raise AssertionError("this was done before")

        monkeypatch.setattr(centre, "train_centre", work)
        told = []
        again = fit(store=Store(first.kept), advance=told.append)
        assert sum(told) == NUM_NETWORKS * QUICK.updates
        for ours, theirs in zip(
            again.residuals(*data(), 0), model.residuals(*data(), 0), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(again.history, model.history)

    def test_only_what_is_missing_is_trained(self):
        whole = Store()
        model = fit(store=whole)
        part = Store({"network-1": whole.kept["network-1"]})
        again = fit(store=part)
        assert part.saved == [name for name in whole.saved if name != "network-1"]
        np.testing.assert_array_equal(again.history, model.history)
        assert again.gate == model.gate

    def test_history_has_a_column_for_every_network(self):
        model = fit()
        assert model.history.shape == (2, NUM_NETWORKS)
        assert np.isfinite(model.history).all()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1, 2, 3])
def test_where_all_nodes_are_in_one_part_nobody_is_judged_by_what_has_seen_them(size, seed):
    known, white = data(size)
    model = CentreModel.fit(known, white, QUICK, seed)
    assert len(model.networks) == NUM_NETWORKS
    for found in (*model.residuals(known, white, seed), *model.residuals(known, white, None)):
        assert np.isfinite(found).all()


class TestExpected:
    @pytest.mark.parametrize("seed", [0, None])
    def test_what_it_leaves_is_nearly_what_nodes_are_judged_by(self, seed):
        """But for what networks make of a node that is not what is expected."""
        known, white = data(600)
        model = CentreModel.fit(known, white, ConditionalSettings(hidden_size=8, updates=60), 0)
        assert model.gate > 0
        folds = None if seed is None else centre.folds_of(600, seed)
        rest = white - model.expected(known, white, folds)
        rest *= share_left(model.context.variance)  # what is judged sees a little of the node
        _, residual = model.residuals(known, white, seed)
        np.testing.assert_allclose(model.distance.squared(rest), residual, rtol=0.1)

    def test_without_networks_it_is_what_the_surroundings_let_one_expect(self):
        """Though the denoiser sees a little of the node itself."""
        known, white = data()
        model = replace(fit(), gate=0.0)
        found = model.expected(known, white, None)
        np.testing.assert_allclose(found, model.context.predict(known), atol=1e-4)
        held_out = white - model.context.left_out(known, white)
        folds = centre.folds_of(len(white), 0)
        np.testing.assert_allclose(model.expected(known, white, folds), held_out, atol=1e-4)

    def test_what_the_node_itself_is_does_not_matter(self):
        known, _ = data()
        model = fit()
        usual, far, farther = (np.full((1, 3), value, np.float32) for value in (8.0, 50.0, 5000.0))
        answers = [model.expected(known[:1], one, None) for one in (usual, far, farther)]
        np.testing.assert_allclose(answers[1], answers[0])
        np.testing.assert_allclose(answers[2], answers[0])


def test_parts_are_a_third_each_and_the_same_for_the_same_seed():
    parts = centre.folds_of(9000, 3)
    assert parts.shape == (NUM_ROUNDS, 9000)
    np.testing.assert_array_equal(parts, centre.folds_of(9000, 3))
    for one in parts:
        np.testing.assert_allclose(np.bincount(one) / 9000, [1 / 3] * NUM_FOLDS, atol=0.03)
    assert np.mean(parts[0] == parts[1]) == pytest.approx(1 / 3, abs=0.03)
    assert not np.array_equal(parts, centre.folds_of(9000, 4))


class TestKept:
    """Networks of an earlier process."""

    @pytest.mark.parametrize("change", ["size", "lost", "more"])
    def test_one_that_does_not_fit_is_trained_again(self, change):
        whole = Store()
        fit(store=whole)
        weights, facts = whole.kept["network-0"]
        wrong = dict(weights)
        name = next(iter(weights))
        if change == "size":  # a whole network, of another size
            wrong = CentreNetwork(3, 4, 5).state_dict()
        elif change == "lost":
            del wrong[name]
        else:
            wrong["more"] = weights[name]
        again = Store(whole.kept | {"network-0": (wrong, facts)})
        fit(store=again)
        assert again.saved == ["network-0"]
        assert all(torch.equal(again.kept["network-0"][0][n], weights[n]) for n in weights)

    @pytest.mark.parametrize("defect", [KeyError, RuntimeError])
    @pytest.mark.parametrize("work", ["load_state_dict", "__init__"])
    def test_a_defect_of_ours_is_not_taken_for_damage(self, monkeypatch, work, defect):
        def fail(*_, **__):
            raise defect("ours")

        whole = Store()
        fit(store=whole)
        monkeypatch.setattr(CentreNetwork, work, fail)
        monkeypatch.setattr(centre, "train_centre", None)
        with pytest.raises(defect, match="ours"):
            fit(store=Store(whole.kept))

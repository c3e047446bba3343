"""Thresholds, probabilities and confidences: PyGOD's own functions are the oracle."""

import types
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from egoscore.errors import ParameterError
from egoscore.thresholds import FENCE, confidence, fence, probability, significant, threshold

RNG = np.random.default_rng(0)
TRAINING = torch.tensor(RNG.gamma(2.0, size=80))
NEW = torch.tensor(np.concatenate([RNG.gamma(3.0, size=30), [-5.0, 0.0, 100.0], TRAINING[:5]]))


@pytest.fixture(scope="module")
def pygod_detector():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pygod.detector").Detector


def stub(contamination=0.1):
    """As much of a fitted PyGOD detector as its functions look at."""
    cut = np.percentile(TRAINING.numpy(), 100 * (1 - contamination))
    return types.SimpleNamespace(
        decision_score_=TRAINING, contamination=contamination, threshold_=cut
    )


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40),
    st.floats(0, 0.5, exclude_min=True, allow_subnormal=False),
)
@settings(max_examples=80, deadline=None)
def test_the_threshold_is_numpys_percentile(scores, contamination):
    score = torch.tensor(scores, dtype=torch.float64)
    cut = threshold(score, contamination)
    assert cut == np.percentile(scores, 100 * (1 - contamination))
    assert int((score > cut).sum()) <= np.ceil(contamination * len(scores))


@pytest.mark.parametrize("contamination", [0.05, 0.1, 0.25, 0.5])
def test_the_share_above_the_threshold_is_the_contamination(contamination):
    score = torch.arange(100, dtype=torch.float64)
    assert int((score > threshold(score, contamination)).sum()) == round(100 * contamination)


@pytest.mark.filterwarnings("ignore:__array_wrap__:DeprecationWarning")  # PyGOD's erf
@pytest.mark.parametrize("method", ["linear", "unify"])
@pytest.mark.parametrize("score", [TRAINING, NEW], ids=["training", "new"])
def test_probabilities_are_pygods(pygod_detector, method, score):
    expected = pygod_detector._predict_prob(stub(), score.clone(), method)
    result = probability(score, TRAINING, method)
    torch.testing.assert_close(result, expected, rtol=1e-6, atol=1e-9)
    assert result.min() >= 0
    assert result.max() <= 1


@pytest.mark.parametrize("contamination", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("score", [TRAINING, NEW], ids=["training", "new"])
def test_confidences_are_pygods(pygod_detector, contamination, score):
    oracle = stub(contamination)
    expected = pygod_detector._predict_conf(oracle, score)
    result = confidence(score, TRAINING, contamination, oracle.threshold_)
    torch.testing.assert_close(result.float(), expected, rtol=1e-4, atol=1e-5)


def test_confidence_is_high_far_from_the_threshold_and_low_near_it():
    score = torch.arange(100, dtype=torch.float64)
    cut = threshold(score, 0.1)
    result = confidence(score, score, 0.1, cut)
    assert result[0] > 0.99
    assert result[-1] > 0.99
    assert result[89:92].max() < 0.7


@pytest.mark.parametrize("method", ["linear", "unify"])
@pytest.mark.parametrize("count", [1, 4])
def test_where_all_scores_are_equal_probabilities_are_zero_not_nan(method, count):
    constant = torch.full((count,), 2.0, dtype=torch.float64)
    assert probability(constant, constant, method).tolist() == [0.0] * count


def test_scores_are_left_as_they_are():
    score, before = NEW.clone(), NEW.clone()
    probability(score, TRAINING, "linear")
    probability(score, TRAINING, "unify")
    assert torch.equal(score, before)


def test_another_method_is_refused():
    with pytest.raises(ParameterError, match=r"'linear', 'unify'\. Got 'sigmoid' instead"):
        probability(NEW, TRAINING, "sigmoid")


SCORES = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda value: round(value, 3))


class TestAuto:
    """Tukey's outer fence."""

    @given(st.lists(SCORES | st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=60))
    @settings(max_examples=300, deadline=None)
    def test_it_is_numpys_quartiles_and_at_most_a_quarter_lies_beyond(self, scores):
        score = torch.tensor(scores, dtype=torch.float64)
        low, high = np.quantile(scores, 0.25), np.quantile(scores, 0.75)
        cut = threshold(score, "auto")
        assert cut == pytest.approx(high + 3 * (high - low))
        assert int((score > cut).sum()) <= len(scores) / 4

    def test_the_fence_is_three_quartile_distances_away(self):
        assert FENCE == 3.0
        assert threshold(torch.arange(5, dtype=torch.float64), "auto") == 3 + 3 * 2

    @pytest.mark.parametrize("count", [1, 2, 100])
    def test_where_all_scores_are_equal_none_is_flagged(self, count):
        score = torch.full((count,), 2.5, dtype=torch.float64)
        assert not (score > threshold(score, "auto")).any()

    def test_of_scores_that_fall_off_exponentially_about_one_in_a_hundred(self):
        score = torch.tensor(np.random.default_rng(0).exponential(size=200_000))
        share = float((score > threshold(score, "auto")).double().mean())
        assert share == pytest.approx(0.25 / 27, rel=0.05)  # exp(-(log 4 + 3 log 3))

    def test_a_few_that_are_far_out_are_flagged_and_no_others(self):
        score = torch.tensor([*np.linspace(0, 1, 95), 50.0, 60.0, 70.0], dtype=torch.float64)
        assert torch.nonzero(score > threshold(score, "auto")).flatten().tolist() == [95, 96, 97]

    def test_confidence_takes_the_share_that_was_flagged(self, pygod_detector):
        training = torch.tensor(np.random.default_rng(0).exponential(size=400))
        cut = threshold(training, "auto")
        share = float((training > cut).double().mean())
        assert 0 < share < 0.05
        oracle = types.SimpleNamespace(
            decision_score_=training, contamination=share, threshold_=cut
        )
        expected = pygod_detector._predict_conf(oracle, NEW)
        found = confidence(NEW, training, "auto", cut)
        torch.testing.assert_close(found.float(), expected, rtol=1e-4, atol=1e-5)

    def test_confidence_is_whole_where_none_was_flagged(self):
        training = torch.arange(50, dtype=torch.float64)
        found = confidence(training, training, "auto", threshold(training, "auto"))
        assert found.tolist() == [1.0] * 50


class TestSignificant:
    """Benjamini and Hochberg's rule, against scipy's adjusted p-values."""

    @given(
        st.lists(st.floats(0, 1), min_size=1, max_size=50)
        | st.lists(st.floats(0, 0.05), min_size=1, max_size=50),
        st.sampled_from([0.01, 0.1, 0.3, 0.9]),
    )
    @settings(max_examples=200, deadline=None)
    def test_who_is_reported_is_what_scipy_says(self, p_values, rate):
        adjusted = false_discovery_control(p_values)
        found = significant(torch.tensor(p_values, dtype=torch.float64), rate)
        clear = np.abs(adjusted - rate) > 1e-6  # on the edge itself rounding decides
        np.testing.assert_array_equal(found[clear], (adjusted <= rate)[clear])
        assert found.dtype == torch.int64

    def test_of_chance_alone_hardly_anybody_is_reported(self):
        rng = np.random.default_rng(0)
        trials = [significant(torch.tensor(rng.random(500)), 0.1).sum() for _ in range(200)]
        assert np.mean(np.array(trials) > 0) < 0.15

    def test_about_the_given_share_is_reported_wrongly(self):
        rng = np.random.default_rng(0)
        shares = []
        for _ in range(100):
            p_values = torch.tensor(np.concatenate([rng.random(900), 1e-6 * rng.random(100)]))
            found = significant(p_values, 0.2)
            assert found[900:].all()
            shares.append(float(found[:900].sum() / found.sum()))
        assert np.mean(shares) == pytest.approx(0.9 * 0.2, abs=0.03)

    def test_nobody_and_everybody(self):
        assert significant(torch.full((5,), 0.5, dtype=torch.float64), 0.1).tolist() == [0] * 5
        assert significant(torch.zeros(5, dtype=torch.float64), 0.1).tolist() == [1] * 5

    def test_equal_p_values_stand_or_fall_together(self):
        p_values = torch.tensor([0.001, 0.06, 0.06, 0.9], dtype=torch.float64)
        assert significant(p_values, 0.1).tolist() == [1, 1, 1, 0]
        assert significant(p_values, 0.05).tolist() == [1, 0, 0, 0]


NUMBERS = st.one_of(
    SCORES,
    st.sampled_from([0.0, 1.0, 1.0 + 2**-52, 1.0 - 2**-53, 2.0]),
    st.floats(-1e300, 1e300),
)
PAIRS = st.lists(st.tuples(NUMBERS, st.floats(0, 1) | st.just(0.0)), min_size=1, max_size=60)


class TestSignificantNodesAreFlagged:
    @given(PAIRS, st.sampled_from([0.01, 0.1, 0.9]))
    @settings(max_examples=300, deadline=None)
    def test_they_are_a_subset_whatever_the_scores_and_p_values(self, pairs, rate):
        score, p_values = torch.tensor(pairs, dtype=torch.float64).T
        marked = significant(p_values, rate) > 0
        cut = threshold(score, "auto", marked)
        flagged = score > cut
        assert not (marked & ~flagged).any()
        assert cut <= fence(score)
        if marked.any():  # no more than needed
            least = score[marked].min()
            assert torch.equal(flagged, (score > fence(score)) | (score >= least))

    @given(st.lists(SCORES, min_size=1, max_size=60))
    @settings(max_examples=100, deadline=None)
    def test_where_none_is_significant_tukeys_fence_is_the_threshold(self, scores):
        score = torch.tensor(scores, dtype=torch.float64)
        nobody = torch.zeros(len(score), dtype=torch.long)
        assert threshold(score, "auto", nobody) == threshold(score, "auto") == fence(score)

    def test_a_significant_node_beyond_the_fence_changes_nothing(self):
        score = torch.tensor([*np.linspace(0, 1, 95), 50.0], dtype=torch.float64)
        assert threshold(score, "auto", score > 40) == fence(score)

    def test_last_digits_of_a_score_computed_again_do_not_matter(self):
        score = torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
        cut = threshold(score, "auto", score >= 3)
        assert cut == 2.5
        assert torch.equal(score * (1 - 1e-4) > cut, score > cut)

    def test_all_may_be_significant(self):
        score = torch.full((4,), 7.0, dtype=torch.float64)
        cut = threshold(score, "auto", torch.ones(4))
        assert cut < 7.0
        assert (score > cut).all()

    def test_a_share_stays_that_share(self):
        score = torch.arange(100, dtype=torch.float64)
        assert threshold(score, 0.05, score > 50) == threshold(score, 0.05)

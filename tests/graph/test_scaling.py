"""Scaling: as scikit-learn does it, in float64, with constants that are exactly zero."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import StandardScaler

from egoscore import EgoScore, generate_network
from egoscore.errors import InputError
from egoscore.graph import AttributedGraph, FeatureScaling, scaling

RNG = np.random.default_rng(0)
QUICK = {
    "preset": "paper",
    "epochs": 2,
    "num_levels": 2,
    "num_samples": 1,
    "steps": 10,
    "hidden_size": 8,
}


def network(features):
    return AttributedGraph.from_edges([[], []], features)


def scaled(features):
    graph = network(features)
    return FeatureScaling.fit(graph.features).apply(graph).features


def test_it_does_what_scikit_learn_does():
    features = RNG.normal([0, -3, 1e4], [1, 1e-3, 50], size=(200, 3)).astype(np.float32)
    expected = StandardScaler().fit_transform(features.astype(np.float64))
    np.testing.assert_allclose(scaled(features), expected, rtol=1e-6, atol=1e-6)
    assert scaled(features).dtype == np.float32


@given(arrays(np.float32, (5, 3), elements=st.integers(-(2**20), 2**20).map(float)))
@settings(max_examples=60, deadline=None)
def test_any_columns_have_zero_mean_and_unit_deviation_or_are_zero(features):
    values = scaled(features).astype(np.float64)
    varies = (features != features[0]).any(axis=0)
    np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(values.std(axis=0), varies.astype(float), atol=1e-6)


@pytest.mark.parametrize("constant", [0.0, 0.1, -7.3, 193978.0, 1e-30, 3e38])
@pytest.mark.parametrize("size", [1, 7, 1418])
def test_a_constant_column_becomes_exactly_zero(constant, size):
    features = np.column_stack([np.full(size, constant), RNG.normal(size=size)])
    assert not scaled(features)[:, 0].any()


def test_a_small_spread_around_a_large_mean_is_kept():
    """In float32 the mean of these would be off by more than their spread."""
    steps = RNG.integers(0, 3, 5000)
    features = (2.0**24 - 4 + steps).astype(np.float32)[:, None]
    expected = (steps - steps.mean()) / steps.std()
    np.testing.assert_allclose(scaled(features)[:, 0], expected, rtol=1e-6)


def test_many_rows_are_scaled_as_few(monkeypatch):
    features = RNG.normal(size=(100, 4)).astype(np.float32)
    whole = scaled(features)
    monkeypatch.setattr(scaling, "_ROWS_AT_ONCE", 7)
    np.testing.assert_allclose(scaled(features), whole, rtol=1e-6)


def test_another_network_is_scaled_as_the_first():
    first, second = RNG.normal(2, 3, (50, 2)), RNG.normal(-1, 5, (20, 2))
    oracle = StandardScaler().fit(first)
    fitted = FeatureScaling.fit(network(first).features)
    result = fitted.apply(network(second)).features
    np.testing.assert_allclose(result, oracle.transform(second), rtol=1e-5)


def test_a_column_that_was_constant_stays_zero_elsewhere():
    fitted = FeatureScaling.fit(np.full((5, 1), 0.1, dtype=np.float32))
    assert fitted.apply(network([[0.1], [7.0]])).features.tolist() == [[0.0], [0.0]]


def test_only_the_features_change():
    graph = generate_network(30, 60, 3)
    result = FeatureScaling.fit(graph.features).apply(graph)
    assert result.adjacency is graph.adjacency
    assert result.labels is graph.labels
    assert result.ids is graph.ids


def test_another_number_of_features_is_refused():
    fitted = FeatureScaling.fit(np.ones((5, 3), dtype=np.float32))
    with pytest.raises(InputError, match="has 2 features but the detector was fitted on 3"):
        fitted.apply(network(np.ones((5, 2))))


def ends(graph):
    """Both ends of every edge, (2, E)."""
    csr = graph.adjacency
    return np.stack([np.repeat(np.arange(graph.num_nodes), csr.degrees), csr.indices])


def test_the_unit_of_a_feature_changes_no_score():
    graph = generate_network(60, 150, 4)
    units, zeros = np.array([1000.0, 0.01, 1.0, 4.0]), np.array([5.0, 0.0, -2.0, 30.0])
    other = AttributedGraph.from_edges(ends(graph), graph.features * units + zeros)
    first, second = (EgoScore(**QUICK).fit(data).decision_score_ for data in (graph, other))
    np.testing.assert_allclose(first, second, rtol=1e-3)


def test_the_model_carries_the_scaling_to_networks_never_seen():
    graph = generate_network(60, 150, 4)
    detector = EgoScore(**QUICK).fit(graph)
    elsewhere = graph.features + 10 * graph.features.std(axis=0)
    shifted = AttributedGraph.from_edges(ends(graph), elsewhere)
    seen, strange = detector.decision_function(graph), detector.decision_function(shifted)
    # scaled by its own mean the second network would be the first
    assert not np.isclose(seen, strange, rtol=0.01).any()


class TestUnscale:
    @given(arrays(np.float32, (7, 3), elements=st.integers(-(2**15), 2**15).map(float)))
    @settings(max_examples=60, deadline=None)
    def test_back_and_forth_nothing_is_lost(self, features):
        fitted = FeatureScaling.fit(features)
        back = fitted.unscale(fitted.scale(features))
        np.testing.assert_allclose(back, features, rtol=1e-5, atol=0.05)

    def test_it_is_what_scikit_learn_does(self):
        features = RNG.normal([0, -3, 1e4], [1, 1e-3, 50], size=(200, 3)).astype(np.float32)
        oracle = StandardScaler().fit(features.astype(np.float64))
        scaled = RNG.normal(size=(9, 3))
        expected = oracle.inverse_transform(scaled)
        np.testing.assert_allclose(
            FeatureScaling.fit(features).unscale(scaled), expected, rtol=1e-6
        )

    def test_what_was_constant_is_what_it_was_whatever_is_asked(self):
        fitted = FeatureScaling.fit(np.float32([[7, 1], [7, 2]]))
        np.testing.assert_array_equal(fitted.unscale(np.array([[5.0, 0.0]])), [[7.0, 1.5]])

    def test_some_rows_are_scaled_as_all(self, monkeypatch):
        features = RNG.normal(size=(100, 4)).astype(np.float32)
        fitted = FeatureScaling.fit(features)
        whole = fitted.apply(network(features)).features
        monkeypatch.setattr(scaling, "_ROWS_AT_ONCE", 3)
        np.testing.assert_array_equal(fitted.scale(features[[5, 90, 2, 7]]), whole[[5, 90, 2, 7]])


class TestWithin:
    """A value out of all bounds does not make the others look alike."""

    def test_what_has_nothing_far_out_is_scaled_as_ever(self):
        features = RNG.normal(size=(500, 4)).astype(np.float32)
        plain, bounded = FeatureScaling.fit(features), FeatureScaling.fit(features, 10.0)
        np.testing.assert_array_equal(plain.mean, bounded.mean)
        np.testing.assert_array_equal(plain.factor, bounded.factor)

    @pytest.mark.parametrize("extreme", [1e5, 1e8, -1e12])
    def test_one_extreme_value_hardly_matters(self, extreme):
        usual = RNG.normal(1000.0, 300.0, size=2000)
        features = np.append(usual, extreme).astype(np.float32)[:, None]
        found = FeatureScaling.fit(features, 10.0)
        assert found.mean[0] == pytest.approx(usual.mean(), rel=0.01)
        assert 1.0 / found.factor[0] == pytest.approx(usual.std(), rel=0.05)
        assert abs(found.scale(features)[-1, 0]) > 10.0

    def test_what_counts_lies_within(self):
        """Its own mean and deviation are those it is clipped by."""
        features = RNG.lognormal(0.0, 3.0, size=(5000, 1)).astype(np.float32)
        found = FeatureScaling.fit(features, 10.0)
        clipped = np.clip(found.scale(features), -10.0, 10.0)
        assert clipped.mean() == pytest.approx(0.0, abs=0.02)
        assert clipped.std() == pytest.approx(1.0, abs=0.02)

    def test_what_is_rare_is_not_out_of_bounds(self):
        features = (np.arange(5000) % 1000 == 0).astype(np.float32)[:, None]
        plain, bounded = FeatureScaling.fit(features), FeatureScaling.fit(features, 10.0)
        assert bounded.factor[0] == pytest.approx(plain.factor[0])


def test_an_account_beyond_all_bounds_hides_no_other():
    graph = generate_network(400, 1600, 4, seed=1)
    features = graph.features.copy()
    features[7, 2] = 40.0
    alone = EgoScore().fit(replace(graph, features=features)).decision_score_.numpy()
    features[8, 2] = 1e7
    both = EgoScore().fit(replace(graph, features=features)).decision_score_.numpy()
    ranks = [int((scores > scores[7]).sum()) for scores in (alone, both)]
    assert ranks[1] <= ranks[0] + 10

"""Amounts: which columns are, against scipy's Box-Cox, and there and back."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.detectors.conditional.preprocess import FARTHEST, fit_scale
from egoscore.graph import FeatureScaling
from egoscore.graph.feature_column import FeatureColumn

RNG = np.random.default_rng(0)
SIZE = 1000


def network(*columns, described=()):
    x = np.column_stack(columns).astype(np.float32)
    graph = AttributedGraph.from_edges([[], []], x)
    return replace(graph, columns=described) if described else graph


def is_amount(values, **about):
    described = (FeatureColumn("a", **about),)
    return len(fit_scale(network(values, described=described), 0).amounts) == 1


INCOMES = np.exp(RNG.normal(10, 1, SIZE))
COUNTS = RNG.negative_binomial(0.7, 0.01, SIZE)
SIDES = np.where(RNG.random(SIZE) < 0.4, 0, INCOMES)


class TestWhich:
    @pytest.mark.parametrize(
        "values",
        [
            *(INCOMES, COUNTS, SIDES, 1e-9 * INCOMES, RNG.pareto(1, SIZE)),
            *(np.append(INCOMES[1:], absurd) for absurd in (1e30, 0, -1)),
        ],
        ids=["incomes", "counts", "many zeros", "small", "pareto", "too much", "zero", "less"],
    )
    def test_what_spreads_over_orders_of_magnitude_is_one(self, values):
        assert is_amount(values)

    @pytest.mark.parametrize(
        "values",
        [
            RNG.normal(size=SIZE),
            RNG.normal(100, 10, SIZE),
            RNG.uniform(0, 1, SIZE),
            RNG.uniform(0, 1000, SIZE),
            1000 - np.minimum(INCOMES / 100, 1000),
            np.exp(RNG.normal(10, 0.2, SIZE)),
            RNG.integers(1, 6, SIZE) ** 4,
            RNG.integers(0, 2, SIZE),
            np.where(RNG.random(SIZE) < 0.8, 0, INCOMES),
            -INCOMES,
            np.append(INCOMES[20:], np.full(20, -1)),
            np.full(SIZE, 7.0),
            2000 + RNG.integers(0, 25, SIZE),
        ],
    )
    def test_what_does_not_or_is_no_more_like_a_gaussian_in_logarithms_is_none(self, values):
        assert not is_amount(values)

    def test_nor_are_dates_yes_and_no_structure_or_what_has_more_digits(self):
        for kind in ("date", "yes/no", "category", "missing", "structure"):
            assert not is_amount(INCOMES, kind=kind)
        assert not is_amount(INCOMES, offset=1e9)
        assert is_amount(INCOMES, kind="weight", detail="total")

    @pytest.mark.parametrize("size", [1, 2, 5, 12])
    def test_few_nodes_tell_nothing(self, size):
        assert not is_amount(INCOMES[:size])

    @given(st.integers(0, 10_000))
    @settings(max_examples=60, deadline=None)
    def test_as_scipys_likelihood_has_it(self, seed):
        """Of the two powers one and none, without the tails."""
        rng = np.random.default_rng(seed)
        values = rng.gamma(rng.uniform(0.3, 4), size=SIZE).astype(np.float32).astype(float)
        low, high = np.quantile(values, (0.01, 0.99))
        usual = values[(values >= low) & (values <= high)]
        gain = stats.boxcox_llf(0, usual) - stats.boxcox_llf(1, usual)
        expected = gain > 3 and high / low >= 3
        assert is_amount(values) == expected or abs(gain - 3) < 0.5

    @pytest.mark.parametrize("wrong", [0.0, -5.0, 1e-9])
    def test_a_zero_or_less_among_amounts_is_far_out(self, wrong):
        values = np.exp(np.random.default_rng(0).normal(5, 2, 60_000))
        values[12_345] = wrong
        graph = network(values)
        found = fit_scale(graph, 0)
        assert found.shift[0] == 0
        scaled = found.scale(graph.features)
        assert np.isfinite(scaled).all()
        assert scaled[12_345, 0] < -10
        np.testing.assert_allclose(np.delete(scaled, 12_345).std(), 1, atol=0.01)

    @pytest.mark.parametrize(("middle", "is_far"), [(2.5, False), (10, True)])
    def test_none_is_next_to_one_where_all_are_whole_numbers(self, middle, is_far):
        values = np.maximum(np.round(np.exp(RNG.normal(middle, 0.8, SIZE))), 1)
        values[3] = 0
        graph = network(values)
        found = fit_scale(graph, 0)
        assert found.shift[0] == 1
        assert (found.scale(graph.features)[3, 0] < -6) == is_far


class TestScale:
    @pytest.fixture(scope="class")
    @classmethod
    def graph(cls):
        return network(INCOMES, RNG.normal(size=SIZE), COUNTS, SIDES)

    def test_amounts_are_scaled_by_their_logarithms_and_the_rest_as_it_is(self, graph):
        scale = fit_scale(graph, 0)
        np.testing.assert_array_equal(scale.amounts, [0, 2, 3])
        assert scale.shift[0] == 0
        for column in (2, 3):
            positive = graph.features[:, column][graph.features[:, column] > 0]
            assert scale.shift[column] == pytest.approx(np.quantile(positive, 0.05))
        found = scale.scale(graph.features)
        logs = np.log(INCOMES)
        np.testing.assert_allclose(found[:, 0], (logs - logs.mean()) / logs.std(), atol=1e-4)
        plain = FeatureScaling.fit(graph.features, FARTHEST).scale(graph.features)
        np.testing.assert_array_equal(found[:, 1], plain[:, 1])
        np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-4)
        np.testing.assert_allclose(found.std(axis=0), 1, atol=1e-3)

    def test_there_and_back(self, graph):
        scale = fit_scale(graph, 0)
        back = scale.unscale(scale.scale(graph.features).astype(np.float64))
        np.testing.assert_allclose(back, graph.features, rtol=1e-4, atol=0.01)

    def test_some_columns_are_as_among_all(self, graph):
        scale, some = fit_scale(graph, 0), np.array([3, 1])
        np.testing.assert_array_equal(
            scale.of(some).scale(graph.features[:, some]), scale.scale(graph.features)[:, some]
        )

    def test_what_nobody_had_is_far_out_and_finite(self, graph):
        scale = fit_scale(graph, 0)
        new = np.array([[0, 0, -50, -1e30], [1e38, 0, 1e38, 1e38]], dtype=np.float32)
        found = scale.scale(new)
        assert np.isfinite(found).all()
        assert (found[0, [0, 3]] < -FARTHEST).all()
        assert (found[1, [0, 2, 3]] > 3).all()
        assert np.isfinite(scale.unscale(np.array([[500.0] * 4, [-500.0] * 4]))).all()


@pytest.mark.parametrize("wrong", [1e-3, 0.0])
def test_one_that_is_far_too_small_is_found_and_told(wrong):
    """Of incomes that are ten times as much or a tenth all the time, one is next to nothing."""
    graph = generate_network(500, 1500, 4, seed=1)
    x = np.exp(graph.features.astype(np.float64) + 8)
    x[77, 2] = wrong
    found = EgoScore(updates=30).fit(replace(graph, features=x.astype(np.float32)))
    why = found.explain(graph.ids[77])
    assert why.rank <= 20  # outliers are planted as well
    assert why.causes[:2] == ("extremes", "features")
    assert (why.extremes[0].kind in ("below", "less"), why.extremes[0].name) == (True, "x2")
    assert why.features[0].name == "x2"
    assert why.features[0].expected_value > 10
    assert why.features[0].size < -5

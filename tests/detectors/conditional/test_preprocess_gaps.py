"""What is judged where values are missing: against loops over networkx, and full tables."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from default_detector import fit, measured
from scipy import stats

from egoscore import AttributedGraph, generate_network
from egoscore.detectors.conditional.covariance import Distance
from egoscore.detectors.conditional.preprocess import (
    FARTHEST,
    fit_scale,
    gap_covariance,
    gap_features,
    preprocess,
)
from egoscore.detectors.conditional.settings import ConditionalSettings
from egoscore.graph import FeatureScaling
from egoscore.graph.feature_column import FeatureColumn

TRAINING = ConditionalSettings(hidden_size=8, updates=20, batch_size=64)


def with_gaps(graph, share, columns, seed=0, together=False):
    """The network with values missing at random in some columns, filled with the median."""
    rng = np.random.default_rng(seed)
    is_missing = rng.random((graph.num_nodes, len(columns))) < share
    if together:
        is_missing[:] = is_missing[:, :1]
    x = graph.features.copy()
    for place, column in enumerate(columns):
        x[is_missing[:, place], column] = np.median(x[:, column])
    described = (
        *(FeatureColumn(f"x{j}") for j in range(graph.num_features)),
        *(FeatureColumn(f"x{j}", "missing") for j in columns),
    )
    whole = np.column_stack([x, is_missing]).astype(np.float32)
    names = tuple(column.title for column in described)
    return replace(graph, features=whole, columns=described, feature_names=names), is_missing


@pytest.fixture(scope="module")
def graph():
    return generate_network(600, 1800, 5, seed=4)


class TestFeatures:
    def test_without_gaps_they_are_scaled_and_within_bounds(self, graph):
        scaling = FeatureScaling.fit(graph.features, FARTHEST)
        scale = fit_scale(graph, 0)
        np.testing.assert_array_equal(scale.linear.factor, scaling.factor)
        expected = np.clip(scaling.scale(graph.features), -FARTHEST, FARTHEST)
        np.testing.assert_array_equal(preprocess(scale, graph), expected)
        assert not len(gap_features(scale))

    def test_a_gap_is_what_neighbours_have_and_those_without_a_value_have_nothing(self, graph):
        given, is_missing = with_gaps(graph, 0.3, (1, 3))
        scale = fit_scale(given, 0)
        found = preprocess(scale, given)
        theirs = nx.from_scipy_sparse_array(given.neighbours.to_scipy())
        scaled = (given.features - scale.linear.mean) * scale.linear.factor
        checked = 0
        for place, column in enumerate((1, 3)):
            for node in np.flatnonzero(is_missing[:, place]):
                known = [other for other in theirs[node] if not is_missing[other, place]]
                values = np.clip(scaled[known, column], -3, 3)
                expected = values.sum() / max(1, len(theirs[node]))
                assert found[node, column] == pytest.approx(expected, abs=1e-5)
                checked += 1
        assert checked > 200
        kept = np.setdiff1d(np.arange(5), (1, 3))
        np.testing.assert_allclose(found[:, kept], scaled[:, kept].clip(-10, 10), atol=1e-6)

    def test_some_nodes_are_as_among_all(self, graph):
        given, is_missing = with_gaps(graph, 0.2, (0, 4))
        scale, some = fit_scale(given, 0), np.array([599, 3, 3, *np.flatnonzero(is_missing[:, 0])])
        whole = preprocess(scale, given)
        np.testing.assert_allclose(preprocess(scale, given, some), whole[some], atol=1e-6)

    def test_a_category_that_is_missing_is_shared_as_among_the_neighbours(self):
        city = np.array([0, 0, 1, -1])
        x = np.column_stack([city == 0, city == 1, city == -1]).astype(np.float32)
        columns = (
            FeatureColumn("city", "category", "Oslo"),
            FeatureColumn("city", "category", "Lima"),
            FeatureColumn("city", "missing"),
        )
        graph = AttributedGraph.from_edges([[3, 3, 3], [0, 1, 2]], x)
        graph = replace(graph, columns=columns)
        scale = fit_scale(graph, 0)
        shares = scale.unscale(preprocess(scale, graph))[3, :2]
        np.testing.assert_allclose(shares, (2 / 3, 1 / 3), atol=1e-6)

    def test_weights_of_the_same_name_are_no_gaps(self, graph):
        given, is_missing = with_gaps(graph, 0.2, (2,))
        columns = list(given.columns)
        columns[2] = replace(columns[2], kind="weight", detail="total")
        given = replace(given, columns=tuple(columns))
        scale = fit_scale(given, 0)
        scaled = scale.scale(given.features)
        rows = np.flatnonzero(is_missing[:, 0])
        np.testing.assert_array_equal(preprocess(scale, given)[rows, 2], scaled[rows, 2])


class TestSize:
    @pytest.mark.parametrize("share", [0.002, 0.02, 0.1, 0.3])
    @pytest.mark.parametrize("most", [False, True], ids=["few missing", "most missing"])
    def test_a_rare_gap_is_as_far_out_as_a_gaussian_value_as_rare(self, graph, share, most):
        count = max(1, round(share * 600))
        flag = np.zeros(600)
        flag[:count] = 1
        flag = 1 - flag if most else flag
        x = np.column_stack([graph.features[:, 0], flag]).astype(np.float32)
        columns = (FeatureColumn("a"), FeatureColumn("a", "missing"))
        given = replace(graph, features=x, columns=columns, feature_names=("a", "a is missing"))
        found = float(preprocess(fit_scale(given, 0), given)[0, 1])
        density = stats.norm.pdf(found) / stats.norm.pdf(0)
        if share == 0.3:  # not rare: as it is
            assert abs(found) == pytest.approx(np.sqrt(0.7 / 0.3), rel=1e-4)
        else:
            assert density == pytest.approx(count / 600, rel=1e-3)

    @pytest.mark.parametrize("columns", [(0,), (0, 1, 2, 3, 4)], ids=["one", "all together"])
    def test_distances_keep_that_size_however_many_are_missing_together(self, graph, columns):
        given, is_missing = with_gaps(graph, 0.02, columns, together=True)
        scale = fit_scale(given, 0)
        scaled = preprocess(scale, given)
        gaps = gap_features(scale)
        np.testing.assert_array_equal(gaps, 5 + np.arange(len(columns)))
        flags = scaled[:, gaps]
        unseen = gap_covariance(flags, np.arange(len(gaps)))
        distance = Distance.fit(flags, 0, unseen).squared(flags) * len(gaps)
        rows = is_missing[:, 0]
        share = rows.mean()
        # one event, however many columns tell it
        assert distance[rows].mean() == pytest.approx(-2 * np.log(share), rel=0.15)
        plain = Distance.fit(flags, 0).squared(flags) * len(gaps)
        assert plain[rows].mean() > 4 * distance[rows].mean()

    def test_nothing_is_unseen_where_there_are_no_gaps(self, graph):
        assert gap_covariance(graph.features, np.zeros(0, dtype=np.int64)) is None

    def test_what_is_filled_in_does_not_narrow_the_scale(self, graph):
        given, is_missing = with_gaps(graph, 0.4, (1,))
        found, whole = fit_scale(given, 0), fit_scale(graph, 0)
        known = given.features[~is_missing[:, 0], 1]
        assert found.linear.mean[1] == pytest.approx(known.mean(dtype=np.float64))
        assert 1 / found.linear.factor[1] == pytest.approx(known.std(dtype=np.float64))
        np.testing.assert_array_equal(found.linear.factor[[0, 2]], whole.linear.factor[[0, 2]])

    def test_in_the_errors_by_which_nodes_are_judged_too(self):
        """A gap adds as much to the squared error as the logarithm of its share says, twice."""
        graph = generate_network(3000, 9000, 5, outlier_fraction=0, seed=6)
        given, is_missing = with_gaps(graph, 0.02, (2,))
        _, found = fit(given, settings=TRAINING)
        errors, rows = found.channels["linear_residual"], is_missing[:, 0]
        more = 6 * (np.median(errors[rows]) - np.median(errors[~rows]))
        assert more == pytest.approx(-2 * np.log(rows.mean()), rel=0.3)


class TestRanking:
    """Values that are missing at random change little: neither who is abnormal nor how many."""

    @pytest.mark.parametrize("together", [False, True])
    def test_who_has_gaps_is_hardly_more_abnormal_for_it(self, graph, together):
        given, is_missing = with_gaps(graph, 0.04, (0, 1, 3), together=together)
        _, whole = fit(graph, settings=TRAINING)
        _, found = fit(given, settings=TRAINING)
        has_gaps = is_missing.any(axis=1)
        assert stats.spearmanr(whole.score, found.score).statistic > 0.8
        top = np.argsort(-found.score)[:60]
        # a gap is rare and may count a little, but not fill the first places
        assert has_gaps[top].mean() < has_gaps.mean() + 0.15

    def test_the_model_knows_its_gaps_whatever_a_network_says_of_its_columns(self, graph):
        given, _ = with_gaps(graph, 0.05, (0, 2))
        detector, found = fit(given, settings=TRAINING)
        bare = replace(given, columns=())
        np.testing.assert_array_equal(found.score, measured(detector, bare, True).score)

    def test_judged_again_they_have_the_same_scores(self, graph):
        given, _ = with_gaps(graph, 0.05, (0, 2))
        detector, found = fit(given, settings=TRAINING)
        again = measured(detector, given, True)
        np.testing.assert_array_equal(found.score, again.score)

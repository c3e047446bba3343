"""The default recipe as a whole: what it is made of, what it depends on, and what not."""

from contextlib import contextmanager
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from default_detector import QUICK, fit, job, measured
from scipy.stats import rankdata, spearmanr

from egoscore import AttributedGraph, generate_network
from egoscore.detectors.conditional.channels import CHANNELS, channels_of
from egoscore.detectors.conditional.denoiser import NUM_NETWORKS
from egoscore.detectors.conditional.scoring import least_alone
from egoscore.detectors.conditional.settings import ConditionalSettings
from egoscore.graph.feature_column import FeatureColumn
from egoscore.graph.structure import describe_structure, structure

LINEAR = [  # channels in which no network has a part, so that folds play none
    "feature_norm", "linear_residual", "dirichlet_energy", "mismatch", "mismatch_two_steps",
    "structure_given_degree", "structure", "clustering",
]  # fmt: skip
NOTHING = np.empty((2, 0), dtype=np.int64)


def ends(graph):
    """Both ends of every edge, (2, E)."""
    csr = graph.adjacency
    return np.stack([np.repeat(np.arange(graph.num_nodes), csr.degrees), csr.indices])


def everything(found):
    """All numbers about the nodes, by name."""
    return {**found.columns(), "score": found.score}


def assert_same(ours, theirs, names=None):
    ours, theirs = everything(ours), everything(theirs)
    assert ours.keys() == theirs.keys()
    for name in names or theirs:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


@pytest.fixture(scope="module")
def graph():
    return generate_network(200, 600, 6, seed=2)


@pytest.fixture(scope="module")
def fitted(graph):
    """A fitted model and what it found; tests must not change them."""
    return fit(graph)


@pytest.fixture(scope="module")
def quiet():
    return generate_network(400, 1200, 6, outlier_fraction=0, seed=5)


ABSENT = ("unexpected_category", "closed_clique", "only_bridge")  # from this graph


class TestParts:
    def test_three_questions_are_combined_and_one_counts_by_itself(self, fitted):
        assert list(fitted[1].questions) == ["features", "similarity", "position", "extremes"]

    def test_of_nodes_with_as_many_neighbours_the_score_ranks_by_all_surprises(self, fitted):
        detector, found = fitted
        answers = [found.questions[name] for name in ("features", "similarity", "position")]
        total = sum(answers) + np.maximum.reduce(answers)  # the largest counts twice
        single = np.max(list(detector.scoring.standing_out(found.channels).values()), axis=0)
        alone = single > least_alone(200) - 1  # from there on it begins to count by itself
        assert 0 < alone.sum() < 50
        for size in np.unique(found.ego_size):
            mine = (found.ego_size == size) & ~alone
            np.testing.assert_array_equal(rankdata(found.score[mine]), rankdata(total[mine]))

    def test_what_stands_out_by_itself_is_the_largest_of_its_channels(self, fitted):
        detector, found = fitted
        parts = detector.scoring.standing_out(found.channels)
        assert list(parts) == list(channels_of("extremes"))
        largest = np.maximum.reduce(list(parts.values()))
        expected = np.where(largest > least_alone(200), largest, 0.0)
        np.testing.assert_array_equal(found.questions["extremes"], expected)
        far = np.flatnonzero(expected)
        assert 0 < len(far) < 20
        assert (found.score[far] > np.quantile(found.score, 0.9)).all()

    def test_all_are_finite_and_differ_between_nodes(self, fitted):
        for name, values in everything(fitted[1]).items():
            assert values.shape == (200,)
            assert np.isfinite(values).all(), name
            assert np.ptp(values) > 0 or name in ABSENT, name

    def test_every_channel_that_is_asked_for_is_there(self, fitted):
        channels = fitted[1].channels
        assert set(channels) == set(CHANNELS)
        assert all(values.dtype == np.float32 for values in channels.values())

    def test_columns_have_a_name_each(self, fitted):
        columns = fitted[1].columns()
        assert len(columns) == 1 + 4 + 16
        np.testing.assert_array_equal(columns["surprise_position"], fitted[1].questions["position"])

    def test_a_question_ranks_as_the_mean_surprise_of_its_channels_does(self, fitted):
        detector, found = fitted
        surprises = [
            detector.scoring.channels[name].bounded_surprise(
                CHANNELS[name].scaled(found.channels[name])
            )
            for name in channels_of("position")
        ]
        place = found.questions["position"]
        assert spearmanr(np.mean(surprises, axis=0), place).statistic == pytest.approx(1)

    @pytest.mark.parametrize("question", ["features", "similarity", "position"])
    def test_the_surprises_of_a_question_are_about_one_on_average(self, fitted, question):
        assert fitted[1].questions[question].mean() == pytest.approx(1, abs=0.2)

    def test_simple_channels_are_what_a_loop_says(self, graph, fitted):
        x = graph.features.astype(np.float64)
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        near = nx.Graph(graph.neighbours.to_scipy())
        energy = [
            np.mean([np.mean((x[v] - x[u].clip(-3, 3)) ** 2) for u in near[v]] or [0.0])
            for v in range(200)
        ]
        channels = fitted[1].channels
        assert np.abs(x).max() < 10  # nothing is clipped here
        np.testing.assert_allclose(channels["feature_norm"], np.mean(x**2, axis=1), rtol=1e-4)
        np.testing.assert_allclose(channels["dirichlet_energy"], energy, rtol=1e-3, atol=1e-4)
        sizes = [len(nx.ego_graph(near, v)) for v in range(200)]
        np.testing.assert_array_equal(fitted[1].ego_size, sizes)

    def test_what_lies_farther_than_ten_deviations_is_taken_to_lie_there(self, quiet):
        features = quiet.features.copy()
        features[7, 2] = 1e9  # nearly twenty deviations: it is most of the deviation itself
        channels = fit(replace(quiet, features=features))[1].channels
        x = (features - features.mean(axis=0, dtype=np.float64)) / features.std(axis=0)
        others = np.delete(x[7], 2)
        assert x[7, 2] > 19
        expected = (10**2 + np.sum(others**2)) / 6
        assert channels["feature_norm"][7] == pytest.approx(expected, rel=1e-3)

    def test_those_next_to_one_out_of_all_bounds_stay_where_they_are(self):
        graph = generate_network(1000, 4000, 6, seed=3)
        worst = int(graph.neighbours.degrees.argmax())
        features = graph.features.copy()
        features[worst] = 100.0
        before, after = (fit(some)[1].score for some in (graph, replace(graph, features=features)))
        assert after.argmax() == worst
        near = graph.neighbours_of(worst)
        ranks = [rankdata(-score)[near] for score in (before, after)]
        assert len(near) > 20
        assert np.median(ranks[1]) > 0.5 * np.median(ranks[0])

    def test_a_step_and_two_steps_away_are_different_company(self):
        """Everybody is linked to opposites, whose other neighbours are then alike."""
        rng = np.random.default_rng(0)
        side = np.repeat([1.0, -1.0], 100)
        edges = np.stack([rng.integers(0, 100, 700), rng.integers(100, 200, 700)])
        features = side[:, None] + 0.3 * rng.normal(size=(200, 2))
        detector, _ = fit(AttributedGraph.from_edges(edges, features))
        assert detector.learned.next_to.strength.min() < -0.5
        assert detector.learned.two_away.strength.max() > 0.5

    def test_without_neighbours_nothing_about_a_node_can_be_expected(self, graph):
        """Neither do its own features tell: they are not among what is known around it."""
        detector, _ = fit(AttributedGraph.from_edges(NOTHING, graph.features))
        assert detector.learned.centre.context.variance.min() > 0.8


class TestScore:
    def test_it_is_minus_the_logarithm_of_how_rare_it_is(self, fitted):
        found = fitted[1]
        lower = found.score <= np.median(found.score)
        share = 1 - (rankdata(found.score) - 0.5) / 200
        np.testing.assert_allclose(np.exp(-found.score)[lower], share[lower], atol=1e-9)

    def test_without_outliers_p_values_are_about_uniform(self):
        networks = [generate_network(500, 1500, 8, outlier_fraction=0, seed=s) for s in range(4)]
        found = np.concatenate([np.exp(-fit(network)[1].score) for network in networks])
        for share in (0.25, 0.5, 0.75):
            assert np.mean(found < share) == pytest.approx(share, abs=0.05)
        assert 0.02 < np.mean(found < 0.05) < 0.09

    def test_having_many_neighbours_or_few_is_no_reason_to_be_high(self):
        found = fit(generate_network(1000, 4000, 8, outlier_fraction=0, seed=1))[1]
        order = np.argsort(found.ego_size, kind="stable")
        for part in np.array_split(order, 4):
            assert np.median(found.score[part]) == pytest.approx(np.log(2), abs=0.3)
        assert abs(spearmanr(found.ego_size, found.score).statistic) < 0.15


class TestWhatStandsOut:
    """Something gross is planted in a quiet network, and the right question is the one to tell."""

    def top(self, graph, question):
        return int(fit(graph)[1].questions[question].argmax())

    def test_features_that_do_not_go_together(self, quiet):
        features = quiet.features.copy()
        features[7] += np.array([6, -6, 6, -6, 6, -6]) * features.std(axis=0)
        assert self.top(replace(quiet, features=features), "features") == 7

    def test_features_unlike_those_of_all_neighbours(self):
        """Two camps; nothing about a deserter is strange but the camp that is around."""
        rng = np.random.default_rng(0)
        camp = np.repeat([0, 1], 150)
        within = [rng.integers(0, 150, (2, 600)) + 150 * side for side in (0, 1)]
        features = (2 * camp - 1)[:, None] + 0.2 * rng.normal(size=(300, 4))
        features[20] = features[200]
        found = fit(AttributedGraph.from_edges(np.hstack(within), features))[1]
        assert found.questions["similarity"].argmax() == 20
        assert found.channels["mismatch"].argmax() == 20

    def test_a_clique_of_strangers(self, quiet):
        members = np.arange(0, 400, 40)
        pairs = np.array([(u, v) for u in members for v in members if u < v]).T
        found = fit(AttributedGraph.from_edges(np.hstack([ends(quiet), pairs]), quiet.features))[1]
        place = found.questions["position"]
        assert np.median(place[members]) > np.quantile(place, 0.9)


class TestIndependence:
    """What must not matter does not."""

    def test_the_same_seed_gives_the_same_bits(self, graph, fitted):
        assert_same(fit(graph)[1], fitted[1])

    def test_another_seed_changes_only_what_networks_answer(self, graph, fitted):
        other = fit(graph, seed=1)[1]
        assert_same(other, fitted[1], LINEAR)
        lively = ConditionalSettings(hidden_size=16, updates=60)
        first, second = (fit(graph, seed, lively) for seed in (0, 1))
        assert not np.array_equal(first[0].losses.values, second[0].losses.values)

    def test_other_numbers_for_the_nodes_move_the_answers(self, graph, fitted):
        order = np.random.default_rng(0).permutation(200)
        place_of = np.argsort(order)
        moved = AttributedGraph.from_edges(place_of[ends(graph)], graph.features[order])
        found = fit(moved)[1]
        for name in LINEAR:
            expected = fitted[1].channels[name][order]
            np.testing.assert_allclose(
                found.channels[name], expected, rtol=1e-2, atol=1e-3, err_msg=name
            )
        np.testing.assert_array_equal(found.ego_size, fitted[1].ego_size[order])

    def test_units_of_features_do_not_matter(self, graph, fitted):
        scaled = graph.features * np.exp2(np.arange(-3, 3)).astype(np.float32)  # without rounding
        assert_same(fit(replace(graph, features=scaled))[1], fitted[1])

    def test_nor_where_zero_is_or_which_way_is_up(self, graph, fitted):
        turned = graph.features * np.float32([-3, 7, 0.1, 1, -1, 5]) + np.float32(2.5)
        found = fit(replace(graph, features=turned))[1]
        for name in LINEAR:
            expected = fitted[1].channels[name]
            np.testing.assert_allclose(
                found.channels[name], expected, rtol=1e-2, atol=2e-3, err_msg=name
            )

    def test_labels_and_names_do_not_matter(self, graph, fitted):
        other = replace(graph, labels=1 - graph.labels, ids=np.arange(200)[::-1], node_info={})
        assert_same(fit(other)[1], fitted[1])

    def test_in_an_undirected_graph_the_direction_of_edges_does_not_matter(self, graph, fitted):
        one_way = ends(graph)
        one_way = one_way[:, one_way[0] < one_way[1]]
        for edges in (one_way, one_way[::-1]):
            undirected = AttributedGraph.from_edges(edges, graph.features)
            assert_same(fit(undirected)[1], fitted[1])

    def test_the_input_is_left_as_it_is(self, graph):
        before = graph.fingerprint()
        fit(graph)
        assert graph.fingerprint() == before


class TestJudging:
    def test_the_training_network_is_judged_as_in_training(self, graph, fitted):
        assert_same(measured(fitted[0], graph, is_training=True), fitted[1])

    def test_as_a_stranger_it_is_judged_a_little_more_kindly(self, graph, fitted):
        """Nothing is left out then: each node is part of what it is compared with."""
        found = measured(fitted[0], graph, is_training=False)
        assert_same(found, fitted[1], [n for n in LINEAR if n != "linear_residual"])
        own = fitted[1].channels["linear_residual"].sum()
        assert 0.5 * own < found.channels["linear_residual"].sum() < own

    def test_another_network_too(self, fitted):
        found = measured(fitted[0], generate_network(50, 90, 6, seed=9), is_training=False)
        for name, values in everything(found).items():
            assert values.shape == (50,)
            assert np.isfinite(values).all(), name

    @pytest.mark.parametrize("scale", [0.0, 1e4, 1e12])
    def test_also_with_values_never_seen(self, fitted, scale):
        other = generate_network(50, 90, 6, seed=9)
        strange = replace(other, features=np.float32(scale) * other.features)
        found = everything(measured(fitted[0], strange, is_training=False))
        assert all(np.isfinite(values).all() for values in found.values())

    def test_and_a_node_alone(self, graph, fitted):
        lonely = AttributedGraph.from_edges(NOTHING, graph.features[:1])
        found = everything(measured(fitted[0], lonely, is_training=False))
        assert all(np.isfinite(values).all() for values in found.values())

    def test_fitted_where_nothing_varies_it_judges_what_does(self, graph):
        detector, _ = fit(AttributedGraph.from_edges(NOTHING, np.ones((20, 6))))
        found = everything(measured(detector, graph, is_training=False))
        assert all(np.isfinite(values).all() for values in found.values())


RNG = np.random.default_rng(0)
SOME = RNG.normal(size=(40, 3))
EDGES = RNG.integers(0, 40, (2, 90))
CORNERS = {
    "one node": (NOTHING, SOME[:1]),
    "two nodes": ([[0], [1]], SOME[:2]),
    "two nodes apart": (NOTHING, SOME[:2]),
    "three nodes": ([[0], [1]], SOME[:3]),
    "no edges": (NOTHING, SOME),
    "an isolated node": (EDGES % 39, SOME),
    "pairs": (np.arange(40).reshape(2, 20), SOME),
    "a star": (np.stack([np.zeros(39, dtype=np.int64), np.arange(1, 40)]), SOME),
    "everybody with everybody": (np.argwhere(np.ones((40, 40))).T, SOME),
    "one feature": (EDGES, SOME[:, :1]),
    "constant features": (EDGES, np.full((40, 3), 0.1)),
    "nothing at all": (NOTHING, np.full((40, 3), 0.1)),
    "a constant feature": (EDGES, np.column_stack([SOME, np.ones(40)])),
    "the same feature again": (EDGES, np.repeat(SOME[:, :1], 7, axis=1)),
    "two values": (EDGES, SOME > 0),
    "a feature that one node has": (EDGES, np.eye(40)[:, :1]),
    "a feature for every node": (EDGES, np.eye(40)),
    "more features than nodes": (EDGES, RNG.normal(size=(40, 120))),
    "very many features": (EDGES, RNG.normal(size=(40, 2050))),
    "very many constant features": (EDGES, np.ones((40, 2050))),
    "very large features": (EDGES, 1e30 * SOME),
    "very small features": (EDGES, 1e-30 * SOME),
    "one absurd value": (EDGES, np.vstack([np.full((1, 3), 1e30), SOME[1:]])),
}


@pytest.mark.parametrize("name", CORNERS)
@pytest.mark.parametrize(("directed", "seed"), [(False, 0), (True, 2)])
def test_any_network_gives_finite_numbers_and_no_warning(name, directed, seed):
    network = AttributedGraph.from_edges(*CORNERS[name], directed=directed)
    detector, found = fit(network, seed)
    for column, values in everything(found).items():
        assert values.shape == (network.num_nodes,)
        assert np.isfinite(values).all(), column
    assert np.isfinite(detector.losses.values).all()
    assert_same(measured(detector, network, is_training=True), found)


def test_bars_come_to_their_ends_and_every_update_of_every_network_is_told(graph):
    told = {}

    @contextmanager
    def bars(title, total, unit):
        done = []
        yield done.append
        assert sum(done) == total, title
        told[unit] = total

    detector, _ = fit(graph, bars=bars)
    assert told == {"steps": 4, "updates": NUM_NETWORKS * QUICK.updates, "channels": len(CHANNELS)}
    told.clear()
    detector.measure(graph, job(bars=bars))
    assert told == {"channels": len(CHANNELS)}


class TestPlainNetworks:
    """Where features are structure, they are judged by what else is known."""

    @pytest.fixture
    def star(self):
        """A hub with 2,000 neighbours among whom there are a few edges."""
        rng = np.random.default_rng(0)
        ends = np.hstack(
            [[np.zeros(2000, int), np.arange(1, 2001)], rng.integers(1, 2001, (2, 900))]
        )
        plain = AttributedGraph.from_edges(ends, np.ones((2001, 1)))
        features = structure(plain).astype(np.float32)
        return replace(plain, features=features, columns=describe_structure())

    def test_only_place_is_asked_and_size_counts(self, star):
        detector, found = fit(star, settings=ConditionalSettings(updates=2))
        assert list(found.questions) == ["position", "extremes"]
        np.testing.assert_array_equal(
            detector.scoring.by_size.apply(np.array([3.0]), np.array([50])), [3.0]
        )
        assert (found.score > found.score[0]).sum() < 20
        np.testing.assert_allclose(measured(detector, star, True).score, found.score, rtol=1e-5)

    def test_other_features_beside_it_change_nothing_of_that(self, star):
        weights = FeatureColumn("amount", "weight", "total")
        wider = np.column_stack([star.features, np.arange(2001)]).astype(np.float32)
        both = replace(star, features=wider, columns=(*star.columns, weights))
        detector, _ = fit(both, settings=ConditionalSettings(updates=2))
        assert not detector.learned.uses_structure


def test_company_is_not_asked_where_neighbours_tell_nothing():
    rng = np.random.default_rng(0)
    graph = AttributedGraph.from_edges(
        rng.integers(0, 400, (2, 900)), rng.normal(size=(400, 4)).astype(np.float32)
    )
    detector, found = fit(graph, settings=ConditionalSettings(updates=2))
    model = detector.learned
    assert not model.next_to.strength.any()
    assert not model.two_away.strength.any()
    assert list(found.questions) == ["features", "position", "extremes"]


def test_where_most_nodes_are_alike_the_seed_has_no_say_in_their_order():
    """What networks leave of nodes that are just as expected is noise, and not ranked."""
    random = np.random.default_rng(0)
    features = np.where(random.random((600, 1)) < 0.8, 0.0, random.normal(size=(600, 4)) ** 3)
    features = (features + 1e-4 * random.normal(size=(600, 4))).astype(np.float32)
    graph = AttributedGraph.from_edges(random.integers(0, 600, (2, 1500)), features)
    training = ConditionalSettings(hidden_size=16, updates=60)
    found = [fit(graph, seed, training)[1] for seed in (0, 1)]
    alike = np.abs(features).max(axis=1) < 1e-3
    assert alike.mean() > 0.7
    for answers in (one.questions["features"][alike] for one in found):
        assert np.ptp(answers) < 1e-9
    unlike = [one.questions["features"][~alike] for one in found]
    assert spearmanr(*unlike).statistic > 0.98

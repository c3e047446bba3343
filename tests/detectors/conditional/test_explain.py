"""The reasons of the default detector: against its parts, and on graphs with known outliers."""

import time
from dataclasses import replace

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from default_detector import fit, measured

from egoscore import AttributedGraph, EgoScore, generate_network, load_dataset
from egoscore.detectors import vocabulary_of
from egoscore.detectors.conditional import explain
from egoscore.detectors.conditional.channels import channels_of
from egoscore.detectors.conditional.expectation import expect, scaled_features
from egoscore.detectors.conditional.explain import ConditionalExplainer, fit_usual_errors
from egoscore.detectors.conditional.ties import score_ties
from egoscore.explain.explainer import MOST_NODES
from egoscore.graph.feature_column import FeatureColumn
from egoscore.graph.structure import describe_structure, structure
from egoscore.report.console import show_explanation

SOME = [0, 3, 64, 199]


@pytest.fixture(scope="module")
def graph():
    return generate_network(200, 600, 6, seed=2)


@pytest.fixture(scope="module")
def fitted(graph):
    detector, table = fit(graph)
    return detector.learned, table


@pytest.fixture(scope="module")
def explainer(graph, fitted):
    return ConditionalExplainer(fitted[0], graph, fitted[1], fit(graph)[0].scoring.shifts, True)


class TestParts:
    @pytest.mark.parametrize("node", SOME)
    def test_features_are_what_neither_surroundings_nor_each_other_explain(
        self, graph, fitted, explainer, node
    ):
        model = fitted[0]
        every = expect(model, graph, structure(graph), np.arange(200), is_training=True)
        rest, sizes = fit_usual_errors(every.errors, graph.described, 0).unexplained(
            every.errors[node]
        )
        deviation = graph.features.std(axis=0, dtype=np.float64)
        found = explainer.reasons(node).features
        order = np.argsort(-np.abs(sizes))
        assert [one.name for one in found] == [f"x{j}" for j in order]
        for one, j in zip(found, order, strict=True):
            assert one.size == pytest.approx(sizes[j], abs=0.006)
            assert float(one.observed) == pytest.approx(graph.features[node, j], rel=1e-3)
            expected = graph.features[node, j] - rest[j] * deviation[j]
            assert float(one.expected) == pytest.approx(expected, rel=2e-3, abs=2e-3)

    @pytest.mark.parametrize("node", SOME)
    def test_answers_are_those_of_the_score_strongest_first(self, fitted, explainer, node):
        found = explainer.reasons(node).questions
        assert found == {name: v[node] for name, v in fitted[1].questions.items()}
        combined = [answer for name, answer in found.items() if name != "extremes"]
        assert combined == sorted(combined, reverse=True)
        assert (next(iter(found)) == "extremes") == bool(explainer.reasons(node).extremes)

    @pytest.mark.parametrize("node", SOME)
    def test_energies_are_mean_squared_differences_to_the_neighbours(
        self, graph, fitted, explainer, node
    ):
        model, table = fitted
        x = scaled_features(model, graph, np.arange(200)).astype(np.float64)
        guess = expect(model, graph, structure(graph), np.array([node]), True).expected[0]
        near = graph.neighbours_of(node)
        actual = np.mean([np.square(x[node] - x[other]).mean() for other in near])
        expected = np.mean([np.square(guess - x[other]).mean() for other in near])
        found = explainer.reasons(node)
        assert found.energy_actual == pytest.approx(actual, rel=1e-4)
        assert found.energy_actual == pytest.approx(table.channels["dirichlet_energy"][node], rel=1e-3)  # fmt: skip # noqa: E501
        assert found.energy_expected == pytest.approx(expected, rel=1e-4)

    def test_components_are_all_that_was_measured(self, fitted, explainer):
        table = fitted[1]
        found = {one.name: one.value for one in explainer.reasons(5).components}
        questions = {f"surprise_{name}": v for name, v in table.questions.items()}
        expected = {name: v[5] for name, v in (table.channels | questions).items()}
        assert found == pytest.approx(expected, abs=1e-6)

    def test_ties_and_size_are_those_of_the_ego_graph(self, graph, fitted, explainer):
        found, ties = explainer.reasons(3), score_ties(fitted[0], graph, 3)
        assert found.ego_size == len(graph.neighbours_of(3)) + 1
        assert found.surprising == ties.surprising(8)
        assert found.expected == ties.expected(8)
        assert found.surprising
        assert found.expected

    def test_another_network_is_explained_by_what_was_learned_from_the_first(self, graph, fitted):
        other = generate_network(150, 400, 6, seed=9)
        detector, _ = fit(graph)
        model, table = detector.learned, measured(detector, other, is_training=False)
        found = ConditionalExplainer(model, other, table, detector.scoring.shifts, False).reasons(7)
        errors = expect(model, other, structure(other), np.arange(150), False).errors
        _, sizes = fit_usual_errors(errors, other.described, 0).unexplained(errors[7])
        told = np.array([one.size for one in found.features])
        sizes = sizes[[int(one.name.removeprefix("x")) for one in found.features]]
        # what is expected lies within what was seen, which may bring it nearer
        assert np.all(np.abs(told) <= np.abs(sizes) + 0.006)
        assert np.isclose(told, sizes, atol=0.006).sum() >= 4


class TestPicture:
    @pytest.mark.parametrize("node", [*SOME, "hub"])
    def test_edges_before_are_networkxs_and_after_only_those_of_the_centre_differ(
        self, graph, fitted, explainer, node
    ):
        node = int(graph.neighbours.degrees.argmax()) if node == "hub" else node
        found = explainer.reasons(node).picture
        theirs = nx.from_scipy_sparse_array(graph.neighbours.to_scipy())
        numbers = [int(name) for name in found.nodes]
        assert numbers[0] == node
        assert len(numbers) == len(set(numbers)) <= MOST_NODES
        places = {number: place for place, number in enumerate(numbers)}
        edges = theirs.subgraph(numbers).edges
        expected = sorted(tuple(sorted((places[u], places[v]))) for u, v in edges)
        assert list(found.actual) == expected
        ties = score_ties(fitted[0], graph, node)
        near = set(theirs.neighbors(node))
        mine = {
            (0, place)
            for place, number in enumerate(numbers)
            if (number in near and not ties.is_surprising(number)) or ties.is_missed(number)
        }
        assert set(found.expected) == {edge for edge in expected if edge[0] > 0} | mine
        assert found.left_out == len(near) - len(near & set(numbers))

    def test_the_shade_is_the_feature_that_is_furthest_off(self, graph, fitted, explainer):
        reasons = explainer.reasons(3)
        found = reasons.picture
        assert found.shade == reasons.features[0].name
        column = int(found.shade.removeprefix("x"))
        numbers = [int(name) for name in found.nodes]
        values = scaled_features(fitted[0], graph, np.array(numbers))[:, column]
        assert np.corrcoef(found.shade_actual, values)[0, 1] == pytest.approx(1, abs=1e-4)
        assert found.shade_actual[1:] == found.shade_expected[1:]
        assert found.shade_actual[0] != found.shade_expected[0]


class TestImputed:
    """A node that stands out because the median was put in has no such value, and that is said."""

    @pytest.fixture(scope="class")
    @classmethod
    def why(cls):
        rng = np.random.default_rng(0)
        group = np.arange(300) % 3
        age = (20 + 30 * group + rng.normal(size=300)).round(1)
        ends = [
            (a, b) for a, b in rng.integers(0, 300, (4000, 2)) if a < b and group[a] == group[b]
        ]
        edges = pa.table({"source": [a for a, _ in ends], "target": [b for _, b in ends]})
        gaps = pa.array(np.where(np.arange(300) == 3, np.nan, age), from_pandas=True)
        nodes = pa.table({"id": np.arange(300), "age": gaps, "income": rng.normal(size=300)})
        graph = AttributedGraph.from_tables(edges, nodes, impute="median")
        return EgoScore(updates=20).fit(graph).explain(3)

    def test_it_is_as_abnormal_by_its_features_as_one_gap_in_300_is_rare(self, why):
        assert 3 < why.rank <= 30
        assert why.causes == ("features",)

    def test_the_summary_names_the_missing_value_once(self, why):
        assert "age is missing" in why.summary
        assert why.summary.count("age") == 1

    def test_the_filled_in_value_is_not_shown_as_observed(self, why):
        age = [one for one in why.features if one.name.startswith("age")]
        assert [one.observed for one in age] == ["missing", "missing"]


class TestOneAbsurdValue:
    """One value out of all bounds makes a node unlike its neighbours: the value is told first."""

    @pytest.fixture(scope="class")
    @classmethod
    def network(cls):
        rng = np.random.default_rng(3)
        group = np.arange(400) % 4
        ends = rng.integers(0, 400, (6000, 2))
        ends = ends[group[ends[:, 0]] == group[ends[:, 1]]]
        x = rng.normal(size=(4, 6))[group] * 3 + rng.normal(size=(400, 6))
        x[40, 2] = 500.0  # one cell
        x[41] = x[42] + 0.1  # another group's person
        return AttributedGraph.from_edges(ends.T, x)

    @pytest.fixture(scope="class")
    @classmethod
    def found(cls, network):
        detector = EgoScore(updates=30).fit(network)
        return detector.explain(40), detector.explain(41)

    def test_both_are_found_by_features_and_similarity(self, found):
        for why in found:
            assert why.rank <= 10
            assert {"features", "similarity"} <= set(why.causes)

    def test_the_value_comes_before_the_company_that_it_makes_bad(self, found):
        why = found[0]
        assert why.causes[:3] == ("extremes", "features", "similarity")
        assert "x2" in why.reason
        assert (why.extremes[0].kind, why.extremes[0].name) == ("above", "x2")
        assert why.extremes[0].count == 1
        far = [one.name for one in why.features if abs(one.size) > 3]
        assert far == ["x2"]

    def test_who_is_a_stranger_as_a_whole_is_told_by_the_strongest(self, found):
        strongest = [q for q, v in found[1].questions.items() if v > 3 and q != "extremes"]
        assert [cause for cause in found[1].causes if cause != "extremes"] == strongest

    @pytest.mark.parametrize(
        ("answers", "follows", "told"),
        [
            (
                {"similarity": 9, "features": 5, "position": 4},
                True,
                ("features", "similarity", "position"),
            ),
            (
                {"similarity": 9, "position": 5, "features": 4},
                True,
                ("position", "features", "similarity"),
            ),
            (
                {"position": 9, "features": 8, "similarity": 4},
                True,
                ("position", "features", "similarity"),
            ),
            (
                {"features": 9, "position": 8, "similarity": 4},
                True,
                ("features", "position", "similarity"),
            ),
            ({"similarity": 9, "features": 5}, False, ("similarity", "features")),
            ({"similarity": 9, "features": 2}, True, ("similarity",)),
            ({"features": 9, "similarity": 2}, True, ("features",)),
        ],
    )
    def test_only_company_may_move_behind_features(self, answers, follows, told):
        assert explain._causes(answers, follows) == told


class TestPlanted:
    """On the built-in network the causes name what was planted, for most outliers of each kind."""

    NAMED = {  # noqa: RUF012
        "attribute": {"features"},
        "contextual": {"similarity"},
        "structural": {"position", "extremes"},
        "joint": {"features", "similarity"},
    }

    @pytest.fixture(scope="class")
    @classmethod
    def causes(cls):
        graph = load_dataset("builtin")
        kinds = graph.node_info["kind"]
        planted = np.flatnonzero(kinds != "normal")
        found = EgoScore().fit(graph).explain_all(graph.ids[planted].tolist())
        return [(kinds[row], why.causes) for row, why in zip(planted, found, strict=True)]

    @pytest.mark.parametrize("kind", NAMED)
    def test_most_are_named_rightly(self, causes, kind):
        mine = [told for which, told in causes if which == kind]
        assert len(mine) >= 5
        right = [bool(self.NAMED[kind] & set(told)) for told in mine]
        assert np.mean(right) > 0.5

    @pytest.mark.parametrize("kind", ["attribute", "contextual", "structural"])
    def test_the_first_cause_is_right_more_often_than_for_outliers_of_other_kinds(
        self, causes, kind
    ):
        first = {True: [], False: []}
        for which, told in causes:
            first[which == kind].append(bool(set(told[:1]) & set(self.NAMED[kind])))
        assert np.mean(first[True]) > np.mean(first[False]) + 0.2


def network_of(theirs, features):
    edges = np.array(list(theirs.edges), dtype=np.int64).reshape(-1, 2).T
    return AttributedGraph.from_edges(edges, features)


RNG = np.random.default_rng(0)
ODD = {
    "one node": network_of(nx.empty_graph(1), [[1.0, 2.0]]),
    "two nodes": network_of(nx.path_graph(2), [[1.0, 2.0], [3.0, -1.0]]),
    "two strangers": network_of(nx.empty_graph(2), [[1.0, 2.0], [3.0, -1.0]]),
    "no edges": network_of(nx.empty_graph(60), RNG.normal(size=(60, 3))),
    "constant features": network_of(nx.karate_club_graph(), np.full((34, 3), 7.0)),
    "one feature": network_of(nx.karate_club_graph(), RNG.normal(size=(34, 1))),
    "one of them constant": network_of(
        nx.karate_club_graph(), np.column_stack([RNG.normal(size=34), np.ones(34)])
    ),
    "complete": network_of(nx.complete_graph(30), RNG.normal(size=(30, 2))),
    "more features than nodes": network_of(nx.cycle_graph(12), RNG.normal(size=(12, 40))),
    "isolated beside others": network_of(
        nx.disjoint_union(nx.empty_graph(2), nx.karate_club_graph()), RNG.normal(size=(36, 3))
    ),
}


def numbers_in(why):
    """Every number in an explanation."""
    if isinstance(why, dict):
        return [number for part in why.values() for number in numbers_in(part)]
    if isinstance(why, list | tuple):
        return [number for part in why for number in numbers_in(part)]
    return [why] if isinstance(why, int | float) else []


class TestOddNetworks:
    @pytest.mark.parametrize("name", ODD)
    def test_explanations_are_finite_and_can_be_printed(self, name, capsys):
        graph = ODD[name]
        detector = EgoScore(updates=2, hidden_size=8).fit(graph)
        some = [0, graph.num_nodes - 1]
        for row, why in zip(some, detector.explain_all(some), strict=True):
            assert np.isfinite(numbers_in(why.to_dict())).all()
            assert "nan" not in why.summary
            assert "inf " not in why.summary
            assert len(why.picture.nodes) <= MOST_NODES
            assert why.node == str(row)
            show_explanation(why, vocabulary_of("default"))
            assert why.summary in " ".join(capsys.readouterr().out.split())

    def test_an_isolated_node_has_no_ties_and_no_energy(self):
        graph = ODD["isolated beside others"]
        why = EgoScore(updates=2, hidden_size=8).fit(graph).explain(1)
        assert (why.ego_size, why.energy_actual, why.energy_expected) == (1, 0.0, 0.0)
        assert why.surprising == why.expected == ()
        assert (why.picture.nodes, why.picture.actual, why.picture.expected) == (("1",), (), ())

    def test_where_features_are_constant_none_is_off(self):
        why = EgoScore(updates=2, hidden_size=8).fit(ODD["constant features"]).explain(0)
        assert {(one.observed, one.expected, one.size) for one in why.features} == {("7", "7", 0.0)}

    def test_a_hub_of_twenty_thousand_is_explained_at_once_and_in_a_small_picture(self):
        star = np.stack([np.zeros(20_000, dtype=np.int64), np.arange(1, 20_001)])
        graph = AttributedGraph.from_edges(star, RNG.normal(size=(20_001, 3)))
        detector = EgoScore(updates=2, hidden_size=8).fit(graph)
        began = time.perf_counter()
        hub, leaf = detector.explain_all([0, 7])
        assert time.perf_counter() - began < 20
        assert (hub.ego_size, leaf.ego_size) == (20_001, 2)
        assert len(hub.picture.nodes) == MOST_NODES
        assert hub.picture.left_out == 20_000 - (MOST_NODES - 1)
        assert np.isfinite(numbers_in(hub.to_dict())).all()
        assert hub.rank == int((detector.decision_score_ > detector.decision_score_[0]).sum()) + 1

    def test_a_value_far_beyond_all_others_is_told_with_what_others_have(self):
        graph = generate_network(2000, 6000, 4, outlier_fraction=0, seed=1)
        x = graph.features.copy()
        usual = x[:, 2].max()
        x[7, 2] = 1e5
        why = EgoScore(updates=2, hidden_size=8).fit(replace(graph, features=x)).explain(7)
        first = why.features[0]
        assert (first.name, first.observed) == ("x2", "100,000")
        assert abs(float(first.expected.replace(",", ""))) < 0.1 * 1e5
        assert usual < 100
        assert first.size > 10


class TestStructural:
    """A network whose features are its structure is not told its structure again."""

    @pytest.fixture(scope="class")
    @classmethod
    def graph(cls):
        plain = generate_network(300, 900, 3, seed=4)
        columns = tuple(FeatureColumn(f"s{j}", "structure") for j in range(7))
        found = structure(plain).astype(np.float32)
        return replace(plain, features=found, columns=columns, feature_names=tuple("abcdefg"))

    def test_scores_are_finite_and_residuals_are_not_nothing(self, graph):
        assert graph.is_structural
        detector, found = fit(graph)
        model = detector.learned
        assert not model.uses_structure
        assert np.isfinite(found.score).all()
        with_structure = fit(replace(graph, columns=()))[0].learned
        assert with_structure.uses_structure
        # given the structure it predicts it, except for nodes without neighbours
        assert with_structure.centre.skill[0] > 0.8 > 0.7 > model.centre.skill[0]
        assert found.channels["linear_residual"].min() > 0
        assert np.ptp(found.channels["linear_residual"]) > 0.1

    def test_only_the_place_is_told_as_only_that_is_judged(self, graph):
        why = EgoScore(updates=2, hidden_size=8).fit(graph).explain(0)
        assert why.features == ()
        assert len({one.name for one in why.structure}) == 7
        assert set(why.questions) == {"position", "extremes"}
        channels = [*channels_of("position"), *channels_of("extremes")]
        told = [*channels, "surprise_position", "surprise_extremes"]
        assert [part.name for part in why.components] == told
        told = [column.title for column in describe_structure()].index(why.structure[0].name)
        assert why.picture.shade == f"s{told}"
        assert np.isfinite(numbers_in(why.to_dict())).all()

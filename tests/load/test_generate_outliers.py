"""Planted outliers: each kind is wrong in its own way, and everything else stays as it was."""

import math

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from egoscore.load.generate_outliers import (
    KINDS,
    choose_kinds,
    count_degrees,
    plant_edges,
    plant_features,
    spare,
)

NUMBER = {name: number for number, name in enumerate(KINDS)}
SIZE, WIDTH = 400, 7
COMMUNITY = np.arange(SIZE) // 10 % 8  # ten nodes in a row share one


def rng(seed=0):
    return np.random.default_rng(seed)


def kinds_of(**nodes):
    kinds = np.zeros(SIZE, dtype=np.int8)
    for name, chosen in nodes.items():
        kinds[chosen] = NUMBER[name]
    return kinds


def of_kind(kinds, name):
    return np.flatnonzero(kinds == NUMBER[name])


class TestKinds:
    def degrees(self, seed, size=1000):
        return rng(seed).geometric(0.12, size)

    def test_all_kinds_are_equally_many(self):
        kinds = choose_kinds(rng(), self.degrees(0), 0.06)
        assert np.bincount(kinds).tolist() == [940, 15, 15, 15, 15]

    @pytest.mark.parametrize(
        ("count", "expected"), [(0, 0), (1, 0), (8, 0), (11, 0), (12, 3), (16, 4)]
    )
    def test_too_few_for_a_clique_are_none(self, count, expected):
        kinds = choose_kinds(rng(), self.degrees(0, 200), count / 200)
        assert np.count_nonzero(kinds) == count
        assert len(of_kind(kinds, "structural")) == expected

    def test_degrees_of_outliers_rank_as_all_degrees(self):
        # a plain random choice of sixty nodes misses by 0.04 as a rule
        for seed in range(10):
            degrees = self.degrees(seed)
            outlier = choose_kinds(rng(seed), degrees, 0.06) > 0
            assert roc_auc_score(outlier, degrees) == pytest.approx(0.5, abs=0.01)

    def test_cliques_take_the_outliers_with_the_most_usual_degrees(self):
        degrees = self.degrees(1)
        kinds = choose_kinds(rng(1), degrees, 0.06)
        distance = np.abs(degrees - np.median(degrees))
        in_cliques = kinds == NUMBER["structural"]
        assert distance[in_cliques].max() <= distance[(kinds > 0) & ~in_cliques].min()

    def test_nodes_without_edges_are_only_wrong_in_their_features(self):
        degrees = self.degrees(2)
        degrees[::6] = 0
        kinds = choose_kinds(rng(2), degrees, 0.2)
        alone = kinds[(degrees == 0) & (kinds > 0)]
        assert len(alone) > 10
        assert set(alone) == {NUMBER["attribute"]}


class TestFeatures:
    """A value tells where it comes from: node n has n * WIDTH + f as its feature f."""

    KINDS_GIVEN = kinds_of(
        attribute=slice(3, None, 20),
        structural=slice(8, None, 20),
        contextual=slice(12, None, 20),
        joint=slice(17, None, 20),
    )

    @pytest.fixture
    def donors(self):
        """For every value the node it is from."""
        features = np.arange(SIZE * WIDTH, dtype=np.float32).reshape(SIZE, WIDTH)
        plant_features(rng(), features, self.KINDS_GIVEN, COMMUNITY)
        nodes, columns = np.divmod(features.astype(np.int64), WIDTH)
        assert (columns == np.arange(WIDTH)).all()
        return nodes

    def own(self, name):
        return of_kind(self.KINDS_GIVEN, name)

    @pytest.mark.parametrize("name", ["normal", "structural"])
    def test_these_keep_their_own(self, donors, name):
        nodes = self.own(name)
        assert (donors[nodes] == nodes[:, None]).all()

    def test_attribute_outliers_take_each_value_from_another_node(self, donors):
        nodes = self.own("attribute")
        assert (donors[nodes] != nodes[:, None]).all()
        assert min(len(set(row)) for row in donors[nodes].tolist()) >= WIDTH - 2

    def test_contextual_outliers_take_all_from_one_node_of_another_community(self, donors):
        nodes = self.own("contextual")
        rows = donors[nodes]
        assert (rows == rows[:, :1]).all()
        assert (COMMUNITY[rows[:, 0]] != COMMUNITY[nodes]).all()
        assert len(set(rows[:, 0])) > 1

    def test_joint_outliers_take_half_of_the_values_from_others(self, donors):
        nodes = self.own("joint")
        is_foreign = donors[nodes] != nodes[:, None]
        assert (is_foreign.sum(axis=1) == math.ceil(WIDTH / 2)).all()
        assert is_foreign.any(axis=0).all()  # not the same half for all of them
        for row, foreign in zip(donors[nodes], is_foreign, strict=True):
            assert len(set(row[foreign])) > 1

    def test_lengths_of_changed_rows_rank_as_all_lengths(self):
        for seed in range(10):
            before = rng(seed).gamma(2.0, size=(1000, 5)).astype(np.float32)
            kinds = choose_kinds(rng(seed), np.full(1000, 8), 0.06)
            after = before.copy()
            plant_features(rng(seed), after, kinds, np.arange(1000) % 8)
            rows = np.concatenate([before, after[kinds > 0]])
            is_new = np.arange(len(rows)) >= 1000
            for values in (rows, StandardScaler().fit(before).transform(rows)):
                auc = roc_auc_score(is_new, np.linalg.norm(values, axis=1))
                assert auc == pytest.approx(0.5, abs=0.03)


class TestEdges:
    """In a ring where everybody has eight edges, a clique has six members."""

    STRUCTURAL = np.arange(0, 120, 10)  # twelve, of eight communities, none connected to another
    JOINT = np.arange(205, 400, 25)
    OTHERS = np.arange(150, 200)  # whom the edges of the joint lead to

    @pytest.fixture
    def edges(self):
        ring = np.array(nx.circulant_graph(SIZE, [1, 2, 3, 4]).edges).T
        return rng(1).permuted(ring, axis=0)

    @pytest.fixture
    def kinds(self):
        return kinds_of(structural=self.STRUCTURAL, joint=self.JOINT)

    @pytest.fixture
    def planted(self, edges, kinds):
        return self.plant(edges, kinds)

    def plant(self, edges, kinds):
        draws = rng(2)
        return plant_edges(
            rng(), edges, kinds, COMMUNITY, lambda count: draws.choice(self.OTHERS, count)
        )

    def network(self, edges):
        network = nx.MultiDiGraph()
        network.add_nodes_from(range(SIZE))
        network.add_edges_from(edges.T.tolist())
        return network

    def test_structural_outliers_are_in_cliques(self, planted):
        inner = nx.Graph(self.network(planted).subgraph(self.STRUCTURAL))
        cliques = list(nx.connected_components(inner))
        assert [len(members) for members in cliques] == [6, 6]
        assert all(nx.density(inner.subgraph(members)) == 1 for members in cliques)

    def test_the_members_of_a_clique_are_strangers(self, planted):
        inner = nx.Graph(self.network(planted).subgraph(self.STRUCTURAL))
        for members in nx.connected_components(inner):
            assert len(set(COMMUNITY[list(members)])) == len(members)

    def test_edges_in_a_clique_point_either_way(self, planted):
        inside = np.isin(planted, self.STRUCTURAL).all(axis=0)
        sources, targets = planted[:, inside]
        assert 0 < np.count_nonzero(sources < targets) < inside.sum() == 30

    def test_outliers_keep_their_degrees(self, edges, planted):
        nodes = [*self.STRUCTURAL, *self.JOINT]
        before, after = (self.network(them).degree for them in (edges, planted))
        assert [after[node] for node in nodes] == [before[node] for node in nodes]

    def test_joint_outliers_are_tied_to_nodes_drawn_anywhere_in_the_same_direction(
        self, edges, planted
    ):
        before, after = self.network(edges), self.network(planted)
        for node in self.JOINT.tolist():
            assert after.out_degree[node] == before.out_degree[node]
            assert after.in_degree[node] == before.in_degree[node]
            assert set(nx.all_neighbors(after, node)) <= set(self.OTHERS)

    def test_edges_between_others_stay_and_none_are_new(self, edges, planted):
        def between_others(them):
            touched = np.isin(them, [*self.STRUCTURAL, *self.JOINT]).any(axis=0)
            return sorted(them[:, ~touched].T.tolist())

        assert between_others(planted) == between_others(edges)

    def test_without_such_outliers_all_edges_stay(self, edges):
        kinds = kinds_of(attribute=[1, 2], contextual=[3, 4])
        assert sorted(self.plant(edges, kinds).T.tolist()) == sorted(edges.T.tolist())

    def test_the_edges_given_are_not_changed(self, edges, kinds):
        before = edges.copy()
        self.plant(edges, kinds)
        np.testing.assert_array_equal(edges, before)


def test_further_edges_spare_cliques_and_misplaced_nodes():
    kinds = kinds_of(structural=[0], joint=[1], attribute=[2], contextual=[3])
    drafts = np.array([[0, 5, 1, 6, 2, 5, 0], [5, 0, 6, 1, 3, 6, 1]])
    asked = []

    def draw(count):
        asked.append(count)
        return drafts

    assert spare(kinds, draw)(7).tolist() == [[2, 5], [3, 6]]
    assert asked == [7]


def test_edges_are_counted_at_both_ends():
    edges = rng().integers(20, size=(2, 60))
    network = nx.MultiDiGraph(edges.T.tolist())
    network.add_nodes_from(range(25))
    assert count_degrees(edges, 25).tolist() == [network.degree[node] for node in range(25)]

"""`teach` and `suggest`: what verdicts change, and what they never change."""

import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.detectors.inputs import InputBlock, graph_blocks
from egoscore.errors import InputError
from egoscore.graph.feature_column import FeatureColumn
from egoscore.review.teacher import Teacher, suggest

QUICK = {"updates": 2, "hidden_size": 8}
PAPER = {"epochs": 2, "num_levels": 2, "num_samples": 1, "steps": 10, "hidden_size": 8}


def named(graph):
    """The graph with ids and names that are texts."""
    ids = np.array([f"acc-{number}" for number in range(graph.num_nodes)], dtype=object)
    names = np.array([f"Account {number}" for number in range(graph.num_nodes)], dtype=object)
    return replace(graph, ids=ids, names=names)


GRAPH = named(generate_network(200, 600, 5, outlier_fraction=0.1))


@pytest.fixture(scope="module")
def fitted():
    return EgoScore(**QUICK).fit(GRAPH)


def verdicts(count=30):
    """Verdicts on some nodes: those with a high first feature are abnormal."""
    draw = np.random.default_rng(0)
    rows = draw.permutation(GRAPH.num_nodes)[:count]
    return {GRAPH.ids[row]: bool(GRAPH.features[row, 0] > 0) for row in rows}


def test_no_verdict_changes_nothing(fitted):
    taught = fitted.teach({})
    assert (taught.updated_score_ == fitted.decision_score_).all()
    assert taught.suggest(20) == fitted.suggest(20)
    order = np.argsort(-fitted.decision_score_.numpy(), kind="stable")[:20]
    assert fitted.suggest(20) == GRAPH.ids[order].tolist()


def test_the_original_and_its_scores_stay_as_they_are(fitted):
    before = fitted.decision_score_.clone()
    taught = fitted.teach(verdicts())
    assert not hasattr(fitted, "updated_score_")
    assert (fitted.decision_score_ == before).all()
    assert (taught.decision_score_ == before).all()
    assert (taught.label_ == fitted.label_).all()
    assert (taught.predict(return_pred=False, return_score=True) == before).all()
    assert (taught.updated_score_ != before).any()


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_labels_never_influence_the_unsupervised_score(preset):
    draw = np.random.default_rng(0)
    settings = QUICK if preset == "default" else PAPER
    scores = []
    for labels in (None, draw.integers(0, 2, GRAPH.num_nodes).astype(np.int8)):
        found = EgoScore(preset, **settings).fit(replace(GRAPH, labels=labels), labels)
        scores.append((found.decision_score_, found.teach(verdicts()).updated_score_))
    for one, other in zip(*scores, strict=True):
        assert (one == other).all()


def test_verdicts_find_what_they_are_about(fitted):
    taught = fitted.teach(verdicts(60))
    rest = ~np.isin(GRAPH.ids, list(taught.verdicts_))
    first, moved = GRAPH.features[:, 0], (taught.updated_score_ - taught.decision_score_).numpy()
    assert np.corrcoef(first[rest] > 0, moved[rest])[0, 1] > 0.6


def test_like_nodes_move_together_and_up_with_a_verdict(fitted):
    node = fitted.suggest(1)[0]
    row = GRAPH.ids.tolist().index(node)
    up, down = (fitted.teach({node: kind}).updated_score_ for kind in (True, False))
    assert up[row] > fitted.decision_score_[row] > down[row]
    own = fitted.teach({node: True})._teacher_of_training().inputs.rows(np.arange(200))
    likeness = own @ own[row]
    moved = (down - fitted.decision_score_).numpy()
    assert np.corrcoef(likeness, moved)[0, 1] < -0.99


def test_one_verdict_changes_little(fitted):
    taught = fitted.teach({GRAPH.ids[0]: True})
    change = (taught.updated_score_ - fitted.decision_score_).abs().max()
    assert 0 < change < 2 * fitted.decision_score_.std()


def test_the_order_of_verdicts_and_of_calls_does_not_matter(fitted):
    given = verdicts()
    backwards = dict(reversed(given.items()))
    one_by_one = fitted
    for node, kind in backwards.items():
        one_by_one = one_by_one.teach({node: kind})
    for other in (fitted.teach(backwards), one_by_one):
        assert (fitted.teach(given).updated_score_ == other.updated_score_).all()


def test_later_verdicts_replace_and_none_forgets(fitted):
    first, second = GRAPH.ids[:2].tolist()
    taught = fitted.teach({first: True, second: False}).teach({first: False, second: None})
    assert taught.verdicts_ == {first: "normal"}
    assert (taught.updated_score_ == fitted.teach({first: False}).updated_score_).all()
    assert (taught.teach({first: None}).updated_score_ == fitted.decision_score_).all()


def test_unsure_nodes_teach_nothing_and_are_not_suggested(fitted):
    node = fitted.suggest(1)[0]
    taught = fitted.teach({node: "unsure"})
    assert (taught.updated_score_ == fitted.decision_score_).all()
    assert taught.suggest(5) == fitted.suggest(6)[1:]


def test_suggestions_leave_out_the_reviewed_until_none_is_left(fitted):
    given = verdicts(195)
    taught = fitted.teach(given)
    assert set(taught.suggest(10)) == set(GRAPH.ids) - set(given)
    assert taught.suggest(0) == []
    with pytest.raises(ValueError, match="'n' parameter"):
        taught.suggest(-1)


def test_suggestions_break_ties_by_row():
    updated = np.array([1.0, 2.0, 2.0, 2.0, 0.0])
    assert suggest(updated, np.array([1]), 2).tolist() == [2, 3]
    assert suggest(updated, np.array([], dtype=int), 1).tolist() == [1]
    assert suggest(updated, np.arange(5), 3).tolist() == []


def test_names_are_accepted_and_unknown_nodes_refused_or_skipped(fitted):
    assert fitted.teach({"Account 7": True}).verdicts_ == {"acc-7": "abnormal"}
    with pytest.raises(InputError, match="acc-7000"):
        fitted.teach({"acc-7000": True})
    skipped = fitted.teach({"acc-7000": True, "Account 7": 0}, skip_unknown=True)
    assert skipped.verdicts_ == {"acc-7": "normal"}


def test_one_node_has_one_verdict(fitted):
    assert fitted.teach({"Account 7": True, "acc-7": 1}).verdicts_ == {"acc-7": "abnormal"}
    with pytest.raises(InputError, match="two different verdicts"):
        fitted.teach({"Account 7": True, "acc-7": False})


def test_ids_that_are_numbers():
    graph = generate_network(60, 150, 3)
    fitted = EgoScore(**QUICK).fit(graph)
    taught = fitted.teach({3: True, "4": False, np.int64(5): True})
    assert taught.verdicts_ == {3: "abnormal", 4: "normal", 5: "abnormal"}
    assert all(type(node) is int for node in taught.suggest(3))


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_saved_and_applied_to_a_new_graph(tmp_path, preset):
    fitted = EgoScore(preset, **(QUICK if preset == "default" else PAPER)).fit(GRAPH)
    taught = fitted.teach(verdicts())
    taught.save(tmp_path / "model.safetensors")
    loaded = EgoScore.load(tmp_path / "model.safetensors")
    assert loaded.verdicts_ == taught.verdicts_
    assert (loaded.updated_score_ == taught.updated_score_).all()
    assert (loaded.decision_score_ == taught.decision_score_).all()
    new = named(generate_network(150, 500, 5, seed=9))
    assert torch.equal(loaded.updated_score(new), taught.updated_score(new))
    assert not torch.equal(taught.updated_score(new), taught.decision_function(new))
    np.testing.assert_allclose(loaded.updated_score(GRAPH), taught.updated_score_, atol=1e-5)
    with pytest.raises(InputError, match="without its graph"):
        loaded.teach({"acc-1": True})


def test_verdicts_carry_over_to_new_data_by_id(fitted):
    taught = fitted.teach(verdicts())
    rows = np.random.default_rng(1).permutation(150)
    part = AttributedGraph.from_edges(
        np.random.default_rng(2).integers(0, 150, (2, 400)),
        GRAPH.features[rows],
        ids=GRAPH.ids[rows].astype(str),
    )
    later = EgoScore(**QUICK).fit(part).teach(taught.verdicts_, skip_unknown=True)
    expected = {node: kind for node, kind in taught.verdicts_.items() if node in part.ids}
    assert later.verdicts_ == expected
    assert 0 < len(expected) < len(taught.verdicts_)


def test_another_fit_forgets(fitted):
    taught = EgoScore(**QUICK).fit(GRAPH).teach(verdicts())
    taught.fit(GRAPH)
    assert not hasattr(taught, "updated_score_")
    assert (taught.teach({}).updated_score_ == taught.decision_score_).all()


def test_columns_for_a_table(fitted):
    found = fitted.teach({"acc-3": True, "acc-4": "unsure"}).review_columns()
    assert found["verdict"][[3, 4, 5]].tolist() == ["abnormal", "unsure", ""]
    order = np.argsort(found["updated_rank"])
    assert (np.diff(found["updated_score"][order]) <= 0).all()
    without = fitted.review_columns()
    assert (without["updated_score"] == fitted.decision_score_.numpy()).all()


def test_what_needs_verdicts_says_so(fitted):
    for ask in (lambda: fitted.lessons_, lambda: fitted.updated_score(GRAPH)):
        with pytest.raises(NotFittedError, match="teach"):
            ask()
    with pytest.raises(NotFittedError, match="fit"):
        EgoScore().teach({})


def test_two_hundred_verdicts_on_many_nodes_take_no_time():
    """Only reviewed rows enter Newton's method: a million nodes cost one product."""
    size = 200_000
    draw = np.random.default_rng(0)
    features = draw.normal(size=(size, 2)).astype(np.float32)
    graph = AttributedGraph.from_edges(draw.integers(0, size, (2, size)), features)
    block = InputBlock("features", (FeatureColumn("a"), FeatureColumn("b")), features)
    teacher = Teacher.of(graph, draw.normal(size=size), [block])
    kinds = dict.fromkeys(range(100), "abnormal") | dict.fromkeys(range(100, 200), "normal")
    began = time.process_time()
    teacher.learn(kinds)
    assert time.process_time() - began < 1.0


def test_a_graph_without_features_of_its_own_has_its_structure_once():
    edges = np.random.default_rng(0).integers(0, 50, (2, 200))
    columns = (FeatureColumn("degree", "structure"),)
    graph = AttributedGraph.from_edges(edges, np.ones((50, 1), dtype=np.float32))
    assert [one.name for one in graph_blocks(graph)] == ["features", "position"]
    structural = replace(graph, columns=columns)
    assert [one.name for one in graph_blocks(structural)] == ["features"]


def test_scores_show_both_ranks_side_by_side():
    graph = generate_network(200, seed=3)
    fitted = EgoScore(updates=4, hidden_size=8).fit(graph)
    assert "updated_rank" not in fitted.scores(reasons=0)
    first, second = fitted.suggest(2)
    taught = fitted.teach({first: False, second: True})
    frame = taught.scores(reasons=2)
    place = frame.columns.get_loc("rank")
    added = ["verdict", "updated_score", "updated_rank"]
    assert frame.columns[place : place + 4].tolist() == ["rank", *added]
    assert frame["rank"].tolist() == list(range(1, 201))
    by_node = frame.set_index("node")
    assert by_node.loc[first, "verdict"] == "normal"
    assert by_node.loc[second, "verdict"] == "abnormal"
    np.testing.assert_array_equal(frame["updated_score"].rank(ascending=False), frame.updated_rank)
    again = taught.scores(graph, reasons=0).set_index("node")
    np.testing.assert_allclose(again.updated_score, by_node.updated_score, rtol=1e-5)


def test_suggestions_follow_the_updated_score_and_what_is_uncertain(fitted):
    taught = fitted.teach(verdicts(12))
    learned = taught.taught_
    inputs = taught._teacher_of_training().inputs.rows(np.arange(GRAPH.num_nodes))
    promising = learned.updated + learned.unit * learned.posterior.deviation(inputs)
    promising[learned.rows] = -np.inf
    order = np.argsort(-promising, kind="stable")
    assert taught.suggest(15) == GRAPH.ids[order[:15]].tolist()

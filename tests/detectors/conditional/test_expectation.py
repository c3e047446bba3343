"""What nodes are expected to be: some nodes as all of them, densely, and as they were judged."""

from dataclasses import replace

import numpy as np
import pytest
from default_detector import fit, measured

from egoscore import AttributedGraph, generate_network
from egoscore.detectors.conditional.denoiser import folds_of
from egoscore.detectors.conditional.expectation import Expectation, expect, scaled_features
from egoscore.detectors.conditional.mlp import SCORING_LEVEL, Centres, corrections
from egoscore.detectors.conditional.preprocess import FARTHEST
from egoscore.detectors.conditional.settings import ConditionalSettings
from egoscore.graph.feature_column import FeatureColumn
from egoscore.graph.structure import structure

SIGNAL = 1 / (1 + np.exp(-SCORING_LEVEL))
TRAINING = ConditionalSettings(hidden_size=8, updates=40, batch_size=64)


@pytest.fixture(scope="module")
def graph():
    """Communities, and two nodes without neighbours."""
    some = generate_network(300, 900, 5, seed=2)
    edges = np.stack([np.repeat(np.arange(300), some.adjacency.degrees), some.adjacency.indices])
    x = np.vstack([some.features, some.features[:2] + 1])
    return AttributedGraph.from_edges(edges, x)


@pytest.fixture(scope="module", params=[False, True], ids=["told structure", "structural"])
def judged(request, graph):
    """The network as it is, or as one whose features are structure; its model; what it found."""
    if request.param:
        columns = tuple(FeatureColumn(name, "structure") for name in graph.feature_names)
        graph = replace(graph, columns=columns)
    detector, _ = fit(graph, settings=TRAINING)
    fitted = detector.learned
    # whether networks help so little a network depends on luck: here they are listened to
    model = replace(fitted, centre=replace(fitted.centre, gate=0.7))
    return graph, model, replace(detector, learned=model)


def seen_through(model):
    """What the linear guess of a judged node, which sees a little of it, leaves of its error."""
    variance = model.centre.context.variance
    return 1 - SIGNAL * variance / (SIGNAL * variance + 1 - SIGNAL)


def densely(model, graph, is_training):
    """The expectation of all nodes, with full matrices and every step by itself."""
    scaled = (graph.features - model.scaling.linear.mean) * model.scaling.linear.factor
    clipped = np.clip(scaled, -FARTHEST, FARTHEST)
    white = model.whitening.apply(clipped.astype(np.float32)).astype(np.float64)
    adj = graph.neighbours.to_scipy().toarray()
    known = adj @ white.clip(-3, 3) / np.maximum(adj.sum(axis=1), 1)[:, None]
    if not graph.is_structural:
        known = np.column_stack([known, structure(graph)])
        known[adj.sum(axis=1) == 0] = np.nan  # nothing is known around them
    known = known.astype(np.float32)
    parts = folds_of(graph.num_nodes, model.seed) if is_training else None
    context, white = model.centre.context, white.astype(np.float32)
    linear = white - context.left_out(known, white) if is_training else context.predict(known)
    about = Centres.of(linear, linear, context.variance, context.standardised(known))
    added = np.zeros_like(linear)
    for number, network in enumerate(model.centre.networks):
        if parts is None:
            added += corrections(network, about).numpy() / 9
        else:
            unseen = np.flatnonzero(parts[number // 3] == number % 3)
            added[unseen] += corrections(network, about[unseen]).numpy() / 3
    guess = linear + model.centre.gate * added / seen_through(model)
    axes = model.whitening.axes
    return clipped, guess[:, : axes.shape[1]] @ np.linalg.pinv(axes) + model.whitening.mean


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("nodes", [[0], [301, 5, 17], list(range(302))])
def test_it_is_the_dense_computation(judged, is_training, nodes):
    graph, model, _ = judged
    nodes = np.array(nodes)
    found = expect(model, graph, structure(graph), nodes, is_training)
    observed, expected = densely(model, graph, is_training)
    np.testing.assert_allclose(found.observed, observed[nodes], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.expected, expected[nodes], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("is_training", [True, False])
def test_without_networks_it_is_the_residual_by_which_nodes_were_judged(judged, is_training):
    graph, model, detector = judged
    model = replace(model, centre=replace(model.centre, gate=0.0))
    detector = replace(detector, learned=model)
    nodes = np.arange(graph.num_nodes)
    white = model.whitening.apply(scaled_features(model, graph, nodes))
    assert np.abs(white).max() < 8  # nothing here is farther than a network is asked about
    expectation = expect(model, graph, structure(graph), nodes, is_training)
    left = model.whitening.apply(expectation.observed) - model.whitening.apply(expectation.expected)
    residual = model.centre.distance.squared((left * seen_through(model)).astype("f4"))
    channels = measured(detector, graph, is_training).channels
    np.testing.assert_allclose(residual, channels["network_residual"], rtol=2e-2)


def test_what_a_node_itself_is_has_no_part_in_it(judged):
    """Another value where it stands changes nothing of what is expected there."""
    graph, model, _ = judged
    x = graph.features.copy()
    x[5, 1] += 1e4
    changed = replace(graph, features=x)
    before, after = (
        expect(model, one, structure(one), np.array([5]), False).expected
        for one in (graph, changed)
    )
    np.testing.assert_allclose(after, before, atol=1e-6)


def test_the_networks_have_a_part_in_it(judged):
    graph, model, _ = judged
    linear = replace(model, centre=replace(model.centre, gate=0.0))
    nodes = np.arange(20)
    ours, theirs = (
        expect(one, graph, structure(graph), nodes, True).expected for one in (model, linear)
    )
    assert np.abs(ours - theirs).max() > 1e-4


def test_a_node_far_beyond_all_others_is_not_expected_there():
    """The model is not asked about more than 8 deviations; what it says must not follow beyond."""
    graph = generate_network(2000, 6000, 4, outlier_fraction=0, seed=1)
    x = graph.features.copy()
    x[7, 2] = 1e5
    far = replace(graph, features=x)
    model = fit(far, settings=TRAINING)[0].learned
    found = expect(model, far, structure(far), np.array([7]), True)
    assert found.observed[0, 2] == FARTHEST
    assert found.errors[0, 2] > 0.8 * FARTHEST


def test_an_isolated_node_is_expected_to_be_like_nobody_in_particular(judged):
    """Without structure, all that is known about it is that nothing is known."""
    graph, model, _ = judged
    found = expect(model, graph, structure(graph), np.array([300, 301]), False)
    assert np.isfinite(found.expected).all()
    alone = model.centre.context.predict
    nothing = 0.0 if graph.is_structural else np.nan
    known = np.full((1, len(model.centre.context.mean)), nothing, dtype=np.float32)
    linear = np.repeat(alone(known), 2, axis=0)
    without = replace(model, centre=replace(model.centre, gate=0.0))
    guess = expect(without, graph, structure(graph), np.array([300, 301]), False).expected
    np.testing.assert_allclose(guess, model.whitening.revert(linear), rtol=1e-3, atol=1e-3)


def test_errors_are_what_is_less_what_is_expected():
    observed, expected = np.float32([[3.0, 1.0]]), np.float32([[1.0, 4.0]])
    np.testing.assert_array_equal(Expectation(observed, expected).errors, [[2.0, -3.0]])


def test_features_are_scaled_and_cut_off(judged):
    graph, model, _ = judged
    far = graph.features.copy()
    far[4, 1] = 1e9
    found = scaled_features(model, replace(graph, features=far), np.array([4, 2]))
    assert found[0, 1] == FARTHEST
    expected = (graph.features[2] - model.scaling.linear.mean) * model.scaling.linear.factor
    np.testing.assert_allclose(found[1], expected, rtol=1e-5)

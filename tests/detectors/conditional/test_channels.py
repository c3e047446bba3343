"""The table of channels: one entry is all that a new measurement needs."""

import numpy as np
import pytest
from default_detector import fit

from egoscore import EgoScore, generate_network
from egoscore.detectors import vocabulary_of
from egoscore.detectors.conditional.channels import CHANNELS, QUESTIONS, Channel, channels_of


@pytest.fixture(scope="module")
def graph():
    return generate_network(120, 300, 4, seed=2)


def test_entries_are_keyed_by_their_names_and_answer_known_questions():
    for name, channel in CHANNELS.items():
        assert channel.name == name
        assert channel.question in ("", *QUESTIONS)
        assert channel.label
    assert all(channels_of(question) for question in QUESTIONS)


def test_every_column_has_a_label(graph):
    _, table = fit(graph)
    assert set(table.columns()) - {"ego_size"} == set(vocabulary_of("default").components)


def test_one_entry_adds_a_channel(graph, monkeypatch):
    def squared_degree(measurement):
        return np.square(measurement.view.near.degree)

    without = EgoScore(updates=2, hidden_size=8).fit(graph)
    channel = Channel("squared_degree", "position", "squared number of neighbours", squared_degree)
    monkeypatch.setitem(CHANNELS, "squared_degree", channel)
    detector = EgoScore(updates=2, hidden_size=8).fit(graph)
    degrees = graph.neighbours.degrees
    columns = detector.components_.columns()
    np.testing.assert_allclose(columns["squared_degree"], degrees**2.0)
    assert "squared_degree" in detector.detector_.scoring.channels
    parts = {part.name: part.value for part in detector.explain(7).components}
    assert parts["squared_degree"] == pytest.approx(degrees[7] ** 2.0)
    before = without.components_.columns()
    assert (columns["surprise_position"] != before["surprise_position"]).any()
    np.testing.assert_array_equal(columns["surprise_features"], before["surprise_features"])


@pytest.mark.parametrize(("is_log", "floor", "expected"), [(True, 0.1, np.log([0.1, 2.0])), (False, 0.1, [0.0, 2.0])])  # fmt: skip # noqa: E501
def test_values_are_calibrated_by_their_logarithm_if_the_entry_says_so(is_log, floor, expected):
    channel = Channel("c", "position", "label", lambda m: m, is_log=is_log, floor=floor)
    found = channel.scaled(np.array([0.0, 2.0], dtype=np.float32))
    np.testing.assert_allclose(found, expected, rtol=1e-6)

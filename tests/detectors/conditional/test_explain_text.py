"""The default detector's reasons in words: they have the key facts."""

from dataclasses import replace

import pytest
from default_detector import fit

from egoscore import generate_network
from egoscore.detectors.conditional.explain import ConditionalExplainer
from egoscore.explain.explanation import Deviation
from egoscore.explain.sentences import clause, off

COMPANY = "dirichlet_energy", "mismatch", "mismatch_two_steps"


@pytest.fixture(scope="module")
def explainer():
    graph = generate_network(200, 600, 6, seed=2)
    detector, table = fit(graph)
    return ConditionalExplainer(detector.learned, graph, table, detector.scoring.shifts, True)


@pytest.fixture(scope="module")
def reasons(explainer):
    return explainer.reasons(3)


def with_sizes(reasons, size):
    """The same with all deviations of this size."""
    features, structure = (
        tuple(replace(one, size=size) for one in part)
        for part in (reasons.features, reasons.structure)
    )
    return replace(reasons, features=features, structure=structure)


def with_high(reasons, name, **changes):
    """The same with one channel far above the others."""
    parts = (
        replace(part, percentile=99.0 if part.name == name else 10.0) for part in reasons.components
    )
    return replace(reasons, components=tuple(parts), **changes)


@pytest.mark.parametrize(("cause", "part"), [("features", "features"), ("position", "structure")])
def test_features_and_place_are_explained_by_the_largest_deviation(explainer, reasons, cause, part):
    reasons = with_sizes(reasons, 2.5)
    first = getattr(reasons, part)[0]
    assert clause(first) in explainer.phrase(cause, reasons)
    assert explainer.in_short(cause, reasons) == off(first)


@pytest.mark.parametrize(("cause", "part"), [("features", "features"), ("position", "structure")])
def test_without_a_large_deviation_the_short_form_names_none(explainer, reasons, cause, part):
    reasons = with_sizes(reasons, -1.9)
    first = getattr(reasons, part)[0]
    assert first.name not in explainer.in_short(cause, reasons)
    assert clause(first) in explainer.phrase(cause, reasons)


def test_a_missing_value_is_mentioned_once(explainer, reasons):
    same = Deviation("age", "missing", "a value", 9.0), Deviation("age", "missing", "40", -4.0)
    income = Deviation("income", "7", "5", 3.0)
    text = explainer.phrase("features", replace(reasons, features=(*same, income)))
    assert text.count("age") == 1
    assert "income is 7" in text


@pytest.mark.parametrize(
    ("actual", "expected", "ratio"),
    [(6.0, 0.5, "12"), (617.0, 0.5, "1,234"), (0.6, 0.5, None), (6.0, 0.0, None)],
)
def test_the_ratio_to_the_expected_difference_is_stated_where_it_helps(
    explainer, reasons, actual, expected, ratio
):
    reasons = with_high(reasons, "dirichlet_energy", energy_actual=actual, energy_expected=expected)
    for text in (
        explainer.phrase("similarity", reasons),
        explainer.in_short("similarity", reasons),
    ):
        assert ("times" in text) == (ratio is not None)
        assert f"{ratio} times" in text or ratio is None


@pytest.mark.parametrize("name", COMPANY)
def test_the_most_unusual_channel_says_from_whom_a_node_differs(explainer, reasons, name):
    reasons = with_high(reasons, name)
    for text in (
        explainer.phrase("similarity", reasons),
        explainer.in_short("similarity", reasons),
    ):
        assert "neighbours" in text
        is_two_steps = "neighbours of its" in text or "neighbours' neighbours" in text
        assert is_two_steps == (name == "mismatch_two_steps")


def test_the_least_similar_neighbours_are_named(explainer, reasons):
    assert reasons.surprising
    text = explainer.phrase("similarity", reasons)
    assert f"from {reasons.surprising[0].node}" in text
    without = explainer.phrase("similarity", replace(reasons, surprising=()))
    assert f"from {reasons.surprising[0].node}" not in without


def test_categories_of_neighbours_are_shown(explainer, reasons):
    unlike = (Deviation("city = Rome", "yes", "4% yes", 3.0, "category"),)
    text = explainer.phrase("similarity", replace(reasons, unlike=unlike))
    assert "city" in text
    assert "4% yes" in text


def test_a_node_without_neighbours_is_said_to_have_none(explainer, reasons):
    alone = replace(reasons, ego_size=1)
    assert "no neighbours" in explainer.phrase("similarity", alone)
    assert "no neighbours" in explainer.in_short("similarity", alone)


@pytest.mark.parametrize(
    ("expected", "kind", "has_ratio"),
    [(0.0, "number", False), (0.5, "number", True), (0.0, "category", True)],
)
def test_there_is_no_ratio_where_the_neighbours_have_zero(
    explainer, reasons, expected, kind, has_ratio
):
    one = Deviation("a", "1", "0", 9.0, kind, "", 1.0, expected)
    energies = {"energy_actual": 6.0, "energy_expected": 0.5}
    reasons = with_high(reasons, "dirichlet_energy", unlike=(one,), **energies)
    assert ("times" in explainer.phrase("similarity", reasons)) == has_ratio
    assert ("times" in explainer.in_short("similarity", reasons)) == has_ratio

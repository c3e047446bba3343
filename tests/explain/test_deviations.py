"""Deviations of features in the user's units."""

from dataclasses import replace

import numpy as np
import pytest

from egoscore.detectors.conditional.explain import fit_usual_errors
from egoscore.explain.deviations import Ranges, Units, deviation_of, largest_deviations
from egoscore.graph import AttributedGraph, FeatureScaling
from egoscore.graph.feature_column import FeatureColumn

NUMBERS = tuple(FeatureColumn(name) for name in "abcdef")


class TestDeviating:
    RAW = np.array([10.0, 200.0, -3.0, 7.0], dtype=np.float32)
    TABLE = np.array([[8, 100, -3, 7], [12, 300, 3, 7], [10, 200, 0, 7]], dtype=np.float32)

    def found(self, rest, sizes, most=8, raw=RAW, observed=None):
        scaling = FeatureScaling.fit(self.TABLE)
        seen = scaling.scale(raw[None])[0] if observed is None else observed
        table = np.vstack([self.TABLE, raw])
        units = Units(NUMBERS[: len(raw)], scaling, Ranges.of(table, scaling.mean))
        return largest_deviations(raw, seen, np.array(rest), np.array(sizes), units, most)

    def test_the_furthest_off_comes_first_whatever_its_sign(self):
        found = self.found([0.1, 0.2, -0.3, 0.0], [1.0, -9.0, 3.004, 0.0])
        assert [one.name for one in found] == ["b", "c", "a", "d"]
        assert [one.size for one in found] == [-9.0, 3.0, 1.0, 0.0]

    def test_values_are_told_in_the_users_units(self):
        """What is expected lies `rest` deviations of the column below what is."""
        deviation = self.TABLE.std(axis=0)
        found = {one.name: one for one in self.found([1.0, -0.5, 2.0, 0.0], [4, 3, 2, 1])}
        assert {name: one.size for name, one in found.items()} == {"a": 4, "b": 3, "c": 0, "d": 1}
        assert found["a"].observed == "10"
        assert found["a"].expected == f"{10 - deviation[0]:.4g}"
        assert found["b"].expected == f"{200 + 0.5 * deviation[1]:.4g}"
        assert found["c"].expected == "-3"  # nothing less was seen

    def test_a_constant_column_is_expected_to_be_what_it_was(self):
        raw = np.array([10.0, 200.0, -3.0, 9.0], dtype=np.float32)
        found = self.found([0.0] * 4, [0.0, 0.0, 0.0, 1.0], raw=raw)
        assert (found[0].name, found[0].observed, found[0].expected) == ("d", "9", "7")

    def test_only_as_many_as_wanted(self):
        assert [one.name for one in self.found([0.0] * 4, [1, 2, 3, 4], most=2)] == ["d", "c"]

    def test_what_lies_farther_than_the_model_sees_is_not_expected_farther_for_it(self):
        """The model saw a value of 10 deviations and is off by all of it: the mean is expected."""
        raw = np.array([1e6, 200.0, -3.0, 7.0], dtype=np.float32)
        seen = np.array([10.0, 0.0, 0.0, 0.0], dtype=np.float32)
        found = self.found([10.0, 0.0, 0.0, 0.0], [30.0, 0, 0, 0], raw=raw, observed=seen)
        assert (found[0].observed, found[0].expected) == ("1,000,000", "10")


def unscaled(columns, least, greatest):
    """Columns as the model sees them, with values between two numbers."""
    count = len(columns)
    seen = Ranges(np.full(count, least), np.full(count, greatest))
    return Units(columns, FeatureScaling(np.zeros(count), np.ones(count)), seen)


def test_what_was_filled_in_is_told_as_missing():
    columns = [FeatureColumn("age"), FeatureColumn("age", "missing"), FeatureColumn("income")]
    raw = np.array([40.0, 1.0, 7.0], dtype=np.float32)
    rest, sizes = np.array([9.0, 0.5, 2.0]), np.array([5.0, 4.0, 3.0])
    found = largest_deviations(raw, raw, rest, sizes, unscaled(columns, 0.0, 40.0), 3)
    assert [(one.name, one.observed, one.expected) for one in found] == [
        ("age", "missing", "31"),
        ("age", "missing", "50% missing"),
        ("income", "7", "5"),
    ]
    assert [(one.observed_value, one.expected_value) for one in found] == [
        (None, 31.0),
        (1.0, 0.5),
        (7.0, 5.0),
    ]


@pytest.mark.parametrize(("rest", "expected"), [(1.0, "a value"), (0.6, "a value"), (0.1, "90% missing")])  # fmt: skip # noqa: E501
def test_where_hardly_any_value_is_missing_one_is_expected(rest, expected):
    column, raw = FeatureColumn("age", "missing"), np.ones(1, dtype=np.float32)
    units = unscaled([column], 0.0, 1.0)
    (found,) = largest_deviations(raw, raw, np.array([rest]), np.array([5.0]), units, 1)
    assert found.expected == expected


def test_that_a_value_is_there_is_told_as_before():
    column, raw = FeatureColumn("age", "missing"), np.zeros(1, dtype=np.float32)
    units = unscaled([column], 0.0, 1.0)
    (found,) = largest_deviations(raw, raw, np.array([-0.9]), np.array([-3.0]), units, 1)
    assert (found.name, found.observed, found.expected) == ("age is missing", "no", "90% yes")


@pytest.mark.parametrize(("expected", "first"), [(0.3, "job = cook"), (0.8, "age")])
def test_a_yes_that_is_likelier_than_not_is_told_last(expected, first):
    columns = [FeatureColumn("job", "category", "cook"), FeatureColumn("age")]
    raw = np.array([1.0, 40.0], dtype=np.float32)
    rest = np.array([1.0 - expected, 10.0])
    found = largest_deviations(
        raw, raw, rest, np.array([5.0, 3.0]), unscaled(columns, 0.0, 40.0), 2
    )
    assert found[0].name == first


class TestWithinRange:
    """An age of -3 or a yes of 140% is not told as expected."""

    COLUMNS = (FeatureColumn("age"), FeatureColumn("member", "yes/no"))
    TABLE = np.array([[18, 0], [70, 1], [30, 1]], dtype=np.float32)

    def found(self, node, rest):
        graph = AttributedGraph.from_edges([[0], [1]], self.TABLE)
        graph = replace(graph, columns=self.COLUMNS)
        mean = self.TABLE.mean(axis=0, dtype=np.float64)
        units = Units.of(graph, FeatureScaling(mean, np.ones(2)))
        raw = self.TABLE[node]
        return largest_deviations(raw, raw - mean, np.array(rest), np.array([-4.0, 3.0]), units, 2)

    def test_expected_is_nothing_that_nobody_has(self):
        age, member = sorted(self.found(2, [60.0, -0.4]), key=lambda one: one.name)
        assert (age.observed, age.expected, age.expected_value) == ("30", "18", 18.0)
        assert (member.observed, member.expected, member.expected_value) == ("yes", "yes", 1.0)

    def test_the_mean_of_what_was_learned_from_counts_as_seen(self):
        """Of a single node nothing else could be expected than what it is."""
        seen = Ranges.of(np.array([[5.0]]), np.array([2.0]))
        assert (seen.least.tolist(), seen.greatest.tolist()) == ([2.0], [5.0])

    def test_what_rounds_to_zero_is_zero(self):
        """A prediction of zero has an error of rounding, which depends on the processor."""
        ranges = Ranges(np.zeros(2), np.array([1.0, 1e-9]))
        assert ranges.clip(np.array([4.4e-16, 5e-10])).tolist() == [0.0, 5e-10]

    def test_deviations_shrink_in_proportion(self):
        seen = Ranges(np.array([18.0, 18.0, 18.0, 0.0]), np.array([70.0, 70.0, 70.0, 1.0]))
        observed, expected = np.array([20.0, 18.0, 30.0, 1.0]), np.array([16.0, 10.0, 20.0, 1.0])
        within, left = seen.clip_expected(observed, expected)
        assert within.tolist() == [18.0, 18.0, 20.0, 1.0]
        assert left.tolist() == [0.5, 0.0, 1.0, 1.0]


def test_numbers_are_told_as_numbers_too():
    columns = (FeatureColumn("amount", before="$"), FeatureColumn("since", "date"))
    raw = np.array([1234.5, 19_783.0], dtype=np.float32)
    rest, sizes = np.array([1000.0, 365.0]), np.array([4.0, 3.0])
    amount, since = largest_deviations(raw, raw, rest, sizes, unscaled(columns, 0.0, 20_000.0), 2)
    assert (amount.observed, amount.expected) == ("$1,234", "$234.5")
    assert (amount.observed_value, amount.expected_value) == (1234.5, 234.5)
    assert (amount.kind, amount.unit, amount.is_amount) == ("number", "$", True)
    amount, _ = largest_deviations(raw, raw, rest, sizes, unscaled(columns, -1.0, 20_000.0), 2)
    assert not amount.is_amount
    assert (since.kind, since.observed_value, since.expected_value) == ("date", 19783.0, 19418.0)


def test_weights_are_there_where_a_column_of_nodes_with_their_name_is_not():
    columns = (
        FeatureColumn("amount"),
        FeatureColumn("amount", "missing"),
        FeatureColumn("amount", "weight", "total"),
    )
    raw = np.array([3.0, 1.0, 50.0], dtype=np.float32)
    found = largest_deviations(
        raw, raw, np.ones(3), np.array([2.0, 3.0, 4.0]), unscaled(columns, 0.0, 90.0), 3
    )
    assert [one.observed for one in found] == ["50", "missing", "missing"]
    usual = fit_usual_errors(np.random.default_rng(0).normal(size=(50, 3)), columns, 0)
    assert [group.tolist() for group in usual.groups] == [[0, 1], [2]]


def test_of_years_and_codes_there_are_no_multiples():
    for form, is_amount in (("", True), ("whole", True), ("year", False), ("code", False)):
        column = FeatureColumn("a", form=form)
        assert deviation_of(column, 2000.0, 1000.0, 3.0, 0.0).is_amount is is_amount

"""Which features are off: against the conditional Gaussian, written out block by block."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf

from egoscore.explain import features
from egoscore.explain.features import Units, UsualErrors, deviating
from egoscore.explain.seen import Seen
from egoscore.graph import AttributedGraph, FeatureScaling
from egoscore.graph.columns import FeatureColumn

RNG = np.random.default_rng(0)
NUMBERS = tuple(FeatureColumn(name) for name in "abcdef")
GROUPED = (
    FeatureColumn("age"),
    FeatureColumn("country", "category", "NZ"),
    FeatureColumn("country", "category", "PT"),
    FeatureColumn("income"),
    FeatureColumn("country", "missing"),
    FeatureColumn("since", "date"),
)


def errors_of(size=3000, width=6, seed=0):
    """Errors that go together, of half a deviation."""
    rng = np.random.default_rng(seed)
    errors = rng.normal(size=(size, width)) @ rng.normal(size=(width, width))
    return (0.5 * errors / errors.std(axis=0)).astype(np.float32)


def covariance_of(errors):
    sample = errors.astype(np.float64)
    covariance = ledoit_wolf(sample - sample.mean(axis=0), assume_centered=True)[0]
    return covariance + 1e-6 * np.eye(errors.shape[1])


def unexplained(covariance, one, columns):
    """What the normal equations leave of one node's errors, and how much is usual: both (F,)."""
    rest, usual = np.empty((2, len(one)))
    for name in {column.name for column in columns}:
        mine = np.array([column.name == name for column in columns])
        between = covariance[np.ix_(mine, ~mine)]
        weights = np.linalg.solve(covariance[np.ix_(~mine, ~mine)], between.T).T
        rest[mine] = one[mine] - weights @ one[~mine]
        usual[mine] = np.sqrt(np.diag(covariance[np.ix_(mine, mine)] - weights @ between.T))
    return rest, usual


def unexplained_one_by_one(errors, one, columns):
    """The same, the column furthest off being left out before the others are looked at again."""
    rest, usual = np.empty((2, len(one)))
    kept = np.ones(len(one), dtype=bool)
    while kept.any():
        mine = tuple(column for column, here in zip(columns, kept, strict=True) if here)
        covariance = covariance_of(errors)[np.ix_(kept, kept)]
        rest[kept], usual[kept] = unexplained(covariance, one[kept], mine)
        sizes = np.where(kept, np.abs(rest / usual), 0)
        if sizes.max() < 2:
            break
        worst = columns[int(np.argmax(sizes))].name
        kept &= np.array([column.name != worst for column in columns])
    return rest, usual


class TestUsualErrors:
    @pytest.mark.parametrize("columns", [NUMBERS, GROUPED], ids=["numbers", "grouped"])
    def test_what_is_left_is_what_the_others_do_not_explain(self, columns):
        errors = errors_of()
        usual = UsualErrors.fit(errors, columns, 0)
        near = 0
        for one in (*errors[:40], *3 * errors[:20]):
            rest, deviation = unexplained_one_by_one(errors, one, columns)
            near += np.abs(rest / deviation).max() < 2
            left, sizes = usual.left(one)
            np.testing.assert_allclose(left, rest, rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(sizes, rest / deviation, rtol=1e-4, atol=1e-5)
        assert 10 <= near <= 50  # of both: nothing off, and one or more columns set aside

    def test_what_is_expected_does_not_follow_an_absurd_value(self):
        """As many columns as nodes: nearly all that is known of a column is the one value."""
        rng = np.random.default_rng(1)
        errors = 0.2 * rng.normal(size=(300, 10)) @ rng.normal(size=(10, 300))
        errors += 0.3 * rng.normal(size=(300, 300))
        errors[:, 42] = 0.1 * rng.normal(size=300)
        errors[7, 42] = 10.0
        columns = [FeatureColumn(f"c{number}") for number in range(300)]
        left, _ = UsualErrors.fit(errors.astype(np.float32), columns, 0).left(errors[7])
        assert left[42] > 8.0

    def test_an_absurd_value_makes_nothing_else_absurd(self):
        shared = RNG.normal(size=(2000, 1))
        errors = (shared + 0.3 * RNG.normal(size=(2000, 4))).astype(np.float32)
        usual = UsualErrors.fit(errors, NUMBERS[:4], 0)
        one = np.array([0.2, 0.1, 0.15, 10.0], dtype=np.float32)
        _, sizes = usual.left(one)
        assert sizes[3] > 20
        np.testing.assert_allclose(sizes[:3], 0, atol=0.5)
        without, _ = UsualErrors.fit(errors[:, :3], NUMBERS[:3], 0).left(one[:3])
        np.testing.assert_allclose(usual.left(one)[0][:3], without, atol=0.02)

    def test_columns_of_one_table_column_do_not_explain_each_other(self):
        """One-hot columns add up to one, so each would be explained by the others."""
        country = RNG.integers(0, 3, 2000)
        hot = np.eye(3)[country] - 1 / 3
        errors = np.column_stack([RNG.normal(size=2000), hot]).astype(np.float32)
        columns = (NUMBERS[0], *(FeatureColumn("country", "category", c) for c in "xyz"))
        one = errors[0]
        together, _ = UsualErrors.fit(errors, columns, 0).left(one)
        np.testing.assert_allclose(together[1:], one[1:], atol=0.05)
        apart, _ = UsualErrors.fit(errors, NUMBERS[:4], 0).left(one)
        assert np.abs(apart[1:]).max() < 0.2 * np.abs(one[1:]).max()

    def test_usual_nodes_have_sizes_of_about_one(self):
        errors = errors_of()
        usual = UsualErrors.fit(errors, NUMBERS, 0)
        sizes = np.array([usual.left(one)[1] for one in errors])
        # a little less: what is off by two takes no others along
        np.testing.assert_allclose(sizes.std(axis=0), 0.9, atol=0.1)

    def test_a_value_that_breaks_with_the_others_stands_out_though_usual_by_itself(self):
        shared = RNG.normal(size=(2000, 1))
        errors = (shared + 0.1 * RNG.normal(size=(2000, 3))).astype(np.float32)
        one = np.array([1.0, 1.0, -1.0], dtype=np.float32)
        _, sizes = UsualErrors.fit(errors, NUMBERS[:3], 0).left(one)
        assert np.argmax(np.abs(sizes)) == 2
        assert sizes[2] < -8

    def test_the_sign_says_whether_it_is_more_or_less(self):
        usual = UsualErrors.fit(errors_of(), NUMBERS, 0)
        one = errors_of(seed=1)[0]
        np.testing.assert_allclose(usual.left(-one)[1], -usual.left(one)[1])

    @pytest.mark.parametrize("make", ["one_by_one", "too wide"])
    def test_one_by_one_every_feature_is_measured_by_itself(self, make, monkeypatch):
        errors = errors_of() + np.float32(0.5)
        if make == "too wide":
            monkeypatch.setattr(features, "_WIDEST", 5)
            usual = UsualErrors.fit(errors, NUMBERS, 0)
        else:
            usual = UsualErrors.one_by_one(errors)
        left, sizes = usual.left(errors[3])
        np.testing.assert_allclose(left, errors[3])
        expected = errors[3] / np.sqrt(np.square(errors.astype(np.float64)).mean(axis=0))
        np.testing.assert_allclose(sizes, expected, rtol=1e-5)

    @pytest.mark.parametrize("size", [1, 2, 50])
    @pytest.mark.parametrize("make", [UsualErrors.one_by_one, lambda e: UsualErrors.fit(e, NUMBERS[: e.shape[1]], 0)])  # fmt: skip # noqa: E501
    @pytest.mark.parametrize("width", [1, 4])
    def test_where_nothing_is_ever_off_nothing_is(self, size, make, width):
        errors = np.zeros((size, width), dtype=np.float32)
        for found in make(errors).left(errors[0]):
            np.testing.assert_array_equal(found, 0)

    def test_what_never_errs_and_then_does_is_far_off_and_finite(self):
        errors = np.column_stack([RNG.normal(size=400), np.zeros(400)]).astype(np.float32)
        for usual in (UsualErrors.fit(errors, NUMBERS[:2], 0), UsualErrors.one_by_one(errors)):
            _, sizes = usual.left(np.array([0.0, 1.0], dtype=np.float32))
            assert np.isfinite(sizes).all()
            assert sizes[1] > 5


class TestDeviating:
    RAW = np.array([10.0, 200.0, -3.0, 7.0], dtype=np.float32)
    TABLE = np.array([[8, 100, -3, 7], [12, 300, 3, 7], [10, 200, 0, 7]], dtype=np.float32)

    def found(self, rest, sizes, most=8, raw=RAW, observed=None):
        scaling = FeatureScaling.fit(self.TABLE)
        seen = scaling.scale(raw[None])[0] if observed is None else observed
        table = np.vstack([self.TABLE, raw])
        units = Units(NUMBERS[: len(raw)], scaling, Seen.of(table, scaling.mean))
        return deviating(raw, seen, np.array(rest), np.array(sizes), units, most)

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
    seen = Seen(np.full(count, least), np.full(count, greatest))
    return Units(columns, FeatureScaling(np.zeros(count), np.ones(count)), seen)


def test_what_was_filled_in_is_told_as_missing():
    columns = [FeatureColumn("age"), FeatureColumn("age", "missing"), FeatureColumn("income")]
    raw = np.array([40.0, 1.0, 7.0], dtype=np.float32)
    rest, sizes = np.array([9.0, 0.5, 2.0]), np.array([5.0, 4.0, 3.0])
    found = deviating(raw, raw, rest, sizes, unscaled(columns, 0.0, 40.0), 3)
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
    (found,) = deviating(raw, raw, np.array([rest]), np.array([5.0]), units, 1)
    assert found.expected == expected


def test_that_a_value_is_there_is_told_as_before():
    column, raw = FeatureColumn("age", "missing"), np.zeros(1, dtype=np.float32)
    units = unscaled([column], 0.0, 1.0)
    (found,) = deviating(raw, raw, np.array([-0.9]), np.array([-3.0]), units, 1)
    assert (found.name, found.observed, found.expected) == ("age is missing", "no", "90% yes")


@pytest.mark.parametrize(("expected", "first"), [(0.3, "job = cook"), (0.8, "age")])
def test_a_yes_that_is_likelier_than_not_is_told_last(expected, first):
    columns = [FeatureColumn("job", "category", "cook"), FeatureColumn("age")]
    raw = np.array([1.0, 40.0], dtype=np.float32)
    rest = np.array([1.0 - expected, 10.0])
    found = deviating(raw, raw, rest, np.array([5.0, 3.0]), unscaled(columns, 0.0, 40.0), 2)
    assert found[0].name == first


class TestWithinWhatWasSeen:
    """An age of -3 or a yes of 140% is not told as expected."""

    COLUMNS = (FeatureColumn("age"), FeatureColumn("member", "yes/no"))
    TABLE = np.array([[18, 0], [70, 1], [30, 1]], dtype=np.float32)

    def found(self, node, rest):
        graph = AttributedGraph.from_edges([[0], [1]], self.TABLE)
        graph = replace(graph, columns=self.COLUMNS)
        mean = self.TABLE.mean(axis=0, dtype=np.float64)
        units = Units.of(graph, FeatureScaling(mean, np.ones(2)))
        raw = self.TABLE[node]
        return deviating(raw, raw - mean, np.array(rest), np.array([-4.0, 3.0]), units, 2)

    def test_expected_is_nothing_that_nobody_has(self):
        age, member = sorted(self.found(2, [60.0, -0.4]), key=lambda one: one.name)
        assert (age.observed, age.expected, age.expected_value) == ("30", "18", 18.0)
        assert (member.observed, member.expected, member.expected_value) == ("yes", "yes", 1.0)

    def test_the_mean_of_what_was_learned_from_counts_as_seen(self):
        """Of a single node nothing else could be expected than what it is."""
        seen = Seen.of(np.array([[5.0]]), np.array([2.0]))
        assert (seen.least.tolist(), seen.greatest.tolist()) == ([2.0], [5.0])

    def test_how_far_off_is_told_in_proportion(self):
        seen = Seen(np.array([18.0, 18.0, 18.0, 0.0]), np.array([70.0, 70.0, 70.0, 1.0]))
        observed, expected = np.array([20.0, 18.0, 30.0, 1.0]), np.array([16.0, 10.0, 20.0, 1.0])
        within, left = seen.bring_within(observed, expected)
        assert within.tolist() == [18.0, 18.0, 20.0, 1.0]
        assert left.tolist() == [0.5, 0.0, 1.0, 1.0]


def test_numbers_are_told_as_numbers_too():
    columns = (FeatureColumn("amount", before="$"), FeatureColumn("since", "date"))
    raw = np.array([1234.5, 19_783.0], dtype=np.float32)
    rest, sizes = np.array([1000.0, 365.0]), np.array([4.0, 3.0])
    amount, since = deviating(raw, raw, rest, sizes, unscaled(columns, 0.0, 20_000.0), 2)
    assert (amount.observed, amount.expected) == ("$1,234", "$234.5")
    assert (amount.observed_value, amount.expected_value) == (1234.5, 234.5)
    assert (amount.kind, amount.unit, amount.is_amount) == ("number", "$", True)
    amount, _ = deviating(raw, raw, rest, sizes, unscaled(columns, -1.0, 20_000.0), 2)
    assert not amount.is_amount
    assert (since.kind, since.observed_value, since.expected_value) == ("date", 19783.0, 19418.0)


def test_weights_are_there_where_a_column_of_nodes_with_their_name_is_not():
    columns = (
        FeatureColumn("amount"),
        FeatureColumn("amount", "missing"),
        FeatureColumn("amount", "weight", "total"),
    )
    raw = np.array([3.0, 1.0, 50.0], dtype=np.float32)
    found = deviating(
        raw, raw, np.ones(3), np.array([2.0, 3.0, 4.0]), unscaled(columns, 0.0, 90.0), 3
    )
    assert [one.observed for one in found] == ["50", "missing", "missing"]
    usual = UsualErrors.fit(np.random.default_rng(0).normal(size=(50, 3)), columns, 0)
    assert [group.tolist() for group in usual.groups] == [[0, 1], [2]]

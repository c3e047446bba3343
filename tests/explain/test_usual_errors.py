"""Which features are unusual: against the conditional Gaussian, written out block by block."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf

from egoscore.detectors.conditional import explain
from egoscore.detectors.conditional.explain import fit_usual_errors
from egoscore.explain.usual_errors import UsualErrors
from egoscore.graph.feature_column import FeatureColumn

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
        usual = fit_usual_errors(errors, columns, 0)
        near = 0
        for one in (*errors[:40], *3 * errors[:20]):
            rest, deviation = unexplained_one_by_one(errors, one, columns)
            near += np.abs(rest / deviation).max() < 2
            left, sizes = usual.unexplained(one)
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
        left, _ = fit_usual_errors(errors.astype(np.float32), columns, 0).unexplained(errors[7])
        assert left[42] > 8.0

    def test_an_absurd_value_makes_nothing_else_absurd(self):
        shared = RNG.normal(size=(2000, 1))
        errors = (shared + 0.3 * RNG.normal(size=(2000, 4))).astype(np.float32)
        usual = fit_usual_errors(errors, NUMBERS[:4], 0)
        one = np.array([0.2, 0.1, 0.15, 10.0], dtype=np.float32)
        _, sizes = usual.unexplained(one)
        assert sizes[3] > 20
        np.testing.assert_allclose(sizes[:3], 0, atol=0.5)
        without, _ = fit_usual_errors(errors[:, :3], NUMBERS[:3], 0).unexplained(one[:3])
        np.testing.assert_allclose(usual.unexplained(one)[0][:3], without, atol=0.02)

    def test_columns_of_one_table_column_do_not_explain_each_other(self):
        """One-hot columns add up to one, so each would be explained by the others."""
        country = RNG.integers(0, 3, 2000)
        hot = np.eye(3)[country] - 1 / 3
        errors = np.column_stack([RNG.normal(size=2000), hot]).astype(np.float32)
        columns = (NUMBERS[0], *(FeatureColumn("country", "category", c) for c in "xyz"))
        one = errors[0]
        together, _ = fit_usual_errors(errors, columns, 0).unexplained(one)
        np.testing.assert_allclose(together[1:], one[1:], atol=0.05)
        apart, _ = fit_usual_errors(errors, NUMBERS[:4], 0).unexplained(one)
        assert np.abs(apart[1:]).max() < 0.2 * np.abs(one[1:]).max()

    def test_usual_nodes_have_sizes_of_about_one(self):
        errors = errors_of()
        usual = fit_usual_errors(errors, NUMBERS, 0)
        sizes = np.array([usual.unexplained(one)[1] for one in errors])
        # a little less: what is off by two takes no others along
        np.testing.assert_allclose(sizes.std(axis=0), 0.9, atol=0.1)

    def test_a_value_that_breaks_with_the_others_stands_out_though_usual_by_itself(self):
        shared = RNG.normal(size=(2000, 1))
        errors = (shared + 0.1 * RNG.normal(size=(2000, 3))).astype(np.float32)
        one = np.array([1.0, 1.0, -1.0], dtype=np.float32)
        _, sizes = fit_usual_errors(errors, NUMBERS[:3], 0).unexplained(one)
        assert np.argmax(np.abs(sizes)) == 2
        assert sizes[2] < -8

    def test_the_sign_says_whether_it_is_more_or_less(self):
        usual = fit_usual_errors(errors_of(), NUMBERS, 0)
        one = errors_of(seed=1)[0]
        np.testing.assert_allclose(usual.unexplained(-one)[1], -usual.unexplained(one)[1])

    @pytest.mark.parametrize("make", ["one_by_one", "too wide"])
    def test_one_by_one_every_feature_is_measured_by_itself(self, make, monkeypatch):
        errors = errors_of() + np.float32(0.5)
        if make == "too wide":
            monkeypatch.setattr(explain, "_WIDEST", 5)
            usual = fit_usual_errors(errors, NUMBERS, 0)
        else:
            usual = UsualErrors.one_by_one(errors)
        left, sizes = usual.unexplained(errors[3])
        np.testing.assert_allclose(left, errors[3])
        expected = errors[3] / np.sqrt(np.square(errors.astype(np.float64)).mean(axis=0))
        np.testing.assert_allclose(sizes, expected, rtol=1e-5)

    @pytest.mark.parametrize("size", [1, 2, 50])
    @pytest.mark.parametrize("make", [UsualErrors.one_by_one, lambda e: fit_usual_errors(e, NUMBERS[: e.shape[1]], 0)])  # fmt: skip # noqa: E501
    @pytest.mark.parametrize("width", [1, 4])
    def test_where_nothing_is_ever_off_nothing_is(self, size, make, width):
        errors = np.zeros((size, width), dtype=np.float32)
        for found in make(errors).unexplained(errors[0]):
            np.testing.assert_array_equal(found, 0)

    def test_what_never_errs_and_then_does_is_far_off_and_finite(self):
        errors = np.column_stack([RNG.normal(size=400), np.zeros(400)]).astype(np.float32)
        for usual in (fit_usual_errors(errors, NUMBERS[:2], 0), UsualErrors.one_by_one(errors)):
            _, sizes = usual.unexplained(np.array([0.0, 1.0], dtype=np.float32))
            assert np.isfinite(sizes).all()
            assert sizes[1] > 5

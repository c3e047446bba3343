"""What float32 cannot hold is measured from the median, and nothing else is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.graph.precision import narrowed

NUMBERS = st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=20)


@given(NUMBERS)
@settings(deadline=None)
def test_what_is_kept_is_within_a_hair_of_what_was_given(numbers):
    values = np.array(numbers)
    narrow, offset = narrowed(values)
    assert narrow.dtype == np.float32
    error = np.abs(narrow.astype(np.float64) + offset - values)
    assert (error <= 2e-7 * np.abs(values - offset) + 1e-15 * np.abs(values) + 1e-38).all()


@pytest.mark.parametrize(
    ("numbers", "offset"),
    [
        ([0.1, 0.2, 0.3], 0.0),
        ([16_777_216, 16_777_218, 33_554_432], 0.0),  # float32 holds them
        ([16_777_216, 16_777_217, 16_777_218], 16_777_217.0),
        ([1000.1, 1000.2, 1000.3], 1000.2),
        ([0.0, 1e9, 1e9 + 1], 0.0),  # two become one, which is nothing in such a spread
        ([np.nan, 1.7e9, 1.7e9 + 1, 1.7e9 + 3], 1.7e9 + 1),
    ],
)
def test_when_there_is_an_offset(numbers, offset):
    values = np.array(numbers)
    narrow, found = narrowed(values)
    assert found == offset
    np.testing.assert_array_equal(np.isnan(narrow), np.isnan(values))


def test_constant_stays_constant():
    narrow, _ = narrowed(np.full(1000, 1_700_000_000.1))
    assert np.ptp(narrow) == 0

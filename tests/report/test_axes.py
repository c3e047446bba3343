"""Axes: round numbers, where they belong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoscore.report.charts import WIDE, Scale, count_ticks, round_numbers


def test_a_scale_is_a_straight_line():
    scale = Scale(2.0, 4.0, 100.0, 0.0)
    np.testing.assert_allclose(scale([2.0, 2.5, 4.0]), [100.0, 75.0, 0.0])


def test_ticks_are_where_their_numbers_are():
    scale = WIDE.across(0.0, 8.3)
    ticks = scale.ticks(6)
    assert [tick.text for tick in ticks] == ["0", "2", "4", "6", "8"]
    for tick in ticks:
        assert tick.at == scale(float(tick.text))


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 8))
def test_round_numbers_lie_within_and_are_about_as_many(low, spread, count):
    found = round_numbers(low, low + spread, count)
    assert len(found) <= count + 1
    steps = np.diff(found)
    assert np.allclose(steps, steps[0], rtol=1e-3) if len(steps) else True
    room = 1e-6 * max(1.0, abs(low), spread)
    assert all(low - room <= value <= low + spread + room for value in found)


@pytest.mark.parametrize("most", [1, 3, 7, 50, 99_999, 1_000_000])
def test_counts_are_round_apart_and_on_a_root_scale(most):
    height = WIDE.up(np.sqrt(most))
    ticks = count_ticks(most, height, apart=17.0)
    counts = [int(tick.text.replace(",", "")) for tick in ticks]
    assert counts[0] == 0
    assert max(counts) <= most
    assert max(counts) >= most / 5
    assert np.all(np.diff([tick.at for tick in ticks]) <= -17.0)
    np.testing.assert_allclose([t.at for t in ticks], height(np.sqrt(counts)))

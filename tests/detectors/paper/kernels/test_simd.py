"""Eight floats at once, against numpy."""

import numba
import numpy as np

from egoscore.detectors.paper.kernels import simd as lanes
from egoscore.detectors.paper.kernels.simd import WIDTH

NUMBERS = np.random.default_rng(0).normal(size=3 * WIDTH).astype(np.float32)


@numba.njit
def arithmetic(a, b, out):
    first, second = lanes.load(a, 0), lanes.load(b, 3)
    lanes.store(out, 0, lanes.add(first, second))
    lanes.store(out, 8, lanes.subtract(first, second))
    lanes.store(out, 16, lanes.multiply(first, second))
    lanes.store(out, 24, lanes.divide(first, second))
    lanes.store(out, 32, lanes.minimum(first, second))
    lanes.store(out, 40, lanes.fma(first, second, lanes.splat(np.float32(2.5))))
    lanes.store(out, 48, lanes.splat_at(a, 5))
    return lanes.horizontal_sum(first)


def test_operations_are_those_of_numpy_lane_by_lane():
    out = np.empty(7 * WIDTH, dtype=np.float32)
    found = arithmetic(NUMBERS, NUMBERS[8:], out)
    a, b = NUMBERS[:WIDTH], NUMBERS[11 : 11 + WIDTH]
    expected = [a + b, a - b, a * b, a / b, np.minimum(a, b), a * b + np.float32(2.5)]
    expected.append(np.full(WIDTH, NUMBERS[5]))
    np.testing.assert_allclose(out.reshape(7, WIDTH), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found, a.sum(), rtol=1e-6)


def test_nothing_else_is_written():
    @numba.njit
    def write(array):
        lanes.store(array, 3, lanes.splat(np.float32(1.0)))

    array = np.zeros(16, dtype=np.float32)
    write(array)
    assert array.tolist() == [0.0] * 3 + [1.0] * 8 + [0.0] * 5


@numba.njit
def tanh_of(values, out):
    for start in range(0, len(values), WIDTH):
        lanes.store(out, start, lanes.tanh(lanes.load(values, start)))


def test_tanh_to_seven_digits_behind_the_point_from_tiny_to_huge():
    small = np.logspace(-30, 0, 400)
    values = np.concatenate([-small, small, np.linspace(-12, 12, 792), [0, -0.0, 1e30, -1e30] * 2])
    values = values.astype(np.float32)
    out = np.empty_like(values)
    tanh_of(values, out)
    exact = np.tanh(values.astype(np.float64))
    np.testing.assert_allclose(out, exact, rtol=2e-6, atol=1e-7)
    assert np.abs(out).max() <= 1.0
    np.testing.assert_array_equal(np.signbit(out), np.signbit(values))


def test_tanh_of_what_is_no_number():
    values = np.array([np.nan, np.inf, -np.inf, 0, 1, np.nan, -1, 2], dtype=np.float32)
    out = np.empty_like(values)
    tanh_of(values, out)
    np.testing.assert_allclose(out, np.tanh(values), atol=1e-7)

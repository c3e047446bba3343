"""Keyed random numbers: the published generator, true normals, nothing but the key matters."""

import itertools

import numba
import numpy as np
import pytest
from scipy import stats

from egoscore.random import Keys, Purpose, _circle_point, _log_uniform, normals, philox, uniforms

MANY = 200_000
NOTICEABLE = 4 / np.sqrt(MANY)  # four standard errors of a correlation of independent numbers


@numba.njit
def philox_words(counters, keys):
    out = np.empty_like(counters)
    for row in range(len(counters)):
        c, k = counters[row], keys[row]
        out[row, 0], out[row, 1], out[row, 2], out[row, 3] = philox(
            c[0], c[1], c[2], c[3], k[0], k[1]
        )
    return out


@numba.njit
def logs_and_circle_points(words):
    out = np.empty((len(words), 3), dtype=np.float32)
    for row in range(len(words)):
        out[row, 0] = _log_uniform(words[row])
        out[row, 1], out[row, 2] = _circle_point(words[row])
    return out


def as_words(text):
    return np.array([[int(word, 16) for word in text.split()]], dtype=np.uint32)


def column(value):
    return np.atleast_1d(np.asarray(value, dtype=np.int64))


def draw(
    count=MANY, seed=3, node=7, level=1, sample=1, purpose=Purpose.FORWARD_FEATURES, step=5
):  # fmt: skip
    """One row of normals with the given key."""
    keys = Keys(seed, column(node), column(level), column(sample))
    return normals(keys, purpose, step, column(count), count)[0]


def correlation(first, second):
    return np.corrcoef(first.astype(np.float64), second.astype(np.float64))[0, 1]


def assert_independent(first, second):
    assert abs(correlation(first, second)) < NOTICEABLE
    assert abs(correlation(first**2, second**2)) < NOTICEABLE


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        (
            "00000000 00000000 00000000 00000000",
            "00000000 00000000",
            "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
        ),
        (
            "ffffffff ffffffff ffffffff ffffffff",
            "ffffffff ffffffff",
            "408f276d 41c83b0e a20bc7c6 6d5451fd",
        ),
        (
            "243f6a88 85a308d3 13198a2e 03707344",
            "a4093822 299f31d0",
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_gives_the_known_answers_of_random123(counter, key, expected):
    assert np.array_equal(philox_words(as_words(counter), as_words(key)), as_words(expected))


def test_logarithm_and_circle_agree_with_numpy_from_the_first_word_to_the_last():
    ends = np.concatenate([np.arange(64), 2**24 - 1 - np.arange(64)])
    places = np.union1d(ends, np.arange(0, 2**24, 61))
    logs, cosines, sines = logs_and_circle_points((places << 8).astype(np.uint32)).T
    cells = (places.astype(np.float32) + np.float32(0.5)).astype(np.float64) / 2**24
    angles = 2 * np.pi * (places + 0.5) / 2**24 - np.pi / 4
    assert (logs <= 0).all()  # a positive one would make the radius NaN
    np.testing.assert_allclose(logs, np.log(cells), rtol=2.5e-7)
    np.testing.assert_allclose(cosines, np.cos(angles), atol=1.5e-7)
    np.testing.assert_allclose(sines, np.sin(angles), atol=1.5e-7)


def test_normals_are_box_muller_of_the_words_their_key_spells():
    seed, node, level, sample, step = 0x0123_4567_89AB_CDEF, 70_000, 3, 2, 1_000_000
    purpose, count = Purpose.REVERSE_ADJACENCY, 64 * 500
    blocks = np.arange(count // 4, dtype=np.uint32)
    counters = np.empty((len(blocks), 4), dtype=np.uint32)
    counters[:, 0] = blocks
    counters[:, 1:] = node, (level << 16) | sample, (int(purpose) << 24) | step
    key = np.array([0x89AB_CDEF, 0x0123_4567], dtype=np.uint32)
    words = philox_words(counters, np.broadcast_to(key, (len(blocks), 2)).copy())

    # The top 24 bits of a word, centred in their cell; near 1 a float32 rounds to even.
    cells = (words >> 8).astype(np.float32) + np.float32(0.5)
    radius = np.sqrt(-2 * np.log(cells[:, [0, 2]].astype(np.float64) / 2**24))
    angle = 2 * np.pi * ((words[:, [1, 3]] >> 8) + 0.5) / 2**24 - np.pi / 4
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    # (tile, block in the tile, four normals) → position 64·tile + 16·lane + block
    expected = pairs.reshape(-1, 16, 4).transpose(0, 2, 1).ravel()

    drawn = draw(count, seed, node, level, sample, purpose, step)
    assert drawn.dtype == np.float32
    np.testing.assert_allclose(drawn, expected, rtol=2e-6, atol=5e-7)


def test_normals_are_normal():
    values = draw()
    assert stats.kstest(values, "norm").pvalue > 0.01
    # moments 1 to 4 of a standard normal are 0, 1, 0, 3, with these standard errors
    for power, moment, deviation in [(1, 0, 1), (2, 1, 2**0.5), (3, 0, 15**0.5), (4, 3, 96**0.5)]:
        error = np.mean(values.astype(np.float64) ** power) - moment
        assert abs(error) < 3.5 * deviation / np.sqrt(MANY)


def test_normals_have_the_tails_of_a_normal():
    values = np.abs(draw(2_000_000))
    assert np.isfinite(values).all()
    for beyond in (2.0, 3.0, 4.0):
        expected = len(values) * 2 * stats.norm.sf(beyond)
        assert np.count_nonzero(values > beyond) == pytest.approx(expected, abs=4 * expected**0.5)
    assert 4.8 < values.max() < 6


def test_short_rows_of_many_nodes_are_normal_at_every_position():
    nodes = np.arange(20_000)
    rows = normals(Keys.for_nodes(1, nodes), Purpose.TRAIN_FEATURES, 0, np.full(len(nodes), 6), 6)
    assert all(stats.kstest(values, "norm").pvalue > 0.001 for values in rows.T)
    off_diagonal = np.corrcoef(rows.T)[np.triu_indices(6, k=1)]
    assert np.abs(off_diagonal).max() < 4 / np.sqrt(len(nodes))


@pytest.mark.parametrize("lag", [1, 2, 4, 15, 16, 17, 32, 48, 64, 128])
def test_positions_of_a_row_are_independent(lag):
    values = draw(MANY + lag)
    assert_independent(values[:-lag], values[lag:])


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 4},
        {"seed": 3 + 2**32},
        {"seed": 3 + 2**63},
        {"purpose": Purpose.FORWARD_ADJACENCY},
        {"step": 6},
        {"step": 2**24 - 1},
        {"node": 8},
        {"node": 2**31 - 1},
        {"level": 2},
        {"sample": 2},
    ],
    ids=str,
)
def test_rows_whose_keys_differ_in_one_part_are_independent(other):
    assert_independent(draw(), draw(**other))


def test_every_key_has_numbers_of_its_own():
    rows = [
        tuple(draw(4, seed, node, level, sample, purpose, step))
        for seed, node, level, sample, step, purpose in itertools.product(
            (0, 1, 2**32), (0, 1, 256), (0, 1, 3), (0, 1, 3), (0, 1, 256), list(Purpose)[:3]
        )
    ]
    assert len(set(rows)) == len(rows) == 3**6


@pytest.mark.parametrize("count", [0, 1, 3, 15, 63, 64, 65, 200, 256])
def test_first_numbers_of_a_row_do_not_depend_on_how_many_follow(count):
    keys = Keys.for_nodes(11, column(5))
    longest = normals(keys, Purpose.TRAIN_FEATURES, 2, column(256), 256)[0]
    for width in {count, 256, 1000}:
        row = normals(keys, Purpose.TRAIN_FEATURES, 2, column(count), width)[0]
        assert np.array_equal(row[:count], longest[:count])
        assert not row[count:].any()


def test_what_follows_the_counts_is_zero_whatever_memory_held(monkeypatch):
    keys = Keys.for_nodes(11, np.arange(4))
    counts = np.array([0, 5, 64, 100])
    normals(keys, Purpose.TRAIN_FEATURES, 2, counts, 100)  # compiled before numpy is changed
    monkeypatch.setattr(np, "empty", lambda shape, dtype: np.full(shape, np.nan, dtype))
    rows = normals(keys, Purpose.TRAIN_FEATURES, 2, counts, 100)
    assert np.array_equal(rows != 0, np.arange(100) < counts[:, None])
    assert np.isfinite(rows).all()


def test_a_row_does_not_depend_on_its_batch():
    random = np.random.default_rng(0)
    size = 50
    keys = Keys(9, random.integers(0, 10**6, size), random.integers(0, 4, size),
                random.integers(0, 3, size))  # fmt: skip
    counts = random.integers(0, 300, size)
    together = normals(keys, Purpose.REVERSE_FEATURES, 17, counts, 300)
    order = random.permutation(size)
    shuffled = Keys(9, keys.node[order], keys.level[order], keys.sample[order])
    in_other_order = normals(shuffled, Purpose.REVERSE_FEATURES, 17, counts[order], 300)
    assert np.array_equal(in_other_order, together[order])
    for row in range(size):
        alone = Keys(9, *(part[row : row + 1] for part in (keys.node, keys.level, keys.sample)))
        drawn = normals(alone, Purpose.REVERSE_FEATURES, 17, counts[row : row + 1], 300)
        assert np.array_equal(drawn[0], together[row])


def test_the_first_chains_keep_their_numbers():
    keys = Keys(2, np.array([4, 5, 6]), np.array([0, 1, 2]), np.array([2, 1, 0]))
    counts = np.full(3, 10)
    all_three = normals(keys, Purpose.FORWARD_FEATURES, 0, counts, 10)
    two = normals(keys.first(2), Purpose.FORWARD_FEATURES, 0, counts[:2], 10)
    assert np.array_equal(two, all_three[:2])


def test_uniforms_are_uniform_and_below_one():
    values = uniforms(5, Purpose.TRAIN_TIME, 3, np.arange(40_000), 5)
    assert values.shape == (40_000, 5)
    assert values.min() >= 0
    assert values.max() < 1
    assert stats.kstest(values.ravel(), "uniform").pvalue > 0.01
    off_diagonal = np.corrcoef(values.T)[np.triu_indices(5, k=1)]
    assert np.abs(off_diagonal).max() < 4 / np.sqrt(40_000)


def test_the_largest_word_stays_below_one():
    # Among 2^22 draws the largest lies so close to 1 that float32 would have rounded it to 1.
    values = uniforms(0, Purpose.TRAIN_TIME, 0, np.arange(2), 2**21)
    assert np.float32(values.max()) > 1 - 1e-6
    assert values.max() < 1


@pytest.mark.parametrize(
    ("seed", "purpose", "step", "node"),
    [
        (6, Purpose.SHUFFLE, 3, 9),
        (5 + 2**32, Purpose.SHUFFLE, 3, 9),
        (5, Purpose.TRAIN_TIME, 3, 9),
        (5, Purpose.SHUFFLE, 4, 9),
        (5, Purpose.SHUFFLE, 3, 10),
    ],
)
def test_uniforms_whose_keys_differ_in_one_part_are_independent(seed, purpose, step, node):
    first = uniforms(5, Purpose.SHUFFLE, 3, column(9), MANY)[0]
    second = uniforms(seed, purpose, step, column(node), MANY)[0]
    assert_independent(first, second)


def test_uniforms_do_not_depend_on_batch_or_width():
    together = uniforms(5, Purpose.SHUFFLE, 1, np.array([3, 1, 4]), 10)
    alone = uniforms(5, Purpose.SHUFFLE, 1, np.array([4]), 7)
    assert np.array_equal(alone[0], together[2, :7])

"""Random numbers that belong to a key, not to a generator's history.

Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) turns a key and
a counter into four random words. The key is the user's seed; the counter spells out what the
number is for: (purpose, node, level, sample, step, position). Equal keys give equal numbers, in any
batch, process or order.

Counter words: position block | node | level, sample (16 bits each) | purpose, step (8, 24 bits).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from egoscore.jit import compiled, inlined

_TILE = 64  # positions filled together: 16 blocks of four words, so that the compiler vectorises
_BLOCKS = _TILE // 4


class Purpose(IntEnum):
    """What a random number is used for; part of its key."""

    INITIALISE = 1
    SHUFFLE = 2
    TRAIN_TIME = 3
    TRAIN_FEATURES = 4
    TRAIN_ADJACENCY = 5
    FORWARD_FEATURES = 6
    FORWARD_ADJACENCY = 7
    REVERSE_FEATURES = 8
    REVERSE_ADJACENCY = 9
    CORRECT_FEATURES = 10
    CORRECT_ADJACENCY = 11
    SUBSAMPLE = 12
    PROBE_FEATURES = 13
    PROBE_ADJACENCY = 14
    SAMPLE_ROWS = 15
    FOLD = 16
    CENTRE_BATCH = 17
    CENTRE_TIME = 18
    CENTRE_NOISE = 19
    THIN_EDGES = 20


@inlined
def philox(c0, c1, c2, c3, k0, k1):  # type: ignore[no-untyped-def]
    """Philox4x32-10: four counter words and two key words (uint32) to four random words."""
    for _ in range(10):
        product0 = np.uint64(c0) * np.uint64(0xD2511F53)
        product1 = np.uint64(c2) * np.uint64(0xCD9E8D57)
        high0 = np.uint32(product0 >> np.uint64(32))
        high1 = np.uint32(product1 >> np.uint64(32))
        c0 = np.uint32(high1 ^ c1 ^ k0)
        c2 = np.uint32(high0 ^ c3 ^ k1)
        c1 = np.uint32(product1)
        c3 = np.uint32(product0)
        k0 = np.uint32(k0 + np.uint32(0x9E3779B9))
        k1 = np.uint32(k1 + np.uint32(0xBB67AE85))
    return c0, c1, c2, c3


@inlined
def _log_uniform(word):  # type: ignore[no-untyped-def]
    """Natural logarithm of a uniform in (0, 1), float32, without calling the C library."""
    u = (np.float32(np.int32(word >> np.uint32(8))) + np.float32(0.5)) * np.float32(2.0**-24)
    bits = np.float32(u).view(np.int32)
    # u = mantissa · 2^exponent with mantissa in [sqrt(1/2), sqrt(2))
    exponent = (bits - np.int32(0x3F3504F3)) >> np.int32(23)
    mantissa = np.int32(bits - (exponent << np.int32(23))).view(np.float32)
    z = (mantissa - np.float32(1.0)) / (mantissa + np.float32(1.0))
    square = z * z
    # log((1+z)/(1-z)) = 2 (z + z³/3 + z⁵/5 + …), |z| < 0.172
    series = np.float32(2.0 / 9.0) * square + np.float32(2.0 / 7.0)
    series = series * square + np.float32(2.0 / 5.0)
    series = series * square + np.float32(2.0 / 3.0)
    series = series * square + np.float32(2.0)
    return np.float32(exponent) * np.float32(0.6931471805599453) + z * series


@inlined
def _circle_point(word):  # type: ignore[no-untyped-def]
    """Cosine and sine of a uniform angle: two bits choose the quadrant, 22 the place in it."""
    quadrant = word >> np.uint32(30)
    place = np.float32(np.int32((word >> np.uint32(8)) & np.uint32(0x3FFFFF)))
    place = (place + np.float32(0.5)) * np.float32(2.0**-22) - np.float32(0.5)
    angle = place * np.float32(1.5707963267948966)
    square = angle * angle
    sine = np.float32(1.0 / 362880.0) * square - np.float32(1.0 / 5040.0)
    sine = sine * square + np.float32(1.0 / 120.0)
    sine = sine * square - np.float32(1.0 / 6.0)
    sine = angle + angle * square * sine
    cosine = np.float32(1.0 / 40320.0) * square - np.float32(1.0 / 720.0)
    cosine = cosine * square + np.float32(1.0 / 24.0)
    cosine = cosine * square - np.float32(0.5)
    cosine = np.float32(1.0) + square * cosine
    swap = (quadrant & np.uint32(1)) != 0
    flip = np.float32(-1.0) if (quadrant & np.uint32(2)) != 0 else np.float32(1.0)
    first = -sine if swap else cosine
    second = cosine if swap else sine
    return first * flip, second * flip


@inlined
def _fill_tile(out, tile, node, pair, task, k0, k1):  # type: ignore[no-untyped-def]
    """64 normals by Box and Muller: position 64·tile + 16·lane + i is from block 16·tile + i."""
    for i in range(_BLOCKS):
        block = np.uint32(tile * _BLOCKS + i)
        w0, w1, w2, w3 = philox(block, node, pair, task, k0, k1)
        radius0 = np.sqrt(np.float32(-2.0) * _log_uniform(w0))
        radius1 = np.sqrt(np.float32(-2.0) * _log_uniform(w2))
        cos0, sin0 = _circle_point(w1)
        cos1, sin1 = _circle_point(w3)
        out[i] = radius0 * cos0
        out[_BLOCKS + i] = radius0 * sin0
        out[2 * _BLOCKS + i] = radius1 * cos1
        out[3 * _BLOCKS + i] = radius1 * sin1


@compiled
def _fill_normals(out, counts, seed, purpose, step, node, level, sample):  # type: ignore[no-untyped-def]
    k0 = np.uint32(seed & np.uint64(0xFFFFFFFF))
    k1 = np.uint32(seed >> np.uint64(32))
    task = np.uint32((np.uint32(purpose) << np.uint32(24)) | np.uint32(step))
    filled = np.empty(_TILE, dtype=np.float32)
    for row in range(out.shape[0]):
        pair = np.uint32((np.uint32(level[row]) << np.uint32(16)) | np.uint32(sample[row]))
        centre = np.uint32(node[row])
        for tile in range((counts[row] + _TILE - 1) // _TILE):
            _fill_tile(filled, tile, centre, pair, task, k0, k1)
            start = tile * _TILE
            for i in range(min(_TILE, counts[row] - start)):
                out[row, start + i] = filled[i]
        out[row, counts[row] :] = 0.0


@compiled
def _fill_words(out, seed, purpose, step, node):  # type: ignore[no-untyped-def]
    k0 = np.uint32(seed & np.uint64(0xFFFFFFFF))
    k1 = np.uint32(seed >> np.uint64(32))
    task = np.uint32((np.uint32(purpose) << np.uint32(24)) | np.uint32(step))
    for row in range(out.shape[0]):
        for block in range((out.shape[1] + 3) // 4):
            words = philox(np.uint32(block), np.uint32(node[row]), np.uint32(0), task, k0, k1)
            for lane in range(min(4, out.shape[1] - 4 * block)):
                out[row, 4 * block + lane] = words[lane]


@dataclass(frozen=True)
class Keys:
    """The keys of the random numbers of B chains: node, level and sample, (B,) each."""

    seed: int
    node: NDArray[np.int64]
    level: NDArray[np.int64]
    sample: NDArray[np.int64]

    @classmethod
    def for_nodes(cls, seed: int, node: NDArray[np.int64]) -> Keys:
        """Keys of nodes, for numbers that do not depend on level and sample."""
        zeros = np.zeros_like(node)
        return cls(seed, node, zeros, zeros)

    def first(self, count: int) -> Keys:
        """The keys of the first `count` chains."""
        return Keys(self.seed, self.node[:count], self.level[:count], self.sample[:count])


def normals(
    keys: Keys, purpose: Purpose, step: int, counts: NDArray[np.int64], width: int
) -> NDArray[np.float32]:
    """Standard normals, shape (B, width): row b holds counts[b] of them, then zeros.

    The first numbers of a row do not depend on how many follow.
    """
    out = np.empty((len(keys.node), width), dtype=np.float32)
    seed = np.uint64(keys.seed)
    _fill_normals(out, counts, seed, int(purpose), step, keys.node, keys.level, keys.sample)
    return out


def uniforms(
    seed: int, purpose: Purpose, step: int, node: NDArray[np.int64], width: int = 1
) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1), shape (B, width), for the given nodes."""
    words = np.empty((len(node), width), dtype=np.uint32)
    _fill_words(words, np.uint64(seed), int(purpose), step, node)
    return words.astype(np.float64) * 2.0**-32

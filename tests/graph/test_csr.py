"""Compressed sparse rows: the same edges as scipy's matrices hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from egoscore.graph.csr import both_ways, build_csr, without_loops

sizes_and_pairs = st.integers(1, 8).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=30),
    )
)


def ends(pairs):
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def built(pairs, size):
    return build_csr(*ends(pairs), size)


def oracle(pairs, size):
    dense = np.zeros((size, size), dtype=bool)
    dense[tuple(ends(pairs))] = True
    return sparse.csr_array(dense)


def assert_same(csr, matrix):
    matrix = matrix.tocsr()
    matrix.sort_indices()
    np.testing.assert_array_equal(csr.indptr, matrix.indptr)
    np.testing.assert_array_equal(csr.indices, matrix.indices)
    assert (csr.indptr.dtype, csr.indices.dtype) == (np.int64, np.int32)


@given(sizes_and_pairs)
@settings(max_examples=80, deadline=None)
def test_any_pairs_are_kept_as_scipy_keeps_them(drawn):
    size, pairs = drawn
    csr, matrix = built(pairs, size), oracle(pairs, size)
    assert_same(csr, matrix)
    np.testing.assert_array_equal(csr.degrees, matrix.sum(axis=1))
    np.testing.assert_array_equal(csr.to_scipy().toarray(), matrix.toarray())


@given(sizes_and_pairs)
@settings(max_examples=80, deadline=None)
def test_both_ways_is_the_union_with_every_edge_turned_round(drawn):
    size, pairs = drawn
    matrix = oracle(pairs, size)
    csr = built(pairs, size)
    assert_same(both_ways(csr), matrix.maximum(matrix.T))
    assert_same(csr, matrix)  # what is given stays as it is


@given(sizes_and_pairs)
@settings(max_examples=80, deadline=None)
def test_loops_can_be_left_out(drawn):
    size, pairs = drawn
    others = [(u, v) for u, v in pairs if u != v]
    assert_same(without_loops(built(pairs, size)), oracle(others, size))


@pytest.mark.parametrize("times", [2, 128, 200, 256, 512])
def test_a_pair_is_kept_once_however_often_it_is_repeated(times):
    csr = built([(2, 1)] * times + [(0, 2)], 3)
    assert_same(csr, oracle([(2, 1), (0, 2)], 3))


@pytest.mark.parametrize("degree", [19, 20, 21, 22, 1000])
def test_rows_of_any_length_are_sorted(degree):
    others = np.random.default_rng(0).permutation(2000)[:degree]
    pairs = [(0, int(other)) for other in others]
    assert_same(built(pairs, 2000), oracle(pairs, 2000))


@pytest.mark.parametrize("size", [0, 1, 4])
def test_there_may_be_no_edges(size):
    nothing = built([], size)
    for csr in (nothing, both_ways(nothing), without_loops(nothing)):
        assert csr.indptr.tolist() == [0] * (size + 1)
        assert csr.indices.tolist() == []
        assert csr.to_scipy().shape == (size, size)

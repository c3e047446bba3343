"""Compressed sparse rows: the same edges as scipy's matrices hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from egoscore.graph.csr import _counts, build_csr, merge, transpose


def pairs_below(size):
    return st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=30)


sizes_and_two_lists = st.integers(1, 8).flatmap(
    lambda size: st.tuples(st.just(size), pairs_below(size), pairs_below(size))
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


@given(sizes_and_two_lists)
@settings(max_examples=80, deadline=None)
def test_any_pairs_are_kept_as_scipy_keeps_them(drawn):
    size, pairs, _ = drawn
    csr, matrix = built(pairs, size), oracle(pairs, size)
    assert_same(csr, matrix)
    np.testing.assert_array_equal(csr.degrees, matrix.sum(axis=1))
    np.testing.assert_array_equal(csr.to_scipy().toarray(), matrix.toarray())


@given(sizes_and_two_lists)
@settings(max_examples=80, deadline=None)
def test_merging_is_the_union(drawn):
    size, first, second = drawn
    union = oracle(first, size).maximum(oracle(second, size))
    assert_same(merge(built(first, size), built(second, size)), union)


@given(sizes_and_two_lists)
@settings(max_examples=80, deadline=None)
def test_transposing_turns_every_edge_round(drawn):
    size, pairs, _ = drawn
    assert_same(transpose(built(pairs, size)), oracle(pairs, size).T)


# A count of repeats in one byte would come to zero, or below it, at these.
@pytest.mark.parametrize("times", [2, 128, 200, 256, 512])
def test_a_pair_is_kept_once_however_often_it_is_repeated(times):
    csr = built([(2, 1)] * times + [(0, 2)], 3)
    assert_same(csr, oracle([(2, 1), (0, 2)], 3))


@pytest.mark.parametrize("size", [0, 1, 4])
def test_there_may_be_no_edges(size):
    for csr in (built([], size), transpose(built([], size)), merge(*[built([], size)] * 2)):
        assert csr.indptr.tolist() == [0] * (size + 1)
        assert csr.indices.tolist() == []
        assert csr.to_scipy().shape == (size, size)


def test_the_last_nodes_may_have_no_edges():
    assert built([(0, 1)], 5).degrees.tolist() == [1, 0, 0, 0, 0]


def test_as_a_scipy_matrix_every_edge_is_one():
    matrix = built([(0, 1), (0, 1), (2, 0)], 3).to_scipy()
    assert matrix.dtype == np.float32
    assert matrix.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]


def test_scipy_counts_edges_without_a_copy_of_them():
    csr = built([(0, 1), (2, 0)], 3)
    assert np.shares_memory(_counts(csr).indices, csr.indices)

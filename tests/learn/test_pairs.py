"""Pairs as a vector, against matrices."""

import pytest
import torch

from egoscore.learn.pairs import pair_order

CPU = torch.device("cpu")


def matrices(size, directed):
    generator = torch.Generator().manual_seed(size)
    matrix = torch.randn(3, size, size, generator=generator)
    matrix = matrix if directed else matrix + matrix.transpose(1, 2)
    return matrix * (1 - torch.eye(size))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_packing_and_unpacking_keeps_everything_once(size, directed):
    matrix, order = matrices(size, directed), pair_order(size, directed, CPU)
    pairs = order.pack(matrix)
    assert pairs.shape == (3, size * (size - 1) // (1 if directed else 2))
    assert torch.equal(order.unpack(pairs), matrix)


def test_the_order_is_that_of_the_noise():
    order = pair_order(3, False, CPU)
    assert order.lower.tolist() == [3, 6, 7]  # (1, 0), (2, 0), (2, 1)
    both = pair_order(3, True, CPU)
    assert both.lower.tolist() == [3, 1, 6, 2, 7, 5]  # each followed by its reverse


def test_an_order_first_used_in_inference_mode_can_be_trained_with():
    pair_order.cache_clear()
    with torch.inference_mode():
        pair_order(4, False, CPU)
    matrix = matrices(4, False).requires_grad_()
    pair_order(4, False, CPU).pack(matrix).sum().backward()
    assert matrix.grad.sum() == 3 * 6

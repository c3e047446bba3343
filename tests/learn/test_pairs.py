"""Pairs as a vector, against matrices."""

import pytest
import torch

from egoscore.learn.pairs import RealPairs, pair_order

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


class TestRealPairs:
    """Against loops over the pairs of each graph."""

    SIZES = (5, 3, 1, 4)

    def mask(self):
        return torch.tensor([[1.0] * size + [0.0] * (5 - size) for size in self.SIZES])

    def padded(self, directed):
        matrix = torch.randn(4, 5, 5, generator=torch.Generator().manual_seed(1))
        matrix = matrix if directed else matrix + matrix.transpose(1, 2)
        real = self.mask().unsqueeze(-1) * self.mask().unsqueeze(-2)
        return matrix * real * (1 - torch.eye(5))

    def listed(self, directed):
        """(graph, row, column) of every real pair, in the order of the noise."""
        for graph, size in enumerate(self.SIZES):
            for row in range(size):
                for column in range(row):
                    yield graph, row, column
                    if directed:
                        yield graph, column, row

    @pytest.mark.parametrize("directed", [False, True])
    def test_every_real_pair_is_there_once(self, directed):
        matrix, pairs = self.padded(directed), RealPairs.of(self.mask(), directed)
        expected = [float(matrix[place]) for place in self.listed(directed)]
        assert pairs.pack(matrix).tolist() == expected
        assert torch.equal(pairs.unpack(pairs.pack(matrix)), matrix)

    def test_the_mean_of_both_directions(self):
        matrix, pairs = self.padded(directed=True), RealPairs.of(self.mask(), directed=False)
        expected = pairs.pack((matrix + matrix.transpose(1, 2)) / 2)
        torch.testing.assert_close(pairs.pack_mean(matrix), expected)

    def test_directions_that_are_two_pairs_are_not_averaged(self):
        matrix, pairs = self.padded(directed=True), RealPairs.of(self.mask(), directed=True)
        assert torch.equal(pairs.pack_mean(matrix), pairs.pack(matrix))

    @pytest.mark.parametrize("directed", [False, True])
    def test_unpacking_has_a_gradient(self, directed):
        pairs = RealPairs.of(self.mask(), directed)
        values = torch.randn(len(pairs.there), dtype=torch.float64).requires_grad_()
        assert torch.autograd.gradcheck(pairs.unpack, values)

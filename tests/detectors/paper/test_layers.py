"""Graph convolution against PyG's, and the small layers against torch's own."""

import math
import warnings

import pytest
import torch
from torch import nn

from egoscore.detectors.paper.layers import Channel, GraphConvolution, Linear, Mlp, propagation

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PyG scripts its modules on import
    from torch_geometric.nn import DenseGCNConv, GCNConv


def randomness(seed=0):
    return torch.Generator().manual_seed(seed)


def binary_graphs(count, size, directed, seed=0):
    adj = (torch.rand(count, size, size, generator=randomness(seed)) < 0.3).float()
    adj.diagonal(dim1=1, dim2=2).zero_()
    return adj if directed else adj.triu().maximum(adj.triu().transpose(1, 2))


def noised_graphs(count, size, seed=0):
    """Adjacencies with negative entries, some of them so negative that degrees fall below 1."""
    adj = torch.randn(count, size, size, generator=randomness(seed))
    adj = adj + adj.transpose(1, 2)
    adj.diagonal(dim1=1, dim2=2).zero_()
    return adj


def convolution_like(theirs):
    """Our layer with PyG's weights, and a bias that is not zero."""
    nn.init.normal_(theirs.bias, generator=randomness(9))
    num_outputs, num_inputs = theirs.lin.weight.shape
    ours = GraphConvolution(num_inputs, num_outputs)
    ours.load_state_dict({"weight": theirs.lin.weight.T, "bias": theirs.bias})
    return ours


@pytest.mark.parametrize("directed", [False, True])
def test_convolution_equals_dense_gcn_of_pyg(directed):
    theirs = DenseGCNConv(5, 7)
    adj = binary_graphs(4, 9, directed)
    x = torch.randn(4, 9, 5, generator=randomness(1))
    ours = convolution_like(theirs)(Channel.of(x, adj))
    torch.testing.assert_close(ours, theirs(x, adj), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("directed", [False, True])
def test_convolution_equals_sparse_gcn_of_pyg(directed):
    theirs = GCNConv(5, 7)
    ours = convolution_like(theirs)
    x = torch.randn(6, 9, 5, generator=randomness(1))
    adj = binary_graphs(6, 9, directed)
    adj[0] = 0.0  # isolated nodes only
    found = ours(Channel.of(x, adj))
    for graph in range(6):
        # PyG sends from source to target; row i of A·X gathers what i points to
        edge_index = adj[graph].nonzero().T.flip(0)
        expected = theirs(x[graph], edge_index)
        torch.testing.assert_close(found[graph], expected, rtol=1e-5, atol=1e-6)


def test_degrees_of_noised_adjacencies_are_clamped_as_in_pyg():
    adj = noised_graphs(5, 8)
    degrees = adj.sum(dim=-1) + 1
    assert (degrees < 0).any()
    assert ((degrees > 0) & (degrees < 1)).any()
    theirs = DenseGCNConv(3, 4)
    x = torch.randn(5, 8, 3, generator=randomness(1))
    found = convolution_like(theirs)(Channel.of(x, adj))
    assert found.isfinite().all()
    torch.testing.assert_close(found, theirs(x, adj), rtol=1e-5, atol=1e-6)


def test_a_degree_below_one_counts_as_one():
    adj = torch.tensor([[[0.0, -3.0], [-3.0, 0.0]]])
    assert propagation(adj).tolist() == [[[1.0, -3.0], [-3.0, 1.0]]]


def test_an_isolated_node_keeps_its_own_features():
    assert torch.equal(propagation(torch.zeros(2, 3, 3)), torch.eye(3).expand(2, 3, 3))


def test_propagation_leaves_its_argument_alone():
    adj = binary_graphs(2, 5, directed=False)
    before = adj.clone()
    propagation(adj)
    assert torch.equal(adj, before)


def test_mlp_is_torchs_linear_layers_with_elu_between():
    ours = Mlp(3, 8, 6, 2)
    theirs = nn.Sequential(nn.Linear(3, 8), nn.ELU(), nn.Linear(8, 6), nn.ELU(), nn.Linear(6, 2))
    for layer, number in zip(ours.layers, (0, 2, 4), strict=True):
        layer.load_state_dict(theirs[number].state_dict())
    x = 3 * torch.randn(2, 5, 3, generator=randomness())
    torch.testing.assert_close(ours(x), theirs(x))


def test_layers_ask_for_the_bounds_of_pyg_and_torch():
    asked = []
    GraphConvolution(6, 10).initialise(lambda parameter, bound: asked.append(bound))
    Linear(16, 3).initialise(lambda parameter, bound: asked.append(bound))
    assert asked == pytest.approx([math.sqrt(6 / 16), 0.25, 0.25])


class TestMlp:
    """Forward and backward are our own, so both are checked against torch's."""

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    @pytest.mark.parametrize("widths", [(3, 5), (4, 8, 2), (6, 12, 12, 1)])
    @pytest.mark.parametrize("count", [0, 1, 7, 300])
    def test_values_and_gradients_are_those_of_torch(self, dtype, widths, count):
        ours = Mlp(*widths).to(dtype)
        theirs = []
        for number, layer in enumerate(ours.layers):
            nn.init.normal_(layer.weight, generator=randomness(number))
            nn.init.normal_(layer.bias, std=3.0, generator=randomness(50 + number))
            linear = nn.Linear(*layer.weight.shape[::-1]).to(dtype)
            linear.load_state_dict(layer.state_dict())
            theirs += [linear, nn.ELU()]
        theirs = nn.Sequential(*theirs[:-1])
        x = torch.randn(count, widths[0], dtype=dtype, generator=randomness(3)) * 5
        weight = torch.randn(count, widths[-1], dtype=dtype, generator=randomness(4))
        grads = []
        for network in (ours, theirs):
            given = x.clone().requires_grad_()
            out = network(given)
            (out * weight).sum().backward()
            grads.append([out.detach(), given.grad, *(p.grad for p in network.parameters())])
        tolerance = 1e-5 if dtype == torch.float32 else 1e-12
        for found, expected in zip(*grads, strict=True):
            scale = float(expected.abs().max()) if expected.numel() else 0.0
            torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance * scale)

    def test_extreme_values_stay_finite(self):
        network = Mlp(1, 4, 1)
        for parameter in network.parameters():
            nn.init.ones_(parameter)
        out = network(torch.tensor([[-1e30], [-100.0], [100.0], [1e30]]))
        assert torch.isfinite(out).all()

    def test_the_input_need_not_have_a_gradient(self):
        network = Mlp(2, 4, 1)
        for parameter in network.parameters():
            nn.init.ones_(parameter)
        network(torch.ones(3, 2)).sum().backward()
        assert all(p.grad is not None for p in network.parameters())

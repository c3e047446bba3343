"""Convolutions against PyG's, score networks against a slow reading of their description."""

import math
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from egoscore.detectors.paper.generative import ScoreModel
from egoscore.detectors.paper.networks import Attention, Channel, GraphConvolution, propagation

NUM_FEATURES, HIDDEN = 3, 8

both_kinds = pytest.mark.parametrize("directed", [False, True])


def model_of(directed, seed=0):
    """Float64, with biases everywhere, so that none can go missing unnoticed."""
    model = ScoreModel(NUM_FEATURES, HIDDEN, directed, seed).double()
    randomness = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.copy_(0.3 * torch.randn(parameter.shape, generator=randomness))
    return model


def noised_batch(sizes, directed, width=None, seed=0):
    """x, adj and mask of noised graphs; entries of either sign, padding zero."""
    width = width or max(sizes)
    random = np.random.default_rng(seed)
    x = np.zeros((len(sizes), width, NUM_FEATURES))
    adj = np.zeros((len(sizes), width, width))
    mask = np.zeros((len(sizes), width))
    for row, size in enumerate(sizes):
        x[row, :size] = random.normal(size=(size, NUM_FEATURES))
        entries = random.normal(0.3, 0.8, (size, size)) * (1 - np.eye(size))
        adj[row, :size, :size] = entries if directed else (entries + entries.T) / 2
        mask[row, :size] = 1
    return tuple(torch.from_numpy(array) for array in (x, adj, mask))


# --- the description, read slowly: one graph, no padding, numpy, loops ---


def slow_gcn(x, adj, weight, bias):
    size = len(x)
    looped = adj * (1 - np.eye(size)) + np.eye(size)
    degree = [max(1.0, sum(looped[i])) for i in range(size)]
    out = np.zeros((size, weight.shape[1]))
    for i in range(size):
        for j in range(size):
            out[i] += looped[i, j] / np.sqrt(degree[i] * degree[j]) * (x[j] @ weight)
    return out + bias


def slow_mlp(value, weights, prefix, num_layers):
    for number in range(num_layers):
        name = f"{prefix}.layers.{number}"
        value = weights[f"{name}.weight"] @ value + weights[f"{name}.bias"]
        if number < num_layers - 1:
            value = np.array([v if v > 0 else np.exp(v) - 1 for v in value])
    return value


def slow_feature_network(x, adj, weights):
    hidden = np.tanh(slow_gcn(x, adj, weights["convolution.weight"], weights["convolution.bias"]))
    return np.array([slow_mlp(row, weights, "mlp", 3) for row in np.hstack([x, hidden])])


def slow_attention(x, channel, weights, number):
    query, key = (
        slow_gcn(
            x,
            channel,
            weights[f"attention.{number}.{part}.weight"],
            weights[f"attention.{number}.{part}.bias"],
        )
        for part in ("query", "key")
    )
    heads = np.split(np.arange(HIDDEN), 4)
    return sum(np.tanh(query[:, h] @ key[:, h].T / np.sqrt(HIDDEN)) for h in heads) / 4


def slow_adjacency_network(x, adj, weights, directed):
    size = len(x)
    channels = [adj, np.einsum("ij,jk->ik", adj, adj)]
    maps = [slow_attention(x, channel, weights, i) for i, channel in enumerate(channels)]
    if not directed:
        maps = [(m + m.T) / 2 for m in maps]
    mixed = np.zeros((size, size, 4))
    for i, j in np.ndindex(size, size):
        entries = np.array([m[i, j] for m in (*maps, *channels)])
        mixed[i, j] = slow_mlp(entries, weights, "mix", 2)
    if not directed:
        mixed = mixed + mixed.transpose(1, 0, 2)  # GDSS adds the transpose, without halving
    out = np.zeros((size, size))
    for i, j in np.ndindex(size, size):
        if i != j:
            entries = np.array([*(channel[i, j] for channel in channels), *mixed[i, j]])
            out[i, j] = slow_mlp(entries, weights, "final", 3)[0]
    return out


def seen(x, adj):
    """A and A², and the nodes seen through each."""
    matrices = [adj, adj @ adj]
    return matrices, [Channel.of(x, matrix) for matrix in matrices]


def predict_noise(model, x, adj, mask):
    return model.predict_noise(x, adj, mask, torch.ones(len(x)), x.new_empty(*mask.shape, 0))


def numpy_weights(network):
    return {name: value.detach().numpy() for name, value in network.named_parameters()}


@both_kinds
def test_feature_network_is_what_is_described(directed):
    network = model_of(directed).feature_network
    x, adj, mask = noised_batch([5, 5, 5], directed)
    found = network(Channel.of(x, adj), mask).detach().numpy()
    for row in range(3):
        expected = slow_feature_network(x[row].numpy(), adj[row].numpy(), numpy_weights(network))
        np.testing.assert_allclose(found[row], expected, rtol=1e-10, atol=1e-12)


@both_kinds
def test_adjacency_network_is_what_is_described(directed):
    network = model_of(directed).adjacency_network
    x, adj, mask = noised_batch([5, 5, 5], directed)
    found = network(*seen(x, adj), mask).detach().numpy()
    for row in range(3):
        expected = slow_adjacency_network(
            x[row].numpy(), adj[row].numpy(), numpy_weights(network), directed
        )
        np.testing.assert_allclose(found[row], expected, rtol=1e-10, atol=1e-12)


def test_layers_have_the_described_widths():
    # Linear weights are (outputs, inputs), those of a convolution (inputs, outputs)
    shapes = {name: tuple(p.shape) for name, p in ScoreModel(3, 8).named_parameters()}
    weights = {name: shape for name, shape in shapes.items() if name.endswith("weight")}
    assert weights == {
        "feature_network.convolution.weight": (3, 8),
        "feature_network.mlp.layers.0.weight": (22, 11),
        "feature_network.mlp.layers.1.weight": (22, 22),
        "feature_network.mlp.layers.2.weight": (3, 22),
        "adjacency_network.attention.0.query.weight": (3, 8),
        "adjacency_network.attention.0.key.weight": (3, 8),
        "adjacency_network.attention.1.query.weight": (3, 8),
        "adjacency_network.attention.1.key.weight": (3, 8),
        "adjacency_network.mix.layers.0.weight": (8, 4),
        "adjacency_network.mix.layers.1.weight": (4, 8),
        "adjacency_network.final.layers.0.weight": (12, 6),
        "adjacency_network.final.layers.1.weight": (12, 12),
        "adjacency_network.final.layers.2.weight": (1, 12),
    }


@pytest.mark.parametrize("hidden_size", [4, 12, 64])
def test_the_hidden_size_reaches_every_graph_convolution(hidden_size):
    model = ScoreModel(NUM_FEATURES, hidden_size)
    widths = [p.shape[1] for name, p in model.named_parameters() if "weight" in name and (
        "convolution" in name or "attention" in name)]  # fmt: skip
    assert widths == [hidden_size] * 5


@both_kinds
def test_every_parameter_matters(directed):
    model = model_of(directed)
    predicted = predict_noise(model, *noised_batch([5, 6], directed))
    sum(part.square().sum() for part in predicted).backward()
    assert all(p.grad is not None and p.grad.any() for p in model.parameters())


@both_kinds
def test_renumbering_the_nodes_renumbers_the_output(directed):
    model = model_of(directed)
    x, adj, mask = noised_batch([7], directed)
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    noise_x, noise_adj = predict_noise(model, x, adj, mask)
    moved_x, moved_adj = predict_noise(model, x[:, order], adj[:, order][:, :, order], mask)
    torch.testing.assert_close(moved_x, noise_x[:, order])
    torch.testing.assert_close(moved_adj, noise_adj[:, order][:, :, order])


@both_kinds
def test_padding_changes_nothing_and_comes_out_as_zero(directed):
    model = model_of(directed)
    sizes = [1, 4, 6]
    x, adj, mask = noised_batch(sizes, directed, width=11)
    noise_x, noise_adj = predict_noise(model, x, adj, mask)
    for row, size in enumerate(sizes):
        alone = (x[row : row + 1, :size], adj[row : row + 1, :size, :size], mask[:1, :1])
        alone_x, alone_adj = predict_noise(model, alone[0], alone[1], alone[2].expand(1, size))
        torch.testing.assert_close(noise_x[row, :size], alone_x[0])
        torch.testing.assert_close(noise_adj[row, :size, :size], alone_adj[0])
        assert not noise_x[row, size:].any()
        assert not noise_adj[row, size:].any()
        assert not noise_adj[row, :, size:].any()


def test_undirected_output_is_symmetric_with_a_zero_diagonal():
    _, out = predict_noise(model_of(False), *noised_batch([6, 4], False))
    torch.testing.assert_close(out, out.transpose(1, 2))
    assert not out.diagonal(dim1=1, dim2=2).any()
    assert out[0].count_nonzero() == 30


def test_directed_output_is_not_symmetrised_and_has_a_zero_diagonal():
    _, out = predict_noise(model_of(True), *noised_batch([6], True))
    assert not out.diagonal(dim1=1, dim2=2).any()
    pairs = ~torch.eye(6, dtype=torch.bool)
    assert ((out - out.transpose(1, 2))[0][pairs].abs() > 1e-6).all()


def attention(num_heads):
    layer = Attention(3, 6, num_heads).double()
    for number, parameter in enumerate(layer.parameters()):
        nn.init.normal_(parameter, generator=torch.Generator().manual_seed(number))
    return layer


@pytest.mark.parametrize("num_heads", [1, 2, 3])
def test_it_is_the_mean_over_heads_of_tanh(num_heads):
    x = torch.randn(3, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(9))
    seen = Channel(x, torch.eye(5, dtype=x.dtype).expand(3, -1, -1), x)  # a node sees itself only
    layer, width = attention(num_heads), 6 // num_heads
    query, key = layer.query(seen), layer.key(seen)
    maps = [
        torch.tanh(query[..., a : a + width] @ key[..., a : a + width].mT / math.sqrt(6))
        for a in range(0, 6, width)
    ]
    torch.testing.assert_close(layer(seen), torch.stack(maps).mean(dim=0))


def test_a_hidden_size_that_heads_cannot_share_is_refused():
    with pytest.raises(ValueError, match=r"multiple of 4, the number of heads \(found 6\)"):
        Attention(3, 6, 4)


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


def test_convolutions_ask_for_the_bounds_of_pyg():
    asked = []
    GraphConvolution(6, 10).initialise(lambda parameter, bound: asked.append(bound))
    assert asked == pytest.approx([math.sqrt(6 / 16)])

"""Full batches: what NeighborLoader would give if it kept everything, and no trace of it after."""

import sys

import pygod.detector
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader
from torch_geometric.utils import k_hop_subgraph

from egoscore.bench.rivals.library_fits import FullBatchLoader, full_batch

EDGES = torch.tensor([[0, 1, 1, 2, 4], [1, 0, 2, 4, 1]])  # node 3 has no edge


def network():
    return Data(torch.arange(10.0).reshape(5, 2), EDGES, s=torch.eye(5))


def test_it_yields_all_nodes_in_order_and_all_edges_once():
    # NeighborLoader itself cannot run here; this is the subgraph it samples from all seeds.
    nodes, edges, _, _ = k_hop_subgraph(torch.arange(5), 2, EDGES, relabel_nodes=True, num_nodes=5)
    (batch,) = FullBatchLoader(network(), [-1, -1], batch_size=5)
    assert torch.equal(batch.n_id, nodes)
    assert torch.equal(batch.input_id, nodes)
    assert batch.batch_size == 5
    assert torch.equal(batch.edge_index, edges)
    assert torch.equal(batch.x, network().x)
    assert torch.equal(batch.s, network().s)


def test_every_pass_yields_one_batch():
    loader = FullBatchLoader(network(), [0], batch_size=5)
    assert len(loader) == 1
    assert [len(list(loader)) for _ in range(3)] == [1, 1, 1]


def test_the_network_itself_stays_as_it_is():
    data = network()
    list(FullBatchLoader(data, [-1], batch_size=5))
    assert data.keys() == network().keys()


@pytest.mark.parametrize(("num_neighbors", "batch_size"), [([-1], 4), ([-1, 10], 5)])
def test_it_refuses_to_sample(num_neighbors, batch_size):
    with pytest.raises(NotImplementedError, match="does not sample"):
        FullBatchLoader(network(), num_neighbors, batch_size)


def loaders():
    modules = {name: module for name, module in sys.modules.items() if name.startswith("pygod.")}
    return {n: m.NeighborLoader for n, m in modules.items() if hasattr(m, "NeighborLoader")}


def test_it_stands_in_wherever_pygod_uses_neighbor_loader():
    with full_batch():
        assert loaders() == {
            "pygod.detector.base": FullBatchLoader,
            "pygod.detector.gadnr": FullBatchLoader,
        }
    assert set(loaders().values()) == {NeighborLoader}


def test_it_leaves_no_trace_after_an_error():
    with pytest.raises(ZeroDivisionError), full_batch():
        1 / 0  # noqa: B018
    assert set(loaders().values()) == {NeighborLoader}


def test_a_detector_trains_on_it():
    with full_batch():
        detector = pygod.detector.DOMINANT(hid_dim=4, epoch=2).fit(Data(network().x, EDGES))
    assert detector.decision_score_.shape == (5,)

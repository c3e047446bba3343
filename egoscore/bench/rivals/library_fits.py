"""Fitting the detectors of other libraries, unchanged, with BOND's settings and a seed.

Functions compute the scores (N,) from a graph, chosen hyperparameters, epochs and a seed.
"""

from __future__ import annotations

import atexit
import random
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from egoscore.bench.protocol import WEIGHT_DECAY
from egoscore.graph import AttributedGraph

if TYPE_CHECKING:
    from torch_geometric.data import Data

Scores = NDArray[np.float64]
Chosen = Mapping[str, Any]
Score = Callable[[AttributedGraph, Chosen, int, int], Scores]
# Hyperparameters that PyGOD calls something else. BOND's alpha weights the error of the features,
# and 1 - alpha that of the structure. PyGOD 1.1 calls the same number `weight`, keeps `alpha` for
# GUIDE, and lets AnomalyDAE's `alpha` weight the structure.
_NAMES = {"hidden_size": "hid_dim", "alpha": "weight"}


def lof(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """scikit-learn's local outlier factor, of nodes among each other."""
    from sklearn.neighbors import LocalOutlierFactor

    # PyOD's LOF, which BOND used, wraps this one. BOND's figures come from scoring the nodes as
    # new data, where every node is its own nearest neighbour; this does not.
    with warnings.catch_warnings(action="ignore"):
        found = LocalOutlierFactor(n_neighbors=20).fit(graph.features)
    return np.asarray(-found.negative_outlier_factor_, dtype=np.float64)


def isolation_forest(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """scikit-learn's isolation forest, high for nodes that are easily isolated."""
    from sklearn.ensemble import IsolationForest

    forest = IsolationForest(random_state=seed).fit(graph.features)
    # scikit-learn's score is high for normal data. BOND's figures on Disney, Books and Reddit are
    # those of the score without this minus.
    return np.asarray(-forest.score_samples(graph.features), dtype=np.float64)


def mlpae(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """PyGOD's autoencoder of the features, with layers that do not look at edges."""
    with warnings.catch_warnings(action="ignore"):
        from torch_geometric.nn import MLP

    return fit("GAE", graph, seed, backbone=MLP, num_neigh=0, **_settings(chosen, epochs))


def guide(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """PyGOD's GUIDE, with motif counts of this graph only."""
    settings = _settings(chosen, epochs)
    settings |= {"hid_a": settings.pop("hid_dim"), "alpha": settings.pop("weight")}
    return fit("GUIDE", graph, seed, cache_dir=motif_folder(graph.fingerprint()), **settings)


@cache
def motif_folder(fingerprint: str) -> str:
    """The folder for GUIDE's motif counts of one graph."""
    # GUIDE caches its motif counts, minutes of work, in files named only by the size of the graph,
    # and would reuse those of another graph of that size. The folder is removed with the process.
    folder = tempfile.mkdtemp(prefix="egoscore-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def gadnr(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """PyGOD's GAD-NR."""
    with warnings.catch_warnings(action="ignore"):
        from torch_geometric.nn import GCN

        model = import_module("pygod.nn.gadnr")

    def gcn(tot_nodes: int, **arguments: Any) -> Any:
        # Its model passes an argument that GCN does not accept (PyGOD issue 111).
        return GCN(**arguments)

    # Its model starts four processes that it neither uses nor ends.
    no_processes = SimpleNamespace(Pool=lambda workers: None)
    with patch.object(model, "mp", no_processes):
        return fit("GADNR", graph, seed, backbone=gcn, **_settings(chosen, epochs))


def one(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """PyGOD's ONE, with the same size for features and structure."""
    settings = _settings(chosen, epochs)
    size = settings.pop("hid_dim")
    return fit("ONE", graph, seed, hid_a=size, hid_s=size, **settings)


def anomalydae(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """PyGOD's AnomalyDAE, whose alpha weights the structure."""
    settings = _settings(chosen, epochs)
    settings |= {"emb_dim": chosen["hidden_size"], "alpha": 1 - settings.pop("weight")}
    return fit("AnomalyDAE", graph, seed, **settings)


def detector(name: str) -> Score:
    """A function that scores with PyGOD's detector `name`."""

    def score(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
        return fit(name, graph, seed, **_settings(chosen, epochs))

    return score


def _settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """The chosen hyperparameters under PyGOD's names, and those of training."""
    renamed = {_NAMES.get(name, name): value for name, value in chosen.items()}
    if "hidden_size" not in chosen:
        # Radar, ANOMALOUS and SCAN: BOND used PyGOD's defaults for everything else, even epochs
        return renamed
    return renamed | {"weight_decay": WEIGHT_DECAY, "epoch": epochs}


def fit(name: str, graph: AttributedGraph, seed: int, **settings: Any) -> Scores:
    """The scores of PyGOD's detector `name`, (N,): those of its last epoch, as BOND took them."""
    # The warnings are about options that a detector ignores and calls that are deprecated.
    with warnings.catch_warnings(action="ignore"), _seeded(seed), full_batch():
        detector = getattr(import_module("pygod.detector"), name)(**settings)
        detector.fit(as_data(graph))
    found = np.asarray(detector.decision_score_, dtype=np.float64)
    if len(found) != graph.num_nodes:
        raise RuntimeError(f"PyGOD's {name} gave {len(found)} scores for {graph.num_nodes} nodes.")
    return found


def as_data(graph: AttributedGraph) -> Data:
    """The graph as PyG's `Data`: `x` (N, F), `edge_index` (2, E), nothing about outliers.

    E counts both directions of an undirected edge. Arrays are copied: detectors write to them.
    """
    import torch
    from torch_geometric.data import Data

    sources = np.repeat(np.arange(graph.num_nodes), graph.adjacency.degrees)
    edges = np.stack([sources, graph.adjacency.indices])
    return Data(torch.tensor(graph.features), torch.tensor(edges, dtype=torch.int64))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the three global generators that PyGOD uses, and restore their states afterwards."""
    import torch

    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        try:
            yield
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: NPY002


class FullBatchLoader:
    """Yields the whole graph once per pass, as torch_geometric's NeighborLoader could.

    NeighborLoader needs pyg-lib or torch-sparse, which are compiled for one version of torch, even
    if nothing is sampled, as in BOND.

    `num_neighbors` is the number of neighbours to keep in every layer: all (-1), or none (0), which
    PyGOD uses for models that ignore edges.
    """

    def __init__(self, data: Data, num_neighbors: Sequence[int], batch_size: int) -> None:
        if batch_size < data.num_nodes or any(kept not in (-1, 0) for kept in num_neighbors):
            raise NotImplementedError(
                "FullBatchLoader does not sample: it needs batch_size >= the number of nodes and "
                f"num_neighbors of -1 or 0 (found {batch_size} for {data.num_nodes} nodes, "
                f"{list(num_neighbors)})."
            )
        self._data = data

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Data]:
        """One batch with all nodes as seeds, in order, and all edges."""
        import torch

        batch = copy(self._data)
        nodes = torch.arange(batch.num_nodes)
        batch.n_id, batch.input_id, batch.batch_size = nodes, nodes, len(nodes)
        yield batch


@contextmanager
def full_batch() -> Iterator[None]:
    """Make PyGOD train on full batches without NeighborLoader in this context."""
    import_module("pygod.detector")  # so that its modules can be patched
    users = [
        module
        for name, module in sys.modules.items()
        if name.startswith("pygod.") and hasattr(module, "NeighborLoader")
    ]
    with ExitStack() as stack:
        for module in users:
            stack.enter_context(patch.object(module, "NeighborLoader", FullBatchLoader))
        yield

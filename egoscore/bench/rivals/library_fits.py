"""Fitting the detectors of other libraries, unchanged, with BOND's settings and a seed.

Functions compute the scores (N,) from a graph, chosen hyperparameters, epochs and a seed, or the
settings of a detector from chosen hyperparameters and epochs.
"""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from egoscore.bench.rivals.full_batch import full_batch, replaced
from egoscore.graph import AttributedGraph

if TYPE_CHECKING:
    from torch_geometric.data import Data

Scores = NDArray[np.float64]
Chosen = Mapping[str, Any]
Score = Callable[[AttributedGraph, Chosen, int, int], Scores]
WEIGHT_DECAY = 0.01


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

    return fit("GAE", graph, seed, backbone=MLP, num_neigh=0, **network_settings(chosen, epochs))


def guide(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """PyGOD's GUIDE, with motif counts of this graph only."""
    settings = network_settings(chosen, epochs)
    settings["hid_a"] = settings.pop("hid_dim")
    settings |= {"hid_s": chosen["hid_s"], "alpha": chosen["alpha"]}
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
    with replaced(model, "mp", no_processes):
        return fit("GADNR", graph, seed, backbone=gcn, **shallow_settings(chosen, epochs))


def one(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """PyGOD's ONE."""
    settings = _training(chosen, epochs)
    size = chosen["hidden_size"]
    return fit("ONE", graph, seed, hid_a=size, hid_s=size, **settings)


def detector(name: str, settings: Callable[[Chosen, int], dict[str, Any]]) -> Score:
    """A function that scores with PyGOD's detector `name` and `settings(chosen, epochs)`."""

    def score(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
        return fit(name, graph, seed, **settings(chosen, epochs))

    return score


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


def own_settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """Only the chosen values."""
    # Radar, ANOMALOUS and SCAN: BOND used PyGOD's defaults for everything else, including epochs
    return dict(chosen)


def _training(chosen: Chosen, epochs: int) -> dict[str, Any]:
    return {"lr": chosen["lr"], "weight_decay": WEIGHT_DECAY, "epoch": epochs}


def shallow_settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """Settings of detectors without dropout."""
    # GAD-NR does not pass dropout on to its networks, and DMGD's have a single layer
    return _training(chosen, epochs) | {"hid_dim": chosen["hidden_size"]}


def network_settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """Settings of detectors that train a network."""
    return shallow_settings(chosen, epochs) | {"dropout": chosen["dropout"]}


# BOND's alpha weighs the error of the features, and 1 - alpha that of the structure. PyGOD 1.1
# calls the same number `weight`, keeps `alpha` for GUIDE, and lets AnomalyDAE's `alpha` weigh the
# structure.


def weighed_settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """Settings of detectors that weight features against structure."""
    return network_settings(chosen, epochs) | {"weight": chosen["alpha"]}


def gaan_settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """Settings of GAAN."""
    return weighed_settings(chosen, epochs) | {"noise_dim": chosen["noise_dim"]}


def anomalydae_settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """Settings of AnomalyDAE, whose alpha weights the structure."""
    return network_settings(chosen, epochs) | {
        "emb_dim": chosen["hidden_size"],
        "alpha": 1 - chosen["alpha"],
        "theta": chosen["theta"],
        "eta": chosen["eta"],
    }


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

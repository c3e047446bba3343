"""How the libraries' detectors are fitted: unchanged, with what BOND gave them, by a seed alone.

A function here takes a network, chosen hyperparameters, epochs and a seed to the scores (N,), or
chosen hyperparameters and epochs to the settings of a detector.
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

from egoscore.graph import AttributedGraph
from egoscore.rivals.full_batch import full_batch, replaced

if TYPE_CHECKING:
    from torch_geometric.data import Data

Scores = NDArray[np.float64]
Chosen = Mapping[str, Any]
Score = Callable[[AttributedGraph, Chosen, int, int], Scores]
WEIGHT_DECAY = 0.01


def lof(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """scikit-learn's local outlier factor, of nodes among each other."""
    from sklearn.neighbors import LocalOutlierFactor

    # PyOD's LOF, which BOND used, is this one. BOND's figures come from scoring the nodes as if
    # they were new, which makes every node its own nearest neighbour; this does not.
    with warnings.catch_warnings(action="ignore"):
        found = LocalOutlierFactor(n_neighbors=20).fit(graph.features)
    return np.asarray(-found.negative_outlier_factor_, dtype=np.float64)


def isolation_forest(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """scikit-learn's isolation forest, high for what is easily isolated."""
    from sklearn.ensemble import IsolationForest

    forest = IsolationForest(random_state=seed).fit(graph.features)
    # scikit-learn calls the normal high. BOND's figures on Disney, Books and Reddit are those of
    # the score without this minus.
    return np.asarray(-forest.score_samples(graph.features), dtype=np.float64)


def mlpae(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """PyGOD's autoencoder of the features, with layers that do not look at edges."""
    with warnings.catch_warnings(action="ignore"):
        from torch_geometric.nn import MLP

    return fit("GAE", graph, seed, backbone=MLP, num_neigh=0, **network_settings(chosen, epochs))


def guide(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """PyGOD's GUIDE, with motif counts of this network and no other."""
    settings = network_settings(chosen, epochs)
    settings["hid_a"] = settings.pop("hid_dim")
    settings |= {"hid_s": chosen["hid_s"], "alpha": chosen["alpha"]}
    return fit("GUIDE", graph, seed, cache_dir=motif_folder(graph.fingerprint()), **settings)


@cache
def motif_folder(fingerprint: str) -> str:
    """Where GUIDE may keep the motif counts of one network."""
    # GUIDE keeps its motif counts, minutes of work, in files named by the network's size only, and
    # would take those of any other network with as many nodes and edges. Gone with the process.
    folder = tempfile.mkdtemp(prefix="egoscore-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def gadnr(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """PyGOD's GAD-NR."""
    with warnings.catch_warnings(action="ignore"):
        from torch_geometric.nn import GCN

        model = import_module("pygod.nn.gadnr")

    def gcn(tot_nodes: int, **arguments: Any) -> Any:
        # Its model hands on an argument that GCN does not take (PyGOD issue 111).
        return GCN(**arguments)

    # Its model starts four processes, gives them nothing to do and never ends them.
    no_processes = SimpleNamespace(Pool=lambda workers: None)
    with replaced(model, "mp", no_processes):
        return fit("GADNR", graph, seed, backbone=gcn, **shallow_settings(chosen, epochs))


def one(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    """PyGOD's ONE."""
    settings = _training(chosen, epochs)
    size = chosen["hidden_size"]
    return fit("ONE", graph, seed, hid_a=size, hid_s=size, **settings)


def detector(name: str, settings: Callable[[Chosen, int], dict[str, Any]]) -> Score:
    """How PyGOD's detector `name` scores when `settings(chosen, epochs)` are given to it."""

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
    """What was chosen and nothing else."""
    # Radar, ANOMALOUS and SCAN: BOND left everything else, epochs included, as PyGOD has it.
    return dict(chosen)


def _training(chosen: Chosen, epochs: int) -> dict[str, Any]:
    return {"lr": chosen["lr"], "weight_decay": WEIGHT_DECAY, "epoch": epochs}


def shallow_settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """Of detectors in which dropout has no place."""
    # Without dropout, which would do nothing: GAD-NR does not hand it on to its networks, and in
    # DMGD's, which have one layer each, there is no place for it.
    return _training(chosen, epochs) | {"hid_dim": chosen["hidden_size"]}


def network_settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """Of detectors that train a network."""
    return shallow_settings(chosen, epochs) | {"dropout": chosen["dropout"]}


# BOND's alpha weighs the error of the features, and 1 - alpha that of the structure. PyGOD 1.1
# calls the same number `weight`, keeps `alpha` for GUIDE, and lets AnomalyDAE's `alpha` weigh the
# structure.


def weighed_settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """Of those that weigh features against structure."""
    return network_settings(chosen, epochs) | {"weight": chosen["alpha"]}


def gaan_settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """GAAN's own names."""
    return weighed_settings(chosen, epochs) | {"noise_dim": chosen["noise_dim"]}


def anomalydae_settings(chosen: Chosen, epochs: int) -> dict[str, Any]:
    """AnomalyDAE's own names, and alpha the way round it has it."""
    return network_settings(chosen, epochs) | {
        "emb_dim": chosen["hidden_size"],
        "alpha": 1 - chosen["alpha"],
        "theta": chosen["theta"],
        "eta": chosen["eta"],
    }


def as_data(graph: AttributedGraph) -> Data:
    """The network as PyG's `Data`: `x` (N, F), `edge_index` (2, E), nothing about outliers.

    E counts both directions of an undirected edge. Arrays are copied: detectors write to them.
    """
    import torch
    from torch_geometric.data import Data

    sources = np.repeat(np.arange(graph.num_nodes), graph.adjacency.degrees)
    edges = np.stack([sources, graph.adjacency.indices])
    return Data(torch.tensor(graph.features), torch.tensor(edges, dtype=torch.int64))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """The three global generators that PyGOD draws from start at `seed`, and are put back after."""
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

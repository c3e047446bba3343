"""The detectors of PyGOD 1.1 and scikit-learn, unchanged, with the settings BOND gave them.

Liu et al., "BOND: Benchmarking unsupervised outlier node detection on static attributed graphs",
2022, whose grid the newer detectors, which it did not have, share. A detector that crashes or
returns nonsense does so here as well; `Rival.defect` says what is known.
"""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
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
_TRAINED = ("lr", "hidden_size", "dropout")
_WEIGHED = (*_TRAINED, "alpha")


@dataclass(frozen=True)
class Rival:
    """A detector of a library.

    Attributes:
        title: its name in the paper's tables.
        family: "attributes", "structure", "networks", or "newer" than BOND.
        score: (network, chosen hyperparameters, epochs, seed) to the scores, (N,).
        shared: which of lr, alpha, hidden_size and dropout it takes.
        own: hyperparameters that only it has, with their options.
        needs: the module that must be installed.
        defect: what is wrong with the library's version, if anything is known.
    """

    title: str
    family: str
    score: Score
    shared: tuple[str, ...] = ()
    own: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    needs: str = ""
    defect: str = ""


def _lof(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    from sklearn.neighbors import LocalOutlierFactor

    # PyOD's LOF, which BOND used, is this one. BOND's figures come from scoring the nodes as if
    # they were new, which makes every node its own nearest neighbour; this does not.
    with warnings.catch_warnings(action="ignore"):
        found = LocalOutlierFactor(n_neighbors=20).fit(graph.features)
    return np.asarray(-found.negative_outlier_factor_, dtype=np.float64)


def _isolation_forest(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    from sklearn.ensemble import IsolationForest

    forest = IsolationForest(random_state=seed).fit(graph.features)
    # scikit-learn calls the normal high. BOND's figures on Disney, Books and Reddit are those of
    # the score without this minus.
    return np.asarray(-forest.score_samples(graph.features), dtype=np.float64)


def _mlpae(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    with warnings.catch_warnings(action="ignore"):
        from torch_geometric.nn import MLP

    return _fit("GAE", graph, seed, backbone=MLP, num_neigh=0, **_network(chosen, epochs))


def _guide(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    settings = _network(chosen, epochs)
    settings["hid_a"] = settings.pop("hid_dim")
    settings |= {"hid_s": chosen["hid_s"], "alpha": chosen["alpha"]}
    return _fit("GUIDE", graph, seed, cache_dir=_motif_folder(graph.fingerprint()), **settings)


@cache
def _motif_folder(fingerprint: str) -> str:
    # GUIDE keeps its motif counts, minutes of work, in files named by the network's size only, and
    # would take those of any other network with as many nodes and edges. Gone with the process.
    folder = tempfile.mkdtemp(prefix="egoscore-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _gadnr(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    with warnings.catch_warnings(action="ignore"):
        from torch_geometric.nn import GCN

        model = import_module("pygod.nn.gadnr")

    def gcn(tot_nodes: int, **arguments: Any) -> Any:
        # Its model hands on an argument that GCN does not take (PyGOD issue 111).
        return GCN(**arguments)

    # Its model starts four processes, gives them nothing to do and never ends them.
    no_processes = SimpleNamespace(Pool=lambda workers: None)
    with replaced(model, "mp", no_processes):
        return _fit("GADNR", graph, seed, backbone=gcn, **_shallow(chosen, epochs))


def _one(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
    settings = _training(chosen, epochs)
    size = chosen["hidden_size"]
    return _fit("ONE", graph, seed, hid_a=size, hid_s=size, **settings)


def _detector(name: str, settings: Callable[[Chosen, int], dict[str, Any]]) -> Score:
    """How PyGOD's detector `name` scores when `settings(chosen, epochs)` are given to it."""

    def score(graph: AttributedGraph, chosen: Chosen, epochs: int, seed: int) -> Scores:
        return _fit(name, graph, seed, **settings(chosen, epochs))

    return score


def _fit(name: str, graph: AttributedGraph, seed: int, **settings: Any) -> Scores:
    """The scores of PyGOD's detector `name`, (N,): those of its last epoch, as BOND took them."""
    # The warnings are about options that a detector ignores and calls that are deprecated.
    with warnings.catch_warnings(action="ignore"), _seeded(seed), full_batch():
        detector = getattr(import_module("pygod.detector"), name)(**settings)
        detector.fit(_as_data(graph))
    found = np.asarray(detector.decision_score_, dtype=np.float64)
    if len(found) != graph.num_nodes:
        raise RuntimeError(f"PyGOD's {name} gave {len(found)} scores for {graph.num_nodes} nodes.")
    return found


def _as_chosen(chosen: Chosen, epochs: int) -> dict[str, Any]:
    # Radar, ANOMALOUS and SCAN: BOND left everything else, epochs included, as PyGOD has it.
    return dict(chosen)


def _training(chosen: Chosen, epochs: int) -> dict[str, Any]:
    return {"lr": chosen["lr"], "weight_decay": WEIGHT_DECAY, "epoch": epochs}


def _shallow(chosen: Chosen, epochs: int) -> dict[str, Any]:
    # Without dropout, which would do nothing: GAD-NR does not hand it on to its networks, and in
    # DMGD's, which have one layer each, there is no place for it.
    return _training(chosen, epochs) | {"hid_dim": chosen["hidden_size"]}


def _network(chosen: Chosen, epochs: int) -> dict[str, Any]:
    return _shallow(chosen, epochs) | {"dropout": chosen["dropout"]}


# BOND's alpha weighs the error of the features, and 1 - alpha that of the structure. PyGOD 1.1
# calls the same number `weight`, keeps `alpha` for GUIDE, and lets AnomalyDAE's `alpha` weigh the
# structure.


def _weighed(chosen: Chosen, epochs: int) -> dict[str, Any]:
    return _network(chosen, epochs) | {"weight": chosen["alpha"]}


def _gaan(chosen: Chosen, epochs: int) -> dict[str, Any]:
    return _weighed(chosen, epochs) | {"noise_dim": chosen["noise_dim"]}


def _anomalydae(chosen: Chosen, epochs: int) -> dict[str, Any]:
    return _network(chosen, epochs) | {
        "emb_dim": chosen["hidden_size"],
        "alpha": 1 - chosen["alpha"],
        "theta": chosen["theta"],
        "eta": chosen["eta"],
    }


def _as_data(graph: AttributedGraph) -> Data:
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


_pygod = partial(Rival, needs="pygod")
_LAST = "It crashes where the network's last node has no edge"
RIVALS: dict[str, Rival] = {
    "lof": Rival(
        "LOF",
        "attributes",
        _lof,
        defect="Nodes with more than twenty exact copies, as on Reddit, get a density of 1e10, and "
        "nodes near them factors in the millions.",
    ),
    "if": Rival("IF", "attributes", _isolation_forest),
    "mlpae": _pygod(
        "MLPAE",
        "attributes",
        _mlpae,
        _TRAINED,
        defect="On unscaled features it may learn nothing and return their norm, "
        "as in two of three trials on Disney (rank correlation 0.999).",
    ),
    "scan": _pygod(
        "SCAN",
        "structure",
        _detector("SCAN", _as_chosen),
        own={"eps": (0.3, 0.5, 0.8), "mu": (2, 5, 10)},
        defect="It calls the members of clusters abnormal, not the nodes left out, and cuts all of "
        "a node's similarities to whole numbers if the first is zero.",
    ),
    "radar": _pygod(
        "Radar",
        "structure",
        _detector("Radar", _as_chosen),
        ("lr",),
        defect="Features with a large mean, such as the constant one of Books, leave nothing of "
        f"the score but float32 rounding. {_LAST}.",
    ),
    "anomalous": _pygod(
        "ANOMALOUS",
        "structure",
        _detector("ANOMALOUS", _as_chosen),
        ("lr",),
        defect="On unscaled features it ranks as its starting point does, which is Radar's, and "
        f"where features have a large mean by float32 rounding. {_LAST}.",
    ),
    "gcnae": _pygod("GCNAE", "networks", _detector("GAE", _network), _TRAINED),
    "dominant": _pygod(
        "DOMINANT", "networks", _detector("DOMINANT", _weighed), _WEIGHED, defect=f"{_LAST}."
    ),
    "done": _pygod("DONE", "networks", _detector("DONE", _network), _TRAINED, defect=f"{_LAST}."),
    "adone": _pygod(
        "AdONE", "networks", _detector("AdONE", _network), _TRAINED, defect=f"{_LAST}."
    ),
    "anomalydae": _pygod(
        "AnomalyDAE",
        "networks",
        _detector("AnomalyDAE", _anomalydae),
        _WEIGHED,
        own={"theta": (10.0, 40.0, 90.0), "eta": (3.0, 5.0, 8.0)},
        defect="On unscaled features it may return their norm, as on Disney "
        f"(rank correlation 0.999). {_LAST}.",
    ),
    "gaan": _pygod(
        "GAAN",
        "networks",
        _detector("GAAN", _gaan),
        _WEIGHED,
        own={"noise_dim": (8, 16, 32)},
        defect="Nothing makes its generator resemble the features, so that their error is their "
        "norm (rank correlation 1.0 on Disney), and its loss takes a whole row of the adjacency "
        f"matrix for every edge. {_LAST}.",
    ),
    "guide": _pygod(
        "GUIDE",
        "networks",
        _guide,
        _WEIGHED,
        own={"hid_s": (4, 5, 6)},
        defect="It crashes where any node has no edge.",
    ),
    "conad": _pygod(
        "CONAD",
        "networks",
        _detector("CONAD", _weighed),
        _WEIGHED,
        defect=f"Its contrastive loss is a constant, which leaves DOMINANT. {_LAST}.",
    ),
    "ocgnn": _pygod("OCGNN", "newer", _detector("OCGNN", _network), _TRAINED),
    "cola": _pygod(
        "CoLA",
        "newer",
        _detector("CoLA", _network),
        _TRAINED,
        defect="It compares every node with one other, drawn at random, where its paper takes the "
        "mean over many: two scorings by one model on Books have rank correlation 0.47.",
    ),
    "gadnr": _pygod(
        "GAD-NR",
        "newer",
        _gadnr,
        ("lr", "hidden_size"),
        defect="It may return little but the degree, as in two of three trials each on Disney and "
        f"Books (rank correlation 0.99). {_LAST}.",
    ),
    "dmgd": _pygod(
        "DMGD",
        "newer",
        _detector("DMGD", _shallow),
        ("lr", "hidden_size"),
        defect="It puts the adjacency matrix in place of the features, and has no score for the "
        "network's last node if it has no edge.",
    ),
    "one": _pygod("ONE", "newer", _one, ("lr", "hidden_size"), defect=f"{_LAST}."),
}

"""The detectors of PyGOD 1.1 and scikit-learn, unchanged, with BOND's settings.

Liu et al., "BOND: Benchmarking unsupervised outlier node detection on static attributed graphs",
2022, whose grid is also used for newer detectors. A detector that crashes or returns nonsense
does so here as well; `Rival.defect` has what is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from egoscore.bench.rivals.library_fits import (
    Score,
    anomalydae,
    detector,
    gadnr,
    guide,
    isolation_forest,
    lof,
    mlpae,
    one,
)

_TRAINED = ("lr", "hidden_size", "dropout")
_WEIGHED = (*_TRAINED, "alpha")


@dataclass(frozen=True)
class Rival:
    """A detector of a library.

    Attributes:
        title: its name in the paper's tables.
        group: "attributes", "structure", "networks", or "newer" than BOND.
        score: computes scores (N,) from (graph, chosen hyperparameters, epochs, seed).
        shared: which of lr, alpha, hidden_size and dropout it has.
        own: its further hyperparameters, with their options.
        needs: the module that must be installed.
        defect: known defects of the library's version.
    """

    title: str
    group: str
    score: Score
    shared: tuple[str, ...] = ()
    own: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    needs: str = ""
    defect: str = ""


_pygod = partial(Rival, needs="pygod")
_LAST = "It crashes where the last node of the graph has no edge"
RIVALS: dict[str, Rival] = {
    "lof": Rival(
        "LOF",
        "attributes",
        lof,
        defect="Nodes with more than twenty exact copies, as on Reddit, get a density of 1e10, and "
        "nodes near them factors in the millions.",
    ),
    "if": Rival("IF", "attributes", isolation_forest),
    "mlpae": _pygod(
        "MLPAE",
        "attributes",
        mlpae,
        _TRAINED,
        defect="On unscaled features it may learn nothing and return their norm, "
        "as in two of three trials on Disney (rank correlation 0.999).",
    ),
    "scan": _pygod(
        "SCAN",
        "structure",
        detector("SCAN"),
        own={"eps": (0.3, 0.5, 0.8), "mu": (2, 5, 10)},
        defect="It calls the members of clusters abnormal, not the nodes left out, and cuts all of "
        "a node's similarities to whole numbers if the first is zero.",
    ),
    "radar": _pygod(
        "Radar",
        "structure",
        detector("Radar"),
        ("lr",),
        defect="Features with a large mean, such as the constant one of Books, leave nothing of "
        f"the score but float32 rounding. {_LAST}.",
    ),
    "anomalous": _pygod(
        "ANOMALOUS",
        "structure",
        detector("ANOMALOUS"),
        ("lr",),
        defect="On unscaled features it ranks as its starting point does, which is Radar's, and "
        f"where features have a large mean by float32 rounding. {_LAST}.",
    ),
    "gcnae": _pygod("GCNAE", "networks", detector("GAE"), _TRAINED),
    "dominant": _pygod("DOMINANT", "networks", detector("DOMINANT"), _WEIGHED, defect=f"{_LAST}."),
    "done": _pygod("DONE", "networks", detector("DONE"), _TRAINED, defect=f"{_LAST}."),
    "adone": _pygod("AdONE", "networks", detector("AdONE"), _TRAINED, defect=f"{_LAST}."),
    "anomalydae": _pygod(
        "AnomalyDAE",
        "networks",
        anomalydae,
        _WEIGHED,
        own={"theta": (10.0, 40.0, 90.0), "eta": (3.0, 5.0, 8.0)},
        defect="On unscaled features it may return their norm, as on Disney "
        f"(rank correlation 0.999). {_LAST}.",
    ),
    "gaan": _pygod(
        "GAAN",
        "networks",
        detector("GAAN"),
        _WEIGHED,
        own={"noise_dim": (8, 16, 32)},
        defect="Nothing makes its generator resemble the features, so that their error is their "
        "norm (rank correlation 1.0 on Disney), and its loss takes a whole row of the adjacency "
        f"matrix for every edge. {_LAST}.",
    ),
    "guide": _pygod(
        "GUIDE",
        "networks",
        guide,
        _WEIGHED,
        own={"hid_s": (4, 5, 6)},
        defect="It crashes where any node has no edge.",
    ),
    "conad": _pygod(
        "CONAD",
        "networks",
        detector("CONAD"),
        _WEIGHED,
        defect=f"Its contrastive loss is a constant, which leaves DOMINANT. {_LAST}.",
    ),
    "ocgnn": _pygod("OCGNN", "newer", detector("OCGNN"), _TRAINED),
    "cola": _pygod(
        "CoLA",
        "newer",
        detector("CoLA"),
        _TRAINED,
        defect="It compares every node with one other, drawn at random, where its paper takes the "
        "mean over many: two scorings by one model on Books have rank correlation 0.47.",
    ),
    "gadnr": _pygod(
        "GAD-NR",
        "newer",
        gadnr,
        ("lr", "hidden_size"),
        defect="It may return little but the degree, as in two of three trials each on Disney and "
        f"Books (rank correlation 0.99). {_LAST}.",
    ),
    "dmgd": _pygod(
        "DMGD",
        "newer",
        detector("DMGD"),
        ("lr", "hidden_size"),
        defect="It puts the adjacency matrix in place of the features, and has no score for the "
        "last node of the graph if it has no edge.",
    ),
    "one": _pygod("ONE", "newer", one, ("lr", "hidden_size"), defect=f"{_LAST}."),
}

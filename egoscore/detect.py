"""The main job: a source in, a run directory out."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.detector import EgoScore
from egoscore.device import choose_device
from egoscore.engine.files import write_text
from egoscore.engine.run import RunDirectory, write_table
from egoscore.graph import AttributedGraph
from egoscore.surprise.model import Surprises
from egoscore.tell.doubt import remarks
from egoscore.tell.metrics import Evaluation, evaluate
from egoscore.tell.ranking import ranking
from egoscore.tell.report import render_report
from egoscore.tell.words import significance

_PACKAGES = ("egoscore", "numba", "numpy", "scipy", "torch")


@dataclass(frozen=True)
class Detection:
    """What `detect` found and where it is written."""

    graph: AttributedGraph
    detector: EgoScore
    ranking: pa.Table
    evaluation: Evaluation | None
    remarks: list[str]
    path: Path


def detect(graph: AttributedGraph, source: str, detector: EgoScore, out: str | Path) -> Detection:
    """Fit `detector` on `graph` and write the run directory; continue a run that is there."""
    config = describe(graph, source, detector)
    choose_device(detector.gpu)  # a missing device is told before anything is written
    with RunDirectory.open(out, config) as run:
        detector.fit_in(run, graph)
        detector.save(run.model_file)
        score = detector.decision_score_.numpy()
        columns = detector.components_.columns()
        if hasattr(detector, "significant_"):
            columns = {"significant": detector.significant_.numpy().astype("int8")} | columns
        table = ranking(graph, score, detector.label_.numpy(), columns)
        evaluation = None if graph.labels is None else evaluate(graph.labels, score)
        write_table(table, run.path / "scores.parquet")
        said = _remarks(detector, graph, score)
        if hasattr(detector, "significant_"):
            said = [significance(table, detector.fdr), *said]
        losses = detector.loss_history_
        report = render_report(config, table, detector.threshold_, losses, evaluation, said)
        write_text(run.path / "report.html", report)
    return Detection(graph, detector, table, evaluation, said, run.path)


def _remarks(detector: EgoScore, graph: AttributedGraph, score: NDArray[np.float64]) -> list[str]:
    table = detector.components_
    if isinstance(table, Surprises):
        return remarks(graph, score, table, detector.model_)
    return remarks(graph, score)


def describe(graph: AttributedGraph, source: str, detector: EgoScore) -> dict[str, Any]:
    """Every setting, the seed, the versions and the data's fingerprint: the run's config.json."""
    return {
        "source": source,
        "seed": int(detector.seed),
        "preset": detector.preset,
        "contamination": float(detector.contamination),
        "fdr": float(detector.fdr),
        "settings": asdict(detector.settings()),
        "network": {
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "directed": graph.directed,
            "dropped_self_loops": graph.dropped_self_loops,
            "dropped_duplicates": graph.dropped_duplicates,
        },
        "fingerprint": graph.fingerprint(),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in _PACKAGES},
    }

"""The main job: a network in, a run directory out."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.bars import Bars
from egoscore.detector import EgoScore
from egoscore.device import choose_device
from egoscore.engine.files import replacing, write_text
from egoscore.engine.kept_network import save_network
from egoscore.engine.run import RunDirectory, write_table
from egoscore.graph import AttributedGraph
from egoscore.surprise.model import SurpriseModel, Surprises
from egoscore.tell import findings as kept
from egoscore.tell import overlooked
from egoscore.tell.doubt import remarks, uses_networks
from egoscore.tell.findings import Findings
from egoscore.tell.metrics import Evaluation, evaluate
from egoscore.tell.progress import passing_bars
from egoscore.tell.ranking import id_column, ranking
from egoscore.tell.report import render_report
from egoscore.tell.spreadsheet import write_spreadsheet
from egoscore.tell.words import left_out, significance, threshold_rule

_PACKAGES = ("egoscore", "numba", "numpy", "scipy", "torch")
_EXPLAINED = 20
_LOSSES_KEPT = 600


@dataclass(frozen=True)
class Origin:
    """Where a network comes from: its source, the decisions in reading it, the command given."""

    source: str
    notes: Sequence[str] = ()
    command: str = ""


@dataclass(frozen=True)
class Detection:
    """What `detect` found and where it is written."""

    graph: AttributedGraph
    detector: EgoScore
    ranking: pa.Table
    evaluation: Evaluation | None
    findings: Findings
    path: Path


def detect(
    graph: AttributedGraph, origin: Origin, detector: EgoScore, out: str | Path
) -> Detection:
    """Fit `detector` on `graph` and write the run directory; continue a run that is there."""
    config = describe(graph, origin, detector)
    choose_device(detector.gpu)  # a missing device is told before anything is written
    with RunDirectory.open(out, config) as run:
        detector.fit_in(run, graph)
        bars = passing_bars(detector.verbose)
        with bars("Ranking", 2, "steps") as advance:
            detector.save(run.model_file)
            advance(1)
            table = _ranked(graph, detector)
            advance(1)
        found = _findings(graph, detector, table, origin.notes, bars)
        _write(run.path, config, graph, table, found, bars)
    labels, score = graph.labels, detector.decision_score_.numpy()
    evaluation = None if labels is None else evaluate(labels, score)
    return Detection(graph, detector, table, evaluation, found, run.path)


def _write(
    path: Path,
    config: dict[str, Any],
    graph: AttributedGraph,
    table: pa.Table,
    found: Findings,
    bars: Bars,
) -> None:
    """Everything that is told; findings.json last, for it says that the run is finished."""
    with bars("Writing", 4 * graph.num_nodes + graph.num_edges, "rows") as advance:
        write_table(table, path / "scores.parquet", advance)
        with replacing(path / "scores.csv") as draft:
            write_spreadsheet(table, draft)
        advance(graph.num_nodes)
        save_network(graph, id_column(graph.ids), path, advance)
        write_text(path / "report.html", render_report(config, table, found))
        advance(graph.num_nodes)
    write_text(path / kept.FILE, found.to_json())


def _ranked(graph: AttributedGraph, detector: EgoScore) -> pa.Table:
    columns = detector.components_.columns()
    if hasattr(detector, "significant_"):
        columns = {"significant": detector.significant_.numpy().astype("int8")} | columns
    score, p_value = detector.decision_score_.numpy(), detector.p_value_.numpy()
    return ranking(graph, score, p_value, detector.label_.numpy(), columns)


def _findings(
    graph: AttributedGraph, detector: EgoScore, table: pa.Table, notes: Sequence[str], bars: Bars
) -> Findings:
    score = detector.decision_score_.numpy()
    said = _remarks(detector, graph, score)
    if hasattr(detector, "significant_"):
        said = [significance(table, detector.fdr), *said]
    losses = detector.loss_history_
    shown = np.unique(np.linspace(0, len(losses) - 1, _LOSSES_KEPT).astype(int))
    highest = np.argsort(-score, kind="stable")[:_EXPLAINED].tolist()
    others = _overlooked(detector, graph, highest)
    explanations = []
    with bars("Explaining", len(highest) + len(others), "nodes") as advance:
        for explanation in detector.explain_rows([*highest, *others]):
            explanations.append(explanation)
            advance(1)
    more = overlooked.sentence(explanations[len(highest) :], len(highest))
    said += [] if more is None else [more]
    return Findings(
        threshold=detector.threshold_,
        num_flagged=int(detector.label_.sum()),
        rule=threshold_rule(detector.contamination, detector.threshold_),
        remarks=tuple(said),
        notes=(*left_out(graph), *notes),
        losses=tuple(map(tuple, losses[shown].tolist())) if len(losses) else (),
        num_steps=len(losses),
        explanations=tuple(explanations[: len(highest)]),
        uses_networks=_uses_networks(detector),
    )


def _uses_networks(detector: EgoScore) -> bool:
    model = getattr(detector, "model_", None)
    return not isinstance(model, SurpriseModel) or uses_networks(model)


def _overlooked(detector: EgoScore, graph: AttributedGraph, listed: list[int]) -> list[int]:
    table = detector.components_
    if isinstance(table, Surprises):
        return overlooked.candidates(table, graph, detector.model_, listed)
    return []


def _remarks(detector: EgoScore, graph: AttributedGraph, score: NDArray[np.float64]) -> list[str]:
    table = detector.components_
    if isinstance(table, Surprises):
        count = int(detector.significant_.sum())
        return remarks(graph, score, table, detector.model_, count)
    return remarks(graph, score)


def describe(graph: AttributedGraph, origin: Origin, detector: EgoScore) -> dict[str, Any]:
    """Every setting, the seed, the versions and the data's fingerprint: the run's config.json."""
    chosen = detector.contamination
    return {
        "source": origin.source,
        "command": origin.command,
        "seed": int(detector.seed),
        "preset": detector.preset,
        "contamination": chosen if isinstance(chosen, str) else float(chosen),
        "fdr": float(detector.fdr),
        "settings": asdict(detector.settings()),
        "network": {
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "directed": graph.directed,
            "structural": graph.is_structural,
            "dropped_self_loops": graph.dropped_self_loops,
            "dropped_duplicates": graph.dropped_duplicates,
        },
        "fingerprint": graph.fingerprint(),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in _PACKAGES},
    }

"""The main job: a graph in, a run directory out."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from egoscore.detector import EgoScore
from egoscore.detectors import rescoring_settings
from egoscore.graph import AttributedGraph
from egoscore.metrics import Evaluation, evaluate
from egoscore.notes import Note
from egoscore.progress import Bars, passing_bars
from egoscore.ranking import id_column
from egoscore.report.caveats import left_out, ranking_caveats, threshold_rule
from egoscore.report.findings import Findings, losses_shown
from egoscore.report.html import render_report
from egoscore.report.spreadsheet import write_spreadsheet
from egoscore.report.top_nodes import ANSWERED, TOP
from egoscore.run.directory import FINDINGS_FILE, MODEL_FILE, REPORT_FILE, SCORES_FILE, RunDirectory
from egoscore.run.files import replacing, save_json, write_text, writing
from egoscore.run.graph_store import save_graph
from egoscore.run.tables import write_table
from egoscore.runtime import choose_device
from egoscore.stability import stability
from egoscore.thresholds import fence

_PACKAGES = ("egoscore", "numba", "numpy", "scipy", "torch")


@dataclass(frozen=True)
class Origin:
    """Where a graph comes from: its source, the decisions in reading it, the command given."""

    source: str
    notes: Sequence[Note] = ()
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
    """Fit `detector` on `graph` and write a run directory, or continue the run in it."""
    config = describe(graph, origin, detector)
    choose_device(detector.gpu)  # a missing device is reported before anything is written
    with RunDirectory.open(out, config, rescoring_settings(detector.preset)) as run:
        detector.fit_in(run, graph)
        bars = passing_bars(detector.verbose)
        table = detector.score_table()
        stable = stability(graph, detector, run, bars)
        found = _findings(graph, detector, origin.notes, stable, bars)
        with run.publish(config) as folder:
            _write(folder, config, graph, detector, table, found, bars)
    labels, score = graph.labels, detector.decision_score_.numpy()
    evaluation = None if labels is None else evaluate(labels, score)
    return Detection(graph, detector, table, evaluation, found, run.path)


def _write(
    folder: Path,
    config: dict[str, Any],
    graph: AttributedGraph,
    detector: EgoScore,
    table: pa.Table,
    found: Findings,
    bars: Bars,
) -> None:
    with bars("Writing", 4 * graph.num_nodes + graph.num_edges, "rows") as advance:
        detector.save(folder / MODEL_FILE)
        write_table(table, folder / SCORES_FILE, advance=advance)
        sheet = folder / "scores.csv"
        with replacing(sheet) as draft, writing(sheet):
            write_spreadsheet(table, draft)
        advance(graph.num_nodes)
        save_graph(graph, id_column(graph.ids), folder, advance)
        write_text(folder / REPORT_FILE, render_report(config, table, found))
        advance(graph.num_nodes)
        save_json(folder / FINDINGS_FILE, found.to_json())


def _findings(
    graph: AttributedGraph,
    detector: EgoScore,
    notes: Sequence[Note],
    stable: Note | None,
    bars: Bars,
) -> Findings:
    score, fitted, table = (
        detector.decision_score_.numpy(),
        detector.detector_,
        detector.components_,
    )
    order = np.argsort(-score, kind="stable")
    highest = order[:TOP].tolist()
    explanations = []
    with bars("Explaining", len(highest), "nodes") as advance:
        for explanation in detector.explain_rows(highest):
            explanations.append(explanation)
            advance(1)
    losses = fitted.losses
    shown = losses_shown(losses)
    return Findings(
        threshold=detector.threshold_,
        num_flagged=int(detector.label_.sum()),
        rule=threshold_rule(
            detector.contamination, detector.threshold_, fence(detector.decision_score_)
        ),
        caveats=(*_caveats(graph, detector), *([stable] if stable else [])),
        notes=(*left_out(graph), *notes),
        losses=tuple(map(tuple, losses.values[shown].tolist())),
        loss_names=losses.names,
        step=losses.step,
        num_steps=len(losses.values),
        answers=tuple(fitted.answers(table, order[:ANSWERED].tolist())),
        explanations=tuple(explanations),
    )


def _caveats(graph: AttributedGraph, detector: EgoScore) -> list[Note]:
    """How far the ranking can be trusted, what concerns the significant nodes first."""
    found, count = [], 0
    if hasattr(detector, "significant_"):
        count = int(detector.significant_.sum())
        rate = float(detector.fdr)
        found.append(Note.info("significant-nodes", count=count, nodes=graph.num_nodes, rate=rate))
    found += detector.detector_.caveats(graph, detector.components_, count)
    return found + ranking_caveats(graph, detector.decision_score_.numpy())


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

"""The result as JSON, for other programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from egoscore.detectors import vocabulary_of
from egoscore.report.notes import render

if TYPE_CHECKING:
    from egoscore.detect import Detection

_SHOWN = ("node", "score", "rank", "percentile", "p_value", "flag", "significant", "ego_size")


def detection_record(found: Detection, top: int) -> str:
    """One JSON object: graph, notes, threshold, caveats, evaluation and the highest nodes."""
    kept, graph = found.findings, found.graph
    words = vocabulary_of(found.detector.preset)
    record = {
        "run": str(found.path),
        "network": {
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "directed": graph.directed,
            "dropped_self_loops": graph.dropped_self_loops,
            "dropped_duplicates": graph.dropped_duplicates,
        },
        "notes": [render(note) for note in kept.notes],
        "meaning": words.meaning(kept.questions, graph.num_nodes),
        "threshold": kept.threshold,
        "rule": render(kept.rule),
        "num_flagged": kept.num_flagged,
        "remarks": [render(note) for note in kept.caveats],
        "codes": [asdict(note) for note in (*kept.notes, kept.rule, *kept.caveats)],
        "evaluation": found.evaluation and asdict(found.evaluation),
        "top": _highest(found, top),
    }
    return json.dumps(record)


def _highest(found: Detection, top: int) -> list[dict[str, Any]]:
    """The highest nodes; explained ones with causes, reason and summary."""
    shown = [name for name in _SHOWN if name in found.ranking.column_names]
    rows: list[dict[str, Any]] = found.ranking.slice(0, top).select(shown).to_pylist()
    for row, why in zip(rows, found.findings.explanations, strict=False):
        row |= {"causes": why.causes, "reason": why.reason, "summary": why.summary}
    return rows

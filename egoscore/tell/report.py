"""One page that needs nothing else: no scripts, no network, no other file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from egoscore.engine.files import CONFIG_FILE, MODEL_FILE
from egoscore.numerals import counted
from egoscore.printable import printable
from egoscore.tell.brief import brief, number, percent, shown, signed
from egoscore.tell.charts import Chart, histogram, precision_recall, roc
from egoscore.tell.ego_drawing import HEIGHT, RING, SHADES, WIDTH, draw
from egoscore.tell.findings import FILE, Findings
from egoscore.tell.lines import unbroken
from egoscore.tell.metrics import evaluate
from egoscore.tell.parts import PARTS
from egoscore.tell.top_nodes import own_columns, top_rows
from egoscore.tell.training import training_band, training_curve
from egoscore.tell.words import (
    COMPARED_WITH,
    QUESTIONS,
    accuracy,
    causes,
    marks,
    meaning,
    questions_in,
    verdict,
)

EXPLAINED = 20
_OPEN = 3  # explanations that need no click
_LOSSES = ("features", "adjacency")  # of preset "paper"
_STEPS = {"default": "update", "paper": "epoch"}
_FILES = {
    "report.html": "this page",
    "scores.parquet": "every node with its score, rank, flag and all components",
    "scores.csv": "the same for a spreadsheet",
    FILE: "what this page tells besides the scores: threshold, remarks, explanations",
    CONFIG_FILE: "every setting, the seed, the versions and the fingerprint of the data",
    MODEL_FILE: "what was learned, to judge other nodes with",
    "network/": "the network itself, to explain more nodes with",
}


def render_report(config: dict[str, Any], ranking: pa.Table, findings: Findings) -> str:
    """The report as HTML; every value that comes from the data is spelled out and escaped."""
    explained = findings.explanations[:EXPLAINED]
    rows = top_rows(ranking, explained)
    page = {
        "findings": findings,
        "verdict": verdict(ranking),
        "num_warnings": sum(remark.startswith("Careful") for remark in findings.remarks),
        "num_nodes": ranking.num_rows,
        "meaning": meaning(config["preset"], ranking.num_rows, questions_in(ranking)),
        "histogram": _histogram(config["preset"], ranking, findings),
        "rows": rows,
        "causes": causes(ranking.num_rows),
        "marks": marks(ranking, config.get("fdr", 0.0)),
        "questions": QUESTIONS[config["preset"]],
        "compared_with": COMPARED_WITH[config["preset"]],
        "significant": {row.rank for row in rows if row.significant},
        "cards": [(found, draw(found.picture)) for found in explained],
        "own": own_columns(ranking),
        "own_by_rank": _own_by_rank(ranking),
        "num_open": _OPEN,
        "known": _known(ranking),
        "training": _training(config["preset"], findings),
        "unused": _why_unused(config, findings),
        "is_default": config["preset"] == "default",
        "parts": PARTS,
        "facts": _facts(config),
        "files": _FILES,
    }
    return _environment().get_template("report.html.j2").render(config=config, **page)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("egoscore", "tell"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_harmless,
    )
    environment.filters |= {"brief": brief, "shown": shown, "number": number}
    environment.filters |= {"signed": signed, "percent": percent, "counted": counted}
    environment.filters |= {"unbroken": unbroken}
    environment.globals |= {"shades": SHADES, "picture_size": (WIDTH, HEIGHT), "ring": RING}
    return environment


def _harmless(value: Any) -> Any:
    """Whatever a template writes is one line of printable text, before it is escaped."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _own_by_rank(ranking: pa.Table) -> dict[int, dict[str, Any]]:
    """The user's columns of the nodes that are explained."""
    rows = ranking.slice(0, EXPLAINED).select(own_columns(ranking)).to_pylist()
    return dict(enumerate(rows, start=1))


def _known(ranking: pa.Table) -> dict[str, Any] | None:
    """How well known outliers were found: a sentence and, if there are two kinds, the curves."""
    if "known_label" not in ranking.column_names:
        return None
    labels, score = ranking["known_label"].to_numpy(), ranking["score"].to_numpy()
    found = evaluate(labels, score)
    if found is None:
        return {"sentence": "All nodes have the same known label, so no curve can be drawn."}
    return {
        "sentence": accuracy(found, len(score)),
        "roc": roc(labels, score, found.roc_auc),
        "roc_auc": found.roc_auc,
        "precision_recall": precision_recall(labels, score, found.average_precision),
        "average_precision": found.average_precision,
        "chance": found.num_outliers / len(score),
    }


def _histogram(preset: str, ranking: pa.Table, findings: Findings) -> Chart:
    """Scores of the default preset begin at nothing; those of the paper have no such beginning."""
    start = 0.0 if preset == "default" else np.inf
    return histogram(ranking["score"].to_numpy(), findings.threshold, start)


def _training(preset: str, findings: Findings) -> Chart | None:
    losses = np.array(findings.losses, dtype=np.float64)
    if losses.ndim < 2:
        return None
    if losses.shape[1] == len(_LOSSES) and preset == "paper":
        return training_curve(losses, findings.num_steps, _LOSSES, _STEPS[preset])
    return training_band(losses, findings.num_steps, _STEPS[preset])


def _why_unused(config: dict[str, Any], findings: Findings) -> str:
    """Why nothing of what the networks learned is in the scores; empty where it is."""
    if config["preset"] != "default":
        return ""
    if config["network"].get("structural"):
        return "only a node's place in the network is judged here"
    return "" if findings.uses_networks else "they add nothing to straight lines here"


def _facts(config: dict[str, Any]) -> list[tuple[str, Any]]:
    """Settings, and how the data were read."""
    pairs = {"preset": config["preset"], "share to flag": config["contamination"]}
    pairs |= {"false discovery rate": config["fdr"]} if "fdr" in config else {}
    pairs |= config["settings"]
    return [(name.replace("_", " "), _told(value)) for name, value in pairs.items()]


def _told(setting: Any) -> Any:
    """A setting as a person would say it."""
    if isinstance(setting, bool):
        return "yes" if setting else "no"
    if isinstance(setting, float):
        return f"{setting:g}"
    return "automatic" if setting is None or setting == "auto" else setting

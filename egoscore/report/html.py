"""The HTML report: one page without network access or other files.

Its only script, which searches and sorts the list, is allowed by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import unicodedata
from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from egoscore.detectors import label_of, vocabulary_of
from egoscore.detectors.base import Vocabulary
from egoscore.explain.explanation import Explanation
from egoscore.graph.checks import UNKNOWN
from egoscore.metrics import evaluate, known_only
from egoscore.ranking import own_columns
from egoscore.report.charts import Chart, histogram, precision_recall, roc
from egoscore.report.ego_drawing import HEIGHT, RING, SHADES, WIDTH, draw
from egoscore.report.findings import Findings
from egoscore.report.notes import evidence, render
from egoscore.report.sentences import accuracy, causes, flagged, marks
from egoscore.report.top_nodes import TOP, component_label, other_components, parts_of, top_rows
from egoscore.report.training_chart import training_curve
from egoscore.run.directory import CONFIG_FILE, FINDINGS_FILE, MODEL_FILE, REPORT_FILE, SCORES_FILE
from egoscore.run.files import write_text
from egoscore.run.reader import Run, needing, reading
from egoscore.text import brief, counted, number, percent, printable, shown, signed

_OPEN = 4  # explanations that are expanded
_FILES = {
    REPORT_FILE: "this page",
    SCORES_FILE: "every node with its score, rank, flag and all components",
    "scores.csv": "the same for a spreadsheet",
    FINDINGS_FILE: "the rest of this page as JSON: threshold, caveats, explanations",
    CONFIG_FILE: "every setting, the seed, the versions and the fingerprint of the data",
    MODEL_FILE: "the fitted detector, to score other graphs",
    "network/": "the graph itself, to explain more nodes",
}
_PIECE = re.compile(r".*?(?:[\s_/:=]|[-.,](?!\d))+|.+", re.DOTALL)  # numbers are not split
_WHOLE = Markup('<span class="whole">{}</span>')


def write_report(path: str | Path, out: Path | None = None) -> Path:
    """Write the report of a finished run and return its path."""
    with reading(Path(path)):
        run = Run.open(path)
        with needing(run.path, FINDINGS_FILE):
            findings = Findings.from_json(run.findings)
        file = out or run.path / REPORT_FILE
        write_text(file, render_report(run.config, run.ranking, findings))
    return file


def render_report(config: dict[str, Any], ranking: pa.Table, findings: Findings) -> str:
    """The report as HTML; values from the data are made printable and escaped."""
    words = vocabulary_of(config["preset"])
    explained = findings.explanations[:TOP]
    rows = top_rows(ranking, findings)
    trust = findings.reliability
    page = {
        "findings": findings,
        "level": trust.fields["level"],
        # warnings are listed right below
        "evidence": "" if findings.warnings else evidence(trust),
        "flagged": flagged(ranking),
        "num_nodes": ranking.num_rows,
        "meaning": words.meaning(findings.questions, ranking.num_rows),
        "histogram": _histogram(words, ranking, findings),
        "rows": rows,
        "causes": causes(ranking.num_rows),
        "marks": marks(ranking, config.get("fdr", 0.0)),
        "words": words,
        "answers_of": lambda why: [
            (one.label, one.answer, one.percentile)
            for one in parts_of(why.questions, why.num_nodes)
        ],
        "components_of": lambda why: [
            (component_label(one), one.value, one.percentile) for one in other_components(why)
        ],
        "meanings": _meanings(words, explained),
        "significant": {row.rank for row in rows if row.significant},
        "cards": [(found, draw(found.picture)) for found in explained],
        "contrast": words.contrasted,
        "own": own_columns(ranking),
        "own_by_rank": _own_by_rank(ranking),
        "num_open": _OPEN,
        "known": _known(ranking),
        "training": _training(findings),
        "facts": _facts(config),
        "files": _FILES,
    }
    environment = _environment()
    page |= _script(environment)
    return environment.get_template("report.html.j2").render(config=config, **page)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("egoscore", "report/templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_harmless,
    )
    environment.filters |= {"brief": brief, "shown": shown, "number": number}
    environment.filters |= {"signed": signed, "percent": percent, "counted": counted}
    environment.filters |= {"unbroken": unbroken, "render": render, "label": label_of}
    environment.filters |= {"sort_key": sort_key}
    environment.globals |= {"shades": SHADES, "picture_size": (WIDTH, HEIGHT), "ring": RING}
    return environment


def _script(environment: Environment) -> dict[str, Any]:
    """The script, and its hash, by which the content security policy allows it and no other."""
    script = environment.get_template("report.js").render()
    digest = hashlib.sha256(script.encode()).digest()
    return {"script": Markup(script), "script_hash": base64.b64encode(digest).decode()}


def _harmless(value: Any) -> Any:
    """Make text that a template inserts printable, before it is escaped."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _own_by_rank(ranking: pa.Table) -> dict[int, dict[str, Any]]:
    """The user's columns of the explained nodes, by rank."""
    rows = ranking.slice(0, TOP).select(own_columns(ranking)).to_pylist()
    return dict(enumerate(rows, start=1))


def _known(ranking: pa.Table) -> dict[str, Any] | None:
    """The accuracy on known outliers: a sentence and, if both labels occur, the curves."""
    if "known_label" not in ranking.column_names:
        return None
    labels, score = known_only(
        ranking["known_label"].fill_null(UNKNOWN).to_numpy(), ranking["score"].to_numpy()
    )
    found = evaluate(labels, score)
    if found is None:
        return {"sentence": "All known labels are the same, so no curve can be drawn."}
    return {
        "sentence": accuracy(found, ranking.num_rows),
        "roc": roc(labels, score, found.roc_auc),
        "roc_auc": found.roc_auc,
        "precision_recall": precision_recall(labels, score, found.average_precision),
        "average_precision": found.average_precision,
        "chance": found.num_outliers / len(score),
    }


def _histogram(words: Vocabulary, ranking: pa.Table, findings: Findings) -> Chart:
    start = 0.0 if words.has_zero else np.inf
    return histogram(ranking["score"].to_numpy(), findings.threshold, start)


def _training(findings: Findings) -> Chart | None:
    losses = np.array(findings.losses, dtype=np.float64)
    if losses.ndim < 2:
        return None
    return training_curve(losses, findings.num_steps, findings.loss_names, findings.step)


def _facts(config: dict[str, Any]) -> list[tuple[str, Any]]:
    """The settings by name."""
    pairs = {"preset": config["preset"], "share to flag": config["contamination"]}
    pairs |= {"false discovery rate": config["fdr"]} if "fdr" in config else {}
    pairs |= config["settings"]
    return [(name.replace("_", " "), _setting_text(value)) for name, value in pairs.items()]


def _setting_text(setting: Any) -> Any:
    """A setting in words."""
    if isinstance(setting, bool):
        return "yes" if setting else "no"
    if isinstance(setting, float):
        return f"{setting:g}"
    return "automatic" if setting is None or setting == "auto" else setting


def sort_key(value: Any) -> str | None:
    """What a cell is sorted by: a number, "" if it is unknown, None for the text that is shown."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    return str(value) if math.isfinite(value) else ""


def _meanings(words: Vocabulary, explained: Sequence[Explanation]) -> dict[str, str]:
    """What each question asks and each component is, by label."""
    found: dict[str, str] = {}
    for why in explained:
        for question in why.questions:
            found.setdefault(label_of(question), words.questions.get(question, ""))
        for one in other_components(why):
            found.setdefault(component_label(one), words.components.get(one.name, ""))
    return {label: meaning for label, meaning in found.items() if meaning}


def unbroken(text: str, longest: int = 14) -> Markup:
    """Text that may break between words, and within words only if they are longer."""
    if _width(text) <= longest:
        return _WHOLE.format(text)
    pieces = (_WHOLE.format(p) if _width(p) <= longest else escape(p) for p in _PIECE.findall(text))
    return Markup("<wbr>").join(pieces)


def _width(text: str) -> int:
    """The width in Latin letters; ideographs are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)

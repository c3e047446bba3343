"""The page of a run that is finished, written again from what the run keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from egoscore.engine.files import write_text
from egoscore.tell.findings import Findings
from egoscore.tell.mending import CONFIG, needing
from egoscore.tell.report import render_report

_SCORES = "scores.parquet"


def write_report(run: Path, out: Path | None = None) -> Path:
    """Write the report of `run`, and say where it is."""
    found = Findings.read(run)
    with needing(run, CONFIG):
        config = json.loads((run / CONFIG).read_text(encoding="utf-8"))
    with needing(run, _SCORES):
        ranking = pq.read_table(run / _SCORES)
    with needing(run, CONFIG, _SCORES):
        page = render_report(config, ranking, found)
    path = out or run / "report.html"
    write_text(path, page)
    return path

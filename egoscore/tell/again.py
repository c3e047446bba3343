"""The page of a run that is finished, written again from what the run keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from egoscore.engine.files import write_text
from egoscore.errors import RunError
from egoscore.tell.findings import Findings
from egoscore.tell.report import render_report


def write_report(run: Path, out: Path | None = None) -> Path:
    """Write the report of `run`, and say where it is."""
    found = Findings.read(run)
    try:
        config = json.loads((run / "config.json").read_text(encoding="utf-8"))
        ranking = pq.read_table(run / "scores.parquet")
        page = render_report(config, ranking, found)
    except (OSError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise RunError(
            f"The run in {run} is damaged; run the same `detect` command again."
        ) from error
    path = out or run / "report.html"
    write_text(path, page)
    return path

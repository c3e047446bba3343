"""The page of a run that is finished, written again from what the run keeps."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from egoscore.engine.files import CONFIG_FILE, read_config, write_text
from egoscore.errors import RunError
from egoscore.tell.findings import Findings
from egoscore.tell.mending import needing
from egoscore.tell.report import render_report

_SCORES = "scores.parquet"
_COLUMNS = {"node", "score", "rank", "flag", "ego_size"}  # without them there is nothing to list


def write_report(run: Path, out: Path | None = None) -> Path:
    """Write the report of `run`, and say where it is."""
    found = Findings.read(run)
    with needing(run, CONFIG_FILE):
        config = read_config(run)
    with needing(run, _SCORES):
        ranking = _read_ranking(run / _SCORES)
    path = out or run / "report.html"
    write_text(path, render_report(config, ranking, found))
    return path


def _read_ranking(file: Path) -> pa.Table:
    ranking = pq.read_table(file)
    if not ranking.num_rows or not _COLUMNS.issubset(ranking.column_names):
        raise RunError(f"{file} is not the ranking of a run.")
    return ranking

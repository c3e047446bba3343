"""The names of the files of a run, and its config.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from egoscore.errors import RunError
from egoscore.run.files import parse_json

CONFIG_FILE, FINDINGS_FILE = "config.json", "findings.json"
MODEL_FILE, SCORES_FILE, REPORT_FILE = "model.safetensors", "scores.parquet", "report.html"
NODES_FILE, EDGES_FILE = "network/nodes.parquet", "network/edges.parquet"
RESULT_FILES = (MODEL_FILE, NODES_FILE, EDGES_FILE, SCORES_FILE, "scores.csv", REPORT_FILE)
_CONFIG = {
    **{"source": str, "seed": int, "preset": str, "contamination": str | float},
    **{"settings": dict, "network": dict, "fingerprint": str, "versions": dict},
}


def read_config(run: Path) -> dict[str, Any]:
    """The config.json of a run, checked for the members that every run has."""
    file = run / CONFIG_FILE
    try:
        config = parse_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        config = None
    if isinstance(config, dict) and all(isinstance(config.get(k), t) for k, t in _CONFIG.items()):
        return config
    raise RunError(f"{file} is damaged or not that of a run; choose another directory.")


def model_path(path: Path) -> Path:
    """The model file at `path`, which may be a run directory that holds one."""
    file = path / MODEL_FILE if path.is_dir() else path
    if not file.exists():
        raise RunError(f"There is no model at {file}; fit a detector and save it there first.")
    return file

"""The notebook runs, with less training than a reader does, and its stored outputs are small."""

import json
import runpy

import pytest
from docs.pages import ROOT

NOTEBOOK = ROOT / "examples" / "bond.ipynb"
_SHORT = {"EPOCHS": 2, "STEPS": 10, "SAMPLES": 1}


@pytest.fixture
def notebook():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def test_the_stored_notebook_is_small_and_complete(notebook):
    assert NOTEBOOK.stat().st_size < 300_000
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in cells), "run: make notebook"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_the_notebook_runs(notebook, quicker, monkeypatch):
    monkeypatch.delenv("EGOSCORE_DATA", raising=False)
    monkeypatch.chdir(NOTEBOOK.parent)  # where Jupyter runs it
    run = runpy.run_path(str(ROOT / "docs" / "tools" / "notebook.py"))["run"]
    outputs = [one for cell in run(notebook, _SHORT) for one in cell]
    assert sum("data" in one for one in outputs) == 3  # figures
    table = "".join(next(one["text"] for one in outputs if "AUC" in str(one.get("text"))))
    assert len(table.splitlines()) == 7

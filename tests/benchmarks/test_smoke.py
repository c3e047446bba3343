"""Every benchmark runs with tiny sizes and prints what it measures; nothing here checks a time."""

from __future__ import annotations

import os
import runpy
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))
PRINTED = {
    "ablation": "| the recipe |",
    "amounts": "| as drawn |",
    "cost": "ratio",
    "default": "| mean AUC |",
    "explanations": "| a quarter |",
    "extraction": "2 hop(s):",
    "last_step": "step too far",
    "millions": "hub with 1,000 neighbours",
    "planted": "| strangers |",
    "reading": "pandas and a dict need",
    "reproduction": "## What reproduces",
    "review_page": "a hub with 100,000 neighbours",
    "solvers": "| builtin | dpm |",
    "speed": "builtin train",
    "stability": "| an isolated node more |",
    "verdicts": "| egoscore, 10% wrong verdicts |",
}


@pytest.fixture(scope="module")
def processes():
    """Starts processes that have imported the package already, which takes longer than a script."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["egoscore.detector", "egoscore.load.datasets"])
    return context


def run(script: Path, output: Path) -> None:
    """Run a script as `python SCRIPT --smoke` would, printing to `output`."""
    file = os.open(output, os.O_WRONLY | os.O_CREAT)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.chdir(ROOT)
    sys.argv = [str(script), "--smoke"]
    sys.path.insert(0, str(script.parent))
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_benchmark_runs_and_prints_what_it_measures(script, processes, tmp_path):
    process = processes.Process(target=run, args=(script, tmp_path / "output"))
    process.start()
    process.join(600.0)
    if process.is_alive():
        process.kill()
    printed = (tmp_path / "output").read_text()
    assert process.exitcode == 0, printed
    assert PRINTED[script.stem] in printed

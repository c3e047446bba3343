"""What the README and the examples say must run, and what the docs point to must exist."""

import re
import runpy
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from egoscore import settings
from egoscore.cli import app

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DATA = ROOT.parent / "shared" / "data"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """The presets cut short, in a directory of one's own."""
    short = replace(settings.PRESETS["paper"], epochs=2, num_levels=2, num_samples=1, steps=10)
    monkeypatch.setitem(settings.PRESETS, "paper", short)
    default = replace(settings.PRESETS["default"], updates=5)
    monkeypatch.setitem(settings.PRESETS, "default", default)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("quick")
def test_the_python_of_the_readme_runs(capsys):
    (code,) = blocks("python")
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert len(capsys.readouterr().out.splitlines()) == 11


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "line", [line for b in blocks("sh") for line in b.splitlines() if line.startswith("egoscore")]
)
def test_every_egoscore_command_of_the_readme_runs(line):
    if "--data-dir" in line:
        if not DATA.exists():
            pytest.skip("the real networks are not beside the project")
        line = line.replace("../shared/data", str(DATA))
    result = CliRunner().invoke(app, shlex.split(line)[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert result.output


def test_every_make_command_of_the_readme_is_a_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = [line.split()[1] for b in blocks("sh") for line in b.splitlines() if "make " in line]
    assert named == ["demo", "test"]
    assert all(f"\n{name}:" in makefile for name in named)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_every_example_runs(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md")))
def test_every_link_and_every_file_named_in_the_docs_exists(path):
    text = path.read_text(encoding="utf-8")
    links = [to for to in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in to]
    files = re.findall(r"`((?:egoscore|benchmarks|tests|examples|docs)/[\w/.]+)`", text)
    for target in links:
        assert (path.parent / target).exists(), target
        assert (path.parent / target).is_dir() or (path.parent / target).read_text().strip()
    for target in files:
        assert (ROOT / target).exists(), target


def test_every_function_in_the_paper_to_code_map_exists():
    text = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    rows = [row for row in text.splitlines() if row.startswith("|") and "`egoscore/" in row]
    assert len(rows) > 8
    for row in rows:
        for path, names in re.findall(r"`(egoscore/[\w/]+\.py)`((?: `[\w.]+`,?)*)", row):
            source = (ROOT / path).read_text(encoding="utf-8")
            for name in re.findall(r"[\w.]+", names):
                assert re.search(rf"\b{name.split('.')[-1]}\b", source), (path, name)

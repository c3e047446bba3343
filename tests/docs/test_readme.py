"""What the README and the examples say must be so, and what the docs point to must exist."""

import re
import runpy

import pytest
from docs.pages import DOCS, README, ROOT, blocks


def of_language(language):
    return [block for block in blocks(README) if block.language == language]


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150
    (block,) = of_language("python")
    assert len(block.text.splitlines()) <= 11


def test_the_changelog_is_short():
    assert len((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()) <= 40


def test_two_commands_are_enough():
    named = [words for block in of_language("sh") for words in block.commands]
    assert [words[1] for words in named if words[0] == "make"] == ["demo", "test"]


@pytest.mark.usefixtures("quicker")
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_every_example_runs(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*.md"))])
def test_every_link_and_every_file_named_in_the_docs_exists(path):
    text = path.read_text(encoding="utf-8")
    links = [to for to in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text) if "://" not in to]
    files = re.findall(r"`((?:egoscore|benchmarks|tests|examples|docs)/[\w/.-]+)`", text)
    for target in links:
        assert (path.parent / target).exists(), target
        assert (path.parent / target).is_dir() or (path.parent / target).stat().st_size
    for target in files:
        assert (ROOT / target).exists(), target

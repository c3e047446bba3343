"""Runs every block of code in the docs, page by page, as a reader would."""

import importlib
import re

import pytest
import typer
from docs.commands import assert_known, require_target, run
from docs.pages import (
    DOCS,
    LANGUAGES,
    PAGES,
    README,
    ROOT,
    blocks,
    inline_commands,
    plain,
    shown_files,
)

from egoscore.cli import app

WITH_LISTS = ("README.md", "tutorial.md")


def name(page):
    return page.name


def is_printed(shown, printed, is_measured):
    """Whether whole lines say it; what is shown may be broken into lines elsewhere."""
    words = [re.escape(word) for word in plain(shown, is_measured).split()]
    found = "\n".join(plain(line, is_measured) for line in printed.splitlines())
    return re.search("^" + r"\s+".join(words) + "$", found, re.MULTILINE) is not None


@pytest.mark.parametrize(
    ("shown", "is_so"),
    [
        ("one, two,\nthree_b", True),
        ("one, two, three_b\n\nfour", True),
        ("│ four │", True),
        ("one, two, three", False),
        ("one, two,", False),
        ("two, three_b", False),
        ("ne, two, three_b", False),
    ],
)
def test_what_is_shown_are_whole_lines(shown, is_so):
    assert is_printed(shown, "one, two, three_b\n┃ four ┃\n", False) == is_so


@pytest.mark.parametrize("page", [README, *PAGES], ids=name)
def test_every_block_runs_and_prints_what_is_shown(page, capsys, request):
    request.getfixturevalue("quick" if page.name in WITH_LISTS else "quicker")
    names, printed, before = {"__name__": page.stem}, "", ""
    for block in blocks(page):
        if block.language == "python":
            code = "\n" * block.line + block.text  # so that a traceback tells the line
            exec(compile(code, page.name, "exec"), names)
            printed = capsys.readouterr().out
        elif block.language == "sh":
            printed = "\n".join(run(words) for words in block.commands)
        else:
            for part in re.split(r"^…$", block.text, flags=re.MULTILINE):
                assert is_printed(part, printed, before == "sh"), (
                    f"{page.name}, line {block.line}: found\n{printed}"
                )
            continue
        before = block.language


@pytest.mark.parametrize("page", [README, *PAGES], ids=name)
def test_every_block_says_what_it_is(page):
    unknown = [(b.line, b.language) for b in blocks(page) if b.language not in LANGUAGES]
    assert not unknown, "every block must be one that the tests run, or what one prints"
    text = page.read_text(encoding="utf-8")
    hidden = re.findall(r"^ {4,}((?:egoscore|python|make|pip) .*)$", text, re.MULTILINE)
    assert not hidden, "commands stand in blocks that say sh"


@pytest.mark.parametrize("page", [README, *PAGES], ids=name)
def test_every_command_in_the_text_can_be_given(page):
    """Options must exist; values are often left out there."""
    group = typer.main.get_command(app)
    for first, *words in inline_commands(page):
        if first == "make":
            require_target(words)
        elif first == "python" and words[0] not in ("-m", "-c"):
            assert (ROOT / words[0]).exists(), words
            source = (ROOT / words[0]).read_text(encoding="utf-8")
            assert all(f'"{w}"' in source for w in words if w.startswith("--")), words
        elif first == "egoscore":
            command = group if words[0].startswith("-") else group.commands[words[0]]
            assert_known(words, command)


def test_every_page_is_in_the_map_of_the_site():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert all(f": {page.name}\n" in nav for page in PAGES)


def test_every_name_in_the_paper_to_code_map_can_be_imported():
    text = (DOCS / "paper-to-code.md").read_text(encoding="utf-8")
    named = re.findall(r"`(egoscore[\w.]*):([\w.]+)`", text)
    rows = [row for row in text.splitlines() if row.startswith("| ") and "`egoscore." in row]
    assert len(rows) > 20
    for module, path in named:
        found = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        assert getattr(found, "__module__", module) == module, f"{path} is not made in {module}"


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("extending", {"own_dissimilarity", "own_solver", "own_model"}),
        ("python", {"in_place_of_pygod"}),
        ("score-later", {"train_once_score_later"}),
    ],
)
def test_examples_are_shown_as_they_are(page, names):
    shown = dict(shown_files(DOCS / f"{page}.md"))
    assert set(shown) == {f"examples/{name}.py" for name in names}
    for file, text in shown.items():
        assert text == (ROOT / file).read_text(encoding="utf-8"), file

"""Runs the commands of the docs, or parses those that take long.

`egoscore` is run, except `bench` with more than one trial, the review page, what would change the
shell of the user, and what needs data that are not there. These and `python benchmarks/…` are given
to their own parsers and stopped before they do anything. `make` must have the target, `pip install`
the extras.
"""

import argparse
import re
import runpy
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from docs.pages import ROOT
from typer.testing import CliRunner

from egoscore.cli import app
from egoscore.text import command_line_options

DATA = ROOT.parent / "shared" / "data"
_MOST_TRIALS = 1
_COLUMNS = 100  # of the terminal that the pages show


def run(words):
    """Run or check one command of a block; what it prints, nothing if it is only checked."""
    name, *rest = words
    if name == "egoscore":
        return _egoscore(rest)
    checks = {"python": parse_script, "make": require_target, "pip": _require_extras}
    checks[name](rest)  # there must be a rule for every command
    return ""


def _egoscore(words):
    words, out = (words[:-2], words[-1]) if ">" in words else (words, None)
    needs_data = "--data-dir" in words and not DATA.exists()
    if needs_data or _is_long(words) or words[0] == "--install-completion":
        parse_egoscore(words)
        return ""
    words = [str(DATA) if word == "../shared/data" else word for word in words]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(_COLUMNS))
        with command_line_options():
            result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, (words, result.output)
    assert result.output
    if out is not None:
        Path(out).write_text(result.stdout, encoding="utf-8")
    return result.output


def _is_long(words):
    if words[0] == "review":  # the page stays until Ctrl-C
        return {word for word in words if word.startswith("--")} <= {"--port", "--no-browser"}
    if words[0] != "bench" or "--list" in words:
        return False
    given = parse_egoscore(words)
    return given["trials"] > _MOST_TRIALS


def parse_egoscore(words):
    """Have the command parsed by the one who runs it, and stop there; what was understood."""
    group = typer.main.get_command(app)
    if words[0].startswith("-"):
        assert_known(words, group)
        return {}
    return group.commands[words[0]].make_context(words[0], words[1:]).params


def assert_known(words, command):
    """That every option is one of the command's."""
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    for word in words:
        assert not word.startswith("-") or word.split("=")[0] in {*known, "-h", "--help"}, word


class _Parsed(Exception):
    pass


def parse_script(words):
    """Start a script, and end it when it has understood its options."""
    path = ROOT / words[0]
    if "ArgumentParser" not in path.read_text(encoding="utf-8"):
        assert not any(word.startswith("-") for word in words), words
        return
    understood = argparse.ArgumentParser.parse_args

    def stop(self, *args, **more):
        understood(self, *args, **more)
        raise _Parsed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argparse.ArgumentParser, "parse_args", stop)
        patch.setattr(sys, "argv", [str(path), *words[1:]])
        patch.syspath_prepend(path.parent)
        with pytest.raises(_Parsed):
            runpy.run_path(str(path), run_name="__main__")


def require_target(words):
    """That the Makefile has the targets."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in words:
        assert "=" in word or re.search(rf"^{re.escape(word)}:", makefile, re.MULTILINE), word


def _require_extras(words):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = re.findall(r"\.\[([\w,]+)\]", " ".join(words))
    names = {name for part in asked for name in part.split(",")}
    assert names <= set(project["optional-dependencies"]), names

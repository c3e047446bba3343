"""Write docs/options.md from the program: its commands and the settings of the detectors.

`make options` writes the page; a test checks that it is up to date.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import typer

from egoscore.cli import app
from egoscore.detectors import PRESETS, setting_names, settings_of

PAGE = Path(__file__).resolve().parents[1] / "options.md"
INTRODUCTION = """# Command-line options

Written by `make options` from the program itself. `--help` after a command shows the same on the
terminal; after `detect`, `--help-all` shows all options. Every option of `detect` that is a setting
of a detector is also a parameter of [`EgoScore`](api.md#the-detector), with underscores instead of
hyphens.
"""
SETTINGS = f"""## Settings of the detectors

These are options of `detect`. An empty cell means that the preset does not have the setting; giving
it is then an error. [Choose settings](choosing.md) says when to change which.

| option | {" | ".join(f"`{preset}`" for preset in PRESETS)} | meaning |
|---|{"---|" * len(PRESETS)}---|
"""


def page() -> str:
    """The whole text."""
    commands = typer.main.get_command(app).commands
    parts = [command(name, one) for name, one in commands.items()]
    return "\n".join([INTRODUCTION, *parts, SETTINGS + settings()])


def command(name: str, one: typer.core.TyperCommand) -> str:
    """The options of a command, but for the settings of the detectors."""
    known = setting_names()
    rows = [
        f"| {names(option)} | {help_of(option)} |\n"
        for option in one.params
        if option.name not in known and option.name != "help"
    ]
    about = " ".join(one.help.split())
    return f"## egoscore {name}\n\n{about}\n\n| option | meaning |\n|---|---|\n" + "".join(rows)


def names(option: typer.core.TyperOption) -> str:
    """How an option or argument is written."""
    if option.param_type_name == "argument":
        return f"`{option.metavar}`"
    written = [*option.opts, *option.secondary_opts]
    value = option.metavar or ""
    return ", ".join(f"`{one} {value}`".replace(" `", "`") for one in written)


def help_of(option: typer.core.TyperOption) -> str:
    """What an option means, and its default where the text does not have it."""
    text = " ".join((getattr(option, "help", None) or "").split()).replace("|", "\\|")
    default = option.default
    is_told = option.show_default is False or option.required or default in (None, False, ...)
    return text if is_told else f"{text} (default: {default})"


def settings() -> str:
    """One row for every setting, with the default of every preset that has it."""
    by_preset = {p: {one.name: one for one in fields(settings_of(p))} for p in PRESETS}
    rows = []
    for name in setting_names():
        found = {preset: by_preset[preset].get(name) for preset in PRESETS}
        defaults = " | ".join("" if one is None else f"`{one.default}`" for one in found.values())
        texts = {p: one.metadata["help"] for p, one in found.items() if one is not None}
        rows.append(f"| `--{name.replace('_', '-')}` | {defaults} | {meaning(texts)} |\n")
    return "".join(rows)


def meaning(texts: dict[str, str]) -> str:
    """What a setting means; for each preset by itself where that differs."""
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return " ".join(f"`{preset}`: {text}" for preset, text in texts.items())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

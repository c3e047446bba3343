"""Options that commands share, and those that come from the settings of the detectors."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer

Command = TypeVar("Command", bound=Callable[..., None])
_METAVARS = {int: "N", float: "X", str: "NAME"}
Parameters = dict[str, Any]  # annotated types by name

DataDir = Annotated[
    Path | None,
    typer.Option(
        help="Folder of data sets, if not $EGOSCORE_DATA.",
        metavar="DIR",
        rich_help_panel="Machine",
        show_default=False,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON instead of text.", show_default=False),
]


def names(*texts: str) -> tuple[str, ...]:
    """The names in comma-separated texts, each once; a name with a comma is in quotes."""
    parts = (name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row)
    return tuple(dict.fromkeys(name for name in parts if name))


def data_sets(incomplete: str) -> list[str]:
    """Shell completion: matching data sets; if there are none the shell offers files."""
    from egoscore.load.datasets import names_like

    return names_like(incomplete)


def one_of(*values: str) -> Callable[[str], list[str]]:
    """Shell completion: those of `values` that start with the text typed so far."""

    def offered(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return offered


def setting_options() -> Parameters:
    """One option per setting of the detectors; settings of one preset only get their own panel."""
    from egoscore.detectors import setting_names, settings_of

    found: Parameters = {}
    for name, presets in setting_names().items():
        own = {p: next(f for f in fields(settings_of(p)) if f.name == name) for p in presets}
        panel = "Training" if len(presets) > 1 else f"Only with --preset {presets[0]}"
        text = _help_of({p: (f.metadata["help"], f.default) for p, f in own.items()})
        kinds = get_type_hints(settings_of(presets[0]))
        letter = _METAVARS.get(get_args(kinds[name])[0] if get_args(kinds[name]) else kinds[name])
        option = typer.Option(help=text, metavar=letter, rich_help_panel=panel, show_default=False)
        found[name] = Annotated[kinds[name] | None, option]
    return found


def _help_of(by_preset: dict[str, tuple[str, Any]]) -> str:
    """Help texts and defaults of a setting; one text for every preset where they differ."""
    if len({text for text, _ in by_preset.values()}) > 1:
        return " ".join(f"{p}: {text} ({value})" for p, (text, value) in by_preset.items())
    (_, (text, default)), *others = by_preset.items()
    more = "".join(f"; {preset}: {value}" for preset, (_, value) in others)
    return text if default is None else f"{text} ({default}{more})"


def takes(*groups: Parameters) -> Callable[[Command], Command]:
    """Add options to a command, which receives them as keyword arguments; all default to None."""

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for group in groups
            for name, kind in group.items()
        ]
        command.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        command.__annotations__ |= {one.name: one.annotation for one in more}
        return command

    return decorate

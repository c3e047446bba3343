"""Help texts: placeholders instead of Python's types, in a short and a long form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from egoscore.cli.refusals import unknown_command
from egoscore.errors import InputError

COLUMNS_PANEL = "Your tables (columns are detected; correct them here)"


def _without_types(parameters: Iterable[Any]) -> None:
    """Show the placeholder of an option next to it, and nothing next to arguments and flags.

    Typer would show `<bool>` and `<str>` there, and `{RUN}` for an argument, and has no setting
    for it.
    """
    for one in parameters:
        is_option = one.param_type_name == "option"
        shown = one.metavar if is_option else None
        vars(one)["display_type_rich"] = lambda ctx, shown=shown: shown
        if not is_option and one.required:
            vars(one)["get_usage_pieces"] = lambda ctx, name=one.metavar: [name]


class Group(TyperGroup):
    """All commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, known = args[0], list(self.commands)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            raise InputError(unknown_command(name, known))
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _without_types(self.get_params(ctx))
        super().format_help(ctx, formatter)


class Command(TyperCommand):
    """A command whose help is short enough to show all of it."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _without_types(self.get_params(ctx))
        super().format_help(ctx, formatter)


class LongCommand(Command):
    """A command of which `--help` shows what most people need, and `--help-all` everything."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for one in self.params:
            panel = getattr(one, "rich_help_panel", None)
            vars(one)["hidden"] = panel not in (None, COLUMNS_PANEL)
        super().format_help(ctx, formatter)


def _show_all(ctx: typer.Context, asked: bool) -> None:
    if asked:
        formatter = ctx.make_formatter()
        Command.format_help(ctx.command, ctx, formatter)  # type: ignore[arg-type]
        typer.echo(formatter.getvalue().rstrip("\n"))
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all",
        help="Show all options.",
        callback=_show_all,
        is_eager=True,
        show_default=False,
    ),
]

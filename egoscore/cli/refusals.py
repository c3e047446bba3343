"""What the command line says about arguments that it cannot read: what, the rule, what to do."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, get_args

from typer.exceptions import TyperException


def refusal(error: TyperException) -> str:
    """One sentence about an error of the parser; typer's own where that is clear.

    The classes of these errors are not public, so they are told apart by what they hold.
    """
    parameter = getattr(error, "param", None)
    context: Any = getattr(error, "ctx", None)
    if context is not None and hasattr(error, "possibilities"):
        return _unknown_option(context, error)
    if context is not None and parameter is not None and hasattr(error, "param_type"):
        about = parameter.help[:1].lower() + parameter.help[1:]
        return f"`{context.command_path}` needs {_written(parameter)}: {about}"
    invalid: Any = error.__cause__
    if parameter is not None and hasattr(invalid, "errors"):
        found = invalid.errors()[0]["input"]
        return f"{parameter.opts[0]} must be {_rule(parameter)} (found {found!r})."
    return " ".join(error.format_message().split())


def unknown_command(name: str, known: list[str]) -> str:
    """One sentence about a command that does not exist."""
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(known)}."
    return f"There is no command {name!r}; {hint}"


def _unknown_option(context: Any, error: Any) -> str:
    path = context.command_path
    lists_all = any(one.name == "help_all" for one in context.command.params)
    near = get_close_matches(error.option_name, error.possibilities or (), n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return (
        f"`{path}` has no option {error.option_name}; {hint}"
        f"`{path} {'--help-all' if lists_all else '--help'}` lists all."
    )


def _written(parameter: Any) -> str:
    """A parameter as the user writes it: --out DIR, NODE."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    return f"{parameter.opts[0]} {parameter.metavar or ''}".strip()


def _rule(parameter: Any) -> str:
    """What a number must be."""
    kind = parameter.type_descriptor.annotation
    is_whole = int in (kind, *get_args(kind))
    least = "" if parameter.min is None else f" of at least {parameter.min:g}"
    return f"a {'whole ' if is_whole else ''}number{least}"

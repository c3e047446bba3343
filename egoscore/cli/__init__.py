"""The command line. Heavy parts are imported by the commands that need them.

In: the arguments. Out: calls of the package, output and exit codes. Not here: any computation.
"""

from __future__ import annotations

import atexit
import errno
import io
import os
import re
import sys
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.exceptions import TyperException

from egoscore.cli.bench import bench
from egoscore.cli.detect import detect
from egoscore.cli.help import Command, Group, LongCommand
from egoscore.cli.refusals import refusal
from egoscore.cli.review import review
from egoscore.cli.runs import datasets, explain, report

# What writing to standard output may raise; other errors of the system are defects of ours.
_CANNOT_WRITE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_INTERRUPTED = 130  # what typer returns after Ctrl-C

app = typer.Typer(
    name="egoscore",
    cls=Group,
    help="Find abnormal nodes in a graph, without labels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=LongCommand)(detect)
for command in (report, review, bench, datasets):
    app.command(cls=Command)(command)
# so that a node may be called -12
app.command(cls=Command, context_settings={"ignore_unknown_options": True})(explain)


def _version(asked: bool) -> None:
    if asked:
        from egoscore import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version)
    ] = False,
) -> None:
    """Find abnormal nodes in a graph, without labels."""


def program() -> NoReturn:
    """Entry point: run the command line and end the process.

    The interpreter is not finalized: a thread of pyarrow that closes a file at that moment would
    abort the process.
    """
    code: object = 0
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _ignoring_closed_pipes(sys.stdout)
    try:
        main()
    except SystemExit as end:
        code = end.code
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the pipe may be closed
            stream.flush()
    os._exit(code if isinstance(code, int) else 0)


class _PipeWriter(io.FileIO):
    """Output that ignores a closed pipe, so that `detect … | head` still finishes its run."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(data)


def _ignoring_closed_pipes(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = _PipeWriter(stream.fileno(), "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), stream.encoding, line_buffering=stream.line_buffering
    )


def main() -> None:
    """Run the command line; an error of the user is printed on one line, with exit code 2."""
    from egoscore.errors import EgoScoreError, ParameterError
    from egoscore.text import command_line_options

    if isinstance(sys.stdout, io.TextIOWrapper):  # escape characters it cannot encode
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with command_line_options():
            code = app(standalone_mode=False, prog_name="egoscore")
        sys.stdout.flush()
    except ParameterError as error:
        option = error.name.replace("_", "-")
        _refuse(f"--{option} must be {_plain(error.rule)} (found {error.value!r}).")
    except EgoScoreError as error:
        _refuse(str(error))
    except TyperException as error:
        _refuse(refusal(error))
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except OSError as error:
        if error.filename is not None or error.errno not in _CANNOT_WRITE:
            raise
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - what is left in it cannot be written
        _refuse(f"Cannot write the output: {error.strerror}.")
    if code == _INTERRUPTED:
        print("egoscore: interrupted; run the same command again to continue.", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)


def _plain(rule: str) -> str:
    """The rule of a parameter without Python's terms: a float in (0, 10] is a number."""

    def interval(found: re.Match[str]) -> str:
        below, low, high, above = found.groups()
        if below + above == "[]":
            return f"a number from {low} to {high}"
        start = f"at least {low}" if below == "[" else f"above {low}"
        return f"a number {start} and {f'at most {high}' if above == ']' else f'below {high}'}"

    rule = re.sub(r"a float in ([\[(])(\S+), (\S+)([\])])", interval, rule)
    return re.sub(r"\ban int\b", "a whole number", rule.removeprefix("None or "))


def _refuse(sentence: str) -> NoReturn:
    if sentence:  # it is empty if no command was given, where help is shown instead
        print(f"egoscore: {sentence}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    program()

"""The command `review`: a page in the browser, or verdicts and suggestions on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoscore.cli.options import AsJson, names
from egoscore.cli.runs import Run
from egoscore.errors import InputError

if TYPE_CHECKING:
    from egoscore.detector import EgoScore
    from egoscore.review.session import ReviewSession

_NEXT = 10


def _nodes(kind: str) -> Any:
    about = f"Nodes that are {kind}: ids or names, separated by commas."
    return typer.Option(f"--{kind}", help=about, metavar="NODES", show_default=False)


def review(
    run: Run,
    abnormal: Annotated[list[str] | None, _nodes("abnormal")] = None,
    normal: Annotated[list[str] | None, _nodes("normal")] = None,
    unsure: Annotated[list[str] | None, _nodes("unsure")] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="CSV file with the columns node and verdict, or another run, whose verdicts to "
            "add.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--next",
            help=f"How many nodes to suggest. ({_NEXT})",
            metavar="N",
            min=0,
            show_default=False,
        ),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the last verdicts.", show_default=False)
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(help="CSV file to write all verdicts to.", metavar="FILE", show_default=False),
    ] = None,
    note: Annotated[
        str,
        typer.Option(help="Note to keep with the verdicts.", metavar="TEXT", show_default=False),
    ] = "",
    author: Annotated[
        str, typer.Option(help="Who gives the verdicts.", metavar="NAME", show_default=False)
    ] = "",
    port: Annotated[
        int | None,
        typer.Option(
            help="Port of the review page; 0 takes a free one. (0)",
            metavar="N",
            min=0,
            max=65535,
            show_default=False,
        ),
    ] = None,
    no_browser: Annotated[
        bool,
        typer.Option(
            "--no-browser", help="Only print the address of the review page.", show_default=False
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Review nodes; the ranking learns from the verdicts.

    Without other options than --port and --no-browser, opens a page in the browser.
    """
    groups = {"abnormal": abnormal, "normal": normal, "unsure": unsure}
    kinds = _kinds({kind: names(*texts) for kind, texts in groups.items() if texts})
    if not (kinds or source or undo or export or count is not None):
        if as_json or note or author:
            raise InputError(
                "--json, --note and --author go with --abnormal, --normal, --unsure, --from, "
                "--undo, --export or --next."
            )
        _serve(run, port or 0, not no_browser)
        return
    if port is not None or no_browser:
        raise InputError("--port and --no-browser are for the review page, without other options.")
    session, taken_back, skipped = _session(run), [], 0
    if undo:
        taken_back = session.store.undo()
        if not taken_back:
            raise InputError(f"{run} has no verdict to take back.")
    if source is not None:
        skipped = _take(session, source)
    if kinds:
        session.say(kinds, note, author)
    if export is not None:
        from egoscore.review.verdicts import write_verdicts

        write_verdicts(session.store.current(), export)
    _show(session, _NEXT if count is None else count, taken_back, skipped, as_json)


def _serve(path: Path, port: int, opens_browser: bool) -> None:
    try:
        from egoscore.serve.server import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise InputError(
            "The review page needs starlette and uvicorn: pip install 'egoscore[serve]'."
        ) from error
    serve(path, port, opens_browser, typer.echo)


def _kinds(groups: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Verdicts by node; a node is named once."""
    found: dict[str, str] = {}
    for kind, nodes in groups.items():
        for node in nodes:
            if node in found:
                raise InputError(f"{node!r} is given as both {found[node]} and {kind}; choose one.")
            found[node] = kind
    return found


def _session(path: Path) -> ReviewSession[EgoScore]:
    from egoscore.detector import EgoScore
    from egoscore.review.session import ReviewSession
    from egoscore.review.store import VerdictStore
    from egoscore.run.reader import Run, reading

    with reading(path):
        run = Run.open(path)
        detector = run.detector(EgoScore.load)
        return ReviewSession(detector, run.graph, VerdictStore.of_run(path))


def _take(session: ReviewSession[EgoScore], source: Path) -> int:
    """Add the verdicts of a file or of another run; how many are on nodes that are not there."""
    from egoscore.review.store import VerdictStore
    from egoscore.review.verdicts import read_verdicts

    verdicts = VerdictStore.of_run(source).current() if source.is_dir() else read_verdicts(source)
    skipped = session.take(verdicts)
    if skipped == len(verdicts):
        what = "on a node of this run" if verdicts else "at all"
        raise InputError(f"{source} has no verdict {what}.")
    return skipped


def _show(
    session: ReviewSession[EgoScore], count: int, undone: list[Any], skipped: int, as_json: bool
) -> None:
    from egoscore.notes import Note
    from egoscore.report.verdicts import review_record, show_review, suggestions

    notes = session.notes
    if skipped:
        notes.append(Note.warning("verdicts-skipped", count=skipped))
    found = suggestions(session.taught, count)
    if as_json:
        typer.echo(review_record(session.store.current(), undone, notes, found))
    else:
        show_review(undone, notes, found)

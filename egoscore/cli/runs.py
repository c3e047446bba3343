"""The commands that read: `explain` a node, write the `report` of a run, list `datasets`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egoscore.cli.options import AsJson, DataDir

if TYPE_CHECKING:
    from egoscore.explain.explanation import Explanation
    from egoscore.progress import Bars

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Directory that `egoscore detect` wrote.")]


def explain(
    run: Run,
    node: Annotated[
        str, typer.Argument(metavar="NODE", help="Id or name of the node, as in scores.csv.")
    ],
    as_json: AsJson = False,
) -> None:
    """Explain the score of a node: which features, edges and quantities are unusual."""
    import json

    from egoscore.progress import passing_bars

    found, preset = _explanation(run, node, passing_bars(int(not as_json)))
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        from egoscore.detectors import vocabulary_of
        from egoscore.report.console import show_explanation

        show_explanation(found, vocabulary_of(preset))


def _explanation(path: Path, node: str, bars: Bars) -> tuple[Explanation, str]:
    """The explanation, and the preset of the run."""
    with bars("Explaining", 3, "steps") as advance:
        from egoscore.detector import EgoScore
        from egoscore.run.reader import Run, reading

        with reading(path):
            run = Run.open(path)
            detector = run.detector(EgoScore.load)
            advance(1)
            _ = run.graph  # checks it, and says how to repair it
            advance(1)
            found = detector.explain(node)
            advance(1)
    return found, detector.preset


def report(
    run: Run,
    out: Annotated[
        Path | None, typer.Option(help="File to write. (RUN/report.html)", metavar="FILE")
    ] = None,
) -> None:
    """Write the report of a finished run again, as a single HTML file."""
    from egoscore.progress import passing_bars

    with passing_bars(1)("Writing the report", 2, "steps") as advance:
        from egoscore.report.html import write_report

        advance(1)
        written = write_report(run, out)
        advance(1)
    typer.echo(f"Report: {written}")


def datasets(data_dir: DataDir = None) -> None:
    """List the data sets that can be loaded by name, and where they come from."""
    from egoscore.load.datasets import list_datasets
    from egoscore.report.console import show_datasets

    show_datasets(list_datasets(data_dir))

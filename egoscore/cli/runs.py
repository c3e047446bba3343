"""The commands that look at what is there: a run, or the data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from egoscore.cli.options import AsJson, DataDir

Run = Annotated[Path, typer.Argument(help="The directory that `egoscore detect` wrote.")]


def explain(
    run: Run,
    node: Annotated[str, typer.Argument(help="The node's id, as in scores.csv.")],
    as_json: AsJson = False,
) -> None:
    """Say why a node has its score: what deviates, which ties surprise, how unusual that is."""
    import json

    from egoscore.detector import EgoScore
    from egoscore.tell.explained import show_explanation
    from egoscore.tell.findings import Findings

    Findings.read(run)  # says what to do where there is no finished run
    found = EgoScore.load(run).explain(node)
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        show_explanation(found)


def report(
    run: Run,
    out: Annotated[
        Path | None, typer.Option(help="Where to write the page. Default: RUN/report.html.")
    ] = None,
) -> None:
    """Write the page about a run: one HTML file that needs nothing else."""
    from egoscore.tell.again import write_report

    typer.echo(f"Written: {write_report(run, out)}")


def datasets(data_dir: DataDir = None) -> None:
    """List the data sets that can be loaded by name, and from where."""
    from egoscore.graph.datasets import list_datasets
    from egoscore.tell.console import show_datasets

    show_datasets(list_datasets(data_dir))

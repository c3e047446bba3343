"""The commands that look at what is there: a run, or the data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egoscore.cli.options import AsJson, DataDir

if TYPE_CHECKING:
    from egoscore.bars import Bars
    from egoscore.explain.explanation import Explanation

Run = Annotated[Path, typer.Argument(help="The directory that `egoscore detect` wrote.")]


def explain(
    run: Run,
    node: Annotated[str, typer.Argument(help="The node's id, as in scores.csv.")],
    as_json: AsJson = False,
) -> None:
    """Say why a node has its score: what deviates, which ties surprise, how unusual that is."""
    import json

    from egoscore.tell.progress import passing_bars

    found = _explanation(run, node, passing_bars(int(not as_json)))
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        from egoscore.tell.explained import show_explanation

        show_explanation(found)


def _explanation(run: Path, node: str, bars: Bars) -> Explanation:
    """Why a node of a finished run has its score."""
    with bars("Explaining", 4, "steps") as advance:
        from egoscore.detector import EgoScore
        from egoscore.engine.files import EDGES_FILE, MODEL_FILE, NODES_FILE
        from egoscore.engine.kept_network import require_size
        from egoscore.tell.findings import Findings
        from egoscore.tell.mending import needing

        Findings.read(run)  # says what to do where there is no finished run
        advance(1)
        with needing(run, MODEL_FILE):
            detector = EgoScore.load(run)
        advance(1)
        with needing(run, NODES_FILE, EDGES_FILE):
            require_size(run, len(detector.decision_score_), detector.n_features_in_)
            detector.explain_all([])  # reads the network, which the detector then keeps
        advance(1)
        found = detector.explain(node)
        advance(1)
    return found


def report(
    run: Run,
    out: Annotated[
        Path | None, typer.Option(help="Where to write the page. Default: RUN/report.html.")
    ] = None,
) -> None:
    """Write the page about a run: one HTML file that needs nothing else."""
    from egoscore.tell.progress import passing_bars

    with passing_bars(1)("Writing the report", 2, "steps") as advance:
        from egoscore.tell.again import write_report

        advance(1)
        written = write_report(run, out)
        advance(1)
    typer.echo(f"Written: {written}")


def datasets(data_dir: DataDir = None) -> None:
    """List the data sets that can be loaded by name, and from where."""
    from egoscore.graph.datasets import list_datasets
    from egoscore.tell.console import show_datasets

    show_datasets(list_datasets(data_dir))

"""The command that compares methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from egoscore.cli.options import DataDir, names


def bench(
    datasets: Annotated[
        str, typer.Option(help="Data sets or folders, separated by commas.", metavar="A,B,…")
    ] = "disney,books,reddit,enron",
    methods: Annotated[
        str,
        typer.Option(
            help="Methods or groups of methods, separated by commas, or all; see --list.",
            metavar="A,B,…",
        ),
    ] = "paper,attributes,structure,networks",
    trials: Annotated[int, typer.Option(help="Trials per method.", metavar="N", min=1)] = 20,
    out: Annotated[
        Path, typer.Option(help="Directory for results and tables.", metavar="DIR")
    ] = Path("bench"),
    jobs: Annotated[
        int, typer.Option(help="Number of trials to run at the same time.", metavar="N", min=1)
    ] = 1,
    time_limit: Annotated[
        float, typer.Option(help="Time limit in seconds (TLE).", metavar="X", min=1)
    ] = 86400.0,
    memory_limit: Annotated[
        float, typer.Option(help="Memory limit in GB (OOM).", metavar="X", min=0.5)
    ] = 16.0,
    retry: Annotated[
        bool, typer.Option("--retry", help="Repeat trials that failed or hit a limit.")
    ] = False,
    figures: Annotated[bool, typer.Option("--figures", help="Draw the paper's figures.")] = False,
    data_dir: DataDir = None,
    list_methods: Annotated[bool, typer.Option("--list", help="List the methods.")] = False,
) -> None:
    """Compare methods by BOND's protocol and write tables.

    Run the same command again to continue an interrupted benchmark.

    With the defaults it takes days on a laptop; --datasets disney --trials 3 takes minutes.
    """
    from egoscore.bench.command import print_methods, run_and_report
    from egoscore.bench.runner import Benchmark
    from egoscore.bench.worker import Limits

    if list_methods:
        print_methods()
        return
    plan = Benchmark(
        datasets=names(datasets),
        methods=names(methods),
        out=out,
        trials=trials,
        jobs=jobs,
        data_dir=None if data_dir is None else str(data_dir),
        limits=Limits(time_limit, memory_limit),
        retry=retry,
    )
    run_and_report(plan, figures)

"""The command line. Heavy parts are imported by the commands that need them."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.exceptions import TyperException

app = typer.Typer(
    name="egoscore",
    help="Find abnormal nodes in attributed networks, without labels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder with data files; else $EGOSCORE_DATA, the cache, the public home."),
]
MODEL, SCORE, TRAINING = "Model (preset 'paper')", "Score (preset 'paper')", "Training"


def _option(text: str, panel: str) -> Any:
    return typer.Option(
        help=f"{text} Default: the preset's.", rich_help_panel=panel, show_default=False
    )


@app.command()
def detect(
    source: Annotated[
        str,
        typer.Argument(
            help="A data set by name (see `egoscore datasets`), or a folder with nodes.parquet and "
            "edges.parquet."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Directory to write the run to.")],
    preset: Annotated[
        str, typer.Option(help="'default', or 'paper' for the paper to the letter.")
    ] = "default",
    seed: Annotated[int, typer.Option(help="Same seed, same result.")] = 0,
    top: Annotated[int, typer.Option(help="How many nodes to show.", min=0)] = 20,
    data_dir: DataDir = None,
    contamination: Annotated[float, typer.Option(help="Share of nodes to flag.")] = 0.1,
    fdr: Annotated[
        float, typer.Option(help="Share of wrong ones among the nodes called significant.")
    ] = 0.1,
    updates: Annotated[
        int | None, _option("Optimiser steps of a network (preset 'default').", TRAINING)
    ] = None,
    dissimilarity: Annotated[str | None, _option("'rec' or 'energy'.", SCORE)] = None,
    alpha: Annotated[
        float | None,
        _option("Weight of the features in 'rec', 0 to 1; the structure has the rest.", SCORE),
    ] = None,
    weighting: Annotated[str | None, _option("'sqrt_snr', 'snr' or 'none'.", SCORE)] = None,
    num_levels: Annotated[int | None, _option("Noise levels.", SCORE)] = None,
    num_samples: Annotated[int | None, _option("Noisings per level.", SCORE)] = None,
    solver: Annotated[
        str | None,
        _option("'em', 'reverse', 'em+langevin', 'reverse+langevin', 's4' or 'dpm'.", SCORE),
    ] = None,
    steps: Annotated[int | None, _option("Solver steps.", SCORE)] = None,
    model: Annotated[str | None, _option("'gdss', 'gdss-graff' or 'congress'.", MODEL)] = None,
    positions: Annotated[
        str | None,
        _option("What networks know of a place: 'none', 'laplacian' or 'random_walk'.", MODEL),
    ] = None,
    num_hops: Annotated[int | None, _option("Reach of an ego-graph.", MODEL)] = None,
    max_nodes: Annotated[int | None, _option("Largest ego-graph.", MODEL)] = None,
    sde: Annotated[str | None, _option("'vp', 've' or 'subvp'.", MODEL)] = None,
    hidden_size: Annotated[int | None, _option("Width of the networks.", TRAINING)] = None,
    epochs: Annotated[
        int | None, _option("Passes over the network (preset 'paper').", TRAINING)
    ] = None,
    lr: Annotated[float | None, _option("Learning rate.", TRAINING)] = None,
    weight_decay: Annotated[float | None, _option("Weight decay.", TRAINING)] = None,
    batch_size: Annotated[int | None, _option("Nodes per step, 0 for all.", TRAINING)] = None,
    use_ema: Annotated[
        bool | None, _option("Score with averaged weights (preset 'paper').", TRAINING)
    ] = None,
    gpu: Annotated[int, typer.Option(help="Number of the CUDA device, -1 for the CPU.")] = -1,
    num_workers: Annotated[int, typer.Option(help="Processes that score.")] = 1,
) -> None:
    """Rank the nodes of a network by abnormality and write the run to a directory.

    Give the same command again to continue a run that was interrupted.
    """
    chosen = {k: v for k, v in locals().items() if k not in ("source", "out", "top", "data_dir")}
    from egoscore.detect import detect as run_detection
    from egoscore.detector import EgoScore
    from egoscore.device import choose_device
    from egoscore.engine.run import RunDirectory
    from egoscore.graph.source import load_source
    from egoscore.tell.console import show_detection, show_network

    detector = EgoScore(**chosen, verbose=1)
    # what can be refused without the data is refused before they are read
    detector.settings()
    choose_device(gpu)
    RunDirectory.require_usable(out)
    graph = load_source(source, data_dir)
    show_network(graph, source)
    try:
        found = run_detection(graph, source, detector, out)
    except KeyboardInterrupt:
        typer.echo("egoscore: interrupted; the same command continues the run.", err=True)
        raise typer.Exit(130) from None
    show_detection(found, top)


@app.command()
def bench(
    datasets: Annotated[
        str, typer.Option(help="Data sets or folders to compare on, separated by commas.")
    ] = "disney,books,reddit,enron",
    methods: Annotated[
        str,
        typer.Option(
            help="Methods or groups of them, separated by commas, or all; --list names them."
        ),
    ] = "paper,attributes,structure,networks",
    trials: Annotated[int, typer.Option(help="Trials of each method.", min=1)] = 20,
    out: Annotated[Path, typer.Option(help="Directory for results and tables.")] = Path("bench"),
    jobs: Annotated[int, typer.Option(help="Trials that run at the same time.", min=1)] = 1,
    time_limit: Annotated[
        float, typer.Option(help="Seconds by the clock for a trial (TLE).", min=1)
    ] = 86400.0,
    memory_limit: Annotated[float, typer.Option(help="GB for a trial (OOM).", min=0.5)] = 16.0,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run trials that failed or hit a limit again.")
    ] = False,
    figures: Annotated[bool, typer.Option("--figures", help="Draw the paper's figures.")] = False,
    data_dir: DataDir = None,
    list_methods: Annotated[bool, typer.Option("--list", help="List the methods and end.")] = False,
) -> None:
    """Compare methods by BOND's protocol: every trial on disk, then tables.

    Give the same command again to continue a benchmark that was interrupted. With its defaults
    it takes days on a laptop; --datasets disney --trials 3 takes minutes.
    """
    from egoscore.benchmark.command import list_rows, run_and_tell
    from egoscore.benchmark.runner import Benchmark
    from egoscore.benchmark.worker import Limits

    if list_methods:
        list_rows()
        return
    plan = Benchmark(
        datasets=_names(datasets),
        methods=_names(methods),
        out=out,
        trials=trials,
        jobs=jobs,
        data_dir=None if data_dir is None else str(data_dir),
        limits=Limits(time_limit, memory_limit),
        retry=retry,
    )
    try:
        run_and_tell(plan, figures)
    except KeyboardInterrupt:
        typer.echo("egoscore: interrupted; the same command continues the benchmark.", err=True)
        raise typer.Exit(130) from None


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


@app.command()
def datasets(data_dir: DataDir = None) -> None:
    """List the data sets that can be loaded by name, and from where."""
    from egoscore.graph.datasets import list_datasets
    from egoscore.tell.console import show_datasets

    show_datasets(list_datasets(data_dir))


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
    """Find abnormal nodes in attributed networks, without labels."""


def main() -> None:
    """Run the command line; what a user did wrong becomes one sentence and exit code 2."""
    from egoscore.errors import EgoScoreError, ParameterError

    if isinstance(
        sys.stdout, io.TextIOWrapper
    ):  # a node's name that cannot be shown is spelled out
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except ParameterError as error:
        option = error.name.replace("_", "-")
        _refuse(f"--{option} must be {error.rule} (found {error.value!r}).")
    except EgoScoreError as error:
        _refuse(str(error))
    except TyperException as error:
        _refuse(" ".join(error.format_message().split()))
    except OSError as error:
        if error.filename is not None:
            raise
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - what is left in it cannot be written
        _refuse(f"Cannot write the output: {error.strerror}.")
    sys.exit(code if isinstance(code, int) else 0)


def _refuse(sentence: str) -> NoReturn:
    if sentence:  # there is none when no command was given: help was shown instead
        print(f"egoscore: {sentence}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()

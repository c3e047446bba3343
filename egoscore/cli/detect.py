"""The main command: rank the nodes of a network."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoscore.cli.options import AsJson, DataDir, data_sets, names, one_of

if TYPE_CHECKING:
    from egoscore.read import Choices, Reading

MODEL, SCORE, TRAINING = "Model (preset 'paper')", "Score (preset 'paper')", "Training"


def _option(text: str, panel: str) -> Any:
    return typer.Option(
        help=f"{text} Default: the preset's.", rich_help_panel=panel, show_default=False
    )


def _table(text: str, *values: str) -> Any:
    return typer.Option(
        help=text,
        rich_help_panel="Your own tables",
        show_default=False,
        autocompletion=one_of(*values) if values else None,
    )


def detect(
    network: Annotated[
        str | None,
        typer.Argument(
            metavar="[SOURCE]",
            show_default=False,
            autocompletion=data_sets,
            help="A data set by name (see `egoscore datasets`), a folder with tables of edges and "
            "nodes, or a file: GraphML, GEXF, .npz, .mat, PyG's .pt. Or leave it out and give "
            "--edges.",
        ),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="Directory to write the run to.")],
    edges: Annotated[
        Path | None, _table("Table of edges: CSV, also compressed, or Parquet, Feather.")
    ] = None,
    nodes: Annotated[
        Path | None, _table("Table of nodes; without it a node's structure is its features.")
    ] = None,
    source: Annotated[str | None, _table("Column of edges: where an edge begins.")] = None,
    target: Annotated[str | None, _table("Column of edges: where it ends.")] = None,
    id: Annotated[str | None, _table("Column of nodes: their ids.")] = None,
    features: Annotated[
        list[str] | None, _table("Columns of nodes to use, with commas between; else all.")
    ] = None,
    ignore: Annotated[
        list[str] | None, _table("Columns to leave aside, with commas between.")
    ] = None,
    categories: Annotated[
        list[str] | None,
        _table("Columns of nodes whose values are names, also numbers, with commas between."),
    ] = None,
    label: Annotated[
        str | None, _table("Column of nodes: 1 for known outliers, only used to evaluate.")
    ] = None,
    weight: Annotated[
        str | None, _table("Column of edges to make features of: total, mean, largest.")
    ] = None,
    directed: Annotated[bool, _table("An edge from a to b is not one from b to a.")] = False,
    impute: Annotated[
        str | None, _table("'median' fills missing values and marks where they were.", "median")
    ] = None,
    encoding: Annotated[
        str | None, _table("Encoding of CSV files, such as cp1251; else it is found out.")
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="'default', or 'paper' for the paper to the letter.",
            autocompletion=one_of("default", "paper"),
        ),
    ] = "default",
    seed: Annotated[int, typer.Option(help="Same seed, same result.")] = 0,
    top: Annotated[int, typer.Option(help="How many nodes to show.", min=0)] = 20,
    data_dir: DataDir = None,
    contamination: Annotated[
        str, typer.Option(help="Share of nodes to flag; 'auto' flags those that are far out.")
    ] = "auto",
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
        _option(
            "'em', 'reverse', 'em+langevin', 'reverse+langevin', 's4', 'dpm' or 'em-overshoot'.",
            SCORE,
        ),
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
    as_json: AsJson = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say more: settings, seconds, memory.")
    ] = False,
) -> None:
    """Rank the nodes of a network by abnormality and write the run to a directory.

    Give the same command again to continue a run that was interrupted.
    """
    given = dict(locals())
    from egoscore.detect import Origin
    from egoscore.detect import detect as run_detection
    from egoscore.detector import EgoScore
    from egoscore.device import choose_device
    from egoscore.engine.run import RunDirectory
    from egoscore.read import Choices
    from egoscore.tell.console import show_detail, show_detection, show_network
    from egoscore.tell.machine import detection_record

    parameters = {name: given[name] for name in EgoScore().get_params() if name in given}
    parameters |= {"contamination": _share(contamination), "verbose": int(not as_json)}
    detector = EgoScore(**parameters)
    # what can be refused without the data is refused before they are read
    detector.settings()
    choose_device(gpu)
    RunDirectory.require_usable(out)
    columns = {name: given[name] for name in ("source", "target", "id", "label", "weight")}
    choices = Choices(
        **columns,
        features=_columns(features) if features else None,
        ignore=_columns(ignore) if ignore else (),
        categories=_columns(categories) if categories else (),
        directed=directed,
        impute=impute,
        encoding=encoding,
    )
    began = time.perf_counter()
    try:
        about, reading = _read(network, edges, nodes, data_dir, choices, as_json)
        read = time.perf_counter()
        if not as_json:
            show_network(reading.graph, about, reading.notes)
        origin = Origin(about, reading.notes, shlex.join(["egoscore", *sys.argv[1:]]))
        found = run_detection(reading.graph, origin, detector, out)
    except KeyboardInterrupt:
        typer.echo("egoscore: interrupted; the same command continues the run.", err=True)
        raise typer.Exit(130) from None
    if as_json:
        typer.echo(detection_record(found, top))
    else:
        show_detection(found, top)
    if verbose:
        show_detail(found, {"reading": read - began, "the rest": time.perf_counter() - read})


def _read(
    network: str | None,
    edges: Path | None,
    nodes: Path | None,
    data_dir: Path | None,
    choices: Choices,
    quiet: bool,
) -> tuple[str, Reading]:
    """The network that the user means, and what it is called."""
    from egoscore.errors import InputError
    from egoscore.read import read_tables
    from egoscore.read.source import read_source
    from egoscore.tell.progress import passing_bars

    if (network is None) == (edges is None):
        raise InputError(
            "Give either SOURCE, one data set, folder or file, or --edges with a table of edges; "
            f"found {'neither' if network is None else 'both'}."
        )
    if nodes is not None and edges is None:
        raise InputError("--nodes needs --edges: a table of nodes alone is no network.")
    about = network if edges is None else " and ".join(str(p) for p in (edges, nodes) if p)
    assert about is not None
    bars = passing_bars(int(not quiet))
    if edges is not None:
        return about, read_tables(edges, nodes, choices, bars)
    return about, read_source(about, data_dir, choices, bars)


def _columns(texts: list[str]) -> tuple[str, ...]:
    """The names in an option; where there are none a blank one, which is refused."""
    return names(*texts) or ("",)


def _share(text: str) -> float | str:
    """A number where the text is one; what else it may be is checked with the other settings."""
    try:
        return float(text)
    except ValueError:
        return text

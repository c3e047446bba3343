"""The main command: rank the nodes of a graph."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoscore.cli.help import COLUMNS_PANEL, HelpAll
from egoscore.cli.options import AsJson, DataDir, data_sets, names, one_of, setting_options, takes
from egoscore.detectors import PRESETS, foreign_settings
from egoscore.errors import InputError

if TYPE_CHECKING:
    from egoscore.detector import EgoScore
    from egoscore.load import Loaded, Options

_IMPUTE = ("median", "none")
_LISTS = ("features", "ignore", "categories", "columns", "node_columns")


def _option(text: str, kind: str = "", panel: str | None = None, *values: str) -> Any:
    return typer.Option(
        help=text,
        metavar=kind or None,
        rich_help_panel=panel,
        show_default=False,
        autocompletion=one_of(*values) if values else None,
    )


def _column(text: str, kind: str = "COLUMN", *values: str) -> Any:
    return _option(text, kind, COLUMNS_PANEL, *values)


def _file(text: str, kind: str = "A,B,…") -> Any:
    return _option(text, kind, "Files without a header, or in another encoding")


TABLE_OPTIONS = {
    "source": Annotated[str | None, _column("Edges: column of sources.")],
    "target": Annotated[str | None, _column("Edges: column of targets.")],
    "weight": Annotated[str | None, _column("Edges: use only this column.")],
    "id": Annotated[str | None, _column("Nodes: column of ids.")],
    "name": Annotated[str | None, _column("Nodes: column of names to show.")],
    "label": Annotated[str | None, _column("Known outliers, evaluation only.")],
    "features": Annotated[list[str] | None, _column("Nodes: columns to use as features.", "A,B,…")],
    "categories": Annotated[list[str] | None, _column("Numbers to treat as categories.", "A,B,…")],
    "ignore": Annotated[list[str] | None, _column("Columns to leave out.", "A,B,…")],
    "directed": Annotated[bool | None, _column("Treat edges as directed.", "")],
    "impute": Annotated[
        str | None,
        _column("Missing values: median, or none to reject them. (median)", "HOW", *_IMPUTE),
    ],
    "columns": Annotated[list[str] | None, _file("Column names of edges without a header.")],
    "node_columns": Annotated[list[str] | None, _file("Column names of nodes without a header.")],
    "encoding": Annotated[str | None, _file("Encoding of CSV files.", "NAME")],
}


MACHINE_OPTIONS = {
    "data_dir": DataDir,
    "gpu": Annotated[int | None, _option("CUDA device, or -1 for the CPU. (-1)", "N", "Machine")],
    "num_workers": Annotated[int | None, _option("Scoring processes. (1)", "N", "Machine")],
}


@takes(TABLE_OPTIONS, MACHINE_OPTIONS, setting_options())
def detect(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            show_default=False,
            autocompletion=data_sets,
            help="Data set (see `egoscore datasets`), folder or file.",
        ),
    ] = None,
    *,
    out: Annotated[Path, _option("Directory for the results.", "DIR")],
    edges: Annotated[Path | None, _option("Table of edges.", "FILE")] = None,
    nodes: Annotated[Path | None, _option("Table of nodes and their features.", "FILE")] = None,
    preset: Annotated[
        str, _option(f"Method, {' or '.join(PRESETS)}. (default)", "NAME", None, *PRESETS)
    ] = "default",
    seed: Annotated[int, _option("Random seed. (0)", "N")] = 0,
    top: Annotated[
        int,
        typer.Option(help="Number of nodes to show. (20)", metavar="N", min=0, show_default=False),
    ] = 20,
    contamination: Annotated[str, _option("Share of nodes to flag. (auto)", "SHARE")] = "auto",
    fdr: Annotated[float, _option("False discovery rate. (0.1)", "SHARE")] = 0.1,
    as_json: AsJson = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Show all notes and settings.", show_default=False),
    ] = False,
    help_all: HelpAll = False,
    **more: Any,
) -> None:
    """Rank the nodes of a graph by abnormality and write the results to a directory.

    Run the same command again to continue an interrupted run.
    """
    from egoscore.detect import Origin
    from egoscore.detect import detect as run_detection
    from egoscore.detector import EgoScore
    from egoscore.load import Options
    from egoscore.report.caveats import left_out
    from egoscore.report.console import (
        detection_record,
        show_detail,
        show_detection,
        show_graph,
    )

    data_dir = more.pop("data_dir")
    settings = {n: v for n, v in more.items() if n not in TABLE_OPTIONS and v is not None}
    common: dict[str, Any] = {
        "preset": preset,
        "seed": seed,
        "fdr": fdr,
        "verbose": int(not as_json),
    }
    detector = EgoScore(**common, contamination=_share(contamination), **settings)
    for name, presets in foreign_settings(preset, settings).items():
        needed = " or ".join(f"--preset {other}" for other in presets)
        raise InputError(f"--{name.replace('_', '-')} needs {needed}.")
    _refuse_early(detector, out)
    options = Options(**_table_options(more))
    began = time.perf_counter()
    about, loaded = _read(data, edges, nodes, data_dir, options, quiet=as_json)
    read = time.perf_counter()
    if verbose and not as_json:
        show_graph(loaded.graph, about, (*left_out(loaded.graph), *loaded.notes))
    origin = Origin(about, loaded.notes, shlex.join(["egoscore", *sys.argv[1:]]))
    found = run_detection(loaded.graph, origin, detector, out)
    if as_json:
        typer.echo(detection_record(found, top))
    else:
        show_detection(found, top)
    if verbose:
        show_detail(found, {"reading": read - began, "scoring": time.perf_counter() - read})


def _refuse_early(detector: EgoScore, out: Path) -> None:
    """Check everything that can be checked before the data are read."""
    from egoscore.run.directory import RunDirectory
    from egoscore.runtime import choose_device

    detector.settings()
    choose_device(detector.gpu)
    RunDirectory.require_usable(out)


def _table_options(given: dict[str, Any]) -> dict[str, Any]:
    """The options about tables as `load.Options` takes them."""
    chosen = {name: given[name] for name in TABLE_OPTIONS if given[name] is not None}
    # an option without any name becomes a blank name, which is refused
    lists = {name: names(*chosen[name]) or ("",) for name in _LISTS if chosen.get(name)}
    return chosen | lists


def _read(
    data: str | None,
    edges: Path | None,
    nodes: Path | None,
    data_dir: Path | None,
    options: Options,
    quiet: bool,
) -> tuple[str, Loaded]:
    """What the source is called, and the graph read from it."""
    from egoscore.load import read_tables
    from egoscore.load.source import read_source
    from egoscore.progress import passing_bars

    if (data is None) == (edges is None):
        raise InputError(
            "Give either SOURCE (a data set, folder or file) or --edges with a table of edges; "
            f"found {'neither' if data is None else 'both'}."
        )
    if nodes is not None and edges is None:
        raise InputError("--nodes needs --edges, because a table of nodes alone is not a graph.")
    about = data if edges is None else " and ".join(str(p) for p in (edges, nodes) if p)
    assert about is not None
    bars = passing_bars(int(not quiet))
    if edges is not None:
        return about, read_tables(edges, nodes, options, bars)
    return about, read_source(about, data_dir, options, bars)


def _share(text: str) -> float | str:
    """A number if the text is one; other values are checked with the other settings."""
    try:
        return float(text)
    except ValueError:
        return text

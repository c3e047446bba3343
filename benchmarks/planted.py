"""How many planted anomalies are found, and whether the first reason given is the planted one.

    python benchmarks/planted.py --data-dir ../shared/data
    python benchmarks/planted.py --smoke

Plants cases of every kind (benchmarks/planting) in real tables and scores the result with the
default preset and with simple scores. Prints, for every kind and table, the share of the planted
nodes among the top 1% (at least 20 nodes), and for the default preset the share of them whose first
reason is the planted cause. Finished cases are kept in `--out`, so that a run can be continued.
`--before DIRECTORY` also scores with the version of egoscore in another directory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from planting.kinds import GROUPS, KINDS, ONE_AT_A_TIME, Case, Draft
from planting.tables import NAMES, Tables, of_graph, read

from egoscore import AttributedGraph, EgoScore, generate_network

_NODES_PER_CASE, _NODES_PER_GROUP = 500, 1500  # the latter of several nodes
_MOST_CASES = 8  # in one draft
_SHARE, _LEAST = 0.01, 20
_RESULTS = Path("benchmarks/results")
_PLACES = {
    "hub": {"degree", "sent", "received", "number of neighbours"},
    "strangers": {"strangers", "clustering coefficient", "neighbours shared with each neighbour"},
    "clique": {"clique", "clustering coefficient", "core number"},
}
Row = dict[str, Any]


def drafts(tables: Tables, kind: str, cases: int) -> Iterator[tuple[Tables, list[Case]]]:
    """Tables with one or more cases each, until there are as many as wanted."""
    room = _NODES_PER_GROUP if kind in GROUPS else _NODES_PER_CASE
    most = 1 if kind in ONE_AT_A_TIME else _MOST_CASES
    several = min(most, max(1, len(tables.nodes) // room))
    left, number = cases, 0
    while left > 0:
        seed = [list(KINDS).index(kind), number]
        draft = Draft(tables, np.random.default_rng(seed))
        planted = (KINDS[kind](draft) for _ in range(several))
        found = [case for case in planted if case is not None]
        if not found:
            return
        left, number = left - len(found), number + 1
        yield draft.changed, found


def simple_scores(graph: AttributedGraph) -> dict[str, np.ndarray]:
    """What a few lines in a notebook would give."""
    from sklearn.ensemble import IsolationForest
    from sklearn.neighbors import LocalOutlierFactor

    x = graph.features.astype(np.float64)
    z = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-12)
    links, degree = graph.neighbours.to_scipy(), graph.neighbours.degrees[:, None]
    theirs = links @ z / np.maximum(degree, 1)
    factor = LocalOutlierFactor(min(20, len(z) - 1)).fit(z)
    return {
        "|z|": np.abs(z).max(axis=1),
        "|z - neighbours|": np.abs(z - theirs).max(axis=1),
        "LOF": -factor.negative_outlier_factor_,
        "isolation forest": -IsolationForest(random_state=0).fit(z).score_samples(z),
    }


def is_right(case: Case, why: Any) -> bool:
    """Whether the first reason of a node is the planted cause."""
    cause = next(iter(why.causes), "")
    if cause == "extremes":
        first = why.extremes[0]
        told, is_value = {first.kind, first.name.partition(" (")[0]}, first.kind not in _COUNTS
    else:
        named = {"features": why.features, "similarity": why.unlike, "position": why.structure}
        first = next(iter(named.get(cause, ())), None)
        told = set() if first is None else {first.name.partition(" = ")[0]}
        is_value = cause in ("features", "similarity")
    if case.kind == "swap":
        return is_value
    return case.column in told if case.column else bool(told & _PLACES[case.kind])


_COUNTS = ("degree", "sent", "received", "strangers", "clique", "bridge")


def score(tables: Tables, cases: list[Case], updates: int | None, simple: bool) -> Row:
    """How many of the planted nodes every score has among its highest."""
    graph = tables.graph
    detector = EgoScore(updates=updates).fit(graph)
    scores = {"egoscore": detector.decision_score_.numpy()}
    scores |= simple_scores(graph) if simple else {}
    most = max(_LEAST, int(_SHARE * graph.num_nodes))
    rows = [row for case in cases for row in case.rows]
    row_of = {node: row for row, node in enumerate(graph.ids.tolist())}
    numbers = [row_of[tables.nodes["id"].iloc[row]] for row in rows]
    found = {
        name: [bool((values > values[row]).sum() < most) for row in numbers]
        for name, values in scores.items()
    }
    owners = [case for case in cases for _ in case.rows]
    reasons = detector.explain_rows(numbers)
    right = [is_right(case, why) for case, why in zip(owners, reasons, strict=True)]
    return {"clear": [case.is_clear for case in owners], "found": found, "right": right}


def run(chosen: argparse.Namespace, named: list[Tables]) -> list[Row]:
    """Score all cases that are not in `chosen.out` yet, and return all."""
    kept = chosen.out.read_text().splitlines() if chosen.out.exists() else []
    rows: list[Row] = [json.loads(line) for line in kept]
    done = {(row["table"], row["kind"], row["draft"]) for row in rows}
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    with chosen.out.open("a") as file:
        for tables in named:
            for kind in chosen.kinds:
                for number, (planted, cases) in enumerate(drafts(tables, kind, chosen.cases)):
                    if (tables.name, kind, number) in done:
                        continue
                    row = {"table": tables.name, "kind": kind, "draft": number}
                    row |= score(planted, cases, chosen.updates, not chosen.only_egoscore)
                    rows.append(row)
                    file.write(json.dumps(row) + "\n")
                    file.flush()
    return rows


def before(chosen: argparse.Namespace) -> list[Row]:
    """The same cases, scored by the egoscore in another directory."""
    with tempfile.TemporaryDirectory() as folder:
        out = chosen.out.parent.parent / "planted-before" / chosen.out.name
        command = [sys.executable, __file__, "--out", str(out), "--only-egoscore"]
        command += ["--cases", str(chosen.cases), "--tables", ",".join(chosen.tables)]
        command += ["--kinds", ",".join(chosen.kinds), "--data-dir", str(chosen.data_dir)]
        command += ["--updates", str(chosen.updates)] if chosen.updates else []
        paths = f"{chosen.before.resolve()}:{Path(__file__).parent}"
        subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": paths}, cwd=folder)
        return [json.loads(line) for line in out.read_text().splitlines()]


def shares(rows: list[Row], kind: str, name: str, clear: bool) -> dict[str, float]:
    """The share of the planted nodes that a score finds, by table; "right" means the reasons."""
    found: dict[str, list[bool]] = {}
    for row in rows:
        if row["kind"] == kind:
            hits = row["found"]["egoscore"] if name == "right" else row["found"][name]
            told = row["right"] if name == "right" else hits
            pairs = zip(hits, told, row["clear"], strict=True)
            mine = [a and b for a, b, is_clear in pairs if is_clear or not clear]
            found.setdefault(row["table"], []).extend(mine)
    return {table: float(np.mean(hits)) for table, hits in found.items() if hits}


def report(rows: list[Row], old: list[Row], kinds: list[str]) -> None:
    """Print a table of means over tables, and one by table."""
    names = list(rows[0]["found"])
    columns = dict.fromkeys(names, rows) | ({"before": old} if old else {}) | {"right": rows}
    print("\nShare of planted nodes in the top 1%, mean over tables; `right`: first reason, too\n")
    print(f"| kind | tables | {' | '.join(columns)} |\n|---|---|{'---|' * len(columns)}")
    for kind in kinds:
        cells, count = [], 0
        for name, source in columns.items():
            by_table = shares(source, kind, "egoscore" if name == "before" else name, True)
            count = max(count, len(by_table))
            cells.append(f"{100 * np.mean(list(by_table.values())):.0f}%" if by_table else "")
        print(f"| {kind} | {count} | {' | '.join(cells)} |")
    tables = list(dict.fromkeys(row["table"] for row in rows))
    print("\negoscore by table: found, of these with the right first reason\n")
    print(f"| kind | {' | '.join(tables)} |\n|---|{'---|' * len(tables)}")
    for kind in kinds:
        found, right = (shares(rows, kind, name, True) for name in ("egoscore", "right"))
        cells = [
            f"{100 * found[table]:.0f}, {100 * right[table]:.0f}" if table in found else ""
            for table in tables
        ]
        print(f"| {kind} | {' | '.join(cells)} |")


def main() -> None:
    """Run what is missing and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, default=Path("../shared/data"))
    parser.add_argument("--tables", type=lambda text: text.split(","), default=list(NAMES))
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(KINDS))
    parser.add_argument("--cases", type=int, default=40, help="of every kind in every table")
    parser.add_argument("--updates", type=int, help="of each neural network, to be quicker")
    parser.add_argument("--out", type=Path, default=_RESULTS / "planted/results.jsonl")
    parser.add_argument("--before", type=Path, help="directory of another version of egoscore")
    parser.add_argument("--only-egoscore", action="store_true", help="no simple scores")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    chosen = parser.parse_args()
    if chosen.smoke:
        chosen.cases, chosen.updates, chosen.tables = 1, 2, ["built-in"]
        with tempfile.TemporaryDirectory() as folder:
            chosen.out = Path(folder) / "planted.jsonl"
            report(run(chosen, [of_graph("built-in", generate_network(300))]), [], chosen.kinds)
        return
    named = [read(name, chosen.data_dir.resolve()) for name in chosen.tables]
    chosen.data_dir = chosen.data_dir.resolve()
    chosen.out = chosen.out.resolve()
    rows = run(chosen, named)
    if not chosen.only_egoscore:
        report(rows, before(chosen) if chosen.before else [], chosen.kinds)


if __name__ == "__main__":
    main()

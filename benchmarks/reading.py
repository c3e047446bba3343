"""Reading 5 million edges with ids that are text, next to pandas and a dict, in one run.

python benchmarks/reading.py [edges in millions] [--smoke]

Every reader runs in a process of its own. Memory is the peak above what the imports took. Below it
stands what a table of two edges takes, which is code that is loaded when it is first needed, and
how the rest compares with the files; the finished network is part of it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

MILLION = 1_000_000
CITIES = ["Bern", "Lima", "Oslo", "Paris", "Rome"]


def main() -> None:
    """Read with egoscore and with pandas, print what each takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("millions", nargs="?", type=float, default=5.0)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    options = parser.parse_args()
    millions = 0.001 if options.smoke else options.millions
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, int(MILLION * millions), int(MILLION * millions / 5))
        tiny = folder / "tiny"
        tiny.mkdir()
        write_tables(tiny, 2, 5)
        with_nodes = ("edges.csv", "nodes.csv")
        for tables in (with_nodes,) if options.smoke else (("edges.csv",), with_nodes):
            paths = [str(folder / table) for table in tables]
            size = sum(Path(path).stat().st_size for path in paths) / 1e6
            print(f"{' and '.join(tables)}, {millions:g} million edges, {size:.0f} MB:")
            found = {reader: measure(reader, paths) for reader in ("egoscore", "pandas")}
            for reader, cost in found.items():
                print(
                    f"  {reader}: {cost['cpu']:.1f} CPU s, {cost['wall']:.1f} s, peak "
                    f"{cost['memory']:.0f} MB ({cost['memory'] / size:.1f}x the files), "
                    f"{cost['nodes']:,} nodes, {cost['edges']:,} edges"
                )
            code = measure("egoscore", [str(tiny / table) for table in tables])["memory"]
            network, rest = found["egoscore"]["network"], found["egoscore"]["memory"] - code
            print(
                f"  of egoscore's, code {code:.0f} MB; the rest is {rest:.0f} MB, "
                f"{rest / size:.2f}x the files, with the network itself, {network:.0f} MB"
            )
            ratios = (
                f"{found['pandas'][what] / found['egoscore'][what]:.1f}x {what}"
                for what in ("cpu", "wall", "memory")
            )
            print(f"  pandas and a dict need {', '.join(ratios)}")


def write_tables(folder: Path, edges: int, nodes: int) -> None:
    random = np.random.default_rng(0)
    names = pa.array([f"user_{number:07d}" for number in random.permutation(nodes)])
    ends = [names.take(pa.array(random.integers(0, nodes, edges))) for _ in range(2)]
    days = np.datetime64("2020-01-01") + random.integers(0, 2000, nodes)
    plain = csv.WriteOptions(quoting_style="none")
    csv.write_csv(pa.table(ends, names=["source", "target"]), folder / "edges.csv", plain)
    table = {
        "id": names,
        "age": random.integers(18, 90, nodes),
        "income": random.normal(3e4, 1e4, nodes).round(2),
        "vip": random.integers(0, 2, nodes).astype(bool),
        "city": pa.array(CITIES).take(pa.array(random.integers(0, len(CITIES), nodes))),
        "joined": pa.array(days),
    }
    csv.write_csv(pa.table(table), folder / "nodes.csv", plain)


def measure(reader: str, paths: list[str]) -> dict[str, float]:
    command = [sys.executable, __file__, "--only", reader, *paths]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    cost: dict[str, float] = json.loads(output)
    return cost


def read_alone(reader: str, paths: list[str]) -> None:
    """Print what one reader costs, as JSON."""
    read = {"egoscore": prepare_egoscore, "pandas": prepare_pandas}[reader]()
    before = peak()
    wall, cpu = time.perf_counter(), time.process_time()
    graph = read(*paths)
    cost = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    cost |= {"memory": peak() - before, "network": size_of(graph)}
    print(json.dumps({**cost, "nodes": graph.num_nodes, "edges": graph.num_edges}))


def size_of(graph) -> float:  # type: ignore[no-untyped-def]
    """The megabytes of a network."""
    arrays = (*graph.neighbours, graph.features, graph.ids)
    objects = sum(map(sys.getsizeof, graph.ids)) if graph.ids.dtype == object else 0
    return (sum(array.nbytes for array in arrays) + objects) / 1e6


def peak() -> float:
    """The most memory of this process; `resource` would count its parent's before it began, too."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def prepare_egoscore():  # type: ignore[no-untyped-def]
    from egoscore.load import read_tables

    return lambda *paths: read_tables(*paths).graph


def prepare_pandas():  # type: ignore[no-untyped-def]
    """What one would write by hand: frames, a dict from ids to rows, and the same network."""
    import pandas as pd

    from egoscore import AttributedGraph
    from egoscore.graph.structure import structure

    def read(edges_path: str, nodes_path: str | None = None) -> AttributedGraph:
        edges = pd.read_csv(edges_path, dtype=str)
        if nodes_path is None:
            ids = list(dict.fromkeys([*edges["source"], *edges["target"]]))
            features = np.zeros((len(ids), 1))
        else:
            nodes = pd.read_csv(nodes_path, dtype={"id": str}, parse_dates=["joined"])
            ids = nodes.pop("id").tolist()
            nodes["joined"] = (nodes["joined"] - pd.Timestamp(0)).dt.days
            features = pd.get_dummies(nodes).to_numpy(np.float32)
        rows = {name: row for row, name in enumerate(ids)}
        ends = [[rows[name] for name in edges[end]] for end in ("source", "target")]
        graph = AttributedGraph.from_edges(np.array(ends), features, ids=ids)
        if nodes_path is None:
            structure(graph)
        return graph

    return read


if __name__ == "__main__":
    if sys.argv[1:2] == ["--only"]:
        read_alone(sys.argv[2], sys.argv[3:])
    else:
        main()

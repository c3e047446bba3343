"""Millions of nodes: a network of DGraph's size from Parquet to ranking, and how cost grows.

    python benchmarks/millions.py whole      the whole command on two cores: time and memory
    python benchmarks/millions.py slope      CPU time against the number of nodes
    python benchmarks/millions.py hub        a star of a million leaves
    python benchmarks/millions.py --smoke    all three with tiny sizes, to see that they run

`whole` writes a generated network (3,700,550 nodes, 4,300,999 edges, 17 features) as Parquet files,
then runs `egoscore detect` on them with 2 epochs and 12 network evaluations a node, and watches the
memory of all its processes (proportional set size: shared pages count once). It also scores 2% of
the nodes with the paper's 600 evaluations and extrapolates. `slope` trains 1 epoch and scores with
12 evaluations on networks of one kind and growing size, one thread.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from egoscore import AttributedGraph

HERE = str(Path(__file__).resolve().parent)
EDGES_PER_NODE = 4_300_999 / 3_700_550
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_700_550)
LEAVES = 1_000_000
IS_SMOKE = False
# 4 + 8 evaluations
CHEAP = {"preset": "paper", "epochs": 2, "num_levels": 2, "num_samples": 1, "steps": 12}
CHEAP["solver"] = "dpm"


def make_graph() -> AttributedGraph:
    """A graph of DGraph's size and kind."""
    from egoscore.load.generate import dgraph_like, generate_network

    return generate_network(500, 600, 17) if IS_SMOKE else dgraph_like()


def write_network(folder: Path) -> None:
    """The graph as two Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    graph = make_graph()
    source = np.repeat(np.arange(graph.num_nodes), graph.neighbours.degrees)
    once = source < graph.neighbours.indices
    ends = {"source": source[once], "target": graph.neighbours.indices[once].astype(np.int64)}
    pq.write_table(pa.table(ends), folder / "edges.parquet")
    columns = {name: graph.features[:, i] for i, name in enumerate(graph.feature_names)}
    nodes = {"id": graph.ids, "label": graph.labels} | columns
    pq.write_table(pa.table(nodes), folder / "nodes.parquet")


class Watch(threading.Thread):
    """Notes the largest memory of a process and all its descendants."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.peak, self.over = pid, 0.0, threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.5):
            self.peak = max(self.peak, sum(self._pss(pid) for pid in self._family()))

    def _family(self) -> list[int]:
        family, todo = [], [self.pid]
        while todo:
            pid = todo.pop()
            family.append(pid)
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                try:
                    todo += map(int, task.read_text().split())
                except OSError:
                    continue
        return family

    def _pss(self, pid: int) -> float:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            return 0.0
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 2**20


def whole(keep: str | None) -> None:
    """The command line on two cores, and an extrapolation of the paper's setting."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(keep or made)
        folder.mkdir(exist_ok=True)
        if IS_SMOKE:
            write_network(folder)
        elif not (folder / "nodes.parquet").exists():
            # by another process: the memory it needs is not measured
            code = (
                "import sys, pathlib, millions; millions.write_network(pathlib.Path(sys.argv[1]))"
            )
            where = os.environ | {"PYTHONPATH": os.pathsep.join([HERE, *sys.path])}
            subprocess.run([sys.executable, "-c", code, str(folder)], check=True, env=where)
        options = [f"--{name.replace('_', '-')}={value}" for name, value in CHEAP.items()]
        command = [sys.executable, "-m", "egoscore", "detect", str(folder), "--num-workers=2"]
        began = time.monotonic()
        process = subprocess.Popen([*command, "--out", str(Path(made) / "run"), *options])
        watch = Watch(process.pid)
        watch.start()
        code = process.wait()
        seconds = time.monotonic() - began
        watch.over.set()
        print(
            f"whole: exit {code}, {seconds:.0f} s wall ({seconds / 60:.1f} min; target 15), "
            f"{watch.peak:.2f} GB (target 3)",
            flush=True,
        )
    paper_share()


def paper_share() -> None:
    """CPU seconds for 600 evaluations a node, from 2% of the nodes."""
    import torch

    from egoscore.detectors.paper.components import measure
    from egoscore.detectors.paper.ego import EgoGraphs
    from egoscore.detectors.paper.generative import ScoreModel
    from egoscore.detectors.paper.settings import PaperSettings

    torch.set_num_threads(1)
    graph = make_graph()
    egos = EgoGraphs(graph)
    model = ScoreModel(graph.num_features, 16)
    config = PaperSettings(num_levels=4, num_samples=3, steps=100, solver="em")
    some = np.random.default_rng(0).permutation(len(egos))[: len(egos) // 50]
    measure(egos, model, config, 0, some[:100])
    began = time.process_time()
    measure(egos, model, config, 0, some)
    hours = (time.process_time() - began) * len(egos) / len(some) / 3600
    print(
        f"600 evaluations: {hours:.1f} CPU hours, {hours / 2:.1f} h on two cores at best "
        f"(from {len(some):,} nodes; target 4)",
        flush=True,
    )


def slope() -> None:
    """CPU seconds of training and scoring for growing networks."""
    import torch

    from egoscore import EgoScore, generate_network
    from egoscore.detectors.paper.model import fit_model
    from egoscore.detectors.paper.shards import measure_nodes
    from egoscore.runtime import one_thread

    device = torch.device("cpu")
    settings = EgoScore(**(CHEAP | {"epochs": 1, "max_nodes": 20})).settings()
    points: list[tuple[int, float]] = []
    with one_thread():
        for size in (1000, *SIZES):
            graph = generate_network(size, round(size * EDGES_PER_NODE), 17)
            began = time.process_time()
            measure_nodes(fit_model(graph, settings, 0, device), graph, device)
            points.append((size, time.process_time() - began))
            if size == 1000:  # only to compile
                points.clear()
                continue
            print(f"{size:9,} nodes: {points[-1][1]:8.2f} CPU s", flush=True)
    nodes, seconds = np.log(np.array(points)).T
    print(f"slope {np.polyfit(nodes, seconds, 1)[0]:.3f} (target 1.05)")


def hub() -> None:
    """The hub of a star with a million leaves against an ordinary node with M neighbours."""
    import torch

    from egoscore import AttributedGraph
    from egoscore.detectors.paper.components import measure
    from egoscore.detectors.paper.ego import EgoGraphs
    from egoscore.detectors.paper.generative import ScoreModel
    from egoscore.detectors.paper.settings import PaperSettings

    torch.set_num_threads(1)
    leaves, largest = LEAVES, 50
    rng = np.random.default_rng(0)
    star = np.stack([np.zeros(leaves, dtype=np.int64), np.arange(1, leaves + 1)])
    first = leaves + 1  # a small star of M nodes beside it
    small = np.stack([np.full(largest - 1, first), np.arange(first + 1, first + largest)])
    size = first + largest
    features = rng.normal(size=(size, 17)).astype(np.float32)
    graph = AttributedGraph.from_edges(np.hstack([star, small]), features)
    egos = EgoGraphs(graph, max_nodes=largest)
    model = ScoreModel(17, 16)
    config = PaperSettings(num_levels=4, num_samples=3, steps=100, solver="em")

    def cost(node: int, times: int = 5) -> dict[str, float]:
        spent: dict[str, Any] = {}
        for name, run in {
            "cut": lambda: egos.members(np.array([node])),
            "score": lambda: measure(egos, model, config, 0, np.array([node])),
        }.items():
            run()
            began = time.process_time()
            for _ in range(times):
                run()
            spent[name] = (time.process_time() - began) / times
        return spent

    began = time.process_time()
    for chunk in egos.chunks(np.arange(size), 2**20):
        egos.members(chunk)
    print(f"all {size:,} ego-graphs cut in {time.process_time() - began:.2f} CPU s")
    for title, node in ((f"hub with {leaves:,} neighbours", 0), ("node with 49 neighbours", first)):
        spent = cost(node)
        print(f"{title:30} cut {1e3 * spent['cut']:8.3f} ms, score {spent['score']:.3f} s")


def main() -> None:
    """One of the three."""
    global LEAVES, SIZES, IS_SMOKE
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=("whole", "slope", "hub"), default="hub")
    parser.add_argument("--folder", help="keep the Parquet files here and use them again")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    arguments = parser.parse_args()
    if arguments.smoke:
        LEAVES, SIZES, IS_SMOKE = 1_000, (500, 2_000), True
        CHEAP.update(epochs=1, steps=4)
        whole(None)
        slope()
        hub()
        return
    {"whole": lambda: whole(arguments.folder), "slope": slope, "hub": hub}[arguments.what]()


if __name__ == "__main__":
    main()

"""Time and memory of the review page: start-up, ranking, nodes, a hub, verdicts.

`python benchmarks/review_page.py` makes a run on a million nodes (a minute) in a temporary folder,
or uses the one after --run.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np

from egoscore import AttributedGraph, EgoScore
from egoscore.detect import Origin, detect

HUB, DEGREE = 5, 100_000
REQUESTS = {
    "ranking, first page": "/api/ranking",
    "ranking, the same page again": "/api/ranking",
    "a page in the middle": "/api/ranking?start={middle}",
    "sorted by a feature": "/api/ranking?sort=x3&desc=1",
    "sorted by name": "/api/ranking?sort=name",
    "search": "/api/ranking?search=holder%2077",
    "two filters": "/api/ranking?where=" + quote('[["score",2,null],["x3",0,null]]'),
    "histogram": "/api/histogram",
    "count above a threshold": "/api/above?threshold=3",
    "a node": "/api/node/77",
    "its neighbours": "/api/surroundings/77",
    "a hub with 100,000 neighbours": f"/api/surroundings/{HUB}",
    "the same, two hops": f"/api/surroundings/{HUB}?hops=2",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    asked = parser.parse_args()
    asked.nodes = 300 if asked.smoke else asked.nodes
    with tempfile.TemporaryDirectory() as folder:
        run = asked.run or Path(folder) / "run"
        if asked.run is None:
            detect(graph(asked.nodes), Origin("generated"), quick(), run)
        measure(run)


def quick():
    """A detector whose fit takes a minute; the page does not depend on how well it was trained."""
    return EgoScore(updates=2, hidden_size=8)


def graph(count):
    """A random graph with a hub, names and eight features."""
    random = np.random.default_rng(0)
    ends = random.integers(0, count, (2, 3 * count))
    degree = min(DEGREE, count // 10)
    ends[:, :degree] = random.permutation(count)[:degree], np.full(degree, HUB)
    features = random.normal(size=(count, 8)).astype(np.float32)
    names = [f"Account holder {i * 7919 % count}" for i in range(count)]
    titles = [f"value {i}" for i in range(8)]
    return AttributedGraph.from_edges(ends, features, names=names, feature_names=titles)


def measure(run):
    command = [sys.executable, "-m", "egoscore", "review", str(run), "--no-browser"]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().removeprefix("Review page: ").strip()
        parts = urlsplit(address)
        base = f"{parts.scheme}://{parts.netloc}"
        with urllib.request.urlopen(address) as page:
            cookie = page.headers["set-cookie"].partition(";")[0]
        tell("start-up until the page is there", time.perf_counter() - start)

        def ask(path, body=None):
            data = None if body is None else json.dumps(body).encode()
            headers = {"cookie": cookie, "origin": base, "content-type": "application/json"}
            with urllib.request.urlopen(urllib.request.Request(base + path, data, headers)) as got:
                return json.loads(got.read())

        timed("state of the review, first", lambda: ask("/api/state"))
        timed("ranking while it prepares to learn", lambda: ask("/api/ranking"))
        tell("memory then (GB)", memory(process.pid, "VmRSS"))
        wait = time.perf_counter()
        while ask("/api/state")["is_learning"]:
            time.sleep(0.2)
        tell("prepared to learn after another", time.perf_counter() - wait)
        middle = str(ask("/api/state")["num_nodes"] // 2)
        for name, path in REQUESTS.items():
            placed = path.replace("{middle}", middle)
            timed(name, lambda placed=placed: ask(placed))
        explained(ask, 77, "explanation, the first")
        explained(ask, 78, "explanation, another")
        explained(ask, HUB, "explanation of the hub")
        timed("a verdict", lambda: ask("/api/verdicts", {"rows": [77], "kind": "abnormal"}))
        timed("ranking after it", lambda: ask("/api/ranking"))
        timed("undo", lambda: ask("/api/undo", {}))
        tell("memory (GB)", memory(process.pid, "VmRSS"))
        tell("largest memory (GB)", memory(process.pid, "VmHWM"))
    finally:
        process.terminate()
        process.wait()


def explained(ask, row, name):
    def wait():
        while ask(f"/api/explanation/{row}")["explanation"] is None:
            time.sleep(0.05)

    timed(name, wait)


def timed(name, call):
    start = time.perf_counter()
    call()
    tell(name, time.perf_counter() - start)


def tell(name, value):
    print(f"{name:40} {value:8.3f}", flush=True)


def memory(pid, field):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1e6


if __name__ == "__main__":
    main()

"""CPU time and memory of a whole fit, next to the same networks on plainly padded batches.

    python benchmarks/cost.py --data-dir ../shared/data [disney books]

Each measurement runs in a process of its own, with one thread and compiled kernels already cached:
paper preset, 300 epochs, K=4, S=3, 100 steps. "Padded" pads every ego-graph to the largest, in
batches of 4096, as the method's public implementation does; it is run for a tenth of the epochs
and with one sample, and extrapolated.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

PADDED_BATCH = 4096


def measure(name: str, data_dir: str | None, padded: bool) -> dict[str, float]:
    """One fit in this process."""
    import numpy as np

    from egoscore import EgoScore, load_dataset
    from egoscore.ego import EgoGraphs

    epochs, samples = (30, 1) if padded else (300, 3)
    graph = load_dataset(name, data_dir)
    if padded:
        whole = EgoGraphs.members

        def plain_chunks(self: EgoGraphs, centres: np.ndarray, *_: int) -> Iterator[np.ndarray]:
            for start in range(0, len(centres), PADDED_BATCH):
                yield centres[start : start + PADDED_BATCH]

        def padded_members(self: EgoGraphs, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            members, adj = whole(self, centres)
            extra = self.max_nodes - members.shape[1]
            return (
                np.pad(members, ((0, 0), (0, extra)), constant_values=-1),
                np.pad(adj, ((0, 0), (0, extra), (0, extra))),
            )

        EgoGraphs.chunks, EgoGraphs.members = plain_chunks, padded_members
    detector = EgoScore(preset="paper", epochs=epochs, num_samples=samples)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    marks = []
    measure_components = detector._measure  # where training ends
    detector._measure = lambda *a: (marks.append(time.process_time()), measure_components(*a))[1]
    detector.fit(graph)
    ended = time.process_time()
    return {
        "train": (marks[0] - began) * (300 / epochs),
        "score": (ended - marks[0]) * (3 / samples),
        "memory": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["disney", "books"])
    parser.add_argument("--data-dir")
    parser.add_argument("--one", choices=["grouped", "padded"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.names[0], options.data_dir, options.one == "padded")))
        return
    print("CPU seconds, one thread; peak memory in MB above imports and data")
    fit = "EgoScore('paper', epochs=1, steps=2).fit(load_dataset('builtin'))"
    warm_up = f"from egoscore import *; {fit}"
    subprocess.run([sys.executable, "-c", warm_up], check=True)
    for name in options.names:
        results = {}
        for kind in ("grouped", "padded"):
            command = [sys.executable, __file__, name, "--one", kind]
            command += ["--data-dir", options.data_dir] if options.data_dir else []
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            results[kind] = json.loads(output)
        ours, plain = results["grouped"], results["padded"]
        total, plain_total = (r["train"] + r["score"] for r in (ours, plain))
        print(
            f"{name:8s} train {ours['train']:6.1f}  score {ours['score']:6.1f}  "
            f"total {total:6.1f}  memory {ours['memory']:4.0f}   padded total {plain_total:6.1f}  "
            f"memory {plain['memory']:5.0f}   ratio {plain_total / total:4.1f}x"
        )


if __name__ == "__main__":
    main()

"""CPU time and memory of a whole fit, next to a plain padded implementation.

    python benchmarks/cost.py --data-dir ../shared/data [disney books]

Paper preset with its hidden size, 300 epochs, K=4, S=3, 100 steps; each measurement in a process of
its own, with one thread and compiled kernels already cached. The plain implementation is that of
benchmarks/speed.py: the tests' oracle, extrapolated from some epochs and steps.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import speed

HIDDEN = 16


def fit(name: str, data_dir: str | None) -> dict[str, float]:
    """A whole fit, training and scoring; memory above imports and data."""
    from egoscore import EgoScore, load_dataset

    graph = load_dataset(name, data_dir)
    before, began = speed.memory(), time.process_time()
    EgoScore(preset="paper", hidden_size=HIDDEN).fit(graph)
    return {"seconds": time.process_time() - began, "memory": speed.memory() - before}


def plain(name: str, data_dir: str | None) -> dict[str, float]:
    """The same with the plain implementation."""
    from egoscore.device import one_thread

    speed.HIDDEN = HIDDEN
    with one_thread():
        parts = speed.plain_train(name, data_dir), speed.plain_score(name, data_dir)
    return {"seconds": sum(part["seconds"] for part in parts)}


MEASUREMENTS = {"fit": fit, "plain": plain}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["disney", "books"])
    parser.add_argument("--data-dir")
    parser.add_argument("--measure", choices=MEASUREMENTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        sys.path.insert(0, str(speed.HERE.parent / "tests"))  # plain.py
        print(json.dumps(MEASUREMENTS[options.measure](options.names[0], options.data_dir)))
        return
    print("CPU seconds of a whole fit, one thread; peak memory in MB above imports and data")
    kernels = "EgoScore('paper', epochs=1, steps=2).fit(load_dataset('builtin'))"
    subprocess.run([sys.executable, "-c", f"from egoscore import *; {kernels}"], check=True)
    for name in options.names:
        ours, theirs = (
            speed.in_own_process(kind, name, options.data_dir, __file__) for kind in MEASUREMENTS
        )
        print(
            f"{name:8s} {ours['seconds']:6.1f} s  {ours['memory']:4.0f} MB   plain "
            f"{theirs['seconds']:6.1f} s   ratio {theirs['seconds'] / ours['seconds']:4.1f}x",
            flush=True,
        )


if __name__ == "__main__":
    main()

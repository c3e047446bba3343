"""CPU time and memory of a whole fit, next to a plain padded implementation.

    python benchmarks/cost.py --data-dir ../shared/data [disney books] [--smoke]

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


FIT: dict[str, int] = {"hidden_size": HIDDEN}


def fit(name: str, data_dir: str | None) -> dict[str, float]:
    """A whole fit, training and scoring; memory above imports and data."""
    from egoscore import EgoScore, load_dataset

    graph = load_dataset(name, data_dir)
    before, began = speed.memory(), time.process_time()
    EgoScore(preset="paper", **FIT).fit(graph)
    return {"seconds": time.process_time() - began, "memory": speed.memory() - before}


def plain(name: str, data_dir: str | None) -> dict[str, float]:
    """The same with the plain implementation."""
    from egoscore.runtime import one_thread

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
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--measure", choices=MEASUREMENTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(speed.HERE.parent / "tests"))  # plain.py
    if options.smoke:
        speed.LEVELS, speed.SAMPLES, speed.STEPS, speed.EPOCHS, speed.BATCH = 1, 1, 2, 1, 32
        speed.SHORT_STEPS["builtin"] = 2
        FIT.update(num_levels=1, num_samples=1, steps=2, epochs=1)
        report("builtin", *(run("builtin", None) for run in MEASUREMENTS.values()))
        return
    if options.measure:
        print(json.dumps(MEASUREMENTS[options.measure](options.names[0], options.data_dir)))
        return
    print("CPU seconds of a whole fit, one thread; peak memory in MB above imports and data")
    kernels = "EgoScore('paper', epochs=1, steps=2).fit(load_dataset('builtin'))"
    subprocess.run([sys.executable, "-c", f"from egoscore import *; {kernels}"], check=True)
    for name in options.names:
        measured = (
            speed.in_own_process(kind, name, options.data_dir, __file__) for kind in MEASUREMENTS
        )
        report(name, *measured)


def report(name: str, ours: dict[str, float], theirs: dict[str, float]) -> None:
    """One row."""
    print(
        f"{name:8s} {ours['seconds']:6.1f} s  {ours['memory']:4.0f} MB   plain "
        f"{theirs['seconds']:6.1f} s   ratio {theirs['seconds'] / ours['seconds']:4.1f}x",
        flush=True,
    )


if __name__ == "__main__":
    main()

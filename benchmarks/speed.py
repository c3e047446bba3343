"""How much faster than a plain padded implementation, on real networks.

    python benchmarks/speed.py --data-dir ../shared/data [reddit enron books disney] [--out FILE]
    python benchmarks/speed.py --smoke        (checks in seconds that everything runs)

Hidden size 32, K=4, S=3, 100 steps, one thread, CPU time; each measurement in a process of its own
with compiled kernels cached. The plain implementation is the tests' oracle (tests/plain.py): every
ego-graph padded to M, batches of 4096. What is too slow to run whole is extrapolated and marked:

- plain scoring, from three solver steps of one batch of 4096 ego-graphs (~ in the table), thirty
  where the network is small;
- plain training, from one optimiser step on one such batch (~), twenty where it is small;
- our scoring of Reddit and Enron, from all nodes with a tenth of the steps (*);
- our training, from two of 300 epochs (*).

A machine that others use may run at half its speed for minutes. Training is therefore measured in
three rounds, ours and the plain implementation in turn; a ratio is the median of the three.

The result is printed, written as JSON and compared with the one that is committed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "speed.json"
HIDDEN, LEVELS, SAMPLES, STEPS, EPOCHS, BATCH = 32, 4, 3, 100, 300, 4096
EVALUATIONS = 600  # K = 4 levels of 20, 40, 60 and 80 steps, S = 3
TARGETS = {"reddit": (18, 14), "enron": (25, 16), "books": (5, 4), "disney": (5, 4)}  # ratios
SHORT_STEPS = {"reddit": 10, "enron": 10}
WORKER_STEPS = 50
ROUNDS = 3
SEED = 0


def memory() -> float:
    """Peak memory of this process in MB; getrusage would count the process that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def prepare(name: str, data_dir: str | None) -> tuple[Any, Any]:
    """Ego-graphs of the scaled network, and untrained networks."""

    from egoscore import load_dataset
    from egoscore.detectors.paper.ego import EgoGraphs
    from egoscore.detectors.paper.generative import ScoreModel
    from egoscore.graph import FeatureScaling

    graph = load_dataset(name, data_dir)
    egos = EgoGraphs(FeatureScaling.fit(graph.features).apply(graph), seed=SEED)
    return egos, ScoreModel(graph.num_features, HIDDEN, graph.directed, SEED)


def score(name: str, data_dir: str | None) -> dict[str, float]:
    """CPU seconds to score all nodes, and the share of it that random numbers take."""
    import numpy as np

    from egoscore.detectors.paper import noise
    from egoscore.detectors.paper.components import measure
    from egoscore.detectors.paper.settings import PaperSettings
    from egoscore.detectors.paper.shards import shards
    from egoscore.runtime import release_memory

    egos, model = prepare(name, data_dir)
    steps = SHORT_STEPS.get(name, STEPS)
    config = PaperSettings(num_levels=LEVELS, num_samples=SAMPLES, steps=steps, solver="em")
    nodes = np.arange(len(egos))
    measure(egos, model, replace(config, steps=5), SEED, nodes[:300])  # to compile
    base, spent, drawn = memory(), 0.0, noise.normals

    def timed(*arguments: Any) -> Any:
        nonlocal spent
        began = time.process_time()
        result = drawn(*arguments)
        spent += time.process_time() - began
        return result

    noise.normals = timed
    began = time.process_time()
    for shard in shards(egos.sizes):  # as a run does
        measure(egos, model, config, SEED, shard)
        release_memory()
    seconds = time.process_time() - began
    whole = seconds * STEPS / steps
    per_step = whole / len(egos) / EVALUATIONS
    return {
        "seconds": whole,
        "us_per_ego_step": 1e6 * per_step,
        "noise_share": spent / seconds,
        "memory": memory(),
        "above_import": memory() - base,
    }


def train(name: str, data_dir: str | None) -> dict[str, float]:
    """CPU seconds to train for 300 epochs."""
    from egoscore.detectors.paper.settings import PaperSettings
    from egoscore.detectors.paper.train import TrainingState
    from egoscore.detectors.paper.train import train as run

    egos, model = prepare(name, data_dir)
    state = TrainingState(model, 0.01, 0.01)
    run(state, egos, PaperSettings(epochs=1, batch_size=BATCH), SEED)
    epochs = min(EPOCHS, 2 if name in SHORT_STEPS else 30)
    began = time.process_time()
    run(state, egos, PaperSettings(epochs=1 + epochs, batch_size=BATCH), SEED)
    seconds = (time.process_time() - began) * EPOCHS / epochs
    return {"seconds": seconds, "memory": memory()}


def _batch(egos: Any) -> Any:
    import numpy as np

    return np.sort(np.random.default_rng(SEED).permutation(len(egos))[:BATCH])


def plain_score(name: str, data_dir: str | None) -> dict[str, float]:
    """CPU seconds of the plain implementation to score all nodes."""
    import plain
    import torch

    egos, model = prepare(name, data_dir)
    centres, weights = _batch(egos), dict(model.named_parameters())
    many = 3 if name in SHORT_STEPS else 30
    spent = []
    with torch.inference_mode():
        plain.reconstruct(weights, egos, centres[:64], SEED, 0.5, 0, 0, 2, "em")
        for steps in (1, 1 + many):
            began = time.process_time()
            plain.reconstruct(weights, egos, centres, SEED, 0.5, 0, 0, steps, "em")
            spent.append(time.process_time() - began)
    per_step = (spent[1] - spent[0]) / len(centres) / many
    return {
        "seconds": per_step * len(egos) * EVALUATIONS,
        "us_per_ego_step": 1e6 * per_step,
        "memory": memory(),
    }


def plain_train(name: str, data_dir: str | None) -> dict[str, float]:
    """CPU seconds of the plain implementation to train for 300 epochs."""
    import plain
    import torch

    from egoscore.detectors.paper.train import _times

    egos, model = prepare(name, data_dir)
    centres, weights = _batch(egos), dict(model.named_parameters())

    parts = model.feature_network, model.adjacency_network
    optimisers = [torch.optim.Adam(p.parameters(), lr=0.01, weight_decay=0.01) for p in parts]

    def step(some: Any) -> None:
        losses = plain.losses(weights, egos, some, SEED, 0, _times(SEED, 0, some))
        (losses[0] + losses[1]).mean().backward()
        for part, optimiser in zip(parts, optimisers, strict=True):
            torch.nn.utils.clip_grad_norm_(part.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()

    step(centres[:64])
    many = 1 if name in SHORT_STEPS else 20
    began = time.process_time()
    for _ in range(many):
        step(centres)
    seconds = (time.process_time() - began) / many
    return {"seconds": seconds / len(centres) * len(egos) * EPOCHS, "memory": memory()}


def workers(name: str, data_dir: str | None) -> dict[str, float]:
    """Wall seconds to score with one process and with two, starting them included."""
    import torch

    from egoscore import EgoScore, load_dataset
    from egoscore.detectors.paper.model import fit_model
    from egoscore.detectors.paper.shards import measure_nodes

    graph = load_dataset(name, data_dir)
    settings = EgoScore(preset="paper", hidden_size=HIDDEN, epochs=0, steps=WORKER_STEPS).settings()
    model = fit_model(graph, settings, SEED, torch.device("cpu"))
    seconds = []
    for count in (1, 2):
        began = time.monotonic()
        measure_nodes(model, graph, torch.device("cpu"), count)
        seconds.append(time.monotonic() - began)
    return {"one": seconds[0], "two": seconds[1], "ratio": seconds[0] / seconds[1]}


MEASUREMENTS = {
    "score": score,
    "train": train,
    "plain_score": plain_score,
    "plain_train": plain_train,
    "workers": workers,
}


def in_own_process(
    kind: str, name: str, data_dir: str | None, script: str = __file__
) -> dict[str, float]:
    """A measurement by a new process, whose memory is its own."""
    command = [sys.executable, script, name, "--measure", kind]
    command += ["--data-dir", data_dir] if data_dir else []
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def rounds(kinds: tuple[str, ...], name: str, data_dir: str | None) -> list[dict[str, float]]:
    """Medians of measurements that are made in turn; the first also gets the ratio to the second.

    What slows the machine down for minutes then slows all of them down.
    """
    found = [[in_own_process(kind, name, data_dir) for kind in kinds] for _ in range(ROUNDS)]
    medians = [
        {key: statistics.median(one[key] for one in same) for key in same[0]}
        for same in zip(*found, strict=True)
    ]
    ratio = statistics.median(theirs["seconds"] / ours["seconds"] for ours, theirs in found)
    return [medians[0] | {"ratio": ratio}, *medians[1:]]


def machine() -> dict[str, str | int | None]:
    """What the figures were measured on."""
    import torch

    model = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((ln.split(":")[1].strip() for ln in lines if "model name" in ln), model)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True,
        check=False,
    ).stdout.strip()  # fmt: skip
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "commit": commit,
        "date": time.strftime("%Y-%m-%d"),
    }


def committed() -> dict[str, Any]:
    """The result in the last commit, if there is one."""
    path = f"HEAD:./{RESULT.relative_to(HERE)}"
    done = subprocess.run(
        ["git", "show", path], cwd=HERE, capture_output=True, text=True, check=False
    )
    found: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
    return found


def report(name: str, found: dict[str, dict[str, float]], before: dict[str, Any]) -> None:
    """One block of the table."""
    for part in ("score", "train"):
        ours, theirs = found[part], found[f"plain_{part}"]
        target = TARGETS[name][0 if part == "score" else 1]
        ratio = ours.get("ratio", theirs["seconds"] / ours["seconds"])
        mark = "*" if part == "train" or name in SHORT_STEPS else " "
        line = (
            f"{name:7} {part:6} {ours['seconds']:8.1f}{mark} s {ours['memory']:6.0f} MB   "
            f"plain {theirs['seconds']:9.1f}~ s {theirs['memory']:6.0f} MB   "
            f"ratio {ratio:5.1f}x (target {target}x)"
        )
        if name in before:
            then = before[name][f"plain_{part}"]["seconds"] / before[name][part]["seconds"]
            line += f"   committed {before[name][part].get('ratio', then):5.1f}x"
        print(line, flush=True)
    print(
        f"{'':14} {found['score']['us_per_ego_step']:.1f} us per ego-step, plain "
        f"{found['plain_score']['us_per_ego_step']:.0f}; random numbers "
        f"{100 * found['score']['noise_share']:.1f}% of scoring; scoring "
        f"{found['score']['above_import']:.0f} MB above imports and data",
        flush=True,
    )
    if "workers" in found:
        two = found["workers"]
        print(
            f"{'':14} two workers {two['ratio']:.2f}x wall ({two['one']:.1f} s, {two['two']:.1f} s "
            f"with {WORKER_STEPS} steps; target 1.8x)",
            flush=True,
        )


def smoke() -> None:
    """Run every measurement on a small graph with few steps; the figures mean nothing."""
    global LEVELS, SAMPLES, STEPS, EPOCHS, BATCH, WORKER_STEPS
    LEVELS, SAMPLES, STEPS, EPOCHS, BATCH, WORKER_STEPS = 1, 1, 2, 1, 32, 2
    SHORT_STEPS["builtin"], TARGETS["builtin"] = STEPS, (1, 1)
    report("builtin", {kind: run("builtin", None) for kind, run in MEASUREMENTS.items()}, {})


def main() -> None:
    """Measure, print, write, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(TARGETS))
    parser.add_argument("--data-dir")
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--measure", choices=MEASUREMENTS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    sys.path.insert(0, str(HERE.parent / "tests"))  # plain.py
    if arguments.smoke:
        smoke()
        return
    if arguments.measure:
        from egoscore.runtime import one_thread

        with one_thread():
            found = MEASUREMENTS[arguments.measure](arguments.names[0], arguments.data_dir)
        print(json.dumps(found))
        return
    facts, before = machine(), committed().get("networks", {})
    print(", ".join(f"{key} {value}" for key, value in facts.items()))
    networks = {}
    for name in arguments.names:
        kinds = ["score", "plain_score", *(["workers"] if name == "reddit" else [])]
        found = {kind: in_own_process(kind, name, arguments.data_dir) for kind in kinds}
        trained = "train", "plain_train"
        found |= zip(trained, rounds(trained, name, arguments.data_dir), strict=True)
        networks[name] = found
        report(name, networks[name], before)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps({"machine": facts, "networks": networks}, indent=2) + "\n")
    print(f"Written to {arguments.out}.")


if __name__ == "__main__":
    main()

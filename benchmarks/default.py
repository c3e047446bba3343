"""The default preset against its rivals: generated networks held out from choosing, and real ones.

    python benchmarks/default.py --data-dir ../shared/data        (or make bench-default)
    python benchmarks/default.py --smoke

Runs `egoscore bench` on the networks varied-27 … varied-53, on injected-10 … injected-19, and on
the real ones (continuing what is there), prints a table for each, and writes all of them to
docs/default-tables.md. Generated networks: mean ROC-AUC and average precision over networks, mean
rank, the largest deviation between seeds.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from egoscore.bench.display import ShowProgress
from egoscore.bench.methods import methods
from egoscore.bench.results import Results
from egoscore.bench.runner import Benchmark, run_benchmark
from egoscore.bench.trial import OK, Record
from egoscore.bench.worker import Limits
from egoscore.load.families import injected, varied

PAGE = Path(__file__).resolve().parents[1] / "docs" / "default-tables.md"
KEPT = Path(__file__).resolve().parent / "results" / "default"  # so that trials add up over days
REAL = ("disney", "books", "reddit", "enron")
QUICK = ("default", "training-free", "lof", "if")
HEAD = """# The default method's tables

Written by `benchmarks/default.py` (`make bench-default`). [History and evaluation
records](history.md) tells how the method was chosen. ROC-AUC and average precision in percent,
means over three trials; those of the paper's rows and PyGOD's detectors over one to three. The
paper's rows on Reddit and Enron are the first trials of `egoscore bench`
([The paper's numbers](reproduction.md)), which kept no interval. "seeds" is the largest standard
deviation between trials on any graph; "size" the strongest rank correlation of the score with the
size of the ego-graph on any graph; in brackets are 95% of a bootstrap over nodes.
"""
SLOW = ("paper", "gcnae", "dominant", "anomalydae", "ocgnn")


def tell(results: Results, networks: tuple[str, ...]) -> str:
    """A Markdown table: the rows that were tried on all these networks, best mean AUC first.

    Where a row failed, its means are over the other networks, and it has the last rank.
    """
    tried = {row: [results.trials(name, row) for name in networks] for row in methods()}
    found = {
        row: [[r for r in network if r["status"] == OK] for network in records]
        for row, records in tried.items()
        if all(records)
    }
    auc = {row: 100 * means(records, "roc_auc") for row, records in found.items()}
    order = np.nan_to_num(np.array(list(auc.values())), nan=-1.0)
    places = np.argsort(np.argsort(-order, axis=0), axis=0) + 1.0
    rank = dict(zip(auc, places.mean(axis=1), strict=True))
    few = len(networks) < 8
    heads = ["mean AUC", "mean AP", "mean rank", "seeds", "size", "CPU s"]
    heads = [*networks, *heads] if few else heads
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for row in sorted(found, key=lambda row: -float(np.nanmean(auc[row]))):
        failed = sum(not network for network in found[row])
        title = methods()[row].title + (f" (failed on {failed})" if failed else "")
        each = by_network(found[row]) if few else []
        lines.append(f"| {' | '.join([title, *each, *summary(found[row], rank[row])])} |")
    return "\n".join(lines) + "\n"


def means(records: list[list[Record]], field: str) -> np.ndarray:
    """The mean over trials, network by network; NaN where it failed."""
    return np.array([np.mean([r[field] for r in n]) if n else np.nan for n in records])


def by_network(records: list[list[Record]]) -> list[str]:
    """ROC-AUC of each network, and where a bootstrap over its nodes puts it, if that is known."""
    told = []
    for auc, network in zip(means(records, "roc_auc"), records, strict=True):
        known = [r["roc_auc_interval"] for r in network if "roc_auc_interval" in r]
        low, high = np.mean(known, axis=0) if known else (np.nan, np.nan)
        ends = f" ({100 * low:.0f} to {100 * high:.0f})" if known else ""
        told.append(f"{100 * auc:.1f}{ends}" if network else "failed")
    return told


def summary(records: list[list[Record]], rank: float) -> list[str]:
    """Means over networks; the largest deviation between seeds; the strongest tie to size."""
    done = [network for network in records if network]
    auc, precision = (100 * means(done, f).mean() for f in ("roc_auc", "average_precision"))
    seeds = max(100 * np.std([r["roc_auc"] for r in network]) for network in done)
    size = max(means(done, "size_correlation"), key=abs)
    cpu = means(done, "cpu_seconds").mean()
    return [*(f"{v:.1f}" for v in (auc, precision, rank, seeds)), f"{size:+.2f}", f"{cpu:.1f}"]


def run(
    networks: tuple[str, ...], methods: tuple[str, ...], trials: int, chosen: argparse.Namespace
) -> Results:
    """Run the trials that are missing."""
    plan = Benchmark(
        networks,
        methods,
        chosen.out,
        trials=trials,
        jobs=chosen.jobs,
        data_dir=chosen.data_dir,
        limits=Limits(seconds=5400.0, gigabytes=12.0),
    )
    with ShowProgress() as progress:
        return run_benchmark(plan, progress)


def main() -> None:
    """Run what is missing, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--out", type=Path, default=KEPT)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="only what takes seconds")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    chosen = parser.parse_args()
    if chosen.smoke:
        with tempfile.TemporaryDirectory() as folder:
            chosen.out, chosen.jobs = Path(folder), 1
            print(tell(run(("builtin",), ("training-free",), 1, chosen), ("builtin",)))
        return
    held_out = tuple(varied.VARIED_NAMES[number] for number in varied.CONFIRMING)
    crowded = tuple(injected.INJECTED_NAMES[number] for number in injected.CONFIRMING)
    trials = {QUICK: 3} if chosen.quick else {QUICK: 3, SLOW: 1}
    parts = {
        "Generated graphs, held out": held_out,
        "Generated graphs with injected outliers, held out": crowded,
        "All generated graphs, held out": held_out + crowded,
        "Real graphs": REAL,
    }
    page = [HEAD]
    for title, networks in parts.items():
        for names, count in trials.items():
            results = run(networks, names, count, chosen)
        page.append(f"## {title}\n\n{tell(results, networks)}")
        print(page[-1])
    PAGE.write_text("\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    main()

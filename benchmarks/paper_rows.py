"""The paper's four rows on a real network, by BOND's protocol: every trial draws lr, alpha, hidden.

    python benchmarks/paper_rows.py disney --trials 20 --data-dir ../shared/data

Prints ROC-AUC as mean ± std (max) next to the published value, and next to minus the ego size,
which needs no model. Labels are used to print these numbers and for nothing else.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from sklearn.metrics import roc_auc_score

from egoscore import EgoScore, load_dataset
from egoscore.score import combine

HIDDEN = {"reddit": (32, 48, 64), "weibo": (32, 64, 128, 256)}
PUBLISHED = {
    "disney": ("65.0 ± 11.2", "63.1 ± 12.9", "56.7 ± 5.7", "58.4 ± 5.9"),
    "books": ("56.9 ± 2.7", "57.1 ± 2.8", "52.4 ± 3.8", "52.7 ± 3.0"),
    "reddit": ("44.4 ± 0.4", "44.5 ± 0.4", "55.1 ± 0.8", "55.0 ± 0.9"),
    "enron": ("44.0 ± 4.0", "44.0 ± 4.2", "36.5 ± 5.6", "35.5 ± 5.0"),
    "weibo": ("74.5 ± 12.6", "74.4 ± 12.4", "51.3 ± 11.0", "51.9 ± 11.1"),
}
ROWS = (("rec", "sqrt_snr"), ("rec", "none"), ("energy", "sqrt_snr"), ("energy", "none"))


def run_trial(name: str, trial: int, data_dir: str | None) -> dict[str, object]:
    """One draw from the grid, one fit, all four rows."""
    graph = load_dataset(name, data_dir)
    draw = np.random.default_rng(trial)
    lr = float(draw.choice([0.1, 0.05, 0.01]))
    alpha = float(draw.choice([0.8, 0.5, 0.2]))
    hidden = int(draw.choice(HIDDEN.get(name, (8, 12, 16))))
    began = time.process_time()
    detector = EgoScore(preset="paper", seed=trial, lr=lr, alpha=alpha, hidden_size=hidden)
    detector.fit(graph)
    spent = time.process_time() - began
    auc = {}
    for dissimilarity, weighting in ROWS:
        score = combine(detector.components_, dissimilarity, alpha, weighting, detector.model_.sde)
        auc[f"{dissimilarity}-{weighting}"] = 100 * float(roc_auc_score(graph.labels, score))
    size = detector.components_.ego_size
    auc["-size"] = 100 * float(roc_auc_score(graph.labels, -size))
    return {"trial": trial, "lr": lr, "alpha": alpha, "hidden": hidden, "cpu": spent, "auc": auc}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=sorted(PUBLISHED))
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--data-dir")
    options = parser.parse_args()
    results = []
    for trial in range(options.first, options.first + options.trials):
        results.append(run_trial(options.name, trial, options.data_dir))
        print(json.dumps(results[-1]), flush=True)
    print(f"\n{options.name}, {options.trials} trials, ROC-AUC in %: mean ± std (max), published")
    published_rows = (*PUBLISHED[options.name], "no model")
    for row, published in zip(results[0]["auc"], published_rows, strict=True):
        values = np.array([result["auc"][row] for result in results])
        measured = f"{values.mean():5.1f} ± {values.std():4.1f} ({values.max():.1f})"
        print(f"{row:16s} {measured}   {published}")
    cpu = np.array([result["cpu"] for result in results])
    print(f"CPU seconds a trial: {cpu.mean():.1f} ({cpu.min():.1f} to {cpu.max():.1f})")


if __name__ == "__main__":
    main()

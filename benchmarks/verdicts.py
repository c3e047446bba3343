"""Outliers found by a reviewer whose verdicts update the ranking, against other ways to learn.

    python benchmarks/verdicts.py --data-dir ../shared/data        (or make bench-verdicts)
    python benchmarks/verdicts.py --smoke

A simulated reviewer looks at ten nodes at a time, highest first, and answers with their labels; or,
with wrong verdicts, with the opposite for one in ten. Nodes with unknown labels are not reviewed.
The unsupervised detector is fitted once per network and kept in a folder. Printed: outliers among
the first 20, 50, 100 and 200 reviewed, summed over networks; how many times as many as in the
unsupervised order; the worst network; the mean ROC-AUC on nodes that were not reviewed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from egoscore import AttributedGraph, EgoScore, load_dataset
from egoscore.load import Options, read_tables
from egoscore.load.families import INJECTED_NAMES, VARIED_NAMES
from egoscore.review.learning import Prior, learn
from egoscore.review.scaling import FARTHEST, neighbour_mean
from egoscore.review.teacher import Teacher, explore, suggest

BOND = ("disney", "books", "reddit", "enron")
LABELLED = ("bugs_ant", "bugs_camel", "enron_poi", "bitcoin_alpha", "wiki_vandal", "eth_first")
GENERATED = (*VARIED_NAMES[:27:2], *INJECTED_NAMES[:8])
HELD_OUT = (*VARIED_NAMES[27::2], *INJECTED_NAMES[10:18:2])  # not used to choose anything here
LEAKING = ("rating", "time")  # columns of edges from which the labels were derived
BATCH, STEPS = 10, (20, 50, 100, 200)
WRONG = 0.1
KEPT = Path(tempfile.gettempdir()) / "egoscore-verdicts"
Scorer = Callable[[np.ndarray, np.ndarray], np.ndarray]  # rows and verdicts -> scores of all nodes


@dataclass(frozen=True)
class Case:
    """A network with labels, and what its unsupervised detector gives."""

    name: str
    graph: AttributedGraph
    detector: EgoScore

    @cached_property
    def teacher(self) -> Teacher:
        return Teacher.of(self.graph, self.score, self.blocks)

    @cached_property
    def blocks(self) -> tuple:
        return self.detector.detector_.inputs(self.graph, self.detector.components_)

    @cached_property
    def score(self) -> np.ndarray:
        return self.detector.decision_score_.numpy()

    @property
    def standardised(self) -> np.ndarray:
        return (self.score - self.score.mean()) / self.score.std()

    @cached_property
    def plain(self) -> np.ndarray:
        """All quantities in standard deviations."""
        values = np.hstack([np.asarray(b.values, dtype=np.float64) for b in self.blocks])
        return standard(values)


def standard(values: np.ndarray) -> np.ndarray:
    """Columns with zero mean and unit deviation, clipped at three."""
    spread = values.std(axis=0)
    found = (values - values.mean(axis=0)) / np.where(spread > 1e-9, spread, np.inf)
    return np.clip(found, -FARTHEST, FARTHEST)


def load(name: str, data_dir: Path | None) -> AttributedGraph:
    """A network with labels."""
    if name not in LABELLED:
        return load_dataset(name, data_dir)
    folder = data_dir / "labelled" / name
    ignore = LEAKING if name == "bitcoin_alpha" else ()
    options = Options(label="label", ignore=ignore)
    return read_tables(folder / "edges.csv.gz", folder / "nodes.csv.gz", options).graph


def case_of(name: str, data_dir: Path | None, kept: Path) -> Case:
    """The network and its detector, which is fitted the first time."""
    graph, file = load(name, data_dir), kept / f"{name}.safetensors"
    if not file.exists():
        kept.mkdir(parents=True, exist_ok=True)
        EgoScore().fit(graph).save(file)
    return Case(name, graph, EgoScore.load(file))


def unsupervised(case: Case, seed: int) -> Scorer:
    """No learning."""
    return lambda rows, verdicts: case.score


def random_order(case: Case, seed: int) -> Scorer:
    """No order."""
    order = np.random.default_rng(seed).permutation(len(case.score)).astype(float)
    return lambda rows, verdicts: order


def named(rows: np.ndarray, verdicts: np.ndarray) -> dict[int, str]:
    """Verdicts by row, as a teacher takes them."""
    kinds = ("normal", "abnormal")
    return {int(row): kinds[verdict] for row, verdict in zip(rows, verdicts, strict=True)}


def egoscore(case: Case, seed: int) -> Scorer:
    """`EgoScore.teach` and `EgoScore.suggest`."""
    teacher = case.teacher

    def scores(rows: np.ndarray, verdicts: np.ndarray) -> np.ndarray:
        taught = teacher.learn(named(rows, verdicts))
        if not len(rows):
            return taught.updated
        first = explore(taught, teacher.inputs, rows, BATCH)
        found = taught.updated.copy()
        found[first] = found.max() + np.arange(len(first), 0, -1)  # in the order of suggestions
        return found

    return scores


def highest_first(case: Case, seed: int) -> Scorer:
    """The same, but the highest updated score is reviewed next."""
    teacher = case.teacher

    def scores(rows: np.ndarray, verdicts: np.ndarray) -> np.ndarray:
        return teacher.learn(named(rows, verdicts)).updated

    return scores


def prototype(case: Case, seed: int) -> Scorer:
    """The prototype of RESEARCH.md: ranks of channels, their squares, whitened attributes."""
    model, scale = case.detector.model_, case.teacher.inputs.scale.blocks["measured"]
    white = np.clip(model.whitening.apply(model.view(case.graph).features), -3.0, 3.0)
    ranks, around = scale.apply(case.blocks[0].values, case.graph)
    parts = ranks, ranks**2, white, around, neighbour_mean(case.graph, white)
    inputs = np.hstack([standard(p.astype(float)) / max(1, p.shape[1]) ** 0.5 for p in parts])
    prior = Prior(slope=1.0, log_odds=0.0, weights=1.0, intercept=0.0)

    def scores(rows: np.ndarray, verdicts: np.ndarray) -> np.ndarray:
        found = learn(inputs[rows], case.standardised[rows], verdicts.astype(bool), prior)
        return case.standardised + inputs @ found.weights

    return scores


def logistic(case: Case, seed: int) -> Scorer:
    """Logistic regression on the same quantities, once there are verdicts of both kinds."""
    from sklearn.linear_model import LogisticRegression

    def scores(rows: np.ndarray, verdicts: np.ndarray) -> np.ndarray:
        if len(set(verdicts.tolist())) < 2:
            return case.score
        fitted = LogisticRegression(max_iter=1000).fit(case.plain[rows], verdicts)
        return fitted.decision_function(case.plain)

    return scores


def forest(case: Case, seed: int) -> Scorer:
    """Isolation forest with feedback (AAD; Das et al., 2017): weights of leaves, learned.

    Starts at equal weights, which is the isolation forest; hinge losses push abnormal nodes above
    the 3% quantile and normal ones below, and a quadratic prior keeps weights near equal.
    """
    from sklearn.ensemble import IsolationForest

    trees = IsolationForest(
        n_estimators=100, max_samples=min(256, len(case.score)), random_state=seed
    )
    trees.fit(case.plain)
    columns, depths, first = [], [], 0
    values = case.plain.astype(np.float32)
    for tree in trees.estimators_:
        leaf = tree.apply(values)
        depth = np.asarray(tree.decision_path(values).sum(axis=1)).ravel() - 1.0
        columns.append(first + leaf)
        depths.append(-depth)
        first += tree.tree_.node_count
    size = len(case.score)
    where = np.repeat(np.arange(size), len(columns)), np.stack(columns, axis=1).ravel()
    leaves = sparse.csr_array((np.stack(depths, axis=1).ravel(), where), shape=(size, first))
    leaves = sparse.diags_array(1.0 / sparse.linalg.norm(leaves, axis=1)) @ leaves
    equal = np.full(first, first**-0.5)
    weights = equal

    def scores(rows: np.ndarray, verdicts: np.ndarray) -> np.ndarray:
        nonlocal weights
        if not len(rows):
            return leaves @ equal
        bound = np.quantile(leaves @ weights, 0.97)
        own, sign = leaves[rows], np.where(verdicts == 1, -1.0, 1.0)
        share = np.where(verdicts == 1, 1.0 / max(1, verdicts.sum()), 0.0)
        share += np.where(verdicts == 0, 1.0 / max(1, (1 - verdicts).sum()), 0.0)

        def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
            over = sign * (own @ w - bound)
            active = share * (over > 0)
            value = active @ over + 0.5 * np.square(w - equal).sum()
            return value, own.T @ (active * sign) + (w - equal)

        weights = minimize(loss, weights, jac=True, method="L-BFGS-B").x
        return leaves @ weights

    return scores


METHODS = {
    "unsupervised order": unsupervised,
    "random order": random_order,
    "logistic regression": logistic,
    "isolation forest with feedback (AAD)": forest,
    "prototype": prototype,
    "egoscore": egoscore,
    "egoscore, highest first": highest_first,
}
RANDOM = ("random order", "isolation forest with feedback (AAD)")
WITH_WRONG = (
    "logistic regression",
    "isolation forest with feedback (AAD)",
    "prototype",
    "egoscore",
)


def review(case: Case, scores: Scorer, wrong: float, seed: int) -> tuple[list[int], float]:
    """Outliers among the first nodes reviewed, and the AUC on the rest."""
    from sklearn.metrics import roc_auc_score

    truth = case.graph.labels
    flips = np.random.default_rng((seed, 1)).random(len(truth)) < wrong
    said = np.where(flips, 1 - truth, truth)
    unknown = np.flatnonzero(truth < 0)
    rows = np.zeros(0, dtype=np.int64)
    for _ in range(STEPS[-1] // BATCH):
        updated = scores(rows, said[rows])
        rows = np.append(rows, suggest(updated, np.append(rows, unknown), BATCH))
    updated = scores(rows, said[rows])
    found = np.cumsum(truth[rows] == 1)
    rest = np.setdiff1d(np.flatnonzero(truth >= 0), rows)
    has_both = len(set(truth[rest].tolist())) == 2
    auc = roc_auc_score(truth[rest], updated[rest]) if has_both else np.nan
    return [int(found[min(step, len(found)) - 1]) for step in STEPS], auc


def measure(
    cases: Sequence[Case], method: str, wrong: float, seeds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Outliers found, (networks, steps), and the AUC on the rest, (networks,); means of seeds."""
    repeats = seeds if wrong or method in RANDOM else 1
    runs = [
        [review(case, METHODS[method](case, seed), wrong, seed) for seed in range(repeats)]
        for case in cases
    ]
    found = np.array([[run[0] for run in of_case] for of_case in runs], dtype=float)
    rest = np.array([[run[1] for run in of_case] for of_case in runs])
    return found.mean(axis=1), rest.mean(axis=1)


def row(title: str, found: np.ndarray, rest: np.ndarray, base: np.ndarray) -> str:
    """A row of the summary."""
    total, before = found.sum(axis=0), base.sum(axis=0)
    ratios = [f"{total[i] / before[i]:.2f}" for i in (2, 3)]
    has_any = base > 0
    worst = [
        f"{(found[:, i] / np.maximum(base[:, i], 1))[has_any[:, i]].min():.2f}" for i in (2, 3)
    ]
    cells = [title, *(f"{t:.0f}" for t in total), *ratios, *worst]
    known = rest[~np.isnan(rest)]
    return f"| {' | '.join(cells)} | {100 * known.mean() if len(known) else np.nan:.1f} |"


def report(title: str, cases: Sequence[Case], seeds: int) -> None:
    """All methods on some networks, and the networks one by one."""
    heads = [
        f"{title}",
        *map(str, STEPS),
        "ratio at 100",
        "ratio at 200",
        "worst at 100",
        "worst at 200",
    ]
    print(f"\n| {' | '.join(heads)} | AUC on the rest |\n|---|{'---|' * 9}", flush=True)
    base, _ = measure(cases, "unsupervised order", 0.0, 1)
    kept = {}
    for method in METHODS:
        kept[method], rest = measure(cases, method, 0.0, seeds)
        print(row(method, kept[method], rest, base), flush=True)
    for method in WITH_WRONG:
        found, rest = measure(cases, method, WRONG, seeds)
        print(row(f"{method}, 10% wrong verdicts", found, rest, base), flush=True)
        kept[f"{method}, 10% wrong"] = found
    shown = ("unsupervised order", "prototype", "egoscore", "egoscore, 10% wrong")
    print(f"\n| outliers at 100 / 200 | known | {' | '.join(shown)} |\n|---|{'---|' * 5}")
    for number, case in enumerate(cases):
        labels = case.graph.labels
        known = f"{(labels == 1).sum():,} of {(labels >= 0).sum():,}"
        cells = [f"{kept[one][number, 2]:.0f} / {kept[one][number, 3]:.0f}" for one in shown]
        print(f"| {case.name} | {known} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Fit what is missing, review, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--kept", type=Path, default=KEPT, help="folder of fitted detectors")
    parser.add_argument("--groups", nargs="+", default=["real", "generated", "held-out"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    chosen = parser.parse_args()
    if chosen.smoke:
        with tempfile.TemporaryDirectory() as folder:
            report("builtin", [case_of("builtin", None, Path(folder))], 1)
        return
    groups = {"real": (*BOND, *LABELLED), "generated": GENERATED, "held-out": HELD_OUT}
    for group in chosen.groups:
        title, names = f"{group} networks", groups[group]
        report(title, [case_of(name, chosen.data_dir, chosen.kept) for name in names], chosen.seeds)


if __name__ == "__main__":
    main()

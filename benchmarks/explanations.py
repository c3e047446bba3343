"""How often explanations name what was planted: by question, and by feature.

Prints two tables. The first: of the outliers planted in generated networks, how many have the
planted cause as the first cause, and among all causes named. The second: values of usual nodes are
replaced by those of other nodes; how often is the feature that is named first a replaced one, when
features are compared with predictions from the neighbourhood and the other features, with those
from the neighbourhood alone, and by their size alone?
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace

import numpy as np

from egoscore import EgoScore, load_dataset
from egoscore.detectors.conditional.expectation import expect
from egoscore.detectors.conditional.explain import fit_usual_errors
from egoscore.explain.usual_errors import UsualErrors
from egoscore.graph.structure import structure
from egoscore.load.generate import generate_network

PLANTED = {
    "attribute": {"features"},
    "contextual": {"similarity"},
    "structural": {"position"},
    "joint": {"features", "similarity"},
}
SHARES = {"one feature": 0.0, "a quarter": 0.25, "half": 0.5}


def named_causes(networks: int, detector: EgoScore) -> None:
    """Of every kind: how many, and how often the planted cause is told."""
    first, among, count = Counter(), Counter(), Counter()
    for seed in range(networks):
        graph = generate_network(seed=seed)
        detector.fit(graph)
        planted = np.flatnonzero(graph.labels == 1)
        found = detector.explain_all([graph.ids[row] for row in planted])
        for row, why in zip(planted, found, strict=True):
            kind = str(graph.node_info["kind"][row])
            count[kind] += 1
            first[kind] += bool(PLANTED[kind] & set(why.causes[:1]))
            among[kind] += bool(PLANTED[kind] & set(why.causes))
    print(f"\nThe built-in network and {networks - 1} more like it\n")
    print("| planted | cause looked for | outliers | told first | told |\n|---|---|---|---|---|")
    for kind, causes in PLANTED.items():
        wanted = " or ".join(sorted(causes))
        shares = (100 * part[kind] / max(1, count[kind]) for part in (first, among))
        cells = " | ".join(f"{share:.0f}%" for share in shares)
        print(f"| {kind} | {wanted} | {count[kind]} | {cells} |")


def named_features(networks: list[str], victims: int, detector: EgoScore) -> None:
    """How often the feature told first is one that was replaced."""
    print(f"\n{len(networks)} networks, {victims} nodes each\n")
    print("| replaced | chance | size | given surroundings | and other features |")
    print("|---|---|---|---|---|")
    for title, share in SHARES.items():
        hits = np.mean([_hits(name, share, victims, detector) for name in networks], axis=0)
        print(f"| {title} | " + " | ".join(f"{100 * hit:.0f}%" for hit in hits) + " |")


def _hits(name: str, share: float, victims: int, detector: EgoScore) -> list[float]:
    graph, rng = load_dataset(name), np.random.default_rng(1)
    count = max(1, int(share * graph.num_features))
    nodes = rng.choice(np.flatnonzero(graph.labels == 0), victims, replace=False)
    values, replaced = graph.features.copy(), []
    for node in nodes:
        columns = rng.choice(graph.num_features, count, replace=False)
        donors = rng.integers(graph.num_nodes, size=count)
        values[node, columns] = graph.features[donors, columns]
        replaced.append(columns)
    changed = replace(graph, features=values)
    model = detector.fit(changed).model_
    seen = expect(model, changed, structure(changed), np.arange(changed.num_nodes), True)
    together = fit_usual_errors(seen.errors, changed.described, 0)
    alone = UsualErrors.one_by_one(seen.errors)
    by_size = np.abs(seen.observed[nodes])
    sizes = [
        [np.abs(way.unexplained(seen.errors[n])[1]) for n in nodes] for way in (alone, together)
    ]
    told = [[int(np.argmax(row)) for row in rows] for rows in (by_size, *sizes)]
    hits = [np.mean([f in r for f, r in zip(way, replaced, strict=True)]) for way in told]
    return [count / graph.num_features, *map(float, hits)]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, default=5)
    parser.add_argument("--victims", type=int, default=30)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    chosen = parser.parse_args()
    detector, names = EgoScore(), ["builtin", *(f"varied-{i:02d}" for i in range(0, 27, 2))]
    if chosen.smoke:
        detector, names = EgoScore(updates=2), names[:1]
        chosen.networks, chosen.victims = 1, 3
    named_causes(chosen.networks, detector)
    named_features(names, chosen.victims, detector)


if __name__ == "__main__":
    main()

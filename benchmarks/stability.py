"""How much scores change if something changes that should not matter, next to another seed.

    python benchmarks/stability.py --data-dir ../shared/data
    python benchmarks/stability.py --smoke

Fits the default preset to each graph and to changed copies of it: with an isolated node more, with
its nodes or columns in another order, with one column in another unit; and with other seeds. Prints
the mean and the largest absolute difference of the scores, and the share of the highest 1% (at
least 20 nodes) that remain. The row "another seed" is the baseline.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from planting.tables import read

from egoscore import AttributedGraph, EgoScore, generate_network, load_dataset
from egoscore.graph.category_codes import CategoryCodes

_TABLES, _BOND = ("airports", "bugs_camel", "wiki_vandal"), ("disney", "books", "reddit")
_SHARE, _LEAST = 0.01, 20
_SEEDS = 3
_FACTOR = 1000.0

Change = Callable[[AttributedGraph, np.random.Generator], tuple[AttributedGraph, np.ndarray]]


def rebuilt(graph: AttributedGraph, rows: np.ndarray, edges: np.ndarray) -> AttributedGraph:
    """A graph of the nodes in these `rows` (N,) of another one, with `edges` (2, E)."""
    categories = {
        name: CategoryCodes(column.codes[rows], column.names)
        for name, column in graph.categories.items()
    }
    return AttributedGraph.from_ends(
        list(edges.astype(np.int32)),
        graph.directed,
        features=graph.features[rows],
        ids=np.arange(len(rows)),
        columns=graph.columns,
        feature_names=graph.feature_names,
        categories=categories,
    )


def edges_of(graph: AttributedGraph) -> np.ndarray:
    """The edges (2, E) of a graph."""
    links = graph.adjacency.to_scipy().tocoo()
    return np.stack([links.row, links.col])


def isolated_node(
    graph: AttributedGraph, rng: np.random.Generator
) -> tuple[AttributedGraph, np.ndarray]:
    """One more node, without edges and with the features of another."""
    nodes = np.arange(graph.num_nodes)
    more = rebuilt(graph, np.append(nodes, rng.integers(graph.num_nodes)), edges_of(graph))
    return more, nodes


def other_order(
    graph: AttributedGraph, rng: np.random.Generator
) -> tuple[AttributedGraph, np.ndarray]:
    """The nodes in another order; where each is now."""
    place = rng.permutation(graph.num_nodes)
    return rebuilt(graph, np.argsort(place), place[edges_of(graph)]), place


def other_columns(
    graph: AttributedGraph, rng: np.random.Generator
) -> tuple[AttributedGraph, np.ndarray]:
    """The columns in another order."""
    order = rng.permutation(graph.num_features)
    columns = tuple(graph.columns[number] for number in order) if graph.columns else ()
    names = tuple(graph.feature_names[number] for number in order)
    features = np.ascontiguousarray(graph.features[:, order])
    changed = replace(graph, features=features, columns=columns, feature_names=names)
    return changed, np.arange(graph.num_nodes)


def other_unit(
    graph: AttributedGraph, rng: np.random.Generator
) -> tuple[AttributedGraph, np.ndarray]:
    """One column of numbers a thousand times as large."""
    numbers = [n for n, column in enumerate(graph.described) if column.kind == "number"]
    chosen = int(rng.choice(numbers))
    features, columns = graph.features.copy(), graph.columns
    features[:, chosen] *= _FACTOR
    if columns:
        column = columns[chosen]
        changed = replace(column, offset=column.offset * _FACTOR)
        columns = (*columns[:chosen], changed, *columns[chosen + 1 :])
    return replace(graph, features=features, columns=columns), np.arange(graph.num_nodes)


CHANGES: dict[str, Change] = {
    "an isolated node more": isolated_node,
    "nodes in another order": other_order,
    "columns in another order": other_columns,
    "a column in another unit": other_unit,
}


def compare(first: np.ndarray, second: np.ndarray) -> tuple[float, float, float]:
    """The mean and largest difference of scores (N,), and the share of the highest that remain."""
    most = max(_LEAST, int(_SHARE * len(first)))
    highest = [set(np.argsort(-one, kind="stable")[:most].tolist()) for one in (first, second)]
    apart = np.abs(first - second)
    return float(apart.mean()), float(apart.max()), len(highest[0] & highest[1]) / most


def measure(
    graph: AttributedGraph, updates: int | None
) -> dict[str, list[tuple[float, float, float]]]:
    """The differences to the scores with seed 0, by what was changed."""
    fitted = EgoScore(updates=updates).fit(graph).decision_score_.numpy()
    found: dict[str, list[tuple[float, float, float]]] = {"another seed": []}
    for seed in range(1, 1 + _SEEDS):
        other = EgoScore(updates=updates, seed=seed).fit(graph).decision_score_.numpy()
        found["another seed"].append(compare(fitted, other))
        for name, change in CHANGES.items():
            changed, place = change(graph, np.random.default_rng(seed))
            score = EgoScore(updates=updates).fit(changed).decision_score_.numpy()
            found.setdefault(name, []).append(compare(fitted, score[place]))
    return found


def main() -> None:
    """Print a table for every graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, default=Path("../shared/data"))
    every = ["built-in", *_BOND, *_TABLES]
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=every)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    chosen = parser.parse_args()
    graphs = {"built-in": generate_network(200 if chosen.smoke else 2000)}
    if not chosen.smoke:
        graphs |= {name: load_dataset(name, chosen.data_dir / "bond") for name in _BOND}
        graphs |= {name: read(name, chosen.data_dir).graph for name in _TABLES}
    print("Differences of scores to seed 0: mean, largest, and % of the highest 1% that remain;")
    print(f"means of {_SEEDS} repetitions (the largest difference is the largest of all).\n")
    print(
        f"| graph | {' | '.join(['another seed', *CHANGES])} |\n|---|{'---|' * (1 + len(CHANGES))}"
    )
    for name in graphs if chosen.smoke else chosen.graphs:
        graph, cells = graphs[name], []
        for results in measure(graph, 2 if chosen.smoke else None).values():
            apart, largest, kept = np.array(results).T
            cells.append(f"{apart.mean():.3f}, {largest.max():.2f}, {100 * kept.mean():.0f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

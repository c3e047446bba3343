"""The part of the graph around a node: which nodes are drawn, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explainer import pairs_within
from egoscore.graph import AttributedGraph
from egoscore.report.ego_drawing import HEIGHT, WIDTH, Edge, around_the_circle, layout

MOST_NEAR, MOST_FAR = 49, 60  # neighbours, and their neighbours, in a drawing
_INNER, _OUTER = (92.0, 66.0), (186.0, 130.0)  # half the axes of the ellipses of two hops


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes around a centre, which is the first.

    Attributes: `rows` (n,); `hops` (n,) from the centre; `edges` pairs of places in `rows`;
    `left_out`, how many nodes within as many hops are not there: at least as many, where the
    neighbours themselves are a sample.
    """

    rows: tuple[int, ...]
    hops: tuple[int, ...]
    edges: tuple[Edge, ...]
    left_out: int


def neighbourhood(
    graph: AttributedGraph,
    node: int,
    score: NDArray[np.float64],
    hops: int = 1,
    most: tuple[int, int] = (MOST_NEAR, MOST_FAR),
) -> Neighbourhood:
    """The nodes within one or two hops: of too many, the ones with the highest scores."""
    around = graph.neighbours_of(node)
    near = _highest(around, score, most[0])
    left_out = len(around) - len(near)
    far = np.empty(0, dtype=np.int64)
    if hops == 2 and len(near):
        beyond = np.unique(np.concatenate([graph.neighbours_of(one) for one in near.tolist()]))
        beyond = np.setdiff1d(beyond, np.append(around, node), assume_unique=True)
        far = _highest(beyond, score, most[1])
        left_out += len(beyond) - len(far)
    rows = (node, *near.tolist(), *far.tolist())
    steps = (0, *[1] * len(near), *[2] * len(far))
    return Neighbourhood(rows, steps, tuple(pairs_within(graph, rows)), left_out)


def _highest(rows: NDArray[np.int64], score: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    if len(rows) > most:
        rows = rows[np.argpartition(-score[rows], most)[:most]]
    return rows[np.argsort(-score[rows], kind="stable")]


def places(hops: Sequence[int], edges: Sequence[Edge]) -> NDArray[np.float64]:
    """Coordinates (n, 2): the centre in the middle, one ellipse of nodes for every hop."""
    steps = np.asarray(hops)
    if not (steps == 2).any():
        return layout(len(steps), edges)
    found = np.tile([WIDTH / 2, HEIGHT / 2], (len(steps), 1))
    count = int((steps < 2).sum())
    inner = around_the_circle(count, [edge for edge in edges if max(edge) < count])
    angles = np.zeros(len(steps))
    angles[inner] = _evenly(len(inner))
    found[inner] += _INNER * _unit(angles[inner])
    outer = np.flatnonzero(steps == 2)
    order = sorted(outer.tolist(), key=lambda one: (_pull(one, edges, steps, angles), one))
    found[order] += _OUTER * _unit(_evenly(len(order)))
    return np.round(found, 1)


def _evenly(count: int) -> NDArray[np.float64]:
    slots = count + 1 - count % 2
    return 2 * np.pi * np.arange(count) / slots


def _unit(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    turned = angles - np.pi / 2
    return np.column_stack([np.cos(turned), np.sin(turned)])


def _pull(
    one: int, edges: Sequence[Edge], steps: NDArray[np.int64], angles: NDArray[np.float64]
) -> float:
    """The smallest angle of the neighbours through which an outer node is reached."""
    linked = (a + b - one for a, b in edges if one in (a, b))
    return min((float(angles[other]) for other in linked if steps[other] == 1), default=0.0)

"""Features as they are judged: scaled, within bounds, and gaps neither off nor rarer than rare.

That a value is missing is a feature of its own, 1 where it is, and what stands in its place was put
there by whoever read the table. Two things follow. What was put in is no observation, so that it is
taken to be what the neighbours have. And a 1 among many 0 is far out in deviations, 1 in 50 by
seven: it counts as far as a Gaussian value whose density is a fiftieth of the highest, 2.8.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from egoscore.graph import AttributedGraph
from egoscore.graph.columns import FeatureColumn
from egoscore.surprise.amounts import FARTHEST, Scale
from egoscore.surprise.covariance import Floats
from egoscore.surprise.neighbours import as_seen_by_others

_GAP = "missing"
_WIDEST = 2048  # features, beyond which no covariance of all of them is computed


def fit_scale(graph: AttributedGraph, seed: int) -> Scale:
    """Zero mean and unit deviation; of what is missing less, by how rare that is."""
    scale = Scale.fit(graph, _gap_of(graph.described), seed)
    gaps = [number for number, column in enumerate(graph.described) if column.kind == _GAP]
    share = np.clip(scale.linear.mean[gaps], 1e-9, 1.0 - 1e-9)
    rare = np.minimum(share, 1.0 - share)
    # the deviations by which the rarer of 0 and 1 is out, and by which it is to count
    out, as_rare = np.sqrt((1.0 - rare) / rare), np.sqrt(-2.0 * np.log(rare))
    factor = scale.linear.factor.copy()
    factor[gaps] *= np.minimum(1.0, as_rare / out)
    return replace(scale, linear=replace(scale.linear, factor=factor))


def judged_features(
    scale: Scale, graph: AttributedGraph, nodes: NDArray[np.integer] | None = None
) -> Floats:
    """The features (n, F) of some nodes, or of all."""
    raw = graph.features if nodes is None else graph.features[nodes]
    found = scale.scale(raw)
    np.clip(found, -FARTHEST, FARTHEST, out=found)
    gaps = gap_features(scale)
    links = graph.neighbours.to_scipy() if len(gaps) else None
    for gap in gaps:
        rows = np.flatnonzero(raw[:, gap])
        if links is not None and len(rows):
            columns = np.setdiff1d(np.flatnonzero(scale.gap_of == gap), gap)
            near = links[rows if nodes is None else nodes[rows]]
            found[np.ix_(rows, columns)] = _around(scale, graph, near, int(gap), columns)
    return found


def unseen_covariance(features: Floats, gaps: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """What a covariance of features (n, F) needs so that gaps keep their size, (F, F).

    It is that of as much more variance as each of `gaps` lacks to one; gaps that occur together
    lack it together. None where there are no gaps, or so many features that nobody computes one.
    """
    if not len(gaps) or features.shape[1] > _WIDEST:
        return None
    covariance = np.atleast_2d(np.cov(features[:, gaps].astype(np.float64), rowvar=False, ddof=0))
    deviation = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    lacking = np.sqrt(np.maximum(1.0 - np.square(deviation), 0.0)) / deviation
    unseen = np.zeros((features.shape[1],) * 2)
    unseen[np.ix_(gaps, gaps)] = covariance * np.outer(lacking, lacking)
    return unseen


def gap_features(scale: Scale) -> NDArray[np.int64]:
    """Which features say that others are missing."""
    return np.unique(scale.gap_of[scale.gap_of >= 0])


def _gap_of(columns: tuple[FeatureColumn, ...]) -> NDArray[np.int64]:
    """For every feature the one that says where it is missing, itself for such a one, or -1."""
    gaps = {column.name: number for number, column in enumerate(columns) if column.kind == _GAP}
    found = [-1 if column.is_computed else gaps.get(column.name, -1) for column in columns]
    return np.array(found, dtype=np.int64)


def _around(
    scale: Scale,
    graph: AttributedGraph,
    links: sparse.csr_array,
    gap: int,
    columns: NDArray[np.int64],
) -> Floats:
    """The mean of what neighbours have in `columns`, (n, c), zero for those that have nothing.

    So where hardly anybody has a value, the few that do do not make their neighbours unusual.
    """
    others = np.unique(links.indices)
    has_one = (graph.features[others, gap] == 0.0).astype(np.float32)[:, None]
    theirs = graph.features[np.ix_(others, columns)]
    values = as_seen_by_others(scale.of(columns).scale(theirs)) * has_one
    links = links[:, others]
    degrees = np.maximum(np.diff(links.indptr), 1)[:, None].astype(np.float32)
    mean: Floats = (links @ values) / degrees
    return mean

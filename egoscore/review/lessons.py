"""What was learned from verdicts, why a node moved, and what to be wary of: all as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.notes import Note
from egoscore.review.scaling import Inputs, InputScale
from egoscore.review.teacher import Taught
from egoscore.review.verdicts import ABNORMAL, NORMAL, UNSURE

PARTS = ("value", "extreme", "neighbours")  # of the inputs, one for each column
_MOST = 4  # quantities in a list
_CLEAR = 0.4  # of the strongest
_FEW = 10  # verdicts
_ENOUGH = 20  # verdicts, among which one that does not fit says something
_UNLIKELY = 0.1
_ALIKE = 0.1  # of the mean squared distance of two nodes
_MOST_NAMED = 5


@dataclass(frozen=True)
class Contribution:
    """What one input adds to an updated score, or does to all scores.

    Attributes: `quantity` and its `kind` ("yes/no", "number" ...); `part`, whether it is its
    value, how far that is from the middle ("extreme"), or the neighbours' mean; `is_high` whether
    the node has (or verdicts point to) a high one; `size` in units of the score.
    """

    quantity: str
    kind: str
    part: str
    is_high: bool
    size: float


def directions(taught: Taught) -> list[Contribution]:
    """The inputs that verdicts point to, strongest first: how a deviation more changes the score.

    `is_high` is whether more of it is more abnormal.
    """
    effect = taught.unit * taught.posterior.weights * np.tile(taught.scale.weight, len(PARTS))
    order = _strongest(effect)
    return [_contribution(taught.scale, i, effect[i] > 0, abs(float(effect[i]))) for i in order]


def contributions(taught: Taught, inputs: Inputs, row: int) -> list[Contribution]:
    """Why the score of a node changed: the inputs that add most to it or take most from it."""
    own = inputs.rows(np.array([row]))[0]
    found = taught.unit * taught.posterior.weights * own
    return [_contribution(taught.scale, i, own[i] > 0, float(found[i])) for i in _strongest(found)]


def _strongest(effect: NDArray[np.float64]) -> list[int]:
    order = np.argsort(-np.abs(effect), kind="stable")[:_MOST]
    most = float(np.abs(effect).max(initial=0.0))
    return [int(i) for i in order if most > 0 and abs(effect[i]) >= _CLEAR * most]


def _contribution(scale: InputScale, number: int, is_high: bool, size: float) -> Contribution:
    part, column = divmod(number, len(scale.names))
    name, kind = scale.names[column], scale.kinds[column]
    return Contribution(name, kind, PARTS[part], bool(is_high), size)


def lessons(taught: Taught, inputs: Inputs) -> list[Note]:
    """What the verdicts say, and how far they can be relied on."""
    counts = {kind: taught.kinds.count(kind) for kind in (ABNORMAL, NORMAL, UNSURE)}
    found = [Note.info("verdicts-counted", **counts)]
    known = counts[ABNORMAL] + counts[NORMAL]
    if known:
        towards: list[dict[str, Any]] = [asdict(one) for one in directions(taught)]
        found.append(Note.info("verdicts-point-to", towards=towards))
    if not counts[ABNORMAL] or not counts[NORMAL]:
        found.append(Note.warning("verdicts-one-kind", **counts))
    elif known < _FEW:
        found.append(Note.warning("verdicts-few", count=known))
    return found + _contradictions(taught, inputs) + _misfits(taught)


def _contradictions(taught: Taught, inputs: Inputs) -> list[Note]:
    """Nodes that are nearly alike and have opposite verdicts."""
    rows, is_abnormal = taught.learned
    own = inputs.rows(rows)
    one, other = own[is_abnormal], own[~is_abnormal]
    if not len(one) or not len(other):
        return []
    squares = np.square(one).sum(axis=1)[:, None] + np.square(other).sum(axis=1)
    distance = squares - 2.0 * (one @ other.T)
    usual = 2.0 * len(PARTS) * len(taught.scale.blocks)  # all inputs have unit deviation
    pairs = np.argwhere(distance < _ALIKE * usual)
    pairs = pairs[np.argsort(distance[tuple(pairs.T)], kind="stable")]
    if not len(pairs):
        return []
    names = dict(zip(taught.rows.tolist(), taught.ids, strict=True))
    named = [
        [str(names[int(rows[is_abnormal][a])]), str(names[int(rows[~is_abnormal][b])])]
        for a, b in pairs[:_MOST_NAMED]
    ]
    return [Note.warning("verdicts-contradict", count=len(pairs), pairs=named)]


def _misfits(taught: Taught) -> list[Note]:
    """Verdicts that the model finds unlikely, given the others."""
    rows, is_abnormal = taught.learned
    probability = taught.posterior.left_out(is_abnormal)
    likely = np.where(is_abnormal, probability, 1.0 - probability)
    misfits = np.flatnonzero(likely < _UNLIKELY)
    if len(rows) < _ENOUGH or not len(misfits):
        return []
    names = dict(zip(taught.rows.tolist(), taught.ids, strict=True))
    order = misfits[np.argsort(likely[misfits], kind="stable")][:_MOST_NAMED]
    nodes = [[str(names[int(rows[i])]), ABNORMAL if is_abnormal[i] else NORMAL] for i in order]
    return [Note.warning("verdicts-unexpected", count=len(misfits), nodes=nodes)]

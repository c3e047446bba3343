"""Is a node what its surroundings let one expect?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from egoscore.keyed import Purpose, uniforms
from egoscore.surprise.context import Context
from egoscore.surprise.covariance import Distance, Floats, sample_rows
from egoscore.surprise.network import (
    CentreNetwork,
    Centres,
    Training,
    corrections,
    left_by_the_linear_guess,
    share_left,
    train_centre,
)

NUM_FOLDS = 3
NUM_ROUNDS = 3  # divisions into folds, each with networks of its own: less is left to the seed
NUM_NETWORKS = NUM_ROUNDS * NUM_FOLDS
_NODES_AT_ONCE = 65_536
_MOST_NODES = 200_000  # to learn from: training meets no more
_USUAL = 0.95  # the share of nodes, those predicted best, by which networks are judged


class NetworkStore(Protocol):
    """Where finished networks are kept, so that a killed run need not train them again."""

    def load_network(self, number: int) -> tuple[CentreNetwork, list[float]] | None:
        """The network of this number and its losses, if it was finished earlier."""

    def save_network(self, number: int, network: CentreNetwork, losses: list[float]) -> None:
        """Keep a finished network and its losses."""


@dataclass(frozen=True)
class CentreModel:
    """The score model of an ego-graph's centre given the rest of it.

    A denoiser that is exact for Gaussian data, plus what networks add to it. Each network is
    trained on two thirds of the nodes and judges the others: none has seen what it judges. There
    are three such divisions, so that a node is judged by three networks.

    Attributes: `gate` in [0, 1], how much of the networks' answer is used: what predicts nodes not
    seen best; `skill`, the share of the variance that is explained, of nodes not seen, by the
    linear part and with the networks; `distance` says how large an error of the linear part is
    usual, by which those with the networks are measured, too: by their own, axes on which networks
    leave nothing but their noise would count as much as others; `history`
    (updates, networks) the losses of training.
    """

    context: Context
    networks: tuple[CentreNetwork, ...]
    gate: float
    skill: tuple[float, float]
    distance: Distance
    history: NDArray[np.float64]

    @classmethod
    def fit(
        cls,
        known: Floats,
        white: Floats,
        training: Training,
        seed: int,
        store: NetworkStore | None = None,
        advance: Callable[[int], None] = lambda count: None,
        unseen: NDArray[np.float64] | None = None,
    ) -> CentreModel:
        """From what is around the nodes (N, C) and their own whitened features (N, k).

        `unseen` (k, k) is added to the covariance of errors.
        """
        some = sample_rows(len(white), _MOST_NODES, seed)
        known, white, folds = known[some], white[some], parts_of(len(white), seed)[:, some]
        context = Context.fit(known, white, seed)
        centres = _centres(context, known, white, _linear(context, known, white, held_out=True))
        trained = []
        for number in range(NUM_NETWORKS):
            kept = None if store is None else store.load_network(number)
            if kept is None:
                others = np.flatnonzero(~_judged(number, folds))
                kept = train_centre(centres, others, training, seed, number, advance)
                if store is not None:
                    store.save_network(number, *kept)
            else:
                advance(training.updates)
            trained.append(kept)
        networks = tuple(network for network, _ in trained)
        history = np.array([losses for _, losses in trained], dtype=np.float64).T
        draft = cls(context, networks, 0.0, (0.0, 0.0), _UNIT, history)
        left, added = draft._errors(known, white, folds)
        gate = _gate(left, added)
        rest = left - gate * added
        skill = (_explained(left, white), _explained(rest, white))
        if unseen is not None:  # of errors that guesses leave, as large a part is left
            part = share_left(context.variance)
            unseen = unseen * np.outer(part, part)
        return cls(context, networks, gate, skill, Distance.fit(left, seed, unseen), history)

    def residuals(self, known: Floats, white: Floats, seed: int | None) -> tuple[Floats, Floats]:
        """How unusual the errors are, (N,) each: of the linear part, and with the networks.

        With the `seed` of the training network for its own nodes, so that each is judged by
        what has not seen it; None for others.
        """
        folds = None if seed is None else parts_of(len(white), seed)
        linear, network = np.empty((2, len(white)), dtype=np.float32)
        for start in range(0, len(white), _NODES_AT_ONCE):
            rows = slice(start, start + _NODES_AT_ONCE)
            mine = None if folds is None else folds[:, rows]
            left, added = self._errors(known[rows], white[rows], mine)
            linear[rows] = self.distance.squared(left)
            network[rows] = self.distance.squared(left - np.float32(self.gate) * added)
        return linear, network

    def expected(self, known: Floats, white: Floats, folds: NDArray[np.int64] | None) -> Floats:
        """What the features (N, k) are expected to be by all that is learned, not looking at them.

        The networks are asked about nodes that are what the linear part expects: of one that is
        absurd they would expect absurd things. `folds` (rounds, N) says to which parts of the
        training network the nodes belong, None for others.
        """
        linear = _linear(self.context, known, white, folds is not None)
        added = self._added(_centres(self.context, known, linear, linear), folds)
        # the guess that is judged sees a little of the node itself, which leaves only a part
        part = np.float32(self.gate) * added / share_left(self.context.variance)
        return linear + part.astype(np.float32)

    def _errors(
        self, known: Floats, white: Floats, folds: NDArray[np.int64] | None
    ) -> tuple[Floats, Floats]:
        """What the linear guess leaves, and what the networks add to the guess, (N, k) each."""
        linear = _linear(self.context, known, white, folds is not None)
        centres = _centres(self.context, known, white, linear)
        return left_by_the_linear_guess(centres).numpy(), self._added(centres, folds)

    def _added(self, centres: Centres, folds: NDArray[np.int64] | None) -> Floats:
        """What the networks add to the guess (N, k), each about those that it has not seen."""
        added = np.zeros(centres.white.shape, dtype=np.float32)
        rounds = NUM_ROUNDS if folds is not None else NUM_NETWORKS  # that judge a node
        for number, network in enumerate(self.networks):
            judged = slice(None) if folds is None else np.flatnonzero(_judged(number, folds))
            added[judged] += corrections(network, centres[judged]).numpy() / np.float32(rounds)
        return added


_UNIT = Distance(np.zeros(0), np.zeros((0, 0)))


def _linear(context: Context, known: Floats, white: Floats, held_out: bool) -> Floats:
    """What the linear part expects (N, k), as if each node had been left out if `held_out`."""
    return white - context.left_out(known, white) if held_out else context.predict(known)


def _centres(context: Context, known: Floats, white: Floats, expected: Floats) -> Centres:
    return Centres.of(white, expected, context.variance, context.standardised(known))


def parts_of(size: int, seed: int) -> NDArray[np.int64]:
    """To which part of the network each node belongs, in every round, (rounds, N)."""
    nodes = np.arange(size)
    drawn = [uniforms(seed, Purpose.FOLD, one, nodes)[:, 0] for one in range(NUM_ROUNDS)]
    return (np.array(drawn) * NUM_FOLDS).astype(np.int64)


def _judged(number: int, folds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which nodes (N,) the network of this number has not seen."""
    one, fold = divmod(number, NUM_FOLDS)
    unseen: NDArray[np.bool_] = folds[one] == fold
    return unseen


def _gate(left: Floats, added: Floats) -> float:
    """The share of `added` that brings the guess closest to the truth, among usual nodes."""
    error = np.square(left).sum(axis=1)
    usual = error <= np.quantile(error, _USUAL)
    size = float(np.square(added[usual]).sum(dtype=np.float64))
    agreement = float((left[usual] * added[usual]).sum(dtype=np.float64))
    return float(np.clip(agreement / size, 0.0, 1.0)) if size > 0 else 0.0


def _explained(rest: Floats, white: Floats) -> float:
    """Share of the squared features that a guess explains, among usual nodes."""
    error, whole = np.square(rest).sum(axis=1), np.square(white).sum(axis=1)
    usual = error <= np.quantile(error, _USUAL)
    total = float(whole[usual].sum(dtype=np.float64))
    return 1.0 - float(error[usual].sum(dtype=np.float64)) / total if total > 0 else 0.0

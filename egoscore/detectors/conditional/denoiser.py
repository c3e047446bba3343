"""Do the features of a node match what its neighbourhood predicts?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.base import FORMAT_VERSION, Store
from egoscore.detectors.conditional.covariance import Distance, Floats, sample_rows
from egoscore.detectors.conditional.mlp import (
    CentreNetwork,
    Centres,
    corrections,
    left_by_the_linear_guess,
    share_left,
    train_centre,
)
from egoscore.detectors.conditional.ridge import Context
from egoscore.detectors.conditional.settings import ConditionalSettings
from egoscore.detectors.serialization import shapes
from egoscore.errors import RunError
from egoscore.random import Purpose, uniforms

NUM_FOLDS = 3
NUM_ROUNDS = 3  # divisions into folds, each with networks of its own: less is left to the seed
NUM_NETWORKS = NUM_ROUNDS * NUM_FOLDS
_NODES_AT_ONCE = 65_536
_MOST_NODES = 200_000  # to learn from: training draws no more
_USUAL = 0.95  # the share of nodes, those predicted best, by which networks are evaluated


@dataclass(frozen=True)
class CentreModel:
    """The score model of an ego-graph's centre given the rest of it.

    A denoiser that is exact for Gaussian data, plus corrections by neural networks. Each network is
    trained on two thirds of the nodes and predicts the rest (cross-fitting). There are three such
    divisions, so that three networks predict each node.

    Attributes: `gate` in [0, 1] scales the corrections so that held-out nodes are predicted best;
    `skill` the share of the variance of held-out nodes that is explained, without and with the
    networks; `distance` fitted to errors of the linear part, used for those with the networks as
    well: with their own, axes on which only the noise of the networks remains would count as much
    as others; `history` (updates, networks) the losses of training.
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
        settings: ConditionalSettings,
        seed: int,
        store: Store | None = None,
        advance: Callable[[int], None] = lambda count: None,
        unseen: NDArray[np.float64] | None = None,
    ) -> CentreModel:
        """From the context of the nodes (N, C) and their own whitened features (N, k).

        `unseen` (k, k) is added to the covariance of errors.
        """
        some = sample_rows(len(white), _MOST_NODES, seed)
        known, white, folds = known[some], white[some], folds_of(len(white), seed)[:, some]
        context = Context.fit(known, white, seed)
        centres = _centres(context, known, white, _linear(context, known, white, held_out=True))
        trained = []
        for number in range(NUM_NETWORKS):
            kept = _load(store, number, centres, settings)
            if kept is None:
                others = np.flatnonzero(~_held_out(number, folds))
                kept = train_centre(centres, others, settings, seed, number, advance)
                if store is not None:
                    _save(store, number, *kept)
            else:
                advance(settings.updates)
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

        For the nodes of the training graph `seed` is that of the training, so that each is
        predicted by networks not trained on it; None for other graphs.
        """
        folds = None if seed is None else folds_of(len(white), seed)
        linear, network = np.empty((2, len(white)), dtype=np.float32)
        for start in range(0, len(white), _NODES_AT_ONCE):
            rows = slice(start, start + _NODES_AT_ONCE)
            mine = None if folds is None else folds[:, rows]
            left, added = self._errors(known[rows], white[rows], mine)
            linear[rows] = self.distance.squared(left)
            network[rows] = self.distance.squared(left - np.float32(self.gate) * added)
        return linear, network

    def expected(self, known: Floats, white: Floats, folds: NDArray[np.int64] | None) -> Floats:
        """The predicted features (N, k), by the linear part and the networks.

        The networks get the linear prediction in place of the features themselves, because absurd
        values would lead to absurd predictions. `folds` (rounds, N) of nodes of the training graph,
        None for other graphs.
        """
        linear = _linear(self.context, known, white, folds is not None)
        added = self._added(_centres(self.context, known, linear, linear), folds)
        # the denoiser sees a little of the node itself, which scales its errors down
        part = np.float32(self.gate) * added / share_left(self.context.variance)
        return linear + part.astype(np.float32)

    def _errors(
        self, known: Floats, white: Floats, folds: NDArray[np.int64] | None
    ) -> tuple[Floats, Floats]:
        """Errors of the linear guess, and corrections of the networks to the guess, (N, k) each."""
        linear = _linear(self.context, known, white, folds is not None)
        centres = _centres(self.context, known, white, linear)
        return left_by_the_linear_guess(centres).numpy(), self._added(centres, folds)

    def _added(self, centres: Centres, folds: NDArray[np.int64] | None) -> Floats:
        """Corrections of the networks (N, k), each for the nodes that it was not trained on."""
        added = np.zeros(centres.white.shape, dtype=np.float32)
        rounds = NUM_ROUNDS if folds is not None else NUM_NETWORKS  # that judge a node
        for number, network in enumerate(self.networks):
            judged = slice(None) if folds is None else np.flatnonzero(_held_out(number, folds))
            added[judged] += corrections(network, centres[judged]).numpy() / np.float32(rounds)
        return added


def _save(store: Store, number: int, network: CentreNetwork, losses: list[float]) -> None:
    facts = {"losses": losses, "format_version": FORMAT_VERSION}
    store.save(f"network-{number}", network.state_dict(), facts)


def _load(
    store: Store | None, number: int, centres: Centres, settings: ConditionalSettings
) -> tuple[CentreNetwork, list[float]] | None:
    """A network that was finished earlier; a damaged or outdated one is trained again."""
    try:
        kept = None if store is None else store.load(f"network-{number}")
    except RunError:
        return None
    if kept is None or kept[1].get("format_version") != FORMAT_VERSION:
        return None
    weights, facts = kept
    network = CentreNetwork.untrained(centres, settings)
    if shapes(weights) != shapes(network.state_dict()):
        return None
    network.load_state_dict(weights)
    return network, facts["losses"]


_UNIT = Distance(np.zeros(0), np.zeros((0, 0)))


def _linear(context: Context, known: Floats, white: Floats, held_out: bool) -> Floats:
    """The linear prediction (N, k), as if each node had been left out if `held_out`."""
    return white - context.left_out(known, white) if held_out else context.predict(known)


def _centres(context: Context, known: Floats, white: Floats, expected: Floats) -> Centres:
    return Centres.of(white, expected, context.variance, context.standardised(known))


def folds_of(size: int, seed: int) -> NDArray[np.int64]:
    """The fold of each node in every round, (rounds, N)."""
    nodes = np.arange(size)
    drawn = [uniforms(seed, Purpose.FOLD, one, nodes)[:, 0] for one in range(NUM_ROUNDS)]
    return (np.array(drawn) * NUM_FOLDS).astype(np.int64)


def _held_out(number: int, folds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which nodes (N,) the network of this number was not trained on."""
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

"""The channels: everything the default detector measures about a node, one entry each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Floats
from egoscore.detectors.conditional.homophily import ONE_STEP, TWO_STEPS, dirichlet_energy
from egoscore.detectors.conditional.model import ConditionalModel
from egoscore.detectors.conditional.view import View
from egoscore.progress import Bars, no_bars


@dataclass(frozen=True)
class Measurement:
    """A graph as a fitted model sees it: what channels are computed from.

    `is_training` says whether the model was learned from this graph: its nodes are then predicted
    by networks that were not trained on them.
    """

    model: ConditionalModel
    view: View
    is_training: bool

    @cached_property
    def white(self) -> Floats:
        """Whitened features (N, k)."""
        return self.model.whitening.apply(self.view.features)

    @cached_property
    def numbers(self) -> tuple[Floats, Floats]:
        """The surprises (N,) of numbers: by themselves, and given everything else."""
        return self.model.extremes.numbers.largest(self.view)

    @cached_property
    def positions(self) -> dict[str, Floats]:
        """The surprises (N,) of what is counted in the graph."""
        return self.model.extremes.position.surprises(self.view)

    @cached_property
    def residuals(self) -> tuple[Floats, Floats]:
        """Squared errors (N,) of the linear denoiser, and of the one with neural networks."""
        seed = self.model.seed if self.is_training else None
        return self.model.centre.residuals(self.view.context(self.white), self.white, seed)


@dataclass(frozen=True)
class Channel:
    """One measurement.

    Attributes: `name` of its column; the `question` it answers, "" for one that is only shown;
    `label`, what it measures, for a reader; `measure`, the function that computes it, (N,);
    `is_log` whether its logarithm is calibrated; `floor`, values below which count as that much;
    `discount`, of a channel that is a surprise already, how much rarer than others it must be, as
    a logarithm, because such values are often harmless.
    """

    name: str
    question: str
    label: str
    measure: Callable[[Measurement], Floats]
    is_log: bool = True
    floor: float = 1e-9
    discount: float | None = None

    def scaled(self, values: Floats) -> NDArray[np.floating]:
        """Values (N,) on the scale on which they are calibrated."""
        if self.discount is not None:
            return values
        return np.log(np.maximum(values, np.float32(self.floor))) if self.is_log else values


# Where most nodes are exactly as predicted, a slightly larger error is noise of the networks: an
# error of less than a tenth of the usual one counts as a tenth.
_SMALL_ERROR = 0.1

CHANNELS = {
    channel.name: channel
    for channel in (
        Channel(
            "feature_norm",
            "",
            "distance of its features from the mean of all nodes; shown, not part of the score",
            lambda m: _mean_square(m.view.features),
        ),
        Channel(
            "linear_residual",
            "features",
            "difference between its features and their linear prediction from its neighbourhood",
            lambda m: m.residuals[0],
            floor=_SMALL_ERROR,
        ),
        Channel(
            "network_residual",
            "features",
            "the same difference with the correction of the neural networks",
            lambda m: m.residuals[1],
            floor=_SMALL_ERROR,
        ),
        Channel(
            "dirichlet_energy",
            "similarity",
            "mean squared difference to its neighbours, whose values count up to three deviations",
            lambda m: dirichlet_energy(m.view.near, m.view.features),
        ),
        Channel(
            "mismatch",
            "similarity",
            "log-likelihood ratio of its features next to strangers and next to its neighbours",
            lambda m: m.model.next_to.mismatch(m.view.near, m.white, ONE_STEP),
            is_log=False,
        ),
        Channel(
            "mismatch_two_steps",
            "similarity",
            "the same ratio for the neighbours of its neighbours",
            lambda m: m.model.two_away.mismatch(m.view.near, m.white, TWO_STEPS),
            is_log=False,
        ),
        Channel(
            "structure_given_degree",
            "position",
            "how unusual its position is for a node with this number of neighbours",
            lambda m: m.model.place.distance_given_degree(m.view.structure),
        ),
        Channel(
            "structure",
            "position",
            "how unusual its position is for any node",
            lambda m: m.model.place.distance(m.view.structure),
        ),
        Channel(
            "clustering",
            "position",
            "clustering coefficient: the share of its neighbours that are linked to each other",
            lambda m: m.model.place.clustering(m.view.structure),
            is_log=False,
        ),
        Channel(
            "extreme_value",
            "extremes",
            "how rare its most extreme number is by itself",
            lambda m: m.numbers[0],
            discount=1.5,
        ),
        Channel(
            "contradicted_value",
            "extremes",
            "how rare its most extreme number is given its neighbours and other columns",
            lambda m: m.numbers[1],
            discount=1.5,
        ),
        Channel(
            "unexpected_category",
            "extremes",
            "how rare its most unexpected category is given its neighbours and other columns",
            lambda m: m.model.extremes.categories.largest(m.view),
            discount=1.0,
        ),
        Channel(
            "many_neighbours",
            "extremes",
            "how rare its number of neighbours is, or of links in one direction",
            lambda m: m.model.extremes.position.most_links(m.positions),
            discount=3.0,
        ),
        Channel(
            "many_strangers",
            "extremes",
            "how rare its number of neighbours is that share no other neighbour with it",
            lambda m: m.positions["strangers"],
            discount=1.5,
        ),
        Channel(
            "closed_clique",
            "extremes",
            "how rare its largest clique is that has no other neighbours in common",
            lambda m: m.positions["clique"],
            discount=1.5,
        ),
        Channel(
            "only_bridge",
            "extremes",
            "how rare the number of nodes is that it alone joins to the rest of the graph",
            lambda m: m.positions["bridge"],
            discount=2.5,
        ),
    )
}
QUESTIONS = {
    "features": "Do its features match what its neighbours predict?",
    "similarity": "Is it similar to the nodes it is linked to?",
    "position": "Is its position in the graph unusual?",
    "extremes": "Is a single value or count extreme, or contradicted by everything else?",
}
ALONE = "extremes"  # the question that one channel answers, whatever the others say


def channels_of(question: str) -> tuple[str, ...]:
    """The names of the channels that answer a question."""
    return tuple(name for name, channel in CHANNELS.items() if channel.question == question)


def measure(measurement: Measurement, bars: Bars = no_bars) -> dict[str, Floats]:
    """All channels (N,) by name."""
    found: dict[str, Floats] = {}
    with bars("Scoring nodes", len(CHANNELS), "channels") as advance:
        for name, channel in CHANNELS.items():
            found[name] = channel.measure(measurement)
            advance(1)
    return found


def _mean_square(features: Floats) -> Floats:
    squares: Floats = np.einsum("nf,nf->n", features, features) / np.float32(features.shape[1])
    return squares

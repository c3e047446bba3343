"""What the default detector learns from a graph, step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from egoscore.detectors.base import Job, require_same_direction
from egoscore.detectors.conditional.denoiser import NUM_NETWORKS, CentreModel
from egoscore.detectors.conditional.extremes import Extremes
from egoscore.detectors.conditional.homophily import ONE_STEP, TWO_STEPS, LinkCorrelations
from egoscore.detectors.conditional.placement import Place
from egoscore.detectors.conditional.preprocess import (
    Scale,
    fit_scale,
    gap_covariance,
    gap_features,
)
from egoscore.detectors.conditional.settings import ConditionalSettings
from egoscore.detectors.conditional.view import View
from egoscore.detectors.conditional.whitening import Whitening
from egoscore.graph import AttributedGraph
from egoscore.graph.structure import STRUCTURE


@dataclass(frozen=True)
class ConditionalModel:
    """Everything learned about features, neighbours and structure; not how scores are calibrated.

    Attributes: `seed` of the training; `scaling` and `whitening` of the features; `next_to` and
    `two_away`, the correlations of nodes one and two steps apart; `centre` predicts the features of
    a node from its neighbourhood; `place` knows the usual structure, `extremes` what is usual for
    single values; `uses_structure` is false where the features themselves are the structure.
    """

    seed: int
    scaling: Scale
    whitening: Whitening
    next_to: LinkCorrelations
    two_away: LinkCorrelations
    centre: CentreModel
    place: Place
    extremes: Extremes
    uses_structure: bool = True

    @classmethod
    def fit(
        cls, graph: AttributedGraph, settings: ConditionalSettings, job: Job
    ) -> tuple[ConditionalModel, View]:
        """Learn from a graph, which is returned as the model sees it."""
        seed = job.seed
        with job.bars("Preparing features", 4, "steps") as advance:
            scaling = fit_scale(graph, seed)
            view = View.of(graph, scaling, not graph.is_structural)
            advance(1)
            unseen = gap_covariance(view.features, gap_features(scaling))
            whitening = Whitening.fit(view.features, seed, unseen)
            white = whitening.apply(view.features)
            advance(1)
            next_to = LinkCorrelations.fit(view.near, white, ONE_STEP)
            two_away = LinkCorrelations.fit(view.near, white, TWO_STEPS)
            advance(1)
            known = view.context(white)
            advance(1)
        updates = NUM_NETWORKS * settings.updates
        with job.bars("Training", updates, "updates") as advance:
            unseen = None if unseen is None else whitening.covariance(unseen)
            centre = CentreModel.fit(known, white, settings, seed, job.store, advance, unseen)
        place = Place.fit(view.structure, seed)
        extremes = Extremes.fit(view, seed)
        parts = (scaling, whitening, next_to, two_away, centre, place, extremes)
        return cls(seed, *parts, view.uses_structure), view

    @property
    def is_directed(self) -> bool:
        """Whether it was fitted on a directed graph."""
        return len(self.place.mean) > len(STRUCTURE)

    def view(self, graph: AttributedGraph) -> View:
        """Another graph, or the same again, as the model sees it."""
        require_same_direction(self.is_directed, graph)
        return View.of(graph, self.scaling, self.uses_structure)

    @property
    def has_homophily(self) -> bool:
        """Whether neighbours predict anything about a node."""
        return bool(self.next_to.strength.any() or self.two_away.strength.any())

    @property
    def explained(self) -> float:
        """The share of the features' variance that the linear prediction explains.

        Every feature has the same weight; axes would not, as most hold next to nothing.
        """
        variance = self.whitening.variance
        remaining = self.centre.context.variance[: len(variance)]
        return 1.0 - float(np.average(remaining, weights=variance))

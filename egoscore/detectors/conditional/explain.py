"""The reasons of the default detector: what about a node differs from its prediction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.channels import ALONE, CHANNELS
from egoscore.detectors.conditional.contrast import two_away, unlike
from egoscore.detectors.conditional.covariance import Floats, sample_rows, shrunk_covariance
from egoscore.detectors.conditional.expectation import Expectation, expect, scaled_features
from egoscore.detectors.conditional.explain_text import IN_SHORT, PHRASES, least_similar_channel
from egoscore.detectors.conditional.model import ConditionalModel
from egoscore.detectors.conditional.neighbours import clipped
from egoscore.detectors.conditional.placement import Place
from egoscore.detectors.conditional.preprocess import gap_covariance, gap_features
from egoscore.detectors.conditional.scoring import ChannelTable
from egoscore.detectors.conditional.standouts import Standouts
from egoscore.detectors.conditional.ties import ScoredTies, score_ties
from egoscore.explain.deviations import Ranges, Units, deviation_of, largest_deviations
from egoscore.explain.explainer import (
    MOST,
    MOST_NODES,
    Explainer,
    components_of,
    describe_peers,
    names_of,
    pairs_within,
    peers_of,
    shades,
)
from egoscore.explain.explanation import (
    Component,
    Deviation,
    Picture,
    Reasons,
    by_strength,
    causes_of,
)
from egoscore.explain.usual_errors import UsualErrors
from egoscore.graph import AttributedGraph
from egoscore.graph.cliques import circles
from egoscore.graph.feature_column import FeatureColumn
from egoscore.graph.structure import STRUCTURE, describe_structure, structure_and_direction

_NODES_TO_COMPARE = 5_000
_MOSTLY = 0.5
_MOST_UNLIKE = 2  # columns
_WIDEST = 2048  # correlations of more features are ignored
_DEGREE = STRUCTURE.index("log_degree")
_VERY_FAR = 5.0  # usual errors


class ConditionalExplainer(Explainer):
    """Reasons for the nodes of a graph that a `ConditionalModel` scored."""

    def __init__(
        self,
        model: ConditionalModel,
        graph: AttributedGraph,
        table: ChannelTable,
        shifts: dict[str, float],
        is_training: bool,
    ) -> None:
        self.model, self.graph, self.table = model, graph, table
        self.standouts = Standouts(model, graph, shifts, circles(graph))
        self.structure = structure_and_direction(graph)
        self.units = Units.of(graph, model.scaling)
        self.places = Ranges.of(self.structure, model.place.mean)
        self.is_training = is_training
        if model.uses_structure:
            self.proviso = " among nodes with ego-graphs of similar size"
        some = sample_rows(graph.num_nodes, _NODES_TO_COMPARE, model.seed)
        usual = self._expect(some)
        unseen = gap_covariance(usual.observed, gap_features(model.scaling))
        self.usual = fit_usual_errors(usual.errors, graph.described, model.seed, unseen)
        self._measured: dict[str, NDArray[np.floating]] = {
            name: values for name, values in table.channels.items() if self._is_used(name)
        }
        self._measured |= {f"surprise_{name}": v for name, v in table.questions.items()}

    @property
    def _uses_features(self) -> bool:
        """Whether features are explained: not where they are the structure."""
        return "features" in self.table.questions

    def _is_used(self, channel: str) -> bool:
        """Whether a channel answers a question that is asked, or is shown with the features."""
        return (CHANNELS[channel].question or "features") in self.table.questions

    def _expect(self, nodes: NDArray[np.int64]) -> Expectation:
        return expect(self.model, self.graph, self.structure, nodes, self.is_training)

    def reasons(self, node: int) -> Reasons:
        answers = {name: float(v[node]) for name, v in self.table.questions.items()}
        extremes = self.standouts.of(node)
        expectation = self._expect(np.array([node]))
        rest, sizes = self.usual.unexplained(expectation.errors[0])
        raw = self.graph.features[node]
        features = largest_deviations(raw, expectation.observed[0], rest, sizes, self.units, MOST)
        ties = score_ties(self.model, self.graph, node)
        group = peers_of(self.table.ego_size, node)
        around = scaled_features(self.model, self.graph, self.graph.neighbours_of(node))
        actual, expected = (
            _energies(one[0], around) for one in (expectation.observed, expectation.expected)
        )
        place = unusual_position(self.model.place, self.structure[node], self.places)
        furthest = int(np.argmax(np.abs(sizes)))
        of_one = float((actual - expected)[self.usual.same_column(furthest)].sum())
        follows = of_one > _MOSTLY * float((actual - expected).sum()) > 0
        components = components_of(self._measured, group, node)
        return Reasons(
            ego_size=int(self.table.ego_size[node]),
            questions=_ordered(answers),
            causes=_causes(answers, follows, bool(extremes)),
            features=features if self._uses_features else (),
            structure=place,
            surprising=ties.surprising(MOST),
            expected=ties.expected(MOST),
            extremes=extremes,
            unlike=self._unlike(node, raw, expectation.observed[0], around, components),
            energy_actual=float(actual.mean()),
            energy_expected=float(expected.mean()),
            components=components,
            compared_with=describe_peers(self.table.ego_size, group),
            picture=self._picture(node, ties, expectation, self._shown(furthest, place)),
        )

    def _unlike(
        self,
        node: int,
        raw: NDArray[np.floating],
        own: Floats,
        around: Floats,
        components: tuple[Component, ...],
    ) -> tuple[Deviation, ...]:
        """Differences to its neighbours, or to theirs if those are more unusual."""
        if "similarity" not in self.table.questions:
            return ()
        if least_similar_channel(components) == "mismatch_two_steps":
            around = scaled_features(self.model, self.graph, two_away(self.graph, node))
        return unlike(raw, own, around, self.usual.deviation, self.units, _MOST_UNLIKE)

    def _shown(self, furthest: int, place: Sequence[Deviation]) -> int:
        """The feature that a picture shows: the one with the largest deviation."""
        if self._uses_features:
            return furthest
        features = [column.title for column in describe_structure()]  # also of a directed graph
        return next(features.index(one.name) for one in place if one.name in features)

    def _picture(
        self, node: int, ties: ScoredTies, expectation: Expectation, shown: int
    ) -> Picture:
        """The ego-graph as observed, and with the expected centre and without unexpected edges."""
        near, left_out = ties.shown(MOST_NODES - 1)
        nodes = [node, *near]
        actual = pairs_within(self.graph, nodes)
        dropped = {(0, 1 + place) for place, other in enumerate(near) if ties.is_surprising(other)}
        missed = {(0, 1 + place) for place, other in enumerate(near) if ties.is_missed(other)}
        values = scaled_features(self.model, self.graph, np.array(nodes))[:, shown]
        expected = values.copy()
        expected[0] = expectation.expected[0, shown]
        return Picture(
            names_of(self.graph, nodes),
            tuple(actual),
            tuple(sorted((set(actual) - dropped) | missed)),
            self.graph.described[shown].title,
            *shades(values, expected),
            left_out,
            tuple(map(int, nodes)),
        )

    def phrase(self, cause: str, reasons: Reasons) -> str:
        return PHRASES[cause](reasons)

    def in_short(self, cause: str, reasons: Reasons) -> str:
        return IN_SHORT[cause](reasons)


def _energies(own: Floats, others: Floats) -> Floats:
    """Mean squared difference of features (F,) to those of neighbours (d, F), for each, (F,)."""
    if not len(others):
        return np.zeros_like(own)
    energies: Floats = np.square(clipped(others, own) - own).mean(axis=0)
    return energies


def _ordered(answers: dict[str, float]) -> dict[str, float]:
    """Answers by question, strongest first; one that counts by itself is first if it counts."""
    ordered = by_strength({name: answer for name, answer in answers.items() if name != ALONE})
    single = {ALONE: answers[ALONE]} if ALONE in answers else {}
    return single | ordered if answers.get(ALONE) else ordered | single


def _causes(
    answers: dict[str, float], similarity_follows: bool, stands_out: bool = False
) -> tuple[str, ...]:
    """The strong answers, strongest first; similarity comes after features if it follows from them.

    It does if one column accounts for most of the unexpected difference to the neighbours. A single
    quantity that stands out comes first: it can be checked at once, and the other answers may
    follow from it.
    """
    causes = causes_of({name: answer for name, answer in answers.items() if name != ALONE})
    if stands_out:
        causes = (ALONE, *causes)
    if not similarity_follows or "features" not in causes or "similarity" not in causes:
        return causes
    others = [cause for cause in causes if cause != "similarity"]
    behind = max(causes.index("similarity"), others.index("features") + 1)
    return (*others[:behind], "similarity", *others[behind:])


def fit_usual_errors(
    errors: Floats,
    columns: Sequence[FeatureColumn],
    seed: int,
    unseen: NDArray[np.float64] | None = None,
) -> UsualErrors:
    """From the errors (n, F) of many nodes; `unseen` (F, F) is added to their covariance."""
    if errors.shape[1] > _WIDEST:
        return UsualErrors.one_by_one(errors)
    # bounded, so that the prediction for a node does not follow its own absurd values
    _, covariance = shrunk_covariance(clipped(errors), seed, unseen)
    return UsualErrors.from_covariance(covariance, columns)


def unusual_position(
    place: Place, structure: NDArray[np.float64], ranges: Ranges
) -> tuple[Deviation, ...]:
    """Observed and expected structure (S,) of one node, largest deviation first.

    The expected number of neighbours is the mean; the rest is predicted from that number, within
    `ranges`. A very unusual number of neighbours comes before everything else.
    """
    observed, ought, sizes = place.compare(structure)
    expected, left = ranges.clip_expected(observed, ought)
    sizes, columns = sizes * left, describe_structure(len(structure) > len(STRUCTURE))
    far = np.abs(sizes)
    far[_DEGREE] = np.inf if far[_DEGREE] >= _VERY_FAR else far[_DEGREE]
    return tuple(
        deviation_of(columns[j], *map(float, (observed[j], expected[j], sizes[j], ranges.least[j])))
        for j in np.argsort(-far, kind="stable")
    )

"""The reasons of the default recipe: what surprises about a node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.among import alike, told
from egoscore.explain.causes import by_strength, causes_of
from egoscore.explain.explanation import Component, Deviation, Picture, Reasons
from egoscore.explain.features import Units, UsualErrors, deviating
from egoscore.explain.picture import MOST_NODES, names_of, pairs_within, shades
from egoscore.explain.reasons import MOST, Reasoner, compared
from egoscore.explain.seen import Seen
from egoscore.explain.structure import unusual_place
from egoscore.explain.surprising_words import IN_SHORT, PHRASES, fits_least
from egoscore.explain.ties import JudgedTies, judged_ties
from egoscore.explain.unlike import two_away, unlike
from egoscore.graph import AttributedGraph
from egoscore.graph.structure import describe_structure, structure
from egoscore.surprise.covariance import Floats, sample_rows
from egoscore.surprise.expect import Expectation, expect, scaled_features
from egoscore.surprise.judged import gap_features, unseen_covariance
from egoscore.surprise.model import QUESTIONS, SurpriseModel, Surprises
from egoscore.surprise.neighbours import as_seen_by_others

_NODES_TO_COMPARE = 5_000
_MOSTLY = 0.5
_MOST_UNLIKE = 2  # columns


class SurpriseReasons(Reasoner):
    """Reasons for the nodes of a network that was judged by a `SurpriseModel`."""

    def __init__(
        self, model: SurpriseModel, graph: AttributedGraph, table: Surprises, is_training: bool
    ) -> None:
        self.model, self.graph, self.table = model, graph, table
        self.structure = structure(graph)
        self.units = Units.of(graph, model.scaling)
        self.places = Seen.of(self.structure, model.place.mean)
        self.is_training = is_training
        if model.is_told_structure:
            self.proviso = ", size allowed for"
        some = sample_rows(graph.num_nodes, _NODES_TO_COMPARE, model.seed)
        usual = self._expect(some)
        unseen = unseen_covariance(usual.observed, gap_features(model.scaling))
        self.usual = UsualErrors.fit(usual.errors, graph.described, model.seed, unseen)
        self._measured: dict[str, NDArray[np.floating]] = {
            name: values for name, values in table.channels.items() if self._is_judged(name)
        }
        self._measured |= {f"surprise_{name}": v for name, v in table.questions.items()}

    @property
    def _judges_features(self) -> bool:
        """Not where the features are the structure: its place is all there is to tell then."""
        return "features" in self.table.questions

    def _is_judged(self, channel: str) -> bool:
        """Whether a channel answers a question that is asked; the size of features answers none."""
        answers = [q for q, channels in QUESTIONS.items() if channel in channels]
        return any(q in self.table.questions for q in answers) or (
            not answers and self._judges_features
        )

    def _expect(self, nodes: NDArray[np.int64]) -> Expectation:
        return expect(self.model, self.graph, self.structure, nodes, self.is_training)

    def of(self, node: int) -> Reasons:
        answers = {name: float(v[node]) for name, v in self.table.questions.items()}
        expectation = self._expect(np.array([node]))
        rest, sizes = self.usual.left(expectation.errors[0])
        raw = self.graph.features[node]
        features = deviating(raw, expectation.observed[0], rest, sizes, self.units, MOST)
        ties = judged_ties(self.model, self.graph, node)
        group = alike(self.table.ego_size, node)
        around = scaled_features(self.model, self.graph, self.graph.neighbours_of(node))
        before, after = (
            _energies(one[0], around) for one in (expectation.observed, expectation.expected)
        )
        place = unusual_place(self.model.place, self.structure[node], self.places)
        furthest = int(np.argmax(np.abs(sizes)))
        of_one = float((before - after)[self.usual.beside(furthest)].sum())
        follows = of_one > _MOSTLY * float((before - after).sum()) > 0
        components = compared(self._measured, group, node)
        return Reasons(
            ego_size=int(self.table.ego_size[node]),
            questions=by_strength(answers),
            causes=_causes(answers, follows),
            features=features if self._judges_features else (),
            structure=place,
            surprising=ties.surprising(MOST),
            expected=ties.expected(MOST),
            unlike=self._unlike(node, raw, expectation.observed[0], around, components),
            energy_before=float(before.mean()),
            energy_after=float(after.mean()),
            components=components,
            compared_with=told(self.table.ego_size, group),
            picture=self._picture(node, ties, expectation, self._shown(furthest, place[0])),
        )

    def _unlike(
        self,
        node: int,
        raw: NDArray[np.floating],
        own: Floats,
        around: Floats,
        components: tuple[Component, ...],
    ) -> tuple[Deviation, ...]:
        """Where it is unlike its neighbours, or theirs if it is these that it fits least."""
        if "company" not in self.table.questions:
            return ()
        if fits_least(components) == "mismatch_two_steps":
            around = scaled_features(self.model, self.graph, two_away(self.graph, node))
        return unlike(raw, own, around, self.usual.deviation, self.units, _MOST_UNLIKE)

    def _shown(self, furthest: int, place: Deviation) -> int:
        """The feature that a picture shows: what is told first."""
        if self._judges_features:
            return furthest
        return [column.title for column in describe_structure()].index(place.name)

    def _picture(
        self, node: int, ties: JudgedTies, expectation: Expectation, shown: int
    ) -> Picture:
        """The ego-graph as it is; and with the centre as expected, without what surprises."""
        near, left_out = ties.shown(MOST_NODES - 1)
        nodes = [node, *near]
        before = pairs_within(self.graph, nodes)
        dropped = {(0, 1 + place) for place, other in enumerate(near) if ties.is_surprising(other)}
        missed = {(0, 1 + place) for place, other in enumerate(near) if ties.is_missed(other)}
        values = scaled_features(self.model, self.graph, np.array(nodes))[:, shown]
        after = values.copy()
        after[0] = expectation.expected[0, shown]
        return Picture(
            names_of(self.graph, nodes),
            tuple(before),
            tuple(sorted((set(before) - dropped) | missed)),
            self.graph.described[shown].title,
            *shades(values, after),
            left_out,
        )

    def phrase(self, cause: str, reasons: Reasons) -> str:
        return PHRASES[cause](reasons)

    def in_short(self, cause: str, reasons: Reasons) -> str:
        return IN_SHORT[cause](reasons)


def _energies(own: Floats, others: Floats) -> Floats:
    """Mean squared difference of features (F,) to those of neighbours (d, F), for each, (F,)."""
    if not len(others):
        return np.zeros_like(own)
    energies: Floats = np.square(as_seen_by_others(others, own) - own).mean(axis=0)
    return energies


def _causes(answers: dict[str, float], company_follows: bool) -> tuple[str, ...]:
    """The strong answers, strongest first; company behind features if it follows from them.

    It does where one column makes most of how much more than expected a node differs from others.
    """
    causes = causes_of(answers)
    if not company_follows or "features" not in causes or "company" not in causes:
        return causes
    others = [cause for cause in causes if cause != "company"]
    behind = max(causes.index("company"), others.index("features") + 1)
    return (*others[:behind], "company", *others[behind:])

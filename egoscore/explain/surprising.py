"""The reasons of the default recipe: what surprises about a node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.among import alike, told
from egoscore.explain.causes import by_strength
from egoscore.explain.explanation import Deviation, Picture, Reasons, Tie
from egoscore.explain.features import UsualErrors, deviating
from egoscore.explain.picture import MOST_NODES, names_of, pairs_within, shades
from egoscore.explain.reasons import MOST, Reasoner, compared, shortened
from egoscore.explain.structure import unusual_place
from egoscore.explain.ties import JudgedTies, judged_ties
from egoscore.graph import AttributedGraph
from egoscore.graph.structure import structure
from egoscore.surprise.covariance import Floats, sample_rows
from egoscore.surprise.expect import Expectation, expect, scaled_features
from egoscore.surprise.model import QUESTIONS, SurpriseModel, Surprises

_NODES_TO_COMPARE = 5_000
_HIGH_PERCENTILE = 95.0
_FAR = 2.0  # usual errors: less is not worth a word


class SurpriseReasons(Reasoner):
    """Reasons for the nodes of a network that was judged by a `SurpriseModel`."""

    def __init__(
        self, model: SurpriseModel, graph: AttributedGraph, table: Surprises, is_training: bool
    ) -> None:
        self.model, self.graph, self.table = model, graph, table
        self.structure = structure(graph)
        self.is_training = is_training
        if model.is_told_structure:
            self.proviso = ", size allowed for"
        some = sample_rows(graph.num_nodes, _NODES_TO_COMPARE, model.seed)
        errors = self._expect(some).errors
        self.usual = UsualErrors.fit(errors, graph.described, model.seed)
        self._measured: dict[str, NDArray[np.floating]] = dict(table.channels)
        self._measured |= {f"surprise_{name}": v for name, v in table.questions.items()}

    def _expect(self, nodes: NDArray[np.int64]) -> Expectation:
        return expect(self.model, self.graph, self.structure, nodes, self.is_training)

    def of(self, node: int) -> Reasons:
        answers = {name: float(v[node]) for name, v in self.table.questions.items()}
        expectation = self._expect(np.array([node]))
        rest, sizes = self.usual.left(expectation.errors[0])
        raw = self.graph.features[node]
        columns, scaling = self.graph.described, self.model.scaling
        features = deviating(raw, expectation.observed[0], rest, sizes, scaling, columns, MOST)
        ties = judged_ties(self.model, self.graph, node)
        group = alike(self.table.ego_size, node)
        around = scaled_features(self.model, self.graph, self.graph.neighbours_of(node))
        return Reasons(
            ego_size=int(self.table.ego_size[node]),
            questions=by_strength(answers),
            features=features,
            structure=unusual_place(self.model.place, self.structure, node),
            surprising=ties.surprising(MOST),
            expected=ties.expected(MOST),
            energy_before=_energy(expectation.observed[0], around),
            energy_after=_energy(expectation.expected[0], around),
            components=compared(self._measured, group, node),
            compared_with=told(self.table.ego_size, group),
            picture=self._picture(node, ties, expectation, int(np.argmax(np.abs(sizes)))),
        )

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
        return _PHRASES[cause](reasons)


def _energy(own: Floats, others: Floats) -> float:
    """Mean squared difference, per feature, of features (F,) to those of neighbours (d, F)."""
    return float(np.square(others - own).mean()) if len(others) else 0.0


def _says(deviation: Deviation) -> str:
    """What is, and what is expected."""
    return f"{deviation.name} is {deviation.observed} where {deviation.expected} is expected"


def _once(deviations: Sequence[Deviation]) -> list[Deviation]:
    """The first of those that say the same: two features tell that a value is missing."""
    found: dict[tuple[str, str], Deviation] = {}
    for one in deviations:
        found.setdefault((one.name, one.observed), one)
    return list(found.values())


def _about_features(reasons: Reasons) -> str:
    far = [one for one in _once(reasons.features) if abs(one.size) >= _FAR]
    if not far:
        return (
            "its features together, though none by itself, are not what its surroundings and "
            f"each other let one expect; furthest off: {_says(reasons.features[0])}"
        )
    return "its features are not what its surroundings and each other let one expect: " + (
        " and ".join(_says(deviation) for deviation in far[:2])
    )


def _about_company(reasons: Reasons) -> str:
    if reasons.ego_size == 1:
        return "it has no neighbours, where others have some like them"
    measured = {part.name: part.percentile for part in reasons.components}
    if max(QUESTIONS["company"], key=lambda name: measured[name]) == "mismatch_two_steps":
        return "it does not fit the neighbours of its neighbours"
    sentence = "it does not fit its neighbours"
    if measured["dirichlet_energy"] >= _HIGH_PERCENTILE:
        sentence = f"it differs from its neighbours{_times_more(reasons)}"
    strangers = reasons.surprising[:2]
    return sentence + (f", least like it {_listed(strangers)}" if strangers else "")


def _times_more(reasons: Reasons) -> str:
    """By how much it differs from its neighbours, if that can be said."""
    is_more = reasons.energy_before > 1.5 * reasons.energy_after > 0.0
    times = reasons.energy_before / reasons.energy_after if is_more else 1.0
    return f" {times:,.2g} times as much as is expected" if 1.5 < times < 1e4 else ""


def _about_place(reasons: Reasons) -> str:
    return f"its place in the network is unusual: {_says(reasons.structure[0])}"


def _listed(ties: Sequence[Tie]) -> str:
    return " and ".join(shortened(tie.node) for tie in ties)


_PHRASES = {"features": _about_features, "company": _about_company, "place": _about_place}

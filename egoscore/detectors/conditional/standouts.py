"""Which single quantities of a node stand out, next to those of the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.batch import Batch
from egoscore.detectors.conditional.categories import Category
from egoscore.detectors.conditional.covariance import Floats
from egoscore.detectors.conditional.disagreement import Votes
from egoscore.detectors.conditional.model import ConditionalModel
from egoscore.detectors.conditional.numbers import NUM_BY_ITSELF, SIDES
from egoscore.detectors.conditional.position import LINKS, Links
from egoscore.detectors.conditional.scoring import least_alone, rarity
from egoscore.explain.explanation import Extreme
from egoscore.graph import AttributedGraph
from egoscore.graph.cliques import Circles
from egoscore.graph.feature_column import FeatureColumn
from egoscore.text import counted

_COUNTS = {
    "degree": ("many_neighbours", "number of neighbours"),
    "sent": ("many_neighbours", "number of nodes it links to"),
    "received": ("many_neighbours", "number of nodes that link to it"),
    "strangers": ("many_strangers", "neighbours that share no other neighbour with it"),
    "clique": ("closed_clique", "clique"),
    "bridge": ("only_bridge", "nodes that it alone joins to the rest"),
}
_PARTNERS = {"sent": ("sent", "to"), "received": ("received", "from")}
_MOST = 5
_LEAST_VOTERS = 3  # neighbours whose categories say something
_HUB = 2.0  # times as many links as any other node
_CLEARLY = 0.3  # logarithm of how much rarer than one in all nodes


@dataclass(frozen=True)
class Standouts:
    """Finds the quantities that stand out for nodes of one graph.

    Attributes: `shifts` of the channels, as in `Scoring`; `circles` of all nodes.
    """

    model: ConditionalModel
    graph: AttributedGraph
    shifts: dict[str, float]
    circles: Circles

    def of(self, node: int) -> tuple[Extreme, ...]:
        """The quantities of a node rare enough to count by themselves, rarest first.

        A number of links at least twice as high as any other comes before what changes with it.
        """
        batch = Batch.of_nodes(self.graph, self.model.scaling, np.array([node]))
        least = least_alone(self.graph.num_nodes)
        found = [*self._numbers(node, batch), *self._categories(batch)]
        found += [*self._outvoted(node), *self._counts(node)]
        hubs = [one for one in found if self._is_hub(node, one)]
        far = [one for one in found if one.surprise > least and one not in hubs]
        return tuple([*hubs, *sorted(far, key=lambda one: -one.surprise)][:_MOST])

    def _is_hub(self, node: int, one: Extreme) -> bool:
        if one.kind not in LINKS:
            return False
        counts = self.links.by_name[one.kind]
        count, nearest = _next(counts, node, True)
        return count == 1 and int(counts[node]) >= _HUB * nearest

    @cached_property
    def links(self) -> Links:
        """The number of links of all nodes."""
        return Links.of(self.graph)

    def _rarity(self, channel: str, surprise: float) -> float:
        values = np.array([surprise])
        return float(rarity(channel, values, self.shifts[channel], self.graph.num_nodes)[0])

    def _numbers(self, node: int, batch: Batch) -> list[Extreme]:
        """One for each column: by itself or given everything else, whichever is rarer.

        A value clearly beyond all others is shown next to these: that can be checked at once.
        """
        numbers = self.model.extremes.numbers
        errors = numbers.prediction.given_all(batch, numbers.columns)
        mine = self.links.of_node(node)
        distances = numbers.distances(self.graph, batch.raw, errors, mine)
        surprises = [
            float(tail.of(one)[0]) for tail, one in zip(numbers.tails, distances, strict=True)
        ]
        alone, given = [], []
        for place, column in enumerate(numbers.columns.tolist()):
            sides = surprises[place * len(SIDES) : (place + 1) * len(SIDES)]
            side, other = (
                int(np.argmax(some)) for some in (sides[:NUM_BY_ITSELF], sides[NUM_BY_ITSELF:])
            )
            itself = self._rarity("extreme_value", sides[side])
            others = self._rarity("contradicted_value", sides[NUM_BY_ITSELF + other])
            if itself >= others or sides[side] > np.log(self.graph.num_nodes) + _CLEARLY:
                alone.append(self._by_itself(column, node, SIDES[side], max(itself, others)))
                continue
            error = float(errors[0, place] - numbers.middle[place])
            side_name = SIDES[NUM_BY_ITSELF + other]
            given.append((abs(error), self._given_others(column, batch, side_name, error, others)))
        return [*alone, *_by_size_of_error(given)]

    def _by_itself(self, column: int, node: int, side: str, rarity: float) -> Extreme:
        kind = "above" if side == "above" else "below"
        values, described = self.graph.features[:, column], self.graph.described[column]
        own = float(values[node])
        count, nearest = _next(values, node, kind == "above")
        mine, other = described.show_both(own, nearest)
        mine += self._partners(described, node)
        return Extreme(kind, described.title, mine, other, count, len(values), rarity)

    def _partners(self, described: FeatureColumn, node: int) -> str:
        """With how many nodes the total of a column of edges came about."""
        if described.kind != "weight" or described.detail != "total":
            return ""
        direction = described.direction if self.graph.directed else ""
        kind, preposition = _PARTNERS.get(direction, ("degree", "with"))
        return f" ({preposition} {counted(int(self.links.by_name[kind][node]), 'node')})"

    def _given_others(
        self, column: int, batch: Batch, side: str, error: float, rarity: float
    ) -> Extreme:
        described, prediction = self.graph.described[column], self.model.extremes.numbers.prediction
        expected = batch.filled[0].astype(np.float64)
        expected[column] -= error * float(prediction.unit(batch.degree, column)[0])
        value = float(self.model.scaling.unscale(expected)[column])
        values = self.graph.features[:, column]
        value = float(np.clip(value, values.min(), values.max()))
        shown = described.show_both(float(batch.raw[0, column]), value)
        return Extreme(side, described.title, *shown, 1, len(values), rarity)

    def _categories(self, batch: Batch) -> list[Extreme]:
        return [self._category(column, batch) for column in self.model.extremes.categories.columns]

    def _category(self, column: Category, batch: Batch) -> Extreme:
        rarity = self._rarity(
            "unexpected_category", float(column.tail.of(column.odds_against(batch))[0])
        )
        counts, mine = batch.counts(column.features)[0], batch.shares(column.features)[0]
        own, degree = int(mine.argmax()), int(batch.degree[0])
        likely = int(column.probabilities(batch)[0].argmax())
        other = self._category_name(column, likely)
        name = self.graph.described[int(column.features[0])].name
        size, shown = self.graph.num_nodes, self._category_name(column, own)
        found = Extreme("category", name, shown, other, 1, size, rarity)
        # neighbours suggest what is more common among them than among all nodes
        is_suggested = degree >= _LEAST_VOTERS and counts[likely] > column.share[likely] * degree
        return replace(found, agree=int(counts[likely]), voters=degree) if is_suggested else found

    @cached_property
    def _disagreements(self) -> list[tuple[str, Votes, Floats]]:
        """The columns with many categories, and what is known about all nodes."""
        columns = self.model.extremes.categories.many
        known = (one for one in columns if one.name in self.graph.categories)
        return [(one.name, *one.measure(self.graph)) for one in known]

    def _outvoted(self, node: int) -> Iterator[Extreme]:
        """Categories of columns with many, each next to the one that most neighbours have."""
        for name, votes, surprises in self._disagreements:
            if surprises[node]:
                column = self.graph.categories[name]
                own, other = column.names[column.codes[node]], column.names[votes.other[node]]
                rarity = self._rarity("unexpected_category", float(surprises[node]))
                found = Extreme("category", name, own, other, 1, self.graph.num_nodes, rarity)
                agree, voters = int(votes.most[node]), int(votes.known[node])
                yield replace(found, agree=agree, voters=voters)

    def _category_name(self, column: Category, place: int) -> str:
        described = self.graph.described[int(column.features[min(place, len(column.features) - 1)])]
        if described.kind == "yes/no":
            return "yes" if place == 0 else "no"
        return described.detail if place < len(column.features) else "another"

    def _counts(self, node: int) -> list[Extreme]:
        position = self.model.extremes.position
        surprises = position.surprises_of(self.links.of_node(node), self.circles.of_node(node))
        degree, strangers = int(self.links.degree[node]), int(self.circles.strangers[node])
        members, group = int(self.circles.clique[node]) + 1, int(self.circles.group[node])
        kind = max(self.links.by_name, key=lambda name: float(surprises[name][0]))
        counts = self.links.by_name[kind]
        count, nearest = _next(counts, node, True)
        shown = {
            kind: (f"{int(counts[node]):,}", f"{int(nearest):,}", count),
            "strangers": (
                f"{strangers:,} of {degree:,}",
                f"{position.share * degree:,.0f}",
                1,
            ),
            "clique": (f"{members:,}", "", int((self.circles.clique + 1 >= members).sum())),
            "bridge": (f"{group:,}", "", int((self.circles.group >= group).sum())),
        }
        found = []
        for kind, facts in shown.items():
            channel, title = _COUNTS[kind]
            rarity = self._rarity(channel, float(surprises[kind][0]))
            found.append(Extreme(kind, title, *facts, self.graph.num_nodes, rarity))
        return found


def _by_size_of_error(found: list[tuple[float, Extreme]]) -> list[Extreme]:
    """The same surprises, the largest for the column with the largest error.

    One wrong value contradicts all columns that are correlated with it, and these it. Correcting
    that with the largest error in units of its usual size makes the node most likely.
    """
    columns = [one for _, one in sorted(found, key=lambda pair: -pair[0])]
    surprises = sorted((one.surprise for one in columns), reverse=True)
    pairs = zip(columns, surprises, strict=True)
    return [replace(one, surprise=surprise) for one, surprise in pairs]


def _next(values: NDArray[np.generic] | Floats, node: int, is_above: bool) -> tuple[int, float]:
    """How many nodes have at least the value of a node, and the closest one after it."""
    own = values[node]
    beyond = values >= own if is_above else values <= own
    others = values[~beyond]
    if not len(others):
        return int(beyond.sum()), float(own)
    return int(beyond.sum()), float(others.max() if is_above else others.min())

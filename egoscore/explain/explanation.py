"""An explanation as plain data, and which of its answers are causes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self, final

from egoscore.graph.structure import STRUCTURE, describe_structure

HIGH = 3.0  # one in twenty is as surprising
_RARE = 0.05
_EXTREME = 7.0  # usual errors
_DEGREE = describe_structure()[STRUCTURE.index("log_degree")]


@dataclass(frozen=True)
class Deviation:
    """The observed and the expected value of one quantity, both as the user would write them.

    Attributes: `size` of the deviation in units of the usual error, positive if more than expected;
    `kind` as in `FeatureColumn`; `unit` of the user's numbers, such as $ or %; `observed_value` and
    `expected_value` as numbers, None where there is none: dates are days since 1970, yes and no are
    1 and 0, a missing value is 1; `is_amount` whether no value is negative, so that ratios make
    sense.
    """

    name: str
    observed: str
    expected: str
    size: float
    kind: str = "number"
    unit: str = ""
    observed_value: float | None = None
    expected_value: float | None = None
    is_amount: bool = False


@dataclass(frozen=True)
class Tie:
    """The edge to one neighbour, or the lack of it.

    Attributes: `node` the neighbour's id; `surprise` positive where the edge, or its absence, is
    unexpected, negative where it is expected; `present` whether the edge exists; `name` under which
    the neighbour is shown, None for its id.
    """

    node: str
    surprise: float
    present: bool = True
    name: str | None = None

    @property
    def shown(self) -> str:
        """The name, or else the id."""
        return self.node if self.name is None else self.name


@dataclass(frozen=True)
class Extreme:
    """A single quantity of a node that is out of bounds, or contradicted by everything else.

    Attributes: `kind` what is judged: "above" and "below" are by itself, "more", "less" and
    "category" given its neighbours and other columns, "degree", "sent", "received", "strangers"
    and "clique" are counts in the graph; `name` of the column, or of the count; `observed` and
    `other` as the user would write them, the latter the closest value of another node, or what is
    expected; `count` how many of all `num_nodes` have at least that; `surprise`, minus the
    logarithm of how rare it is; `agree`, how many of the `voters` among its neighbours have the
    expected category, both 0 where neighbours do not suggest it.
    """

    kind: str
    name: str
    observed: str
    other: str
    count: int
    num_nodes: int
    surprise: float
    agree: int = 0
    voters: int = 0


@dataclass(frozen=True)
class Component:
    """One part of the score.

    Attributes: `value` as measured; `percentile` the percentage of nodes with a smaller value,
    among those with ego-graphs of about the same size.
    """

    name: str
    value: float
    percentile: float


@dataclass(frozen=True)
class Level:
    """The expected ego-graph of one noise level, `tau`; `expected` and `shade` as in `Picture`."""

    tau: float
    expected: tuple[tuple[int, int], ...]
    shade: tuple[float, ...]


@dataclass(frozen=True)
class Picture:
    """An actual and an expected ego-graph, to be drawn. The centre is number 0.

    Attributes: `nodes` names; `actual` and `expected` pairs of numbers, the edges; `shade` names
    the feature that the shades show; `shade_actual` and `shade_expected` one number per node, 0 to
    1 between the least and the greatest of them all; `left_out` how many nodes are not shown;
    `rows` the row numbers of the nodes in the graph, () where an older run does not say; `levels`,
    for a detector that reconstructs from several noise levels, what is expected at each.
    """

    nodes: tuple[str, ...]
    actual: tuple[tuple[int, int], ...]
    expected: tuple[tuple[int, int], ...]
    shade: str
    shade_actual: tuple[float, ...]
    shade_expected: tuple[float, ...]
    left_out: int = 0
    rows: tuple[int, ...] = ()
    levels: tuple[Level, ...] = ()


@dataclass(frozen=True)
class Reasons:
    """The reasons of one node's score as data.

    Attributes: `questions` how surprising each answer is, strongest first; `causes` the questions
    by which the node is among the 5% most surprising, most important first; `features` and
    `structure` the largest deviations; `surprising` ties, most unexpected first; `expected` ties,
    best fit first; `unlike` the columns in which it differs most from its neighbours, whose mean is
    the expected value; `extremes` the quantities that stand out by themselves; `energy_actual` and
    `energy_expected` how much it differs from its neighbours, actual and expected;
    `components` the parts of the score and how unusual each is among the nodes that
    `compared_with` describes.
    """

    ego_size: int
    questions: dict[str, float] = field(hash=False)
    causes: tuple[str, ...]
    features: tuple[Deviation, ...]
    structure: tuple[Deviation, ...]
    surprising: tuple[Tie, ...]
    expected: tuple[Tie, ...]
    unlike: tuple[Deviation, ...]
    extremes: tuple[Extreme, ...]
    energy_actual: float
    energy_expected: float
    components: tuple[Component, ...]
    compared_with: str
    picture: Picture


# Not composed of its reasons: users read `why.features`, and JSON has all on one level. It only
# adds fields to a class that has no methods, so that nothing can be overridden.
@final
@dataclass(frozen=True)
class Explanation(Reasons):
    """Why a node has its score: its reasons, its rank, and both in words.

    Attributes: `rank` 1 is the most abnormal of `num_nodes`; `flag` whether it is above the
    threshold; `reason` the first cause in a few words; `summary` all in a few
    sentences; `name` under which the node is shown, None for its id, `node`.
    """

    node: str
    score: float
    rank: int
    num_nodes: int
    percentile: float
    p_value: float
    flag: bool
    reason: str
    summary: str
    name: str | None = None

    @property
    def shown(self) -> str:
        """The name, or else the id."""
        return self.node if self.name is None else self.name

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """What `to_dict` gave, also if it was JSON in between."""
        parts: dict[str, type[Deviation | Tie | Extreme | Component]] = {
            **dict.fromkeys(("features", "structure", "unlike"), Deviation),
            **dict.fromkeys(("surprising", "expected"), Tie),
            "extremes": Extreme,
            "components": Component,
        }
        lists = {name: tuple(kind(**part) for part in record[name]) for name, kind in parts.items()}
        drawn = dict(record["picture"])
        for name in ("nodes", "shade_actual", "shade_expected"):
            drawn[name] = tuple(drawn[name])
        drawn["rows"] = tuple(drawn.get("rows", ()))
        for name in ("actual", "expected"):
            drawn[name] = _edges(drawn[name])
        drawn["levels"] = tuple(
            Level(one["tau"], _edges(one["expected"]), tuple(one["shade"]))
            for one in drawn.get("levels", ())
        )
        rest = {"causes": tuple(record["causes"]), "picture": Picture(**drawn)}
        return cls(**(record | lists | rest))


def _edges(pairs: Iterable[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((int(a), int(b)) for a, b in pairs)


def by_strength(answers: Mapping[str, float]) -> dict[str, float]:
    """Answers by question, the most surprising first."""
    return dict(sorted(answers.items(), key=lambda item: -item[1]))


def causes_of(answers: Mapping[str, float]) -> tuple[str, ...]:
    """The questions by which a node is among the 5% most surprising, strongest first."""
    return tuple(name for name, answer in by_strength(answers).items() if answer > HIGH)


def is_rare(p_value: float) -> bool:
    """Whether all answers together are among the 5% most surprising."""
    return p_value <= _RARE


def far_by_itself(reasons: Reasons) -> Deviation | None:
    """The largest deviation of a feature or of the number of neighbours, if it is extreme."""
    features = reasons.features[:1] if "features" in reasons.questions else ()
    degree = [one for one in reasons.structure if one.name == _DEGREE.title]
    furthest = max((*features, *degree), key=lambda one: abs(one.size), default=None)
    return furthest if furthest is not None and abs(furthest.size) >= _EXTREME else None

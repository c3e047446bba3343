"""An explanation as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Self, final


@dataclass(frozen=True)
class Deviation:
    """One quantity of a node beside what was expected, both as the user would write them.

    Attributes: `size` how far it is off, in usual errors: positive is more than expected;
    `kind` as in `FeatureColumn`; `unit` what the user's numbers have beside them, such as $ or %;
    `observed_value` and `expected_value` the same as numbers, None where there is none: of dates
    days since 1970, of yes and no 1 and 0, of what may be missing 1 where it is; `is_amount`
    whether nothing below zero was seen, so that twice as much means something.
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

    Attributes: `node` the neighbour; `surprise` positive where the model would rather have it
    otherwise, negative where it is as expected; `present` whether the edge is there.
    """

    node: str
    surprise: float
    present: bool = True


@dataclass(frozen=True)
class Component:
    """One part of the score.

    Attributes: `value` as measured; `percentile` percent of the nodes with ego-graphs of about the
    same size that have less.
    """

    name: str
    value: float
    percentile: float


@dataclass(frozen=True)
class Picture:
    """An ego-graph before and after, to be drawn. The centre is number 0.

    Attributes: `nodes` names; `before` and `after` pairs of numbers, the edges; `shade` names the
    feature that the shades show; `shade_before` and `shade_after` one number per node, 0 to 1
    between the least and the greatest of them all; `left_out` how many nodes are not shown.
    """

    nodes: tuple[str, ...]
    before: tuple[tuple[int, int], ...]
    after: tuple[tuple[int, int], ...]
    shade: str
    shade_before: tuple[float, ...]
    shade_after: tuple[float, ...]
    left_out: int = 0


@dataclass(frozen=True)
class Reasons:
    """What can be told about one node, before it is put into words.

    Attributes: `questions` how surprising each answer is, strongest first; `causes` those by which
    it is among the 5% most surprising, the one that is told first being first; `features` and
    `structure` what deviates most, largest first; `surprising` ties first those that surprise
    most, `expected` ties first those that fit best; `unlike` in which columns it differs most from
    those around it, what these have being expected; `energy_before` and `energy_after` how much it
    differs from its neighbours, as it is and as it is expected; `components` how unusual every
    part of the score is among the nodes that `compared_with` names.
    """

    ego_size: int
    questions: dict[str, float] = field(hash=False)
    causes: tuple[str, ...]
    features: tuple[Deviation, ...]
    structure: tuple[Deviation, ...]
    surprising: tuple[Tie, ...]
    expected: tuple[Tie, ...]
    unlike: tuple[Deviation, ...]
    energy_before: float
    energy_after: float
    components: tuple[Component, ...]
    compared_with: str
    picture: Picture


# Not composed of its reasons: users read `why.features`, and JSON has all on one level. It only
# adds fields to a class that has no methods, so that nothing can be overridden.
@final
@dataclass(frozen=True)
class Explanation(Reasons):
    """Why a node has its score: its reasons, where it stands, and both in words.

    Attributes: `rank` 1 is the most abnormal of `num_nodes`; `flag` whether it is above the
    threshold; `reason` the first cause in a few words; `summary` one sentence.
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

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """What `to_dict` gave, also after a journey through JSON."""
        parts: dict[str, type[Deviation | Tie | Component]] = {
            **dict.fromkeys(("features", "structure", "unlike"), Deviation),
            **dict.fromkeys(("surprising", "expected"), Tie),
            "components": Component,
        }
        lists = {name: tuple(kind(**part) for part in record[name]) for name, kind in parts.items()}
        drawn = dict(record["picture"])
        for name in ("nodes", "shade_before", "shade_after"):
            drawn[name] = tuple(drawn[name])
        for name in ("before", "after"):
            drawn[name] = tuple((int(a), int(b)) for a, b in drawn[name])
        rest = {"causes": tuple(record["causes"]), "picture": Picture(**drawn)}
        return cls(**(record | lists | rest))

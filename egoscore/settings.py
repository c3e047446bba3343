"""The settings of a detector: names, rules, presets."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, fields
from numbers import Integral, Real
from typing import Any

import numpy as np

from egoscore.diffuse import SDES
from egoscore.errors import ParameterError
from egoscore.graph.positions import POSITIONS
from egoscore.learn import MODELS
from egoscore.reverse import SOLVERS
from egoscore.score import DISSIMILARITIES, WEIGHTINGS
from egoscore.surprise.network import Training


@dataclass(frozen=True)
class Settings:
    """What determines the paper's model and score, except data and seed. Defaults: the paper's.

    The paper draws lr, alpha and hidden size anew for every trial. Where a single value is needed
    it is the middle of the grid (alpha), or the value with which the training loss falls
    furthest on the built-in network (lr 0.01), which needs no labels.
    """

    dissimilarity: str = "rec"
    alpha: float = 0.5
    weighting: str = "sqrt_snr"
    num_levels: int = 4
    num_samples: int = 3
    model: str = "gdss"
    positions: str = "none"
    num_hops: int = 1
    max_nodes: int | None = None
    sde: str = "vp"
    solver: str = "em"
    steps: int = 100
    hidden_size: int = 16
    epochs: int = 300
    lr: float = 0.01
    weight_decay: float = 0.01
    batch_size: int = 4096
    use_ema: bool = False


AnySettings = Settings | Training
PRESETS: dict[str, AnySettings] = {"default": Training(), "paper": Settings()}

# what a value must be, and how to say it: where names can be added, when it is asked
Rule = tuple[Callable[[Any], bool], str | Callable[[], str]]


def _whole(low: int, high: int | None = None) -> Rule:
    limit = f"an int of at least {low}" if high is None else f"an int from {low} to {high}"
    return lambda v: _is_int(v) and v >= low and (high is None or v <= high), limit


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _one_of(names: Collection[str], *more: str) -> Rule:
    def said() -> str:
        return "one of " + ", ".join(f"'{name}'" for name in (*more, *names))

    return lambda v: isinstance(v, str) and (v in names or v in more), said


def _optional(rule: Rule) -> Rule:
    return lambda v: v is None or rule[0](v), f"None or {rule[1]}"


_FLAG: Rule = (lambda v: isinstance(v, bool | np.bool_), "True or False")

RULES: dict[str, Rule] = {
    "dissimilarity": _one_of(DISSIMILARITIES),
    "alpha": (lambda v: _is_number(v) and 0 <= v <= 1, "a float in [0, 1]"),
    "weighting": _one_of(WEIGHTINGS),
    "num_levels": _whole(1, 999),
    "num_samples": _whole(1, 999),
    "model": _one_of(MODELS),
    "positions": _one_of(POSITIONS, "none"),
    "num_hops": _whole(1, 99),
    "max_nodes": _optional(_whole(1, 2**15)),
    "sde": _one_of(SDES),
    "solver": _one_of(SOLVERS),
    "steps": _whole(1, 2**23),
    "hidden_size": (
        lambda v: _is_int(v) and 0 < v <= 4096 and v % 4 == 0,
        "a multiple of 4 from 4 to 4096",
    ),
    "epochs": _whole(0, 2**23),
    "lr": (lambda v: _is_number(v) and 0 < v <= 10, "a float in (0, 10]"),
    "weight_decay": (lambda v: _is_number(v) and 0 <= v <= 10, "a float in [0, 10]"),
    "batch_size": (lambda v: _is_int(v) and v >= 0, "an int of at least 0, 0 for all nodes"),
    "use_ema": _FLAG,
    "updates": _whole(1, 2**17),
    "preset": _one_of(PRESETS),
    "seed": _whole(0, 2**64 - 1),
    "contamination": (
        lambda v: (isinstance(v, str) and v == "auto") or (_is_number(v) and 0 < v <= 0.5),
        "a float in (0, 0.5] or 'auto'",
    ),
    "fdr": (lambda v: _is_number(v) and 0 < v < 1, "a float in (0, 1)"),
    "directed": _FLAG,
    "gpu": (lambda v: _is_int(v) and v >= -1, "an int, the number of the GPU or -1 for the CPU"),
    "num_workers": _whole(1, 4096),
    "verbose": (lambda v: _is_int(v) and v >= 0, "an int of at least 0"),
}


def check(name: str, value: Any) -> None:
    """Refuse a value that breaks the rule of its parameter."""
    holds, rule = RULES[name]
    if not holds(value):
        raise ParameterError(name, rule if isinstance(rule, str) else rule(), value)


def resolve(preset: str, given: dict[str, Any]) -> AnySettings:
    """The preset's settings, replaced by those given that are not None; all checked."""
    check("preset", preset)
    chosen = asdict(PRESETS[preset])
    for name, value in given.items():
        if value is not None:
            _require_part(name, value, preset)
            chosen[name] = value
    for name, value in chosen.items():
        check(name, value)
    if preset == "default" and not chosen["batch_size"]:
        raise ParameterError("batch_size", "an int of at least 1 with this preset", 0)
    plain = {
        name: value.item() if hasattr(value, "item") else value for name, value in chosen.items()
    }
    return type(PRESETS[preset])(**plain)


def resolve_paper(given: dict[str, Any]) -> Settings:
    """The paper's settings, replaced by those given that are not None; all checked."""
    chosen = resolve("paper", given)
    assert isinstance(chosen, Settings)
    return chosen


def _require_part(name: str, value: Any, preset: str) -> None:
    """Refuse what the preset has no use for: silence would mislead."""
    if not hasattr(PRESETS[preset], name):
        others = " or ".join(f"'{p}'" for p, settings in PRESETS.items() if hasattr(settings, name))
        rule = f"left out with preset '{preset}', where it plays no part (it is one of {others})"
        raise ParameterError(name, rule, value)


SETTING_NAMES = tuple(
    dict.fromkeys(field.name for settings in PRESETS.values() for field in fields(settings))
)

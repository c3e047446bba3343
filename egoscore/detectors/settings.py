"""Settings of a detector: dataclass fields that carry their rule and help text.

From these fields come the parameters of `EgoScore`, the options of the command line, and the checks
of both. Nothing here imports torch, because `--help` reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from egoscore.errors import ParameterError

S = TypeVar("S")


@dataclass(frozen=True)
class Rule:
    """What a value must be; `text`, or what it returns, completes the sentence "must be …"."""

    holds: Callable[[Any], bool]
    text: str | Callable[[], str]

    def check(self, name: str, value: Any, of: str = "EgoScore") -> None:
        """Refuse a value that breaks the rule of the parameter `name`."""
        if not self.holds(value):
            text = self.text if isinstance(self.text, str) else self.text()
            raise ParameterError(name, text, value, of)


def setting(default: Any, rule: Rule, help: str, rescores: bool = False) -> Any:
    """A field of a settings class; one that `rescores` only combines finished measurements."""
    return field(default=default, metadata={"rule": rule, "help": help, "rescores": rescores})


def whole(low: int, high: int | None = None) -> Rule:
    """An int of at least `low`, and at most `high`."""
    text = f"an int of at least {low}" if high is None else f"an int from {low} to {high}"
    return Rule(lambda v: is_int(v) and v >= low and (high is None or v <= high), text)


def number(low: float, high: float, *, open_below: bool = False, open_above: bool = False) -> Rule:
    """A float between `low` and `high`, each excluded if open."""
    text = f"a float in {'(' if open_below else '['}{low:g}, {high:g}{')' if open_above else ']'}"
    return Rule(
        lambda v: (
            is_number(v)
            and (v > low if open_below else v >= low)
            and (v < high if open_above else v <= high)
        ),
        text,
    )


def multiple_of(step: int, high: int) -> Rule:
    """A positive multiple of `step`, at most `high`."""
    return Rule(
        lambda v: is_int(v) and 0 < v <= high and v % step == 0,
        f"a multiple of {step} from {step} to {high}",
    )


def one_of(names: Collection[str] | Callable[[], Collection[str]]) -> Rule:
    """One of some names; a function is asked at the time of the check."""

    def known() -> Collection[str]:
        return names() if callable(names) else names

    return Rule(
        lambda v: isinstance(v, str) and v in known(),
        lambda: "one of " + ", ".join(f"'{name}'" for name in known()),
    )


def optional(rule: Rule) -> Rule:
    """None, or what `rule` says."""
    return Rule(lambda v: v is None or rule.holds(v), f"None or {rule.text}")


flag = Rule(lambda v: isinstance(v, bool | np.bool_), "True or False")


def is_int(value: Any) -> bool:
    """Whether a value is a whole number, and not True or False."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a real number, and not True or False."""
    return isinstance(value, Real) and not isinstance(value, bool)


def resolve(kind: type[S], given: dict[str, Any]) -> S:
    """The settings of this kind, with defaults replaced by the values given; all checked."""
    chosen = {}
    for one in fields(kind):  # type: ignore[arg-type]
        value: Any = one.default if given.get(one.name) is None else given[one.name]
        one.metadata["rule"].check(one.name, value)
        chosen[one.name] = value.item() if hasattr(value, "item") else value
    return kind(**chosen)

"""Nested dataclasses as named tensors and plain facts, and back: weights are inert data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import torch
from torch import Tensor, nn

from egoscore.learn.state import named_under
from egoscore.surprise.network import CentreNetwork


def pack(value: Any, name: str, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Put the arrays and weights in `value` into `tensors`, all else into `facts`, by name."""
    if isinstance(value, np.ndarray):
        tensors[name] = torch.from_numpy(np.ascontiguousarray(value))
    elif isinstance(value, nn.Module):
        weights = value.state_dict().items()
        tensors |= {f"{name}.{key}": weight.contiguous().clone() for key, weight in weights}
    elif is_dataclass(value):
        for field in fields(value):
            pack(getattr(value, field.name), f"{name}.{field.name}", tensors, facts)
    elif isinstance(value, dict) or (value and isinstance(value, tuple) and _is_big(value[0])):
        parts = value if isinstance(value, dict) else dict(enumerate(value))
        facts[name] = [str(key) for key in parts]
        for key, part in parts.items():
            pack(part, f"{name}.{key}", tensors, facts)
    else:
        facts[name] = value


def _is_big(value: Any) -> bool:
    return isinstance(value, np.ndarray | nn.Module) or is_dataclass(value)


def unpack(kind: Any, name: str, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> Any:
    """The value of type `kind` that `pack` put away under `name`."""
    if get_origin(kind) is np.ndarray:
        return tensors[name].numpy()
    if kind is CentreNetwork:
        return CentreNetwork.restored(named_under(f"{name}.", tensors))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        parts = {f.name: (hints[f.name], f"{name}.{f.name}") for f in fields(kind)}
        return kind(**{key: unpack(*part, tensors, facts) for key, part in parts.items()})  # type: ignore[operator]
    if get_origin(kind) is dict:
        _, of = get_args(kind)
        return {key: unpack(of, f"{name}.{key}", tensors, facts) for key in facts[name]}
    if kind == tuple[CentreNetwork, ...]:
        keys = [f"{name}.{key}" for key in facts[name]]
        return tuple(unpack(CentreNetwork, key, tensors, facts) for key in keys)
    if kind in (int, float):
        return kind(facts[name])  # anything else than a number is refused here
    return tuple(facts[name]) if isinstance(facts[name], list) else facts[name]

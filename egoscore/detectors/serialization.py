"""Nested dataclasses as named tensors and JSON facts, and back: saved models are inert data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import torch
from torch import Tensor, nn


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
    elif isinstance(value, dict) or (value and isinstance(value, tuple) and _is_nested(value[0])):
        parts = value if isinstance(value, dict) else dict(enumerate(value))
        facts[name] = [str(key) for key in parts]
        for key, part in parts.items():
            pack(part, f"{name}.{key}", tensors, facts)
    else:
        facts[name] = value


def _is_nested(value: Any) -> bool:
    return isinstance(value, np.ndarray | nn.Module) or is_dataclass(value)


def shapes(tensors: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    """The shapes of tensors by name: weights fit a network if theirs are equal."""
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def unpack(kind: Any, name: str, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> Any:
    """The value of type `kind` that `pack` stored under `name`.

    A module class needs a class method `restored` that takes its weights.
    """
    if get_origin(kind) is np.ndarray:
        return tensors[name].numpy()
    if isinstance(kind, type) and issubclass(kind, nn.Module):
        return kind.restored(named_under(f"{name}.", tensors))  # type: ignore[attr-defined]
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        parts = {f.name: (hints[f.name], f"{name}.{f.name}") for f in fields(kind)}
        return kind(**{key: unpack(*part, tensors, facts) for key, part in parts.items()})  # type: ignore[operator]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is dict:
        return {key: unpack(arguments[1], f"{name}.{key}", tensors, facts) for key in facts[name]}
    if origin is tuple and arguments[-1] is ... and _holds_parts(arguments[0]):
        return tuple(unpack(arguments[0], f"{name}.{key}", tensors, facts) for key in facts[name])
    if kind in (int, float):
        return kind(facts[name])  # refuses anything that is not a number
    return tuple(facts[name]) if isinstance(facts[name], list) else facts[name]


def _holds_parts(kind: Any) -> bool:
    """Whether `pack` stored values of this type apart from each other."""
    is_module = isinstance(kind, type) and issubclass(kind, nn.Module)
    return is_module or is_dataclass(kind) or get_origin(kind) is np.ndarray


def named_under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names start with `prefix`, without it."""
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }

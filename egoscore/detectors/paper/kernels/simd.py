"""Vectors of eight floats in compiled code, for short loops that the compiler does not vectorise.

In a function compiled by numba, `load(array, start)` loads eight consecutive elements of a flat
float32 array, for arithmetic and `store`. Each operation is an instruction or two on every
processor. All eight elements must lie within the array.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from egoscore.jit import inlined

WIDTH = 8
_FLOATS = ir.VectorType(ir.FloatType(), WIDTH)
_INTEGERS = ir.VectorType(ir.IntType(32), WIDTH)
Generate = Callable[[Any, Any, Any, Any], Any]


class Lanes(types.Type):
    """The numba type of eight floats."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _FLOATS)  # type: ignore[no-untyped-call]


_LANES = Lanes()


def _operation(function: Callable[..., tuple[Any, Generate]]) -> Any:
    """An operation of compiled code: its types, and a function that generates instructions."""
    return intrinsic(function)


def _place(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    """A pointer to eight floats of a flat array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [start]), _FLOATS.as_pointer())


@_operation
def load(typing: Any, array: Any, start: Any) -> tuple[Any, Generate]:
    """Eight elements of a flat array from `start` on."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.load(_place(context, builder, signature.args[0], *given), align=4)

    return _LANES(array, types.intp), generate


@_operation
def store(typing: Any, array: Any, start: Any, value: Any) -> tuple[Any, Generate]:
    """Write eight elements of a flat array from `start` on."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _place(context, builder, signature.args[0], *given[:2])
        builder.store(given[2], place, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, _LANES), generate


@_operation
def splat(typing: Any, value: Any) -> tuple[Any, Generate]:
    """One float in all lanes."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _in_all_lanes(builder, given[0])

    return _LANES(types.float32), generate


def _in_all_lanes(builder: Any, value: Any) -> Any:
    nothing = ir.Constant(_FLOATS, ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(_INTEGERS, [0] * WIDTH))


@_operation
def splat_at(typing: Any, array: Any, at: Any) -> tuple[Any, Generate]:
    """One element of a flat array in all lanes."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array, at = given
        data = context.make_array(signature.args[0])(context, builder, array).data
        return _in_all_lanes(builder, builder.load(builder.gep(data, [at])))

    return _LANES(array, types.intp), generate


@_operation
def horizontal_sum(typing: Any, value: Any) -> tuple[Any, Generate]:
    """The sum of all lanes, by adding halves."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        (found,), size = given, WIDTH
        while size > 1:
            size //= 2
            places = ir.VectorType(ir.IntType(32), size)
            low, high = (
                builder.shuffle_vector(found, found, ir.Constant(places, [*range(at, at + size)]))
                for at in (0, size)
            )
            found = builder.fadd(low, high)
        return builder.extract_element(found, ir.Constant(ir.IntType(32), 0))

    return types.float32(_LANES), generate


@_operation
def _power_of_2(typing: Any, exponent: Any) -> tuple[Any, Generate]:
    """2^exponent for whole numbers from -126 to 127, made from the bits of the exponent."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        whole = builder.fptosi(given[0], _INTEGERS)
        biased = builder.add(whole, ir.Constant(_INTEGERS, [127] * WIDTH))
        bits = builder.shl(biased, ir.Constant(_INTEGERS, [23] * WIDTH))
        return builder.bitcast(bits, _FLOATS)

    return _LANES(_LANES), generate


@_operation
def _keep_nan(typing: Any, value: Any, source: Any) -> tuple[Any, Generate]:
    """`value`, with NaN in the lanes where `source` has it."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        value, source = given
        return builder.select(builder.fcmp_unordered("uno", source, source), source, value)

    return _LANES(_LANES, _LANES), generate


def _instruction(name: str, context: Any, builder: Any, signature: Any, given: Any) -> Any:
    return getattr(builder, name)(*given)


def _function(name: str, context: Any, builder: Any, signature: Any, given: Any) -> Any:
    kind = ir.FunctionType(_FLOATS, [_FLOATS] * len(given))
    find: Any = cgutils.get_or_insert_function
    return builder.call(find(builder.module, kind, f"llvm.{name}.v{WIDTH}f32"), given)


def _of_one(generate: Generate) -> Any:
    return _operation(lambda typing, a: (_LANES(_LANES), generate))


def _of_two(generate: Generate) -> Any:
    return _operation(lambda typing, a, b: (_LANES(_LANES, _LANES), generate))


def _of_three(generate: Generate) -> Any:
    return _operation(lambda typing, a, b, c: (_LANES(_LANES, _LANES, _LANES), generate))


add, subtract, multiply, divide = (
    _of_two(partial(_instruction, name)) for name in ("fadd", "fsub", "fmul", "fdiv")
)
minimum, _with_sign_of = (_of_two(partial(_function, name)) for name in ("minnum", "copysign"))
_size, _floor = (_of_one(partial(_function, name)) for name in ("fabs", "floor"))
fma = _of_three(partial(_function, "fmuladd"))  # a·b + c, rounded once where that is faster


@inlined
def tanh(value):  # type: ignore[no-untyped-def]
    """(1 - e)/(1 + e) with e = exp(-2·|value|) = 2^k·exp(r), to 1e-7; NaN stays NaN."""
    one = splat(np.float32(1.0))
    x = multiply(minimum(_size(value), splat(np.float32(9.0))), splat(np.float32(-2.0)))
    k = _floor(fma(x, splat(np.float32(1.4426950408889634)), splat(np.float32(0.5))))
    # log 2 in two parts, the first with few digits, so that r is exact
    r = fma(k, splat(np.float32(-0.693359375)), x)
    r = fma(k, splat(np.float32(2.12194440e-4)), r)
    series = fma(splat(np.float32(1.9875691500e-4)), r, splat(np.float32(1.3981999507e-3)))
    series = fma(series, r, splat(np.float32(8.3334519073e-3)))
    series = fma(series, r, splat(np.float32(4.1665795894e-2)))
    series = fma(series, r, splat(np.float32(1.6666665459e-1)))
    series = fma(series, r, splat(np.float32(5.0000001201e-1)))
    e = multiply(fma(multiply(series, r), r, add(r, one)), _power_of_2(k))
    found = _with_sign_of(divide(subtract(one, e), add(one, e)), value)
    return _keep_nan(found, value)

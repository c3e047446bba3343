"""ELU in one pass over memory: compiled on the CPU, torch operations elsewhere.

Values are (channels, count), so that a channel's bias is one number for a long row. The result is
elu + 1 = exp(min(z, 0)) + max(z, 0), which takes one operation less; its slope is min(elu + 1, 1),
and the next layer subtracts the 1 in its bias.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from egoscore.jit import fused, inlined

_LOWEST = np.float32(-87.0)  # below, exp is no longer a normal number


@inlined
def _exp(x):  # type: ignore[no-untyped-def]
    """exp(x) for x ≤ 0 to float32 precision, without calling the C library: 2^k · exp(r)."""
    x = max(x, _LOWEST)
    k = np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
    # log 2 in two parts, the first with few digits, so that r is exact
    r = x - k * np.float32(0.693359375) + k * np.float32(2.12194440e-4)
    series = np.float32(1.9875691500e-4) * r + np.float32(1.3981999507e-3)
    series = series * r + np.float32(8.3334519073e-3)
    series = series * r + np.float32(4.1665795894e-2)
    series = series * r + np.float32(1.6666665459e-1)
    series = series * r + np.float32(5.0000001201e-1)
    power = np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)
    return (series * r * r + r + np.float32(1.0)) * power


@fused
def _elu_plus_1(value, bias):  # type: ignore[no-untyped-def]
    for channel in range(value.shape[0]):
        for i in range(value.shape[1]):
            z = value[channel, i] + bias[channel]
            value[channel, i] = _exp(min(z, np.float32(0.0))) + max(z, np.float32(0.0))


@fused
def _times_slope(grad, activated):  # type: ignore[no-untyped-def]
    for channel in range(grad.shape[0]):
        for i in range(grad.shape[1]):
            grad[channel, i] *= min(activated[channel, i], np.float32(1.0))


def _has_kernel(value: Tensor) -> bool:
    return value.device.type == "cpu" and value.dtype == torch.float32


def elu_plus_1_(value: Tensor, bias: Tensor) -> Tensor:
    """elu(value + bias) + 1 in place of `value` (C, T); bias (C,)."""
    if _has_kernel(value):
        _elu_plus_1(value.numpy(), bias.numpy())
        return value
    value.add_(bias.unsqueeze(1))
    positive = value.clamp(min=0.0)
    return value.clamp_(max=0.0).exp_().add_(positive)


def times_slope_(grad: Tensor, activated: Tensor) -> Tensor:
    """`grad` (C, T) times the slope of ELU, in place, where `activated` is elu + 1."""
    if _has_kernel(grad):
        _times_slope(grad.numpy(), activated.numpy())
        return grad
    return grad.mul_(activated.clamp(max=1.0))

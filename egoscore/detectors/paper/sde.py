"""Linear SDEs dx = f(t)·x dt + g(t) dw on [0, 1] with Gaussian transition kernels.

Song et al., "Score-based generative modeling through stochastic differential equations", 2021
(equations 29 and 32 to 34, appendix B). Times are float64 tensors of shape (B,); everything
returned has that shape too. An SDE knows nothing of step counts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

END_TIME = 1.0


class Sde(ABC):
    """An SDE is defined by four functions of time; the rest follows from them."""

    @abstractmethod
    def drift(self, t: Tensor) -> Tensor:
        """f(t), so that the drift of x is f(t)·x."""

    @abstractmethod
    def diffusion(self, t: Tensor) -> Tensor:
        """g(t)."""

    @abstractmethod
    def decay(self, t: Tensor) -> Tensor:
        """m(t), the remaining signal: the mean of the kernel is m(t)·x(0)."""

    @abstractmethod
    def variance(self, t: Tensor) -> Tensor:
        """sigma(t)², the variance of the kernel from time 0 to t."""

    def std(self, t: Tensor) -> Tensor:
        """sigma(t)."""
        return self.variance(t).sqrt()

    def snr(self, t: Tensor) -> Tensor:
        """Signal-to-noise ratio m(t)² / sigma(t)²."""
        return self.decay(t).square() / self.variance(t)

    def transition(self, earlier: Tensor, later: Tensor) -> tuple[Tensor, Tensor]:
        """Exact kernel between two times: x(later) ~ N(factor·x(earlier), variance)."""
        factor = self.decay(later) / self.decay(earlier)
        variance = self.variance(later) - factor.square() * self.variance(earlier)
        return factor, variance.clamp(min=0.0)


@dataclass(frozen=True)
class VP(Sde):
    """Variance preserving: beta(t) = beta_min + (beta_max - beta_min)·t."""

    beta_min: float = 0.1
    beta_max: float = 1.0

    def beta(self, t: Tensor) -> Tensor:
        """The rate of noising at time t."""
        return self.beta_min + (self.beta_max - self.beta_min) * t

    def noised(self, t: Tensor) -> Tensor:
        """Integral of beta from 0 to t."""
        return self.beta_min * t + 0.5 * (self.beta_max - self.beta_min) * t.square()

    def drift(self, t: Tensor) -> Tensor:
        return -0.5 * self.beta(t)

    def diffusion(self, t: Tensor) -> Tensor:
        return self.beta(t).sqrt()

    def decay(self, t: Tensor) -> Tensor:
        return torch.exp(-0.5 * self.noised(t))

    def variance(self, t: Tensor) -> Tensor:
        return -torch.expm1(-self.noised(t))


@dataclass(frozen=True)
class SubVP(Sde):
    """Sub-variance preserving: the drift of VP with less noise."""

    beta_min: float = 0.1
    beta_max: float = 1.0

    @property
    def _vp(self) -> VP:
        return VP(self.beta_min, self.beta_max)

    def drift(self, t: Tensor) -> Tensor:
        return self._vp.drift(t)

    def diffusion(self, t: Tensor) -> Tensor:
        return (self._vp.beta(t) * -torch.expm1(-2.0 * self._vp.noised(t))).sqrt()

    def decay(self, t: Tensor) -> Tensor:
        return self._vp.decay(t)

    def variance(self, t: Tensor) -> Tensor:
        return self._vp.variance(t).square()


@dataclass(frozen=True)
class VE(Sde):
    """Variance exploding: no drift, sigma grows geometrically from sigma_min to sigma_max."""

    sigma_min: float = 0.1
    sigma_max: float = 1.0

    @property
    def _rate(self) -> float:
        return math.log(self.sigma_max / self.sigma_min)

    def drift(self, t: Tensor) -> Tensor:
        return torch.zeros_like(t)

    def diffusion(self, t: Tensor) -> Tensor:
        return self.sigma_min * torch.exp(self._rate * t) * math.sqrt(2.0 * self._rate)

    def decay(self, t: Tensor) -> Tensor:
        return torch.ones_like(t)

    def variance(self, t: Tensor) -> Tensor:
        # sigma(t)² - sigma(0)², which is 0 at time 0 (Song et al., equation 29)
        return self.sigma_min**2 * torch.expm1(2.0 * self._rate * t)


SDES: dict[str, Sde] = {"vp": VP(), "ve": VE(), "subvp": SubVP()}


def per_graph(coefficient: Tensor, like: Tensor) -> Tensor:
    """(B,) coefficients with the dtype and device of `like`, as (B, 1, 1)."""
    return coefficient.to(like.device, like.dtype).view(-1, 1, 1)


def perturb(value: Tensor, noise: Tensor, sde: Sde, t: Tensor) -> Tensor:
    """A draw from the kernel at time t: m(t)·value + sigma(t)·noise, shapes (B, N, …)."""
    return per_graph(sde.decay(t), value) * value + per_graph(sde.std(t), value) * noise

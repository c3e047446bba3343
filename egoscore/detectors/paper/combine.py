"""Scores from the component table: equation 7 of the paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from egoscore.detectors.paper.components import ComponentTable
from egoscore.detectors.paper.sde import Sde

# gamma(tau). The paper has both sqrt(SNR) and SNR; its published numbers use the root.
WEIGHTINGS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "sqrt_snr": np.sqrt,
    "snr": lambda snr: snr,
    "none": np.ones_like,
}


def matrix_distance(table: ComponentTable, alpha: float) -> NDArray[np.float64]:
    """(1 - alpha)·structure error + alpha·feature error, shape (N, K)."""
    structure = table.component("structure_error").astype(np.float64)
    return (1.0 - alpha) * structure + alpha * table.component("feature_error")


def energy_shift(table: ComponentTable, alpha: float) -> NDArray[np.float64]:
    """The absolute change of the normalised energy, shape (N, K); alpha is not used."""
    return table.component("energy_shift").astype(np.float64)


DISSIMILARITIES: dict[str, Callable[[ComponentTable, float], NDArray[np.float64]]] = {
    "rec": matrix_distance,
    "energy": energy_shift,
}


def combine(
    table: ComponentTable, dissimilarity: str, alpha: float, weighting: str, sde: Sde
) -> NDArray[np.float64]:
    """Sum over levels and samples of gamma(tau)·d, shape (N,). Higher is more abnormal."""
    snr = sde.snr(torch.tensor(table.taus, dtype=torch.float64)).numpy()
    weights = WEIGHTINGS[weighting](snr) * table.num_samples
    return DISSIMILARITIES[dissimilarity](table, alpha) @ weights

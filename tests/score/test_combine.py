"""Scores from a component table, against the paper's sums written out."""

import numpy as np
import pytest

from egoscore.diffuse import VP
from egoscore.score.combine import combine
from egoscore.score.table import LEVEL_COMPONENTS, ComponentTable

TAUS = (0.2, 0.4, 0.6, 0.8)


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    values = rng.random((5, 4, len(LEVEL_COMPONENTS))).astype(np.float32)
    sizes = np.arange(2, 7)
    return ComponentTable(np.arange(5), sizes, rng.random(5).astype(np.float32), values, TAUS, 3)


def snr(tau):
    decay = np.exp(-0.9 * tau**2 / 4 - 0.1 * tau / 2)
    return decay**2 / (1 - decay**2)


GAMMAS = {"sqrt_snr": lambda tau: np.sqrt(snr(tau)), "snr": snr, "none": lambda tau: 1.0}


@pytest.mark.parametrize("weighting", GAMMAS)
@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.8, 1.0])
def test_rec_is_the_weighted_sum_over_levels_and_samples(table, weighting, alpha):
    feature, structure = (
        LEVEL_COMPONENTS.index("feature_error"),
        LEVEL_COMPONENTS.index("structure_error"),
    )
    expected = [
        sum(
            3 * GAMMAS[weighting](tau)
            * ((1 - alpha) * float(row[i, structure]) + alpha * float(row[i, feature]))
            for i, tau in enumerate(TAUS)
        )
        for row in table.values
    ]  # fmt: skip
    np.testing.assert_allclose(combine(table, "rec", alpha, weighting, VP()), expected, rtol=1e-6)


@pytest.mark.parametrize("weighting", GAMMAS)
def test_energy_is_the_weighted_sum_of_shifts_and_ignores_alpha(table, weighting):
    shift = table.component("energy_shift").astype(float)
    expected = shift @ np.array([3 * GAMMAS[weighting](tau) for tau in TAUS])
    for alpha in (0.0, 0.7):
        found = combine(table, "energy", alpha, weighting, VP())
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_joining_shards_sorts_by_node_and_keeps_every_number(table):
    parts = []
    for rows in ([3, 1], [4, 0, 2]):
        parts.append(
            ComponentTable(
                table.node[rows], table.ego_size[rows], table.energy[rows], table.values[rows],
                TAUS, 3,
            )
        )  # fmt: skip
    joined = ComponentTable.join(parts)
    for name in ("node", "ego_size", "energy", "values"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(table, name))


def test_columns_name_component_and_level(table):
    columns = table.columns()
    np.testing.assert_array_equal(
        columns["energy_shift@0.4"], table.component("energy_shift")[:, 1]
    )
    assert len(columns) == 3 + len(TAUS) * len(LEVEL_COMPONENTS)

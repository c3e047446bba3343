"""How unusual each part of the score is: among its peers, against scipy."""

import numpy as np
import pytest
from scipy.stats import percentileofscore

from egoscore.explain.explainer import components_of
from egoscore.explain.peers import peers_of

RNG = np.random.default_rng(0)
SIZES = RNG.integers(1, 30, 700)
COLUMNS = {"energy": RNG.normal(size=700), "error": RNG.integers(0, 4, 700).astype(np.float32)}


@pytest.mark.parametrize("node", [0, 7, 699])
def test_every_column_is_told_with_its_rank_among_its_peers(node):
    group = peers_of(SIZES, node)
    found = components_of(COLUMNS, group, node)
    assert [one.name for one in found] == list(COLUMNS)
    for one, values in zip(found, COLUMNS.values(), strict=True):
        assert one.value == pytest.approx(values[node], abs=1e-6)
        expected = percentileofscore(values[group], values[node], kind="mean")
        assert one.percentile == pytest.approx(expected, abs=0.05)


def test_the_comparison_is_not_with_all_nodes():
    sizes = np.repeat([3, 30], 200)
    values = sizes.astype(float) + np.tile(np.arange(200), 2) / 1000
    assert components_of({"x": values}, peers_of(sizes, 199), 199)[0].percentile == pytest.approx(
        99.8, abs=0.05
    )
    assert components_of({"x": values}, peers_of(sizes, 200), 200)[0].percentile == pytest.approx(
        0.2, abs=0.06
    )

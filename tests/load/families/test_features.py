"""Features of varied networks: each kind is what its name says, all follow the communities."""

import numpy as np
import pytest
from scipy.stats import kurtosis

from egoscore.load.families.features import BINARY, FEATURE_KINDS, draw_features

COMMUNITY = np.repeat(np.arange(10), 200)


def draw(kind, num_features=24, positions=None):
    return draw_features(np.random.default_rng(0), kind, num_features, COMMUNITY, positions)


def explained(x, groups):
    """Share of the variance that lies between the groups."""
    means = np.stack([x[groups == group].mean(axis=0) for group in np.unique(groups)])
    return float(means.var(axis=0).sum() / x.var(axis=0).sum())


@pytest.mark.parametrize("kind", FEATURE_KINDS)
@pytest.mark.parametrize("num_features", [6, 16, 150])
def test_shape_and_values(kind, num_features):
    x = draw(kind, num_features)
    assert x.shape == (len(COMMUNITY), num_features)
    assert x.dtype == np.float32
    assert np.isfinite(x).all()
    assert (set(np.unique(x)) == {0.0, 1.0}) == (kind in BINARY)


@pytest.mark.parametrize("kind", FEATURE_KINDS)
def test_communities_have_features_in_common(kind):
    shuffled = np.random.default_rng(1).permutation(COMMUNITY)
    assert explained(draw(kind), COMMUNITY) > 0.15 > 0.02 > explained(draw(kind), shuffled)


@pytest.mark.parametrize("kind", FEATURE_KINDS)
def test_those_near_each_other_have_features_in_common(kind):
    positions = np.random.default_rng(2).standard_normal((len(COMMUNITY), 2))
    x = draw(kind, positions=positions)
    quadrant = 2 * (positions[:, 0] > 0) + (positions[:, 1] > 0)
    assert explained(x, quadrant) > 0.1 > 0.02 > explained(x, COMMUNITY)


def test_categories_exclude_each_other():
    x = draw("categorical", 24)
    np.testing.assert_array_equal(x.reshape(-1, 6, 4).sum(axis=2), 1)


def test_words_are_mostly_absent():
    assert 0.05 < draw("words").mean() < 0.35


def test_heavy_tails_are_heavier():
    # Not quite 0 for the Gaussian ones: they differ between ten communities.
    heavy, gaussian = kurtosis(draw("heavy")), kurtosis(draw("gaussian"))
    print(f"excess kurtosis: {heavy.min():.1f} and more, {abs(gaussian).max():.1f} at most")
    assert heavy.min() > 3 > 1.5 > abs(gaussian).max()


def test_curved_features_are_not_linear_in_what_they_come_from():
    """Beyond 16 directions, the hidden values, Gaussian features are noise; curved ones are not."""
    ratios = {}
    for kind in ("gaussian", "curved"):
        eigenvalues = np.linalg.eigvalsh(np.corrcoef(draw(kind, 150).T))[::-1]
        ratios[kind] = eigenvalues[16:24].mean() / eigenvalues[32:40].mean()
    print(f"directions 17 to 24 over 33 to 40: {ratios}")
    assert ratios["gaussian"] < 1.5 < 2 < ratios["curved"]

"""In which columns a node differs from others."""

import numpy as np

from egoscore.detectors.conditional.contrast import unlike
from egoscore.explain.deviations import Ranges, Units
from egoscore.graph import FeatureScaling
from egoscore.graph.feature_column import FeatureColumn


def test_what_rounds_to_zero_among_the_others_is_zero():
    table = np.array([[0.0], [0.0], [1.5]], dtype=np.float32)
    scaling = FeatureScaling.fit(table)
    units = Units((FeatureColumn("a"),), scaling, Ranges.of(table, scaling.mean))
    own, others = scaling.scale(table[2:])[0], scaling.scale(table[:2]) + np.float32(1e-7)
    (found,) = unlike(table[2], own, others, np.array([0.1]), units, 2)
    assert (found.observed, found.expected, found.expected_value) == ("1.5", "0", 0.0)

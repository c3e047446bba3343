"""What is unusual about a node's place, in plain words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Deviation
from egoscore.explain.features import beside
from egoscore.explain.seen import Seen
from egoscore.graph.structure import STRUCTURE, describe_structure
from egoscore.surprise.place import Place

_DEGREE = STRUCTURE.index("log_degree")
_VERY_FAR = 5.0  # usual errors


def unusual_place(
    place: Place, structure: NDArray[np.float64], seen: Seen
) -> tuple[Deviation, ...]:
    """What one node's place, `structure` (7,), is like beside what one expects, furthest off first.

    Of the number of neighbours the mean is expected, of the rest what that number lets one expect,
    as far as it was `seen`. A number of neighbours that is very far off comes before all others.
    """
    observed, ought, sizes = place.compared(structure)
    expected, left = seen.bring_within(observed, ought)
    sizes, columns = sizes * left, describe_structure()
    far = np.abs(sizes)
    far[_DEGREE] = np.inf if far[_DEGREE] >= _VERY_FAR else far[_DEGREE]
    return tuple(
        beside(columns[j], *map(float, (observed[j], expected[j], sizes[j], seen.least[j])))
        for j in np.argsort(-far, kind="stable")
    )

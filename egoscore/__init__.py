"""egoscore: find abnormal nodes in attributed networks.

Heavy parts are imported when they are first used, so that `import egoscore` is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from egoscore.detector import EgoScore
    from egoscore.errors import EgoScoreError
    from egoscore.explain.explanation import Explanation
    from egoscore.graph.attributed_graph import AttributedGraph
    from egoscore.load.datasets import load_dataset
    from egoscore.load.generate import generate_network

_HOMES = {
    "AttributedGraph": "egoscore.graph.attributed_graph",
    "EgoScore": "egoscore.detector",
    "EgoScoreError": "egoscore.errors",
    "Explanation": "egoscore.explain.explanation",
    "generate_network": "egoscore.load.generate",
    "load_dataset": "egoscore.load.datasets",
}

__all__ = [
    "AttributedGraph",
    "EgoScore",
    "EgoScoreError",
    "Explanation",
    "generate_network",
    "load_dataset",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'egoscore' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

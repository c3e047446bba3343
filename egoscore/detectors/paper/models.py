"""Generative models by name. Nothing here imports torch: `--help` lists the names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from egoscore.detectors.paper.generative import GenerativeModel

# "module:class", imported on use; or the class itself. Adding a model adds one line.
MODELS: dict[str, str | Callable[..., GenerativeModel]] = {
    "gdss": "egoscore.detectors.paper.generative:ScoreModel",
    "gdss-graff": "egoscore.detectors.paper.generative:GraffScoreModel",
    "congress": "egoscore.detectors.paper.congress:JointModel",
}


def model_class(name: str) -> Callable[..., GenerativeModel]:
    """What makes the model called `name`, given sizes, seed and direction."""
    found = MODELS[name]
    if not isinstance(found, str):
        return found
    module, _, attribute = found.partition(":")
    kind: Any = getattr(import_module(module), attribute)
    return kind  # type: ignore[no-any-return]

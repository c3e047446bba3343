"""Learning what ego-graphs look like.

In: ego-graphs. Out: a `GenerativeModel`, which points from noised to likely ego-graphs.
Not here: how a noised ego-graph is brought back, and what is made of it.
"""

from collections.abc import Callable
from functools import partial

from egoscore.learn.joint import JointModel
from egoscore.learn.model import GenerativeModel, ScoreModel
from egoscore.learn.state import TrainingState
from egoscore.learn.train import TrainingConfig, takes_all, train

MODELS: dict[str, Callable[..., GenerativeModel]] = {
    "gdss": ScoreModel,
    "gdss-graff": partial(ScoreModel, convolution="graff"),
    "congress": JointModel,
}

__all__ = [
    "MODELS",
    "GenerativeModel",
    "JointModel",
    "ScoreModel",
    "TrainingConfig",
    "TrainingState",
    "takes_all",
    "train",
]

"""Learning what ego-graphs look like.

In: ego-graphs. Out: a `ScoreModel`, two networks that point from noised to likely ego-graphs.
Not here: how a noised ego-graph is brought back, and what is made of it.
"""

from egoscore.learn.model import ScoreModel
from egoscore.learn.state import TrainingState
from egoscore.learn.train import TrainingConfig, train

__all__ = ["ScoreModel", "TrainingConfig", "TrainingState", "train"]

"""Settings of the paper's detector; the defaults are the paper's."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from egoscore.detectors.settings import (
    flag,
    multiple_of,
    number,
    one_of,
    optional,
    setting,
    whole,
)

if TYPE_CHECKING:
    from egoscore.detectors.paper.generative import GenerativeModel

# Generative models by name: "module:class", imported on use because `--help` lists the names; or
# the class itself. Adding a model adds one line.
MODELS: dict[str, str | Callable[..., GenerativeModel]] = {
    "gdss": "egoscore.detectors.paper.generative:ScoreModel",
    "gdss-graff": "egoscore.detectors.paper.generative:GraffScoreModel",
    "congress": "egoscore.detectors.paper.congress:JointModel",
}


def _names(module: str, table: str, *more: str) -> Callable[[], Collection[str]]:
    """The keys of a table of named choices, whose module is imported when a value is checked."""
    return lambda: (*more, *getattr(import_module(f"{__package__}.{module}"), table))


@dataclass(frozen=True, kw_only=True)
class PaperSettings:
    """What determines the model and the score, except data and seed.

    The paper draws lr, alpha and hidden size anew for every trial. Where a single value is needed,
    it is the middle of the grid (alpha) or the value with which the training loss falls furthest on
    the built-in graph (lr 0.01), which needs no labels.
    """

    dissimilarity: str = setting(
        "rec",
        one_of(_names("combine", "DISSIMILARITIES")),
        "Dissimilarity: 'rec' (matrix distance) or 'energy' (shift of the Dirichlet energy).",
        rescores=True,
    )
    alpha: float = setting(
        0.5,
        number(0, 1),
        "Weight of the features in 'rec'; the structure has weight 1 - alpha.",
        rescores=True,
    )
    weighting: str = setting(
        "sqrt_snr",
        one_of(_names("combine", "WEIGHTINGS")),
        "Weights of the noise levels: 'sqrt_snr', 'snr' or 'none'.",
        rescores=True,
    )
    num_levels: int = setting(4, whole(1, 999), "Noise levels (the paper's K).")
    num_samples: int = setting(3, whole(1, 999), "Samples per noise level (S).")
    model: str = setting(
        "gdss",
        one_of(MODELS),
        "Generative model of ego-graphs: " + ", ".join(f"'{name}'" for name in MODELS) + ".",
    )
    positions: str = setting(
        "none",
        one_of(_names("positions", "POSITIONS", "none")),
        "Positional encoding: 'none', 'laplacian' (eigenvectors) or 'random_walk' (return "
        "probabilities).",
    )
    num_hops: int = setting(1, whole(1, 99), "Radius of an ego-graph (k).")
    max_nodes: int | None = setting(
        None,
        optional(whole(1, 2**15)),
        "Largest size of an ego-graph (M); unless given, the 95% quantile, at most 50.",
    )
    sde: str = setting(
        "vp",
        one_of(_names("sde", "SDES")),
        "Diffusion process: 'vp', 've' or 'subvp'.",
    )
    solver: str = setting(
        "em",
        one_of(_names("solve", "SOLVERS")),
        "Solver: 'em', 'reverse', 'em+langevin', 'reverse+langevin', 's4', or 'dpm', which needs "
        "only 5 to 10 steps.",
    )
    steps: int = setting(
        100, whole(1, 2**23), "Solver steps from time 1; a level tau takes floor(steps·tau)."
    )
    hidden_size: int = setting(16, multiple_of(4, 4096), "Width of the neural networks.")
    epochs: int = setting(300, whole(0, 2**23), "Passes over the graph.")
    lr: float = setting(0.01, number(0, 10, open_below=True), "Learning rate.")
    weight_decay: float = setting(0.01, number(0, 10), "Weight decay.")
    batch_size: int = setting(4096, whole(0), "Nodes per optimizer step; 0 for all.")
    use_ema: bool = setting(False, flag, "Score with the running average of the weights.")

"""Settings of the default detector."""

from __future__ import annotations

from dataclasses import dataclass

from egoscore.detectors.settings import multiple_of, number, setting, whole


@dataclass(frozen=True)
class ConditionalSettings:
    """How the neural networks of the default detector are trained."""

    hidden_size: int = setting(64, multiple_of(4, 4096), "Width of the neural networks.")
    updates: int = setting(400, whole(1, 2**17), "Optimizer steps of each neural network.")
    lr: float = setting(0.005, number(0, 10, open_below=True), "Learning rate.")
    weight_decay: float = setting(0.0, number(0, 10), "Weight decay.")
    batch_size: int = setting(512, whole(1), "Nodes per optimizer step.")

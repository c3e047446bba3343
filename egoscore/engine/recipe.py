"""What the detector asks of a way to judge nodes, whichever it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.bars import Bars
from egoscore.explain.reasons import Reasoner
from egoscore.graph import AttributedGraph


class Table(Protocol):
    """What was measured about the nodes, by name."""

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Flat columns (N,) as they are written to disk."""


class Recipe(ABC):
    """A fitted way to judge nodes."""

    @abstractmethod
    def measure(
        self, graph: AttributedGraph, device: torch.device, num_workers: int, bars: Bars
    ) -> Any:
        """The table of a network, which may be one never seen."""

    @abstractmethod
    def score(self, table: Any) -> NDArray[np.float64]:
        """One number per node (N,), higher is more abnormal."""

    @abstractmethod
    def reasoner(self, graph: AttributedGraph, table: Any, device: torch.device) -> Reasoner:
        """What finds the reasons of the nodes of a network, from its table."""

    @property
    @abstractmethod
    def model(self) -> Any:
        """What was learned."""

    @property
    @abstractmethod
    def history(self) -> NDArray[np.float64]:
        """The losses of training, one column for every network or fold."""

    @property
    @abstractmethod
    def num_features(self) -> int:
        """How many features the networks it judges must have."""

    @abstractmethod
    def pack(self, table: Any) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Everything as tensors and facts, with the table of the training network."""

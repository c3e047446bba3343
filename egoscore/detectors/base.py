"""What a detector is: everything that the rest of the program knows about one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.inputs import InputBlock
from egoscore.errors import InputError
from egoscore.explain.explainer import Explainer
from egoscore.explain.explanation import Reasons
from egoscore.graph import AttributedGraph
from egoscore.notes import Note
from egoscore.progress import Bars, no_bars
from egoscore.text import numeral

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Facts = dict[str, Any]
FORMAT_VERSION = 7


def require_same_direction(fitted: bool, graph: AttributedGraph) -> None:
    """Refuse a directed graph where the model was `fitted` on an undirected one, or vice versa."""
    if graph.directed != fitted:
        kinds = {True: "directed", False: "undirected"}
        raise InputError(
            f"The detector was fitted on a graph that is {kinds[fitted]}, but this one is "
            f"{kinds[graph.directed]}; both must be of the same kind."
        )


class Table(Protocol):
    """What a detector measured about every node: the numbers all scores are computed from."""

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Flat columns (N,) by name, as they are written to disk; `ego_size` comes first."""


class Store(Protocol):
    """Keeps finished parts of a computation by name, so that a killed run continues."""

    def save(self, name: str, tensors: Mapping[str, Tensor], facts: Facts) -> None:
        """Keep tensors and facts, replacing what has this name."""

    def load(self, name: str) -> tuple[dict[str, Tensor], Facts] | None:
        """What `save` kept, None if there is nothing; a damaged part is refused."""

    def save_losses(self, names: Sequence[str], rows: Sequence[Sequence[float]]) -> None:
        """Keep the training losses so far as a table for people."""

    def save_shard(
        self, number: int, columns: Mapping[str, NDArray[np.generic]], facts: Facts
    ) -> None:
        """Keep the columns of one shard of nodes."""

    def load_shard(self, number: int) -> tuple[dict[str, NDArray[Any]], Facts] | None:
        """What `save_shard` kept; None if there is nothing or it is damaged."""


@dataclass(frozen=True)
class Job:
    """How a detector computes; apart from the seed, none of it changes the result."""

    seed: int
    device: torch.device
    num_workers: int = 1
    bars: Bars = no_bars
    store: Store | None = None


@dataclass(frozen=True)
class Losses:
    """Training losses: `values` (steps, curves); all curves are alike where `names` is empty."""

    values: NDArray[np.float64]
    names: tuple[str, ...] = ()
    step: str = "step"


@dataclass(frozen=True)
class Vocabulary:
    """The words of a detector, for tables and reports; available without loading a model.

    Attributes: `questions` that a score answers, by name, each as a question about the node;
    `components` what each part of the score is, by column name without the noise level;
    `compared_with` the nodes that percentiles refer to; `meaning` what a score means, given the
    names of the questions asked and the number of nodes; `contrast` a sentence with the fields
    `actual` and `expected` about how much a node differs from its neighbours; `has_zero` whether
    scores start at zero; `labels` the short names of questions and components for people, where
    files and programs have others; `alone` the question that counts by itself, whatever the others
    say.
    """

    questions: Mapping[str, str]
    components: Mapping[str, str]
    compared_with: str
    meaning: Callable[[Sequence[str], int], str]
    contrast: str
    has_zero: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    alone: str = ""

    def contrasted(self, found: Reasons) -> str:
        """How much a node differs from its neighbours, and how much is expected."""
        actual, expected = numeral(found.energy_actual), numeral(found.energy_expected)
        return self.contrast.format(actual=actual, expected=expected)


class Detector(ABC):
    """A fitted detector. Subclasses are final; `egoscore.detectors` registers them.

    `is_calibrated` says whether p-values are good enough to control a false discovery rate.
    """

    is_calibrated: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def fit(cls, graph: AttributedGraph, settings: Any, job: Job) -> tuple[Self, Any]:
        """Learn from a graph and measure its nodes, continuing what `job.store` has kept."""

    @abstractmethod
    def measure(self, graph: AttributedGraph, job: Job) -> Any:
        """The table of a graph, which may be a new one."""

    @abstractmethod
    def score(self, table: Any) -> NDArray[np.float64]:
        """One number per node (N,); higher is more abnormal."""

    @abstractmethod
    def p_values(
        self, score: NDArray[np.float64], training_score: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """How rare scores as high are (N,), given the scores of the training graph."""

    @abstractmethod
    def answers(self, table: Any, nodes: Sequence[int]) -> list[dict[str, float]]:
        """For each of `nodes`, minus the logarithm of how rare it is by each question."""

    @abstractmethod
    def caveats(self, graph: AttributedGraph, table: Any, num_significant: int) -> list[Note]:
        """How far the ranking of a graph can be trusted, without looking at labels."""

    @abstractmethod
    def explainer(self, graph: AttributedGraph, table: Any, job: Job) -> Explainer:
        """Finds the reasons of the nodes of a graph, given its table."""

    @classmethod
    @abstractmethod
    def quicker(cls, settings: Any) -> Any:
        """Settings for a second fit, to see how stable a ranking is; None if that takes long."""

    @abstractmethod
    def inputs(self, graph: AttributedGraph, table: Any) -> tuple[InputBlock, ...]:
        """What verdicts on the nodes of a graph are learned from, given its table."""

    @property
    @abstractmethod
    def model(self) -> Any:
        """Everything that was learned."""

    @property
    @abstractmethod
    def losses(self) -> Losses:
        """The losses of training."""

    @property
    @abstractmethod
    def num_features(self) -> int:
        """The number of features a graph must have."""

    @abstractmethod
    def to_tensors(self, table: Any) -> tuple[dict[str, Tensor], Facts]:
        """Everything as named tensors and JSON facts, including the table of the training graph."""

    @classmethod
    @abstractmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], facts: Facts) -> tuple[Self, Any]:
        """What `to_tensors` gave."""

"""What `EgoScore` offers a reviewer: `teach`, `suggest` and what they are based on."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from torch import Tensor

from egoscore.detectors.base import Detector
from egoscore.detectors.serialization import pack, unpack
from egoscore.detectors.settings import whole
from egoscore.errors import InputError
from egoscore.explain.sentences import Scores
from egoscore.graph import AttributedGraph
from egoscore.notes import Note
from egoscore.review.lessons import Contribution, contributions, lessons
from egoscore.review.teacher import Taught, Teacher, explore, suggest
from egoscore.review.verdicts import kinds_of
from egoscore.runtime import one_thread


class Teachable(ABC):
    """A fitted detector whose scores verdicts can update.

    Attributes: `decision_score_` (N,) of the training graph, whatever the verdicts say; `_detector`
    and `components_`, which belong to it; `threshold_`.
    """

    decision_score_: Tensor
    components_: Any
    threshold_: float
    verdicts_: dict[Any, str]
    _detector: Detector

    @abstractmethod
    def _require_fitted(self) -> None:
        """Refuse what has not been fitted."""

    @abstractmethod
    def _graph_of(self, data: Any) -> AttributedGraph:
        """A graph as the detector understands it; the training graph for None."""

    @abstractmethod
    def _measured(self, graph: AttributedGraph) -> Any:
        """The component table of a graph."""

    def teach(self, verdicts: Mapping[Any, Any], skip_unknown: bool = False) -> Self:
        """This detector with its scores updated by verdicts on nodes of the training graph.

        `verdicts` are True (abnormal), False (normal), "unsure" or None (forget the earlier one) by
        id or name; they add to earlier ones. A node that the graph does not have is refused, or
        skipped with `skip_unknown`, for verdicts on older data. The detector itself stays as it is.
        """
        kinds = kinds_of(verdicts)
        teacher = self._teacher_of_training()
        rows = teacher.rows([*kinds], skip_unknown)
        known = self._verdicts_by_row() | _by_row(rows, kinds)
        with one_thread():
            learned = teacher.learn({row: kind for row, kind in known.items() if kind is not None})
        taught = copy.copy(self)
        taught._remember(learned)
        return taught

    def suggest(self, n: int = 10) -> list[Any]:
        """The ids of the `n` nodes to review next, most promising first.

        The highest nodes without a verdict. Once there are verdicts, what they leave uncertain
        about a node counts for it (see `docs/verdicts.md`).
        """
        whole(0).check("n", n)
        updated, graph = self._updated().numpy(), self._graph_of(None)
        reviewed = np.array(sorted(self._verdicts_by_row()), dtype=np.int64)
        if self._taught is None or not len(self._taught.learned[0]):
            rows = suggest(updated, reviewed, int(n))
        else:
            inputs = self._teacher_of_training().inputs
            rows = explore(self._taught, inputs, reviewed, int(n))
        ids: list[Any] = graph.ids[rows].tolist()
        return ids

    def rows_of(self, nodes: Sequence[Any], skip_unknown: bool = False) -> dict[Any, int]:
        """The row numbers of nodes by their ids or names; the unknown are refused, or left out."""
        return self._teacher_of_training().rows(nodes, skip_unknown)

    def updated_score(self, data: Any) -> Tensor:
        """Scores of all nodes of a graph after the verdicts, (N,); the graph may be a new one."""
        self._require_taught()
        graph = self._graph_of(data)
        return torch.from_numpy(self._updated_from(graph, self._measured(graph)))

    def _updated_from(self, graph: AttributedGraph, table: Any) -> NDArray[np.float64]:
        """Scores of a graph after the verdicts (N,), given its table."""
        taught = self._require_taught()
        with one_thread():
            inputs = taught.scale.apply(self._detector.inputs(graph, table), graph)
            return taught.update(self._detector.score(table), inputs)

    def review_columns(self) -> dict[str, NDArray[Any]]:
        """Verdict, updated score and updated rank of the nodes, (N,) each, in the graph's order.

        Without any verdict the updated columns are those of the unsupervised scores.
        """
        return self._columns_of(self._updated().numpy(), self._verdicts_by_row())

    def _reviewed(
        self, graph: AttributedGraph, table: Any, is_training: bool
    ) -> dict[str, NDArray[Any]]:
        """The same columns of any graph, given its table; none without verdicts."""
        if self._taught is None:
            return {}
        if is_training:
            return self.review_columns()
        return self._columns_of(self._updated_from(graph, table), {})

    def _columns_of(
        self, updated: NDArray[np.float64], verdicts: Mapping[int, str | None]
    ) -> dict[str, NDArray[Any]]:
        verdict = np.full(len(updated), "", dtype="U8")
        for row, kind in verdicts.items():
            verdict[row] = kind
        rank = Scores(updated, updated, self.threshold_).columns["rank"]
        return {"verdict": verdict, "updated_score": updated, "updated_rank": rank}

    def explain_update(self, node: Any) -> list[Contribution]:
        """Why verdicts changed the score of a node: what adds most to it, or takes most from it."""
        taught, teacher = self._require_taught(), self._teacher_of_training()
        (row,) = teacher.rows([node]).values()
        return contributions(taught, teacher.inputs, row)

    @property
    def lessons_(self) -> list[Note]:
        """What the verdicts point to, and how far they can be relied on."""
        return lessons(self._require_taught(), self._teacher_of_training().inputs)

    @property
    def taught_(self) -> Taught:
        """Everything learned from verdicts."""
        return self._require_taught()

    def _teacher_of_training(self) -> Teacher:
        """What verdicts are learned from; made with the first verdicts and shared from then on."""
        graph = self._graph_of(None)
        if "teacher" not in self._shared:
            score = self.decision_score_.numpy()
            with one_thread():
                blocks = self._detector.inputs(graph, self.components_)
                self._shared["teacher"] = Teacher.of(graph, score, blocks)
        return self._shared["teacher"]

    def _remember(self, taught: Taught) -> None:
        self._taught: Taught | None = taught
        self.verdicts_ = taught.verdicts
        self.updated_score_ = torch.from_numpy(taught.updated)

    def _forget_verdicts(self) -> None:
        self._taught = None
        self._shared: dict[str, Teacher] = {}  # with the detectors that `teach` returns
        for name in ("verdicts_", "updated_score_"):
            self.__dict__.pop(name, None)

    def _verdicts_by_row(self) -> dict[int, str | None]:
        self._require_fitted()
        if self._taught is None:
            return {}
        return dict(zip(self._taught.rows.tolist(), self._taught.kinds, strict=True))

    def _updated(self) -> Tensor:
        self._require_fitted()
        return self.decision_score_ if self._taught is None else self.updated_score_

    def _require_taught(self) -> Taught:
        self._require_fitted()
        if self._taught is None:
            raise NotFittedError("This EgoScore has no verdicts yet; call 'teach' first.")
        return self._taught

    def _taught_facts(self, tensors: dict[str, Tensor]) -> dict[str, Any]:
        """What was learned from verdicts, for JSON, with its arrays in `tensors`."""
        facts: dict[str, Any] = {}
        if self._taught is None:
            return facts
        pack(self._taught, "taught", tensors, facts)
        # ids that JSON cannot hold become text, by which they are found as well
        ids = [one if isinstance(one, str | int) else str(one) for one in self._taught.ids]
        return {"taught": facts | {"taught.ids": ids}}

    def _restore_verdicts(self, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        """The reverse of `_taught_facts`."""
        self._forget_verdicts()
        if "taught" in about:
            self._remember(unpack(Taught, "taught", tensors, about["taught"]))


def _by_row(rows: Mapping[Any, int], kinds: Mapping[Any, str | None]) -> dict[int, str | None]:
    """Kinds by row; two verdicts on one node, by its id and by its name, must be the same."""
    found: dict[int, str | None] = {}
    for node, row in rows.items():
        if found.setdefault(row, kinds[node]) != kinds[node]:
            raise InputError(f"There are two different verdicts on node {node!r}; give one.")
    return found

"""Explanations, made in a background thread so that the page stays responsive."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from egoscore.detectors.base import Job
from egoscore.explain.explainer import Explainer
from egoscore.explain.explanation import Explanation
from egoscore.explain.sentences import Scores, explanation
from egoscore.progress import no_bars
from egoscore.runtime import choose_device, one_thread

if TYPE_CHECKING:
    from egoscore.detector import EgoScore
    from egoscore.graph import AttributedGraph

_KEPT = 200
_WAITING = 20  # explanations that were asked for; older ones are dropped


class Explaining:
    """The explanations of the nodes of a run, kept once they are made."""

    def __init__(self, detector: EgoScore, graph: AttributedGraph) -> None:
        self.detector, self.graph = detector, graph
        score, p_value = detector.decision_score_.numpy(), detector.p_value_.numpy()
        self.scores = Scores(score, p_value, detector.threshold_)
        self._thread = ThreadPoolExecutor(1, "explaining")
        self._jobs: OrderedDict[int, Future[Explanation]] = OrderedDict()
        self._lock = Lock()

    def warm_up(self) -> None:
        """Prepare what all explanations need."""
        self._thread.submit(lambda: (self._explainer, self.scores.columns))

    def of(self, row: int, seconds: float) -> Explanation | None:
        """The explanation of a node; None if it takes longer than `seconds` and is still made."""
        with self._lock:
            job = self._jobs.get(row) or self._thread.submit(self._explain, row)
            self._jobs[row] = job
            self._jobs.move_to_end(row)
            self._forget_old()
        try:
            return job.result(seconds)
        except TimeoutError:
            return None

    def _forget_old(self) -> None:
        waiting = [row for row, job in self._jobs.items() if not job.done()]
        for row in waiting[:-_WAITING]:
            if self._jobs[row].cancel():
                del self._jobs[row]
        while len(self._jobs) > _KEPT:
            self._jobs.popitem(last=False)[1].cancel()

    @cached_property
    def _explainer(self) -> Explainer:
        seed, device = int(self.detector.seed), choose_device(self.detector.gpu)
        job = Job(seed, device, 1, no_bars, None)
        with one_thread():
            return self.detector.detector_.explainer(self.graph, self.detector.components_, job)

    def _explain(self, row: int) -> Explanation:
        explainer = self._explainer
        with one_thread():
            return explanation(row, self.graph, self.scores, explainer)

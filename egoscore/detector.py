"""`EgoScore`: PyGOD's interface and scikit-learn's conventions on top of any detector."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from torch import Tensor

from egoscore import thresholds
from egoscore.detectors import PRESETS, detector_of, setting_names, settings_of
from egoscore.detectors.base import FORMAT_VERSION, Detector, Job, Store, Table
from egoscore.detectors.settings import Rule, flag, is_number, number, one_of, resolve, whole
from egoscore.errors import InputError, ParameterError, RunError, VersionError
from egoscore.explain.explanation import Explanation
from egoscore.explain.node_lookup import rows_of
from egoscore.explain.sentences import Scores, explanation
from egoscore.graph import AttributedGraph
from egoscore.graph.attributed_graph import as_graph
from egoscore.graph.checks import same_features
from egoscore.progress import Bars, progress_bar
from egoscore.ranking import ranking, with_columns, with_reasons
from egoscore.review.teachable import Teachable
from egoscore.run.directory import model_path
from egoscore.run.files import load_tensors, save_tensors
from egoscore.run.graph_store import has_graph, load_graph
from egoscore.run.reader import fingerprint, reading, require_finished
from egoscore.runtime import choose_device, one_thread

if TYPE_CHECKING:
    import pandas

_FORMAT = "egoscore-model"
_OF_THIS_MACHINE = ("gpu", "num_workers", "verbose")  # how to compute, not what: not saved
_NAMES_ELSEWHERE = {  # in PyGOD and scikit-learn
    "hid_dim": "hidden_size",
    "epoch": "epochs",
    "weight": "alpha",
    "random_state": "seed",
    "n_jobs": "num_workers",
}
_RULES = {
    "preset": one_of(PRESETS),
    "seed": whole(0, 2**64 - 1),
    "contamination": Rule(
        lambda v: (isinstance(v, str) and v == "auto") or (is_number(v) and 0 < v <= 0.5),
        "a float in (0, 0.5] or 'auto'",
    ),
    "fdr": number(0, 1, open_below=True, open_above=True),
    "directed": flag,
    "gpu": Rule(lambda v: whole(-1).holds(v), "an int, the number of the GPU or -1 for the CPU"),
    "num_workers": whole(1, 4096),
    "verbose": whole(0),
}


class EgoScore(Teachable, BaseEstimator):  # type: ignore[misc]
    """Ranks the nodes of an attributed graph by abnormality, without labels.

    Higher scores are more abnormal. The default preset predicts each node from its neighbourhood
    and asks three questions: do its features match, is it similar to the nodes it is linked to, is
    its position unusual? Preset "paper" learns the distribution of whole ego-graphs, adds noise to
    each, denoises it, and measures what changed (Gavrilev & Burnaev, 2023), exactly as published.

    Parameters that are None take the preset's value; one that the preset does not have is refused.
    Parameters set after fitting take effect with the next fit.

    Args:
        preset: "default" or "paper".
        seed: same seed, same result, bit for bit on the same machine.
        contamination: share of nodes to flag, in (0, 0.5]; PyGOD's default is 0.1. "auto" flags
            those far out or significant.
        fdr: share of false positives among the significant nodes (default preset).
        directed: how to read a PyG Data, data frames, a matrix or an edge array; an
            AttributedGraph and a networkx graph know it themselves.
        gpu: number of the CUDA device, -1 for the CPU; the default preset needs none.
        num_workers: processes that score (preset "paper"); more than one needs the usual
            `if __name__ == "__main__":` in a script.
        verbose: 1 shows progress bars, or lines about long steps outside a terminal.
        **settings: the settings of the preset, see below.

    Attributes (after fit):
        decision_score_: (N,) float64 tensor, the scores of the training graph.
        label_: (N,) 1 for nodes above `threshold_`. threshold_: set by `contamination`.
        p_value_: (N,) how rare a score as high is. significant_: (N,) 1 for flagged nodes that
            stand out among all nodes at the rate `fdr` (default preset).
        components_: the table all scores are computed from.
        model_: everything learned. loss_history_: (steps, networks).

    Attributes (of what `teach` returns; the others do not change):
        updated_score_: (N,) scores after the verdicts. verdicts_: "abnormal", "normal" or "unsure"
            by id. lessons_: what was learned, as notes.
    """

    def __init__(
        self,
        preset: str = "default",
        seed: int = 0,
        contamination: float | str = "auto",
        fdr: float = 0.1,
        directed: bool = False,
        gpu: int = -1,
        num_workers: int = 1,
        verbose: int = 0,
        **settings: Any,
    ) -> None:
        self.preset = preset
        self.seed = seed
        self.contamination = contamination
        self.fdr = fdr
        self.directed = directed
        self.gpu = gpu
        self.num_workers = num_workers
        self.verbose = verbose
        names = setting_names()
        for name in settings:
            if name not in names:
                raise TypeError(f"EgoScore has no parameter '{name}'{_suggestion(name)}")
        for name in names:
            setattr(self, name, settings.get(name))

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Asked by scikit-learn; a detector may be registered at any time."""
        return sorted([*_RULES, *setting_names()])

    def settings(self) -> Any:
        """The settings in force: the preset's, replaced by those given; all parameters checked."""
        for name, rule in _RULES.items():
            rule.check(name, getattr(self, name))
        kind = settings_of(self.preset)
        given = {name: getattr(self, name, None) for name in setting_names()}
        known = {field.name for field in fields(kind)}
        for name, value in given.items():
            if value is not None and name not in known:
                raise _not_in_preset(name, value, self.preset)
        return resolve(kind, {name: given[name] for name in known})

    def fit(self, data: Any, label: Any = None) -> Self:
        """Learn from a graph and score its nodes. `label` is accepted as in PyGOD, unused.

        `data`, here and elsewhere: an `AttributedGraph`, a PyG `Data`, a networkx graph, a pair
        (edges, nodes) of data frames or a data frame of edges, or a pair (scipy adjacency,
        features) or (edge array, features). A graph to be scored must have the columns of the
        training graph, read the same way.
        """
        return self.fit_in(None, as_graph(data, self.directed))

    def fit_predict(self, data: Any, label: Any = None) -> Tensor:
        """`fit`, then `label_`: 1 for outliers and 0 for others, as in PyGOD.

        scikit-learn's outlier detectors say -1 for outliers and 1 for others.
        """
        return self.fit(data, label).label_

    def fit_in(self, store: Store | None, graph: AttributedGraph) -> Self:
        """`fit`, keeping unfinished work in a store and continuing what is there."""
        chosen = self.settings()
        with one_thread():
            detector, table = detector_of(self.preset).fit(graph, chosen, self._job(store))
        self._finish(detector, table)
        self._forget_verdicts()
        self._graph: AttributedGraph | Path = graph  # or where it is kept
        self._offsets = graph.offsets.tolist()
        self._titles = graph.titles
        return self

    def _job(self, store: Store | None = None) -> Job:
        device = choose_device(self.gpu)
        return Job(int(self.seed), device, self.num_workers, self._bars(), store)

    def _bars(self) -> Bars:
        return lambda title, total, unit: progress_bar(title, total, unit, self.verbose)

    def _finish(self, detector: Detector, table: Table) -> None:
        self._detector = detector
        self.model_ = detector.model
        self.components_ = table
        self.loss_history_ = detector.losses.values
        self.n_features_in_ = detector.num_features
        self.decision_score_ = torch.from_numpy(detector.score(table))
        self.p_value_ = torch.from_numpy(self._p_values(self.decision_score_.numpy()))
        self.__dict__.pop("significant_", None)  # of an earlier fit, with another preset
        found = self._stand_out(self.p_value_)
        self._flag(thresholds.threshold(self.decision_score_, self.contamination, found))

    @property
    def detector_(self) -> Detector:
        """The fitted detector."""
        self._require_fitted()
        return self._detector

    @property
    def graph_(self) -> AttributedGraph:
        """The training graph; a loaded detector has it if it was loaded from a run directory."""
        return self._graph_of(None)

    def _p_values(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._detector.p_values(score, self.decision_score_.numpy())

    def _stand_out(self, p_values: Tensor) -> Tensor | None:
        """Which nodes stand out among all of a graph; None if p-values are too inexact for that."""
        calibrated = self._detector.is_calibrated
        return thresholds.significant(p_values, self.fdr) if calibrated else None

    def _flag(self, threshold: float) -> None:
        self.threshold_ = threshold
        self.label_ = (self.decision_score_ > threshold).long()
        found = self._stand_out(self.p_value_)
        if found is not None:  # a chosen share may flag fewer than stand out
            self.significant_ = found * self.label_

    def score_components(self, data: Any) -> Any:
        """The component table of a graph, which may be a new one."""
        self._require_fitted()
        return self._measured(self._understood(data))

    def _understood(self, data: Any) -> AttributedGraph:
        """A graph with the features of the training graph, in the same units."""
        self.settings()
        graph = as_graph(data, self.directed)
        same_features(self._titles, graph.titles)
        return graph.measured_from(self._offsets)

    def _measured(self, graph: AttributedGraph) -> Any:
        with one_thread():
            return self._detector.measure(graph, self._job())

    def decision_function(self, data: Any, label: Any = None) -> Tensor:
        """Scores of all nodes of a graph, (N,); the graph may be a new one."""
        table = self.score_components(data)
        return torch.from_numpy(self._detector.score(table))

    def predict(
        self,
        data: Any = None,
        label: Any = None,
        return_pred: bool = True,
        return_score: bool = False,
        return_prob: bool = False,
        prob_method: str = "linear",
        return_conf: bool = False,
    ) -> Any:
        """Labels, scores, probabilities and confidences, whichever are asked for, as in PyGOD.

        `data` None means the training graph. Several answers come as a tuple, in that order.
        """
        self._require_fitted()
        training = self.decision_score_
        score = training if data is None else self.decision_function(data)
        answers: list[Tensor] = []
        if return_pred:
            answers.append((score > self.threshold_).long())
        if return_score:
            answers.append(score)
        if return_prob:
            answers.append(thresholds.probability(score, training, prob_method))
        if return_conf:
            answers.append(
                thresholds.confidence(score, training, self.contamination, self.threshold_)
            )
        return answers[0] if len(answers) == 1 else tuple(answers)

    def scores(self, data: Any = None, reasons: int = 20) -> pandas.DataFrame:
        """Every node with its score, rank and marks, most abnormal first, as a pandas data frame.

        It has the columns of scores.csv and `reason`, the main cause in a few words. Only the
        `reasons` highest nodes have one, as those of a million nodes would take long; elsewhere it
        is missing. After `teach` there are also `verdict`, `updated_score` and `updated_rank`, and
        the order is still that of the unsupervised scores. `data` None means the training graph.
        """
        whole(0).check("reasons", reasons, of="scores")
        graph = self._graph_of(data)
        table, scores = self._scored(graph, data is None)
        ranked = self._ranked(graph, table, scores)
        order = np.argsort(scores.columns["rank"])
        reviewed = self._reviewed(graph, table, data is None)
        ranked = with_columns(ranked, {name: values[order] for name, values in reviewed.items()})
        highest = order[:reasons].tolist()
        why = self._explained(highest, graph, table, scores)
        return with_reasons(ranked, [one.reason for one in why]).to_pandas()

    def score_table(self, data: Any = None) -> pa.Table:
        """`scores` without reasons as an Arrow table, which is what scores.parquet holds."""
        graph = self._graph_of(data)
        return self._ranked(graph, *self._scored(graph, data is None))

    def _scored(self, graph: AttributedGraph, is_training: bool) -> tuple[Any, Scores]:
        """What was measured about every node of a graph, and its scores."""
        table = self.components_ if is_training else self._measured(graph)
        score = self._detector.score(table)
        return table, Scores(score, self._p_values(score), self.threshold_)

    def _ranked(self, graph: AttributedGraph, table: Table, scores: Scores) -> pa.Table:
        stand_out = self._stand_out(torch.from_numpy(scores.p_value))
        marks = None if stand_out is None else stand_out.numpy() * scores.columns["flag"]
        return ranking(graph, scores, table.columns(), marks)

    def explain(self, node: Any, data: Any = None) -> Explanation:
        """Why the node with this id or name has its score: deviations, unusual edges, a sentence.

        `data` None means the training graph. A detector that was loaded knows it only if it was
        loaded from a run directory.
        """
        return next(self.explain_all([node], data))

    def explain_all(self, nodes: Sequence[Any], data: Any = None) -> Iterator[Explanation]:
        """`explain` for several nodes, with less work than one by one."""
        graph = self._graph_of(data)
        rows = rows_of(graph, nodes)
        return self._explained(rows, graph, *self._scored(graph, data is None))

    def explain_rows(self, rows: Sequence[int], data: Any = None) -> Iterator[Explanation]:
        """`explain` for the nodes with these row numbers, counted from 0."""
        graph = self._graph_of(data)
        return self._explained(rows, graph, *self._scored(graph, data is None))

    def _explained(
        self, rows: Sequence[int], graph: AttributedGraph, table: Any, scores: Scores
    ) -> Iterator[Explanation]:
        with one_thread():
            explainer = self._detector.explainer(graph, table, self._job())
        for row in rows:
            with one_thread():  # not across the yield: the caller has settings of its own
                found = explanation(row, graph, scores, explainer)
            yield found

    def _graph_of(self, data: Any) -> AttributedGraph:
        self._require_fitted()
        if data is not None:
            return self._understood(data)
        if isinstance(self._graph, Path):
            if not has_graph(self._graph):
                raise InputError(
                    "This detector was loaded without its graph; pass the graph as well, as the "
                    "argument 'data'."
                )
            self._graph = self._stored_graph(self._graph)
        return self._graph

    def _stored_graph(self, run: Path) -> AttributedGraph:
        with reading(run):
            graph = load_graph(run)
        if self._graph_fingerprint not in (None, graph.fingerprint()):
            raise RunError(
                f"{run} now holds another graph than when this detector was loaded from it; load "
                "the detector again."
            )
        return graph

    def save(self, path: str | Path) -> None:
        """Write the fitted detector to one safetensors file."""
        self._require_fitted()
        tensors, facts = self._detector.to_tensors(self.components_)
        parameters = {
            name: _plain(value)
            for name, value in self.get_params().items()
            if name not in _OF_THIS_MACHINE
        }
        about = {
            "format": _FORMAT,
            "format_version": FORMAT_VERSION,
            "parameters": parameters,
            "threshold": self.threshold_,
            "offsets": self._offsets,
            "titles": self._titles,
            "detector": facts,
        }
        about |= self._taught_facts(tensors)
        save_tensors(Path(path), tensors, about)

    @classmethod
    def load(cls, path: str | Path) -> EgoScore:
        """Read a detector that `save` wrote, from its file or from a run directory."""
        file = model_path(Path(path))
        with reading(file.parent):
            require_finished(file.parent)
            restored = cls._read(file)
            restored._graph = file.parent  # where a run keeps it
            restored._graph_fingerprint = fingerprint(file.parent)
        return restored

    @classmethod
    def _read(cls, file: Path) -> EgoScore:
        tensors, about = load_tensors(file)
        if about.get("format") != _FORMAT:
            raise RunError(f"{file} is a file of egoscore, but not a fitted detector.")
        if about.get("format_version") != FORMAT_VERSION:
            raise VersionError(str(file), about.get("format_version"), FORMAT_VERSION)
        restored = cls(**about["parameters"])
        kind = detector_of(restored.preset)
        restored._finish(*kind.from_tensors(tensors, about["detector"]))
        restored._offsets = about["offsets"]
        restored._titles = tuple(about["titles"])
        restored._flag(about["threshold"])
        restored._restore_verdicts(tensors, about)
        return restored

    def _require_fitted(self) -> None:
        if not hasattr(self, "decision_score_"):
            raise NotFittedError("This EgoScore is not fitted yet; call 'fit' first.")


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it: numpy's numbers become Python's."""
    return value.item() if hasattr(value, "item") else value


def _not_in_preset(name: str, value: Any, preset: str) -> ParameterError:
    others = " or ".join(f"'{other}'" for other in setting_names()[name])
    rule = f"left out with preset '{preset}', which does not have it (preset {others} does)"
    return ParameterError(name, rule, value)


def _suggestion(name: str) -> str:
    """A hint at the parameter that is meant."""
    known = [*_RULES, *setting_names()]
    alike = difflib.get_close_matches(name, known, n=1)
    meant = _NAMES_ELSEWHERE.get(name) or next(iter(alike), None)
    return f"; did you mean '{meant}'?" if meant else f"; it has {', '.join(known)}"


def _with_settings() -> None:
    """Give `EgoScore` the settings of all detectors as parameters, with their help texts."""
    own = inspect.signature(EgoScore.__init__)
    *common, _ = own.parameters.values()
    names = setting_names()
    more = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None) for n in names]
    EgoScore.__init__.__signature__ = own.replace(parameters=[*common, *more])  # type: ignore[attr-defined]
    lines = ["", "    Settings:"]
    for preset in PRESETS:
        for field in fields(settings_of(preset)):
            about = f"{field.metadata['help']} Preset '{preset}': {field.default!r}."
            lines.append(f"        {field.name}: {about}")
    EgoScore.__doc__ = (EgoScore.__doc__ or "").rstrip() + "\n" + "\n".join(lines) + "\n    "


_with_settings()

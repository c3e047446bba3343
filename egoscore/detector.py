"""`EgoScore`: the detector, with PyGOD's contract and scikit-learn's habits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from torch import Tensor

from egoscore import settings as rules
from egoscore.bars import Bars
from egoscore.device import choose_device, one_thread
from egoscore.engine.files import load_tensors, model_path, save_tensors
from egoscore.engine.kept_network import load_network
from egoscore.engine.model import parse_metadata
from egoscore.engine.recipe import Recipe, Table
from egoscore.engine.reconstructing import Reconstructing
from egoscore.engine.run import RunDirectory
from egoscore.engine.surprising import Surprising
from egoscore.errors import InputError, RunError
from egoscore.explain.explanation import Explanation
from egoscore.explain.words import Scores, explanation, rows_of
from egoscore.graph import AttributedGraph
from egoscore.graph.check import same_features
from egoscore.graph.convert import as_graph
from egoscore.surprise.calibrate import Calibration
from egoscore.surprise.model import Surprises
from egoscore.tell import certainty
from egoscore.tell.progress import progress_bar
from egoscore.tell.words import summary

_DAMAGED = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
_OF_THIS_MACHINE = ("gpu", "num_workers", "verbose")  # how to compute, not what: not saved


class EgoScore(BaseEstimator):  # type: ignore[misc]
    """Ranks the nodes of an attributed network by abnormality, without labels.

    Higher scores are more abnormal. Parameters left at None are taken from the preset; one that
    the preset has no use for is refused. What is set after fitting takes effect with the next fit.

    The default preset learns what the centre of an ego-graph is expected to be given the rest,
    and sums up three surprises: features, company, place. Preset "paper" learns the distribution
    of whole ego-graphs, noises each, denoises it, and measures what came back different
    (Gavrilev & Burnaev, 2023), to the letter.

    Args:
        preset: "default" or "paper".
        seed: same seed, same result, bit for bit on the same machine.
        contamination: share of nodes to flag, in (0, 0.5]; or "auto" for those far out.
        fdr: share of wrong ones among the nodes called significant (default preset).
        updates: optimiser steps of each network (default preset).
        hidden_size: width of the networks, a multiple of 4.
        lr, weight_decay, batch_size: training; in the paper's batch_size 0 takes all nodes at once.

        All that follow belong to preset "paper".
        dissimilarity: "rec", the matrix distance, or "energy", the shift of Dirichlet energy.
        alpha: weight of the features against the structure in "rec", in [0, 1].
        weighting: weight of a noise level: "sqrt_snr", "snr" or "none".
        num_levels, num_samples: noise levels, and noisings per level (the paper's K and S).
        model: "gdss", the paper's two networks; "gdss-graff", the same with GRAFF convolutions;
            "congress", one graph transformer for both.
        positions: what the networks are told of a node's place in the whole network: "none",
            "laplacian" (eigenvectors) or "random_walk" (chances of return).
        num_hops, max_nodes: reach and largest size of an ego-graph (the paper's k and M);
            without max_nodes min(50, the 95% quantile of the sizes).
        sde: "vp", "ve" or "subvp".
        solver: "em", "reverse", "em+langevin", "reverse+langevin" or "s4"; or "dpm", which draws
            no noise on the way back and needs 5 to 10 steps instead of 100.
        steps: solver steps for the whole time; a level tau takes floor(steps·tau).
        epochs: passes over the network; 0 leaves the networks as they were initialised.
        use_ema: score with the running average of the weights.
        num_workers: processes that score; more than one needs the usual
            `if __name__ == "__main__":` in a script.

        directed: how to read a PyG Data, a matrix or an edge array; an AttributedGraph and a
            networkx graph know it themselves.
        gpu: number of the CUDA device, -1 for the CPU; the default preset needs none.
        verbose: 1 shows progress bars.

    Attributes (after fit):
        decision_score_: (N,) float64 tensor, the scores of the training network.
        label_: (N,) 1 for nodes above `threshold_`. threshold_: set by `contamination`.
        p_value_: (N,) how rare a score as high is. significant_: (N,) 1 where that stands out
            among all nodes at the rate `fdr` (default preset).
        components_: the table all scores are computed from.
        model_: everything learned. loss_history_: (steps, networks).
    """

    def __init__(
        self,
        preset: str = "default",
        seed: int = 0,
        contamination: float | str = 0.1,
        fdr: float = 0.1,
        updates: int | None = None,
        dissimilarity: str | None = None,
        alpha: float | None = None,
        weighting: str | None = None,
        num_levels: int | None = None,
        num_samples: int | None = None,
        model: str | None = None,
        positions: str | None = None,
        num_hops: int | None = None,
        max_nodes: int | None = None,
        sde: str | None = None,
        solver: str | None = None,
        steps: int | None = None,
        hidden_size: int | None = None,
        epochs: int | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        batch_size: int | None = None,
        use_ema: bool | None = None,
        directed: bool = False,
        gpu: int = -1,
        num_workers: int = 1,
        verbose: int = 0,
    ) -> None:
        self.preset = preset
        self.seed = seed
        self.contamination = contamination
        self.fdr = fdr
        self.updates = updates
        self.dissimilarity = dissimilarity
        self.alpha = alpha
        self.weighting = weighting
        self.num_levels = num_levels
        self.num_samples = num_samples
        self.model = model
        self.positions = positions
        self.num_hops = num_hops
        self.max_nodes = max_nodes
        self.sde = sde
        self.solver = solver
        self.steps = steps
        self.hidden_size = hidden_size
        self.epochs = epochs
        self.lr = lr
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.use_ema = use_ema
        self.directed = directed
        self.gpu = gpu
        self.num_workers = num_workers
        self.verbose = verbose

    def settings(self) -> rules.AnySettings:
        """The settings in force: the preset's, replaced by those given; all parameters checked."""
        for name in ("seed", "contamination", "fdr", "directed", "gpu", "num_workers", "verbose"):
            rules.check(name, getattr(self, name))
        given = {name: getattr(self, name) for name in rules.SETTING_NAMES}
        return rules.resolve(self.preset, given)

    def fit(self, data: Any, label: Any = None) -> Self:
        """Learn from a network and score its nodes. `label` is accepted as in PyGOD, unused."""
        graph = as_graph(data, self.directed)
        if self.verbose:
            print("\n".join(summary(graph, "Network")))
        return self.fit_in(None, graph)

    def fit_in(self, run: RunDirectory | None, graph: AttributedGraph) -> Self:
        """`fit`, keeping everything in a run directory and continuing what is there."""
        chosen = self.settings()
        where = int(self.seed), choose_device(self.gpu), self.num_workers, self._bars(), run
        recipe: Recipe
        table: Table
        with one_thread():
            if isinstance(chosen, rules.Settings):
                recipe, table = Reconstructing.fit(graph, chosen, *where)
            else:
                recipe, table = Surprising.fit(graph, chosen, *where)
        self._finish(recipe, table)
        self._network: AttributedGraph | Path = graph  # or where it is kept
        self._offsets = graph.offsets.tolist()
        self._titles = graph.titles
        return self

    def _bars(self) -> Bars:
        return lambda title, total, unit: progress_bar(title, total, unit, self.verbose)

    def _finish(self, recipe: Recipe, table: Table) -> None:
        self._recipe = recipe
        self.model_ = recipe.model
        self.components_ = table
        self.loss_history_ = recipe.history
        self.n_features_in_ = recipe.num_features
        self.decision_score_ = torch.from_numpy(recipe.score(table))
        self.p_value_ = torch.from_numpy(self._p_values(self.decision_score_.numpy()))
        self.__dict__.pop("significant_", None)  # of an earlier fit, with another preset
        if isinstance(table, Surprises):
            self.significant_ = certainty.significant(self.p_value_, self.fdr)
        self._flag(certainty.threshold(self.decision_score_, self.contamination))

    def _p_values(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """How rare scores as high are, (N,)."""
        if isinstance(self.components_, Surprises):
            return np.exp(-score)
        usual = Calibration.fit(self.decision_score_.numpy())
        return np.exp(-usual.surprise(score))

    def _flag(self, threshold: float) -> None:
        self.threshold_ = threshold
        self.label_ = (self.decision_score_ > threshold).long()

    def score_components(self, data: Any) -> Any:
        """The component table of a network, which may be one never seen."""
        self._require_fitted()
        return self._measured(self._understood(data))

    def _understood(self, data: Any) -> AttributedGraph:
        """A network with the features that were learned from, in the same units."""
        self.settings()
        graph = as_graph(data, self.directed)
        same_features(self._titles, graph.titles)
        return graph.measured_from(self._offsets)

    def _measured(self, graph: AttributedGraph) -> Any:
        with one_thread():
            device = choose_device(self.gpu)
            return self._recipe.measure(graph, device, self.num_workers, self._bars())

    def decision_function(self, data: Any, label: Any = None) -> Tensor:
        """Scores of all nodes of a network, (N,); the network may be one never seen."""
        table = self.score_components(data)
        return torch.from_numpy(self._recipe.score(table))

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

        `data` None means the training network. Several answers come as a tuple, in that order.
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
            answers.append(certainty.probability(score, training, prob_method))
        if return_conf:
            answers.append(
                certainty.confidence(score, training, self.contamination, self.threshold_)
            )
        return answers[0] if len(answers) == 1 else tuple(answers)

    def explain(self, node: Any, data: Any = None) -> Explanation:
        """Why the node of this id has its score: what deviates, which ties surprise, in words.

        `data` None means the training network. A detector that was loaded knows it only if it was
        loaded from a run directory.
        """
        return next(self.explain_all([node], data))

    def explain_all(self, nodes: Sequence[Any], data: Any = None) -> Iterator[Explanation]:
        """`explain` for several nodes, with less work than one by one."""
        graph = self._network_of(data)
        return self.explain_rows(rows_of(graph, nodes), data)

    def explain_rows(self, rows: Sequence[int], data: Any = None) -> Iterator[Explanation]:
        """`explain` for the nodes with these row numbers, counted from 0."""
        graph = self._network_of(data)
        table = self.components_ if data is None else self._measured(graph)
        score = self._recipe.score(table)
        scores = Scores(score, self._p_values(score), self.threshold_)
        with one_thread():
            reasoner = self._recipe.reasoner(graph, table, choose_device(self.gpu))
            for row in rows:
                yield explanation(row, graph, scores, reasoner)

    def _network_of(self, data: Any) -> AttributedGraph:
        self._require_fitted()
        if data is None:
            return self._training_network()
        return self._understood(data)

    def _training_network(self) -> AttributedGraph:
        if isinstance(self._network, Path):
            kept = load_network(self._network)
            if kept is None:
                raise InputError(
                    "This detector was loaded without its network; give the network as well: "
                    "explain(node, data)."
                )
            self._network = kept
        return self._network

    def save(self, path: str | Path) -> None:
        """Write the fitted detector to one safetensors file."""
        self._require_fitted()
        tensors, facts = self._recipe.pack(self.components_)
        parameters = {
            name: _plain(value)
            for name, value in self.get_params().items()
            if name not in _OF_THIS_MACHINE
        }
        extra = {"parameters": parameters, "threshold": self.threshold_}
        extra |= {"offsets": self._offsets, "titles": self._titles}
        save_tensors(Path(path), tensors, facts | extra)

    @classmethod
    def load(cls, path: str | Path) -> EgoScore:
        """Read a detector that `save` wrote, from its file or from a run directory."""
        file = model_path(Path(path))
        tensors, text = load_tensors(file)
        metadata = parse_metadata(text, str(file))
        try:
            detector = cls._restored(tensors, metadata)
        except _DAMAGED as error:
            raise RunError(f"{file} is damaged: its parts do not fit together.") from error
        detector._network = file.parent  # where a run keeps it
        return detector

    @classmethod
    def _restored(cls, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> EgoScore:
        detector = cls(**metadata["parameters"])
        recipe: Recipe
        table: Table
        if metadata.get("recipe") == "surprise":
            recipe, table = Surprising.unpack(tensors, metadata)
        else:
            recipe, table = Reconstructing.unpack(tensors, metadata)
        detector._finish(recipe, table)
        detector._offsets = metadata["offsets"]
        detector._titles = tuple(metadata["titles"])
        detector._flag(metadata["threshold"])
        return detector

    def _require_fitted(self) -> None:
        if not hasattr(self, "decision_score_"):
            raise NotFittedError("This EgoScore is not fitted yet; call 'fit' first.")


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it: numpy's numbers become Python's."""
    return value.item() if hasattr(value, "item") else value

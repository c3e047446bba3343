"""`EgoScore`: the detector, with PyGOD's contract and scikit-learn's habits."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from torch import Tensor

from egoscore import settings as rules
from egoscore.device import choose_device, one_thread
from egoscore.engine import FittedModel, fit_model, measure_nodes
from egoscore.engine.files import load_tensors, model_path, save_tensors
from egoscore.engine.model import parse_metadata
from egoscore.engine.run import RunDirectory
from egoscore.errors import RunError
from egoscore.graph import AttributedGraph
from egoscore.graph.convert import as_graph
from egoscore.score import ComponentTable, combine
from egoscore.tell import certainty
from egoscore.tell.progress import progress_bar
from egoscore.tell.words import summary

_OF_THIS_MACHINE = ("gpu", "num_workers", "verbose")  # how to compute, not what: not saved


class EgoScore(BaseEstimator):  # type: ignore[misc]
    """Ranks the nodes of an attributed network by abnormality, without labels.

    Learns the distribution of ego-graphs with a score-based generative model, noises each
    ego-graph, denoises it, and measures what came back different (Gavrilev & Burnaev, 2023).
    Higher scores are more abnormal. Parameters left at None are taken from the preset; what is
    set after fitting takes effect with the next fit.

    Args:
        preset: "paper" is the paper to the letter; "default" is the same for now.
        seed: same seed, same result, bit for bit on the same machine.
        contamination: share of nodes to flag, in (0, 0.5].
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
        hidden_size: width of the networks, a multiple of 4.
        epochs, lr, weight_decay, batch_size: training; batch_size 0 takes all nodes at once,
            epochs 0 leaves the networks as they were initialised.
        use_ema: score with the running average of the weights.
        directed: how to read a PyG Data, a matrix or an edge array; an AttributedGraph and a
            networkx graph know it themselves.
        gpu: number of the CUDA device, -1 for the CPU.
        num_workers: processes that score; more than one needs the usual
            `if __name__ == "__main__":` in a script.
        verbose: 1 shows progress bars.

    Attributes (after fit):
        decision_score_: (N,) float64 tensor, the scores of the training network.
        label_: (N,) 1 for nodes above `threshold_`. threshold_: set by `contamination`.
        components_: the component table all scores are computed from.
        model_: networks, scaling and settings. loss_history_: (epochs, 2) features, adjacency.
    """

    def __init__(
        self,
        preset: str = "default",
        seed: int = 0,
        contamination: float = 0.1,
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

    def settings(self) -> rules.Settings:
        """The settings in force: the preset's, replaced by those given; all parameters checked."""
        for name in ("seed", "contamination", "directed", "gpu", "num_workers", "verbose"):
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
        device = choose_device(self.gpu)
        seed = int(self.seed)
        with one_thread():
            title = "Learning ego-graphs"
            with progress_bar(title, chosen.epochs, "epochs", self.verbose) as advance:
                done = 0

                def show(state: Any) -> None:
                    nonlocal done
                    advance(state.epoch - done)
                    done = state.epoch

                model = fit_model(graph, chosen, seed, device, run, show)
            table = self._measure(model, graph, device, run)
        self._finish(model, table)
        return self

    def _measure(
        self,
        model: FittedModel,
        graph: AttributedGraph,
        device: torch.device,
        run: RunDirectory | None = None,
    ) -> ComponentTable:
        title = "Reconstructing"
        with progress_bar(title, graph.num_nodes, "nodes", self.verbose) as advance:
            return measure_nodes(model, graph, device, self.num_workers, run, advance)

    def _finish(self, model: FittedModel, table: ComponentTable) -> None:
        self.model_ = model
        self.components_ = table
        self.loss_history_ = np.array(model.history, dtype=np.float64).reshape(-1, 2)
        self.n_features_in_ = len(model.scaling.mean)
        self.decision_score_ = self._score(table)
        self._flag(certainty.threshold(self.decision_score_, self.contamination))

    def _flag(self, threshold: float) -> None:
        self.threshold_ = threshold
        self.label_ = (self.decision_score_ > threshold).long()

    def _score(self, table: ComponentTable) -> Tensor:
        used = self.model_.settings
        values = combine(table, used.dissimilarity, used.alpha, used.weighting, self.model_.sde)
        return torch.from_numpy(values)

    def score_components(self, data: Any) -> ComponentTable:
        """The component table of a network, which may be one never seen."""
        self._require_fitted()
        self.settings()
        graph = as_graph(data, self.directed)
        with one_thread():
            return self._measure(self.model_, graph, choose_device(self.gpu))

    def decision_function(self, data: Any, label: Any = None) -> Tensor:
        """Scores of all nodes of a network, (N,); the network may be one never seen."""
        return self._score(self.score_components(data))

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

    def save(self, path: str | Path) -> None:
        """Write the fitted detector to one safetensors file."""
        self._require_fitted()
        table = self.components_
        tensors = self.model_.tensors() | {
            "training.node": torch.from_numpy(table.node),
            "training.ego_size": torch.from_numpy(table.ego_size),
            "training.energy": torch.from_numpy(table.energy),
            "training.values": torch.from_numpy(np.ascontiguousarray(table.values)),
        }
        parameters = {
            name: _plain(value)
            for name, value in self.get_params().items()
            if name not in _OF_THIS_MACHINE
        }
        extra = {"parameters": parameters, "taus": table.taus, "num_samples": table.num_samples}
        extra |= {"threshold": self.threshold_}
        save_tensors(Path(path), tensors, self.model_.metadata() | extra)

    @classmethod
    def load(cls, path: str | Path) -> EgoScore:
        """Read a detector that `save` wrote, from its file or from a run directory."""
        file = model_path(Path(path))
        tensors, text = load_tensors(file)
        metadata = parse_metadata(text, str(file))
        try:
            return cls._restored(tensors, metadata)
        except (AttributeError, KeyError, IndexError, RuntimeError, TypeError, ValueError) as error:
            raise RunError(f"{file} is damaged: its parts do not fit together.") from error

    @classmethod
    def _restored(cls, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> EgoScore:
        detector = cls(**metadata["parameters"])
        table = ComponentTable(
            node=_array(tensors["training.node"]),
            ego_size=_array(tensors["training.ego_size"]),
            energy=_array(tensors["training.energy"]),
            values=_array(tensors["training.values"]),
            taus=tuple(metadata["taus"]),
            num_samples=metadata["num_samples"],
        )
        detector._finish(FittedModel.from_tensors(tensors, metadata), table)
        detector._flag(metadata["threshold"])
        return detector

    def _require_fitted(self) -> None:
        if not hasattr(self, "decision_score_"):
            raise NotFittedError("This EgoScore is not fitted yet; call 'fit' first.")


def _array(tensor: Tensor) -> NDArray[Any]:
    array: NDArray[Any] = tensor.numpy()
    return array


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it: numpy's numbers become Python's."""
    return value.item() if hasattr(value, "item") else value

"""Denoising score matching."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from egoscore.diffuse import EgoNoise, Sde, perturb
from egoscore.ego import EgoBatch
from egoscore.keyed import Purpose
from egoscore.learn.model import GenerativeModel
from egoscore.learn.written_out import Losses, Noised, WrittenOut


def denoising_losses(
    model: GenerativeModel, batch: EgoBatch, noise: EgoNoise, epoch: int, t: Tensor, sde: Sde
) -> tuple[Tensor, Tensor]:
    """Losses of every ego-graph for features and adjacency, shape (B,) each.

    With weight sigma², 0.5·‖sigma·score + z‖² is 0.5·‖z - predicted noise‖², summed per graph.
    """
    width = batch.x.shape[1]
    noise_x = noise.features(Purpose.TRAIN_FEATURES, epoch, width)
    noise_adj = noise.adjacency(Purpose.TRAIN_ADJACENCY, epoch, width)
    x = perturb(batch.x, noise_x, sde, t)
    adj = perturb(batch.adj, noise_adj, sde, t)
    predicted_x, predicted_adj = model.predict_noise(x, adj, batch.mask, t, batch.positions)
    loss_x = 0.5 * (noise_x - predicted_x).square().sum(dim=(1, 2))
    loss_adj = 0.5 * (noise_adj - predicted_adj).square().sum(dim=(1, 2))
    return loss_x, loss_adj


def add_gradients(
    model: GenerativeModel,
    batch: EgoBatch,
    noise: EgoNoise,
    epoch: int,
    t: Tensor,
    sde: Sde,
    weight: float,
    written_out: WrittenOut | None,
) -> Losses:
    """Add `weight` times the gradients of both losses' sums over ego-graphs; the sums, (2, T).

    `written_out` is the model's own, which would take time to make for every batch.
    """
    if written_out is not None:
        room = written_out.hidden_size
        noised = Noised.of(batch, noise, epoch, t, sde, model.num_models, room)
        return written_out.add_gradients(noised, weight)
    losses = [loss.sum() for loss in denoising_losses(model, batch, noise, epoch, t, sde)]
    ((losses[0] + losses[1]) * weight).backward()  # type: ignore[no-untyped-call]
    return np.array([[float(loss.detach())] for loss in losses])

"""The method once more, as plainly as it can be written: the oracle of what is fast.

Every ego-graph is padded to M nodes and carries its mask; adjacencies are full matrices; inputs of
layers are concatenated; one level and one sample go at a time. Weights are those of a `ScoreModel`
by name, noise is the same keyed noise. Nothing of the networks, the solvers or the scores of
`egoscore.detectors.paper` is used here.
"""

import math

import numpy as np
import torch
from torch.nn.functional import elu

from egoscore.detectors.paper.noise import EgoNoise
from egoscore.random import Keys, Purpose

SNR, SCALE, LAST_TIME = 0.15, 0.7, 1e-4


def mlp(value, weights, name):
    """Affine maps with ELU in between, on the last dimension."""
    last = max(int(key.split(".")[-2]) for key in weights if key.startswith(f"{name}.layers."))
    for number in range(last + 1):
        layer = f"{name}.layers.{number}"
        value = value @ weights[f"{layer}.weight"].T + weights[f"{layer}.bias"]
        value = elu(value) if number < last else value
    return value


def gcn(x, adj, weights, name):
    """D^(-1/2) Ã D^(-1/2) X W + b with ones on the diagonal and degrees clamped at 1."""
    eye = torch.eye(adj.shape[-1], dtype=adj.dtype)
    looped = adj * (1 - eye) + eye
    scale = looped.sum(dim=-1).clamp(min=1) ** -0.5
    spread = scale[..., :, None] * looped * scale[..., None, :]
    return spread @ (x @ weights[f"{name}.weight"]) + weights[f"{name}.bias"]


def feature_noise(weights, x, adj, mask):
    hidden = torch.tanh(gcn(x, adj, weights, "feature_network.convolution"))
    out = mlp(torch.cat([x, hidden], dim=-1), weights, "feature_network.mlp")
    return out * mask[:, :, None]


def attention(weights, x, channel, name, num_heads=4):
    query, key = (gcn(x, channel, weights, f"{name}.{part}") for part in ("query", "key"))
    heads = zip(query.chunk(num_heads, dim=-1), key.chunk(num_heads, dim=-1), strict=True)
    root = math.sqrt(query.shape[-1])
    return torch.stack([torch.tanh(q @ k.transpose(1, 2) / root) for q, k in heads]).mean(dim=0)


def adjacency_noise(weights, x, adj, mask, directed):
    channels = [adj, adj @ adj]
    maps = [
        attention(weights, x, channel, f"adjacency_network.attention.{number}")
        for number, channel in enumerate(channels)
    ]
    if not directed:
        maps = [(values + values.transpose(1, 2)) / 2 for values in maps]
    mixed = mlp(torch.stack([*maps, *channels], dim=-1), weights, "adjacency_network.mix")
    if not directed:
        mixed = mixed + mixed.transpose(1, 2)
    joined = torch.cat([torch.stack(channels, dim=-1), mixed], dim=-1)  # (B, M, M, 6)
    out = mlp(joined, weights, "adjacency_network.final").squeeze(-1)
    off_diagonal = 1 - torch.eye(adj.shape[-1], dtype=adj.dtype)
    return out * off_diagonal * mask[:, :, None] * mask[:, None, :]


def predict_noise(weights, x, adj, mask, directed):
    """The noise in x (B, M, F) and adj (B, M, M), weights by name."""
    return feature_noise(weights, x, adj, mask), adjacency_noise(weights, x, adj, mask, directed)


def padded(egos, centres):
    """x (B, M, F), adj (B, M, M), mask (B, M): every ego-graph padded to M nodes."""
    members, adj = egos.members(centres)
    extra = egos.max_nodes - members.shape[1]
    members = np.pad(members, ((0, 0), (0, extra)), constant_values=-1)
    adj = np.pad(adj, ((0, 0), (0, extra), (0, extra)))
    mask = members >= 0
    x = np.where(mask[:, :, None], egos.graph.features[members], 0)
    return torch.from_numpy(x), torch.from_numpy(adj), torch.from_numpy(mask).float()


def beta(t):
    return 0.1 + 0.9 * t


def decay(t):
    return math.exp(-0.225 * t * t - 0.05 * t)


def std(t):
    return math.sqrt(1 - decay(t) ** 2)


class Draws:
    """Keyed noise for one level and sample of padded ego-graphs."""

    def __init__(self, egos, centres, seed, level=0, sample=0):
        same = np.ones_like(centres)
        graph = egos.graph
        self.width = egos.max_nodes
        self.noise = EgoNoise(
            Keys(seed, centres, level * same, sample * same),
            egos.sizes[centres],
            graph.num_features,
            graph.directed,
            egos.device,
        )

    def pair(self, purpose, step):
        """For features and adjacency; `purpose` is the one for features."""
        other = Purpose(purpose + 1)
        return (
            self.noise.features(purpose, step, self.width),
            self.noise.adjacency(other, step, self.width),
        )


def losses(weights, egos, centres, seed, epoch, times):
    """The two losses of every ego-graph in one epoch, (B,) each."""
    x, adj, mask = padded(egos, centres)
    noise_x, noise_adj = Draws(egos, centres, seed).pair(Purpose.TRAIN_FEATURES, epoch)
    keep = torch.tensor([decay(float(t)) for t in times])[:, None, None]
    spread = torch.tensor([std(float(t)) for t in times])[:, None, None]
    found_x, found_adj = predict_noise(
        weights,
        keep * x + spread * noise_x,
        keep * adj + spread * noise_adj,
        mask,
        egos.graph.directed,
    )
    return tuple(
        0.5 * (drawn - found).square().sum(dim=(1, 2))
        for drawn, found in ((noise_x, found_x), (noise_adj, found_adj))
    )


def corrected(value, grad, noise, factor):
    """One Langevin correction, every ego-graph with a step size of its own."""
    sizes = []
    for g, z in zip(grad, noise, strict=True):
        norm = float(g.norm())
        sizes.append(2 * factor**2 * (SNR * float(z.norm()) / norm) ** 2 if norm > 1e-12 else 0.0)
    size = torch.tensor(sizes, dtype=value.dtype)[:, None, None]
    return value + size * grad + torch.sqrt(2 * size) * SCALE * noise


def stepped(rule, value, grad, t, s):
    """Mean and standard deviation after the step from t to s."""
    dt, factor = t - s, decay(t) / decay(s)
    if rule == "em":
        return value + (beta(t) / 2 * value + beta(t) * grad) * dt, math.sqrt(beta(t) * dt)
    if rule == "reverse":
        variance = 1 - factor**2
        return (2 - factor) * value + variance * grad, math.sqrt(variance)
    half = decay((s + t) / 2) / decay(s)  # s4
    return value / factor + beta(t) * dt / half * grad, math.sqrt(1 - factor**2) / factor


def flowed(value, grad, last, t, s, before, final):
    """One step of DPM-Solver++(2M) and the clean estimate it used."""
    clean = (value + std(t) ** 2 * grad) / decay(t)
    used = clean
    if last is not None and not final:
        length = math.log(decay(s) / std(s)) - math.log(decay(t) / std(t))
        last_length = math.log(decay(t) / std(t)) - math.log(decay(before) / std(before))
        used = clean + length / (2 * last_length) * (clean - last)
    ratio = std(s) / std(t)
    return ratio * value + (decay(s) - ratio * decay(t)) * used, clean


def reconstruct(
    weights, egos, centres, seed, tau, level, sample, num_steps, solver, dtype=torch.float32
):
    """x (B, M, F) and adj (B, M, M) after noise to tau and the way back with VP."""
    x, adj, mask = (value.to(dtype) for value in padded(egos, centres))
    draws = Draws(egos, centres, seed, level, sample)
    state = [
        decay(tau) * value + std(tau) * noise
        for value, noise in zip((x, adj), draws.pair(Purpose.FORWARD_FEATURES, 0), strict=True)
    ]
    power = 2 if solver == "dpm" else 1
    grid = [
        LAST_TIME + (tau - LAST_TIME) * (left / num_steps) ** power
        for left in range(num_steps, -1, -1)
    ]
    rule, _, correction = solver.removesuffix("-overshoot").partition("+")
    last = [None, None]

    def gradients(t):
        found = predict_noise(weights, *state, mask, egos.graph.directed)
        return [-noise / std(t) for noise in found]

    for i in range(num_steps):
        t, s, remaining = grid[i], grid[i + 1], num_steps - i
        if solver == "em-overshoot":  # as many starts as steps, and none of the steps shorter
            t = float(np.linspace(tau, LAST_TIME, num_steps)[i])
            s = t - tau / num_steps
        grads = gradients(t)
        if correction or solver == "s4":
            noises = draws.pair(Purpose.CORRECT_FEATURES, remaining)
            for part in range(2):
                state[part] = corrected(state[part], grads[part], noises[part], decay(t) / decay(s))
        if correction:
            grads = gradients(t)
        noises = draws.pair(Purpose.REVERSE_FEATURES, remaining) if remaining > 1 else None
        for part in range(2):
            if solver == "dpm":
                state[part], last[part] = flowed(
                    state[part], grads[part], last[part], t, s, grid[i - 1], remaining == 1
                )
            else:
                mean, spread = stepped(rule, state[part], grads[part], t, s)
                state[part] = mean + spread * noises[part] if remaining > 1 else mean
    return state

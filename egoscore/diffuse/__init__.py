"""Forward diffusion: noise on features and adjacency.

In: clean ego-graphs, a time, keys of random numbers. Out: noised ego-graphs.
Not here: step counts, networks, the way back.
"""

from egoscore.diffuse.noise import EgoNoise
from egoscore.diffuse.sde import SDES, VE, VP, Sde, SubVP, perturb

__all__ = ["SDES", "VE", "VP", "EgoNoise", "Sde", "SubVP", "perturb"]

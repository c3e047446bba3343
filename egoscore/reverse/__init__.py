"""The way back: from a noised ego-graph to a likely one.

In: noised ego-graphs, gradients of log p, a solver. Out: reconstructed ego-graphs.
Not here: which networks give the gradients, and what the reconstruction is compared with.
"""

from egoscore.reverse.grid import LAST_TIME, levels, num_steps
from egoscore.reverse.solve import SOLVERS, ReverseProcess, Solver

__all__ = ["LAST_TIME", "SOLVERS", "ReverseProcess", "Solver", "levels", "num_steps"]

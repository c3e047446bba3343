"""The stages put to work: fit a model, measure many nodes, keep a run on disk.

In: a network and settings. Out: a fitted model, component tables, files.
Not here: mathematics of any stage.
"""

from egoscore.engine.fit import fit_model
from egoscore.engine.measure import measure_nodes
from egoscore.engine.model import FittedModel

__all__ = ["FittedModel", "fit_model", "measure_nodes"]

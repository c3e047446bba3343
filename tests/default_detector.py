"""The default detector without `EgoScore` around it, for tests of its parts."""

import torch

from egoscore.detectors.base import Job
from egoscore.detectors.conditional.channels import Measurement, measure
from egoscore.detectors.conditional.detector import ConditionalDetector
from egoscore.detectors.conditional.settings import ConditionalSettings

QUICK = ConditionalSettings(hidden_size=8, updates=3, batch_size=64)


def job(seed=0, **changes):
    """A job on the CPU."""
    return Job(seed, torch.device("cpu"), **changes)


def fit(graph, seed=0, settings=QUICK, **changes):
    """A fitted detector and the table of its training graph."""
    return ConditionalDetector.fit(graph, settings, job(seed, **changes))


def measured(detector, graph, is_training):
    """The table of a graph, measured as the training graph or as a new one."""
    view = detector.learned.view(graph)
    channels = measure(Measurement(detector.learned, view, is_training))
    return detector.scoring.table(channels, view.ego_size)

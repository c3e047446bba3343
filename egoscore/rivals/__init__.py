"""Other people's detectors, for comparison.

In: a network, whose labels nobody reads. Out: one score per node, higher is more abnormal.
Not here: our own method, and evaluation.
"""

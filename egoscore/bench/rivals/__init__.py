"""Other people's detectors, for comparison.

In: a graph without labels. Out: one score per node; higher is more abnormal.
Not here: our own method, and evaluation.
"""

"""The stages put to work: fit a model, measure many nodes, keep a run on disk.

In: a network and settings. Out: a fitted model, component tables, files.
Not here: mathematics of any stage.
"""

"""The default detector: four questions about each node: features, neighbours, position, extremes.

In: a graph. Out: calibrated channels of every node and one score. A denoiser predicts the centre of
an ego-graph from the rest: exactly for Gaussian data, with neural networks for what is not.
Not here: the paper's reconstruction of whole ego-graphs.
"""

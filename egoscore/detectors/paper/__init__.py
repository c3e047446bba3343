"""The paper's method: noise each ego-graph, denoise it, and compare (Gavrilev & Burnaev, 2023).

In: an `AttributedGraph`. Out: a component table with one row per node and the scores computed from
it. In the order of the paper: ego, sde, networks, train, solve, reconstruct, components, combine.
Not here: files, the other detector, what all detectors share.
"""

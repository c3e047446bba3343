"""Optimized versions of the networks: the same results as the plain ones, many times faster.

In: ego-graphs and weights. Out: predicted noise and gradients. Not here: anything needed to
understand the method; read the plain networks in the folder above first.
"""

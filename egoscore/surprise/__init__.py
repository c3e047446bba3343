"""How surprising a node is, question by question: features, company, place.

In: a network. Out: channels of every node, calibrated, and one score. The default recipe: a score
model of the centre of an ego-graph given the rest, exact where the data are Gaussian, learned where
they are not. Not here: the paper's reconstruction of whole ego-graphs.
"""

"""Learning from verdicts: a reviewer says which nodes are abnormal, and the ranking follows.

In: the inputs that a detector gives, scores, verdicts. Out: updated scores, what was learned, and
what to review next. Not here: the unsupervised score, which never depends on a verdict.
"""

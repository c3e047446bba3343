"""Output for people and for other programs.

In: a fitted detector's scores, components, explanations and losses. Out: the ranking, notes, the
HTML report, CSV, JSON and terminal output. Not here: anything that changes a score.
"""

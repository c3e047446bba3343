"""Output for people and for other programs.

In: the ranking, a fitted detector's explanations and losses. Out: notes, the HTML report, CSV, JSON
and terminal output. Not here: anything that changes a score.
"""

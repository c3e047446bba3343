"""What a person or another program gets to see.

In: scores, components, losses. Out: thresholds, rankings, metrics, tables, the report.
Not here: anything that changes a score.
"""

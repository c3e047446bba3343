"""Anomalies planted in real tables.

In: the tables of the data folder. Out: copies of them with planted anomalies, and for each the
nodes that should be found and the reason that should be given. Not here: anything that scores.
"""

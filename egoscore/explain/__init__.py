"""Why a node has its score: which features, edges and quantities are unusual, and how unusual.

In: a fitted detector, a graph, a node. Out: an `Explanation`, plain data with a summary sentence.
Not here: reports, tables, the terminal.
"""

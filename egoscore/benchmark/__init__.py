"""Comparing detectors by BOND's protocol.

In: networks with known outliers, and names of methods. Out: one line per trial on disk, tables,
figures. Not here: the methods themselves (`egoscore.rivals`, `egoscore.detector`).
"""

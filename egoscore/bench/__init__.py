"""Comparing detectors by BOND's protocol.

In: graphs with known outliers, and names of methods. Out: one line per trial on disk, tables and
figures. Not here: anything the rest of the package needs; only `cli/bench.py` imports this one.
"""

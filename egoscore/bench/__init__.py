"""Comparing detectors by BOND's protocol.

In: graphs with known outliers, and names of methods. Out: one line per trial on disk, tables and
figures. Not here: anything the rest of the package needs; only `cli/bench.py` imports this one.

`command` does it all: `runner` sends trials to processes of `worker`, where `trial` runs one of the
`methods`; `results` keeps the records; `table` summarises them for `markdown`, `latex` and the
terminal; `draw` measures what `figures` show.
"""

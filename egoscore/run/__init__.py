"""The run directory: lock, checkpoints, shards and results; no file is ever half written.

In: tensors, tables and settings of a detector. Out: files, and the contents of a finished run.
Not here: what any of the numbers mean.
"""

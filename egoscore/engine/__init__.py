"""Where work runs: in this process or in several.

In: a picklable task and shards of a graph's nodes. Out: one result per shard, in any order.
Not here: what is computed.
"""

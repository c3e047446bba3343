"""A store of unfinished work in memory."""

import json


class MemoryStore:
    """Keeps parts and shards; `saved` are the numbers of shards in the order they came."""

    def __init__(self, shards=()):
        self.parts, self.shards, self.losses, self.saved = {}, dict(shards), None, []

    def save(self, name, tensors, facts):
        self.parts[name] = tensors, json.loads(json.dumps(facts))

    def load(self, name):
        return self.parts.get(name)

    def save_losses(self, names, rows):
        self.losses = tuple(names), list(rows)

    def save_shard(self, number, columns, facts):
        self.saved.append(number)
        self.shards[number] = dict(columns), json.loads(json.dumps(facts))

    def load_shard(self, number):
        return self.shards.get(number)

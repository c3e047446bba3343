"""Nested dataclasses as tensors and facts: unpacking gives what was packed, or an error."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from default_detector import fit, measured
from numpy.typing import NDArray
from safetensors.torch import load, save

from egoscore import generate_network
from egoscore.detectors.conditional.detector import ConditionalDetector
from egoscore.detectors.conditional.mlp import CentreNetwork
from egoscore.detectors.serialization import pack, unpack


@dataclass(frozen=True)
class Leaf:
    values: NDArray[np.float64]
    size: float


@dataclass(frozen=True)
class Tree:
    count: int
    name: str
    leaf: Leaf
    leaves: dict[str, Leaf]
    pair: tuple[float, float]
    rest: tuple[float, float] | None
    networks: tuple[CentreNetwork, ...]
    numbers: NDArray[np.int64]


def network(seed):
    made = CentreNetwork(2, 3, 8)
    made.initialise(seed, 0)
    return made


def tree(**changes):
    leaves = {
        "a b": Leaf(np.array([[1 / 3, np.pi]]), 0.1),
        "empty": Leaf(np.zeros((0, 4)), float("inf")),
        "": Leaf(np.array([7.0]), -0.0),
    }
    parts = {
        "count": 2**64 - 1,
        "name": "Ünïcode",
        "leaf": Leaf(np.arange(12.0).reshape(3, 4)[:, ::2].T, 1e-300),  # not contiguous
        "leaves": leaves,
        "pair": (1 / 3, 2.0),
        "rest": None,
        "networks": (network(1), network(2)),
        "numbers": np.array([2**62, -1]),
    }
    return Tree(**parts | changes)


def put_away(value, kind):
    """Through bytes, as a file would do it."""
    tensors, facts = {}, {}
    pack(value, "root", tensors, facts)
    return load(save(tensors)), json.loads(json.dumps(facts)), kind


def there_and_back(value, kind=Tree):
    tensors, facts, kind = put_away(value, kind)
    return unpack(kind, "root", tensors, facts)


def assert_same_leaf(ours, theirs):
    np.testing.assert_array_equal(ours.values, theirs.values)
    assert (ours.values.dtype, ours.values.shape) == (theirs.values.dtype, theirs.values.shape)
    assert ours.size == theirs.size


def test_everything_comes_back_to_the_last_bit():
    before, after = tree(), there_and_back(tree())
    for name in ("count", "name", "pair", "rest"):
        assert getattr(after, name) == getattr(before, name)
        assert type(getattr(after, name)) is type(getattr(before, name))
    assert_same_leaf(after.leaf, before.leaf)
    assert list(after.leaves) == list(before.leaves)
    for name in before.leaves:
        assert_same_leaf(after.leaves[name], before.leaves[name])
    np.testing.assert_array_equal(after.numbers, before.numbers)
    assert after.numbers.dtype == np.int64
    for ours, theirs in zip(after.networks, before.networks, strict=True):
        assert ours.state_dict().keys() == theirs.state_dict().keys()
        for name, weight in theirs.state_dict().items():
            assert torch.equal(ours.state_dict()[name], weight)


def test_what_may_be_missing_comes_back_if_it_is_there():
    assert there_and_back(tree(rest=(0.5, 2.0))).rest == (0.5, 2.0)


def test_an_empty_dictionary_comes_back():
    assert there_and_back(tree(leaves={})).leaves == {}


def test_what_is_put_away_no_longer_changes():
    made = network(1)
    tensors, facts = {}, {}
    pack(tree(networks=(made,)), "root", tensors, facts)
    before = {name: value.clone() for name, value in tensors.items()}
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(1)
    assert all(torch.equal(tensors[name], before[name]) for name in tensors)


def test_tensors_are_arrays_and_facts_are_not():
    tensors, facts, _ = put_away(tree(), Tree)
    assert {"root.numbers", "root.leaf.values", "root.leaves.a b.values"} <= tensors.keys()
    assert facts["root.count"] == 2**64 - 1
    assert facts["root.leaf.size"] == 1e-300
    assert not tensors.keys() & facts.keys()


@pytest.mark.parametrize("name", sorted(put_away(tree(), Tree)[0]))
def test_without_one_of_the_tensors_nothing_comes_back(name):
    tensors, facts, kind = put_away(tree(), Tree)
    del tensors[name]
    with pytest.raises((KeyError, RuntimeError)):
        unpack(kind, "root", tensors, facts)


@pytest.mark.parametrize("name", sorted(put_away(tree(), Tree)[1]))
def test_without_one_of_the_facts_nothing_comes_back(name):
    tensors, facts, kind = put_away(tree(), Tree)
    del facts[name]
    with pytest.raises(KeyError):
        unpack(kind, "root", tensors, facts)


@pytest.mark.parametrize("value", [None, "much", [], {}, [1.0]])
def test_what_should_be_a_number_and_is_not_is_refused(value):
    tensors, facts, kind = put_away(tree(), Tree)
    for name in ("root.count", "root.leaf.size"):
        with pytest.raises((TypeError, ValueError)):
            unpack(kind, "root", tensors, facts | {name: value})


def test_a_whole_detector_measures_as_before():
    graph = generate_network(80, 200, 3)
    detector, found = fit(graph)
    again = measured(there_and_back(detector, ConditionalDetector), graph, is_training=True)
    for name, values in found.columns().items():
        np.testing.assert_array_equal(again.columns()[name], values, err_msg=name)

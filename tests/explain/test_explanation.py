"""An explanation as plain data: what goes through JSON comes back the same."""

import json
from dataclasses import fields

import pytest
from report.samples import explanation

from egoscore import EgoScore, generate_network
from egoscore.explain.explanation import Component, Deviation, Explanation, Picture, Reasons, Tie

QUICK = {
    "default": {"updates": 2, "hidden_size": 8},
    "paper": {"preset": "paper", "epochs": 1, "num_levels": 1, "num_samples": 1, "steps": 3},
}


def through_json(found):
    return Explanation.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))


@pytest.mark.parametrize("preset", QUICK)
def test_real_ones_come_back_as_they_were(preset):
    graph = generate_network(60, 150, 4, seed=1)
    detector = EgoScore(**QUICK[preset]).fit(graph)
    for found in detector.explain_all([0, 7, 59]):
        again = through_json(found)
        assert again == found
        assert hash(again) == hash(found)


@pytest.mark.parametrize("rank", [1, 4, 6])
def test_made_up_ones_too(rank):
    found = explanation(rank, 500, 4.5, flag=True)
    assert through_json(found) == found


def test_without_json_too():
    found = explanation(2, 500, 4.5, flag=False)
    assert Explanation.from_dict(found.to_dict()) == found


def test_its_parts_are_of_their_kinds_again():
    found = through_json(explanation(2, 500, 4.5, flag=True))
    assert all(type(one) is Deviation for one in found.features + found.structure)
    assert all(type(one) is Tie for one in found.surprising + found.expected)
    assert all(type(one) is Component for one in found.components)
    assert type(found.picture) is Picture
    assert all(type(edge) is tuple for edge in found.picture.actual + found.picture.expected)


def test_it_adds_to_the_reasons_and_overrides_nothing():
    names, before = ({one.name for one in fields(kind)} for kind in (Explanation, Reasons))
    added = names - before
    assert added == set(Explanation.__annotations__)
    assert not [name for name in vars(Reasons) if not name.startswith("__")]
    assert Explanation.__final__


@pytest.mark.parametrize("lost", ["features", "picture", "score", "causes"])
def test_one_with_a_part_missing_is_no_explanation(lost):
    record = explanation(1, 500, 4.5, flag=True).to_dict()
    del record[lost]
    with pytest.raises((KeyError, TypeError)):
        Explanation.from_dict(record)

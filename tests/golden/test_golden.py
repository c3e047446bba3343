"""Results are what they were: scores, p-values, flags, components, explanations, `--json`."""

from __future__ import annotations

import pytest

from golden.cases import CASES, DATA, NEEDS_DATA, compute, differences_by_node, stored

RTOL = 1e-2  # single precision on another processor; `make golden` compares to 1e-6 on one


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_recorded(name: str) -> None:
    if name in NEEDS_DATA and not DATA.exists():
        pytest.skip("needs the data folder")
    assert differences_by_node(stored(name), compute(name), RTOL) == []


def test_a_changed_number_is_noticed() -> None:
    def record(score: float, size: float) -> dict[str, object]:
        reason = {"node": "a", "causes": ["x"], "features": [{"name": "age", "size": size}]}
        reason |= {"structure": [], "components": []}
        scores = {"node": ["a"], "score": [score]}
        return {"columns": scores, "explanations": [reason], "printed": {"codes": []}}

    assert differences_by_node(record(1.0, 2.0), record(1.0, 2.0), RTOL) == []
    assert len(differences_by_node(record(1.0, 2.0), record(1.02, 2.1), RTOL)) == 2


def test_another_note_and_another_cause_are_noticed() -> None:
    def record(code: str, cause: str) -> dict[str, object]:
        reason = {"node": "a", "causes": [cause], "features": [], "structure": []}
        printed = {"codes": [{"code": code}, {"code": "ranking-stable"}]}
        return {
            "columns": {"node": ["a"]},
            "explanations": [reason | {"components": []}],
            "printed": printed,
        }

    assert differences_by_node(record("no-edges", "x"), record("no-edges", "x"), RTOL) == []
    assert len(differences_by_node(record("no-edges", "x"), record("few-nodes", "y"), RTOL)) == 2

"""One node as the page shows it: its standing, its values, the graph around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from egoscore.explain.explanation import Explanation, Picture, Tie
from egoscore.report.ego_drawing import HEIGHT, WIDTH, by_importance, layout
from egoscore.report.verdict_notes import contribution_phrase
from egoscore.serve.neighbourhood import neighbourhood, places
from egoscore.serve.query import CODES
from egoscore.serve.room import Room
from egoscore.text import brief, number

_LONGEST = 200  # characters of a name
_MOST_VALUES = 200
_ON_HOVER = 8  # attributes


def node_record(room: Room, row: int) -> dict[str, Any]:
    """Everything about a node that needs no explanation."""
    standing = room.desk.standing
    verdict = standing.verdicts.get(row)
    return {
        **row_record(room, row),
        "p_value": shown_number(room, "p_value", row),
        "verdict": None if verdict is None else asdict(verdict),
        "changes": changes(room, row),
        "attributes": values_of(room, row, "attributes", _MOST_VALUES),
        "others": values_of(room, row, "other columns", _MOST_VALUES),
    }


def row_record(room: Room, row: int) -> dict[str, Any]:
    """A node as in the ranking."""
    live = room.desk.known.columns
    return {
        "row": row,
        "id": brief(room.table.ids[row].as_py(), _LONGEST),
        "name": brief(room.table.shown(row), _LONGEST),
        "score": shown_number(room, "score", row),
        "rank": int(room.rank[row]),
        "updated_rank": int(live["updated_rank"][row]),
        "updated_score": number(float(live["updated_score"][row])),
        "kind": CODES[live["verdict"][row]],
        "flag": bool(room.flag[row]),
        "neighbours": int(room.degrees[row]),
    }


def shown_number(room: Room, key: str, row: int) -> str:
    """The value of a column as text."""
    return room.table.columns[key].show(row)


def changes(room: Room, row: int) -> list[str]:
    """Why verdicts moved a node, in words."""
    return [contribution_phrase(**asdict(one)) for one in room.desk.changes(row)]


def why_moved(room: Room, row: int, by: int) -> list[str]:
    """Why a node rose by so many places, or fell: verdicts may also have moved the others more."""
    live = room.desk.known.columns
    added = float(live["updated_score"][row]) - float(room.score[row])
    if by and added * by <= 0:
        return ["others rose more" if by < 0 else "others fell more"]
    found = [asdict(one) for one in room.desk.changes(row)]
    return [contribution_phrase(**one) for one in found if one["size"] * by >= 0]


def values_of(room: Room, row: int, group: str, most: int) -> list[dict[str, str]]:
    """The values of a node in a group of columns; of a category, only the one it has."""
    found = []
    for column in room.groups[group]:
        text = column.show(row)
        name, is_category, value = column.label.partition(" = ")
        if is_category and column.kind == "yes/no":
            if text != "yes":
                continue
            text = value
        found.append({"name": name, "value": text})
        if len(found) == most:
            break
    return found


def surroundings(room: Room, row: int, hops: int) -> dict[str, Any]:
    """The graph within one or two hops as coordinates."""
    _ = room.desk.standing  # looks at the disk, once
    near = neighbourhood(room.graph, row, room.score, hops)
    at = places(near.hops, near.edges)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "nodes": dots(room, near.rows, at.tolist()),
        "hops": near.hops,
        "edges": near.edges,
        "left_out": near.left_out,
    }


def dots(room: Room, rows: Sequence[int], at: list[list[float]]) -> list[dict[str, Any]]:
    """The nodes of a drawing; `share` is the share of all nodes with a lower score."""
    size = room.table.num_nodes
    return [
        {
            **row_record(room, row),
            "x": x,
            "y": y,
            "share": round(1.0 - (int(room.rank[row]) - 1) / size, 4),
            "values": values_of(room, row, "attributes", _ON_HOVER),
        }
        for row, (x, y) in zip(rows, at, strict=True)
    ]


def explanation_record(room: Room, why: Explanation) -> dict[str, Any]:
    """The reasons of a node as data for the page."""
    rows = _tie_rows(room, why)
    words = room.words
    absent = [one for one in why.expected if not one.present and one.surprise > 0]
    return {
        "summary": why.summary,
        "reason": why.reason,
        "causes": list(why.causes),
        "questions": [
            {"label": words.labels.get(name, name), "asks": words.questions.get(name, ""),
             "percentile": 100.0 * (1.0 - float(np.exp(-answer)))}
            for name, answer in why.questions.items()
        ],
        "features": [asdict(one) for one in why.features],
        "structure": [asdict(one) for one in why.structure],
        "unexpected": [_tie(one, rows) for one in why.surprising],
        "fitting": [_tie(one, rows) for one in why.expected if one.present],
        "missing": [_tie(one, rows) for one in absent],
        "components": [
            {"label": words.components.get(one.name, one.name), "value": number(one.value),
             "percentile": one.percentile}
            for one in why.components
        ],
        "compared_with": why.compared_with,
        "picture": _picture(room, why.picture),
    }  # fmt: skip


def _tie_rows(room: Room, why: Explanation) -> dict[str, int]:
    """The rows of the nodes at the other ends, by id as text."""
    wanted = {one.node for one in (*why.surprising, *why.expected)}
    return room.table.rows_of(sorted(wanted)) if wanted else {}


def _tie(one: Tie, rows: dict[str, int]) -> dict[str, Any]:
    return {
        "name": brief(one.shown, _LONGEST),
        "row": rows.get(one.node),
        "surprise": one.surprise,
    }


def _picture(room: Room, picture: Picture) -> dict[str, Any]:
    """The actual and the expected ego-graph; nodes have the same place in both."""
    edges = {(min(pair), max(pair)) for pair in (*picture.actual, *picture.expected)}
    at = layout(len(picture.nodes), edges)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "nodes": dots(room, picture.rows, at.tolist()),
        "named": by_importance(picture)[:13],
        "actual": picture.actual,
        "expected": picture.expected,
        "shade": brief(picture.shade, _LONGEST),
        "shade_actual": picture.shade_actual,
        "shade_expected": picture.shade_expected,
        "left_out": picture.left_out,
        "levels": [asdict(one) for one in picture.levels],
    }

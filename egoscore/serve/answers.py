"""What the page is told: the ranking, the state of the review, what a verdict changed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from egoscore.report.notes import render
from egoscore.review.verdicts import KINDS
from egoscore.serve.desk import Standing
from egoscore.serve.node_view import row_record, why_moved
from egoscore.serve.query import Query
from egoscore.serve.room import Room
from egoscore.serve.statistics import statistics


def plain(value: Any) -> Any:
    """A value as JSON can hold it: numbers that are not finite become null."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def state_record(room: Room) -> dict[str, Any]:
    """What the page polls: whether anything changed, and what to review next."""
    standing = room.desk.standing
    kinds = [one.kind for one in standing.verdicts.values()]
    return {
        "title": room.title,
        "num_nodes": room.table.num_nodes,
        "num_flagged": int(room.flag.sum()),
        "version": standing.version,
        "is_learning": standing.learned != standing.version,
        "key": f"{standing.version}.{standing.learned}",
        "counts": {kind: kinds.count(kind) for kind in KINDS},
        "lessons": [render(note) for note in standing.notes] if kinds else [],
        "problem": standing.problem,
        "next": room.desk.suggestion(),
    }


def ranking_record(room: Room, query: Query, start: int, count: int, extra: str) -> dict[str, Any]:
    """One page of the ranking, with the column `extra` if it is not empty."""
    standing = room.desk.standing
    rows = room.table.select(query, standing.columns, standing.key)
    found = []
    for row in rows[start : start + count].tolist():
        record = row_record(room, row)
        if by := record["rank"] - record["updated_rank"]:
            record["changes"] = why_moved(room, row, by)
        if extra:
            record["extra"] = room.table.columns[extra].show(row)
        found.append(record)
    key = f"{standing.version}.{standing.learned}"
    return {"total": len(rows), "start": start, "rows": found, "key": key}


def next_in_order(room: Room, query: Query, row: int, by: int) -> int | None:
    """The node after (1) or before (-1) another one in a list; the first if it is not in it."""
    standing = room.desk.standing
    rows = room.table.select(query, standing.columns, standing.key)
    place = np.flatnonzero(rows == row)
    if not len(place):
        return int(rows[0]) if len(rows) else None
    wanted = int(place[0]) + by
    return int(rows[wanted]) if 0 <= wanted < len(rows) else None


def change_record(room: Room, before: Standing, rows: list[int], patience: float) -> dict[str, Any]:
    """What a new verdict did: the state, how its nodes moved, and which came to the top."""
    after = room.desk.settle(patience)
    was, now = (one.columns["updated_rank"] for one in (before, after))
    moved = [
        {**row_record(room, row), "from": int(was[row]), "to": int(now[row]),
         "changes": why_moved(room, row, int(was[row] - now[row]))}
        for row in [*rows[:3], *room.desk.newcomers(before, after)[:5]]
    ]  # fmt: skip
    return {"state": state_record(room), "rows": rows, "moved": moved[len(rows[:3]) :],
            "own": moved[: len(rows[:3])]}  # fmt: skip


def statistics_record(room: Room) -> dict[str, Any]:
    """How far the review is."""
    return statistics(room.desk.standing, room.rank, int(room.flag.sum()))

"""The requests of the review page, and their answers as JSON."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from egoscore.errors import EgoScoreError, InputError
from egoscore.review.verdicts import KINDS
from egoscore.serve import answers
from egoscore.serve.exports import FORMATS, neighbourhood_file, verdicts_csv
from egoscore.serve.guard import Guard
from egoscore.serve.node_view import explanation_record, node_record, surroundings
from egoscore.serve.query import MOST_ROWS, parse_query, whole
from egoscore.serve.room import Room

_TYPES = {"css": "text/css", "js": "text/javascript", "html": "text/html", "svg": "image/svg+xml"}
_QUICK, _PATIENT = 0.7, 1.5  # seconds to wait for an explanation, and for a new ranking
_MOST_ROWS_AT_ONCE = 1000
_LONGEST_NOTE, _LONGEST_AUTHOR = 10_000, 200

Answer = Callable[[Room, Request], Any]


def make_app(room: Room, token: str, port: int) -> Guard:
    """The application, with what protects it."""

    async def page(request: Request) -> Response:
        response = Response(static["index.html"], media_type=_TYPES["html"])
        guard.remember(response)
        return response

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]  # only looked up, never a path
        if name not in static:
            return JSONResponse({"problem": "There is no such file."}, 404)
        return Response(static[name], media_type=_TYPES[name.rpartition(".")[2]])

    static = _static()
    reads = {
        "/api/state": _state,
        "/api/columns": lambda room, request: room.catalogue,
        "/api/ranking": _ranking,
        "/api/step": _step,
        "/api/histogram": lambda room, request: room.histogram(),
        "/api/above": _above,
        "/api/node/{row:int}": lambda room, request: node_record(room, _row(room, request)),
        "/api/surroundings/{row:int}": _surroundings,
        "/api/explanation/{row:int}": _explanation,
        "/api/statistics": lambda room, request: answers.statistics_record(room),
        "/api/export/verdicts.csv": _verdicts,
        "/api/export/neighbourhood": _neighbourhood,
    }
    routes = [Route("/", page), Route("/static/{name}", asset)]
    routes += [Route(path, _answering(room, answer)) for path, answer in reads.items()]
    routes += [
        Route("/api/verdicts", _changing(room, _give), methods=["POST"]),
        Route("/api/undo", _changing(room, _undo), methods=["POST"]),
    ]
    guard = Guard(Starlette(routes=routes), token, port)
    return guard


def _static() -> dict[str, bytes]:
    """The files of the page by name."""
    folder = files("egoscore.serve") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def _answering(room: Room, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """A request that reads, answered in a thread."""

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_safely, lambda: answer(room, request))

    return endpoint


def _changing(
    room: Room, change: Callable[[Room, dict[str, Any]], Any]
) -> Callable[[Request], Awaitable[Response]]:
    """A request that changes something, with a JSON object as its body."""

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        is_json = request.headers.get("content-type", "").startswith("application/json")
        return await run_in_threadpool(_safely, lambda: change(room, _parsed(body, is_json)))

    return endpoint


def _safely(answer: Callable[[], Any]) -> Response:
    """An answer as JSON; an error of the user in one sentence."""
    try:
        found = answer()
    except InputError as error:
        return JSONResponse({"problem": str(error)}, 400)
    except EgoScoreError as error:
        return JSONResponse({"problem": str(error)}, 500)
    if isinstance(found, Response):
        return found
    return JSONResponse(answers.plain(found))


def _parsed(body: bytes, is_json: bool) -> dict[str, Any]:
    try:
        given = json.loads(body) if is_json else None
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise InputError("The request must be a JSON object.")
    return given


def _row(room: Room, request: Request) -> int:
    return whole(request.path_params, "row", 0, 0, room.table.num_nodes - 1)


def _asked_row(room: Room, request: Request) -> int:
    return whole(request.query_params, "row", 0, 0, room.table.num_nodes - 1)


def _hops(request: Request) -> int:
    return whole(request.query_params, "hops", 1, 1, 2)


def _state(room: Room, request: Request) -> Any:
    return answers.state_record(room)


def _ranking(room: Room, request: Request) -> Any:
    given = request.query_params
    query = parse_query(given, room.keys)
    start = whole(given, "start", 0, 0, room.table.num_nodes)
    count = whole(given, "count", 50, 1, MOST_ROWS)
    extra = given.get("extra", "")
    if extra and extra not in room.table.columns:
        raise InputError("There is no column of that name.")
    return answers.ranking_record(room, query, start, count, extra)


def _step(room: Room, request: Request) -> Any:
    query = parse_query(request.query_params, room.keys)
    by = whole(request.query_params, "by", 1, -1, 1)
    return {"row": answers.next_in_order(room, query, _asked_row(room, request), by)}


def _above(room: Room, request: Request) -> Any:
    try:
        threshold = float(request.query_params.get("threshold", ""))
    except ValueError:
        raise InputError("'threshold' must be a number.") from None
    return {"count": room.above(threshold)}


def _surroundings(room: Room, request: Request) -> Any:
    return surroundings(room, _row(room, request), _hops(request))


def _explanation(room: Room, request: Request) -> Any:
    row = _row(room, request)
    why = room.explaining.of(row, _QUICK)
    return {"explanation": None if why is None else explanation_record(room, why)}


def _verdicts(room: Room, request: Request) -> Response:
    name = {"content-disposition": 'attachment; filename="verdicts.csv"'}
    return Response(verdicts_csv(room), media_type="text/csv; charset=utf-8", headers=name)


def _neighbourhood(room: Room, request: Request) -> Response:
    kind = request.query_params.get("format", "graphml")
    if kind not in FORMATS:
        raise InputError(f"'format' must be {' or '.join(FORMATS)}.")
    row = _asked_row(room, request)
    content = neighbourhood_file(room, row, _hops(request), kind)
    name = {"content-disposition": f'attachment; filename="node-{row}.{kind}"'}
    return Response(content, media_type=FORMATS[kind], headers=name)


def _give(room: Room, given: dict[str, Any]) -> Any:
    rows, kind = given.get("rows"), given.get("kind")
    if not isinstance(rows, list) or not 0 < len(rows) <= _MOST_ROWS_AT_ONCE:
        raise InputError(f"'rows' must list 1 to {_MOST_ROWS_AT_ONCE:,} nodes.")
    last = room.table.num_nodes - 1
    known = [*dict.fromkeys(whole({"row": row}, "row", -1, 0, last) for row in rows)]
    if kind not in ("", *KINDS):
        raise InputError(f"'kind' must be one of {', '.join(KINDS)}, or empty to take it back.")
    note = _text(given, "note", _LONGEST_NOTE)
    author = _text(given, "author", _LONGEST_AUTHOR)
    before = room.desk.standing
    room.desk.give(known, str(kind), note, author)
    return answers.change_record(room, before, known, _PATIENT)


def _undo(room: Room, given: dict[str, Any]) -> Any:
    before = room.desk.standing
    undone = room.desk.undo()
    return answers.change_record(room, before, room.desk.rows_of(undone), _PATIENT)


def _text(given: dict[str, Any], name: str, limit: int) -> str:
    text = given.get(name, "")
    if not isinstance(text, str) or len(text) > limit:
        raise InputError(f"'{name}' must be text of at most {limit:,} characters.")
    return text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be stored

"""Starting and ending the review page."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path

import uvicorn

from egoscore.errors import InputError
from egoscore.serve.app import make_app
from egoscore.serve.room import Room

_LOOPBACK = "127.0.0.1"


def serve(run: Path, port: int, opens_browser: bool, say: Callable[[str], None]) -> None:
    """Serve the review page of a run until Ctrl-C; port 0 takes a free one."""
    room = Room.open(run)
    with _listening(port) as listening:
        port, token = listening.getsockname()[1], secrets.token_urlsafe(32)
        address = f"http://{_LOOPBACK}:{port}/?token={token}"
        server = uvicorn.Server(_config(room, token, port))
        room.warm_up()
        say(f"Review page: {address}")
        say("Press Ctrl-C to end it. Every verdict is saved at once.")
        opened = _open(address) if opens_browser else None
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:  # uvicorn has ended cleanly and raises it again
            say("Ended; all verdicts are saved.")
        finally:
            if opened is not None:
                opened.unlink(missing_ok=True)


def _config(room: Room, token: str, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        make_app(room, token, port),
        http="h11",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=64,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
    )


def _listening(port: int) -> socket.socket:
    """A socket on the loopback interface, which no other machine can reach."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((_LOOPBACK, port))
        found.listen(64)
    except OSError as error:
        found.close()
        raise InputError(
            f"Port {port} cannot be used ({error.strerror}); choose another one with --port, or 0 "
            "for any."
        ) from error
    return found


def _open(address: str) -> Path | None:
    """Open the page in a browser, if there is a screen.

    By way of a file that only this user can read, which is returned: other users see the arguments
    of programs.
    """
    has_screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if not has_screen:
        return None
    with tempfile.NamedTemporaryFile("w", prefix="egoscore-", suffix=".html", delete=False) as file:
        file.write(f'<meta http-equiv="refresh" content="0; url={escape(address)}">')
    webbrowser.open(Path(file.name).as_uri())
    return Path(file.name)

"""What stands between the network and the review page.

Only this machine can connect, because the server listens on the loopback interface. This module
keeps out other users, who do not know the token, and other pages in the same browser: a page of
another site can send requests to 127.0.0.1, and with DNS rebinding also read the answers.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 1 << 20  # of the body of a request
_MOST_QUERY = 16_384
_SAFE = ("GET", "HEAD")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Guard:
    """Passes on the requests of the page that has the token; refuses all others."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.cookie = f"egoscore_{port}"  # cookies do not tell ports apart
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        if port == 80:
            self.hosts |= {"127.0.0.1", "localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        await self.app(scope, _limited(receive), _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        is_safe = scope["method"] in _SAFE
        if host not in self.hosts:
            return _refused(400, "This page is only available on this machine.")
        if origin is not None and origin != f"http://{host}":
            return _refused(403, "Requests from other sites are refused.")
        if not is_safe and origin is None:
            return _refused(403, "Changes are accepted from the review page only.")
        is_opened = headers.get("sec-fetch-mode") == "navigate" and scope["path"] == "/" and is_safe
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not is_opened:
            return _refused(403, "Requests from other sites are refused.")
        if len(scope["query_string"]) > _MOST_QUERY or _length(headers) > MOST_BYTES:
            return _refused(413, "The request is too large.")
        if not self._is_known(scope, headers):
            return _refused(403, "Open the address that `egoscore review` printed.")
        return None

    def _is_known(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request has the token: as a cookie, or to open the page in its address."""
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            found = None
        if found is not None and _equal(found.value, self.token):
            return True
        asked = QueryParams(scope["query_string"]).get("token", "")
        return scope["path"] == "/" and _equal(asked, self.token)

    def remember(self, response: Response) -> None:
        """Leave the token with the browser that opened the page."""
        response.set_cookie(self.cookie, self.token, path="/", httponly=True, samesite="strict")


def _equal(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())


def _length(headers: Headers) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else MOST_BYTES + 1


def _refused(status: int, text: str) -> Response:
    return PlainTextResponse(text, status, {"connection": "close"})


def _limited(receive: Receive) -> Receive:
    """The body of a request, cut off where it becomes too large, whatever its headers say."""
    size = 0

    async def limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > MOST_BYTES:
            raise HTTPException(413, "The request is too large.")
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def added(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: Any = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
        await send(message)

    return added

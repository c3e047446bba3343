"""Attacks: other sites, other users, other machines; nothing of it reaches the run."""

import json

import pytest
from serve.conftest import BASE, HOSTILE, PORT, TOKEN

from egoscore.serve.guard import MOST_BYTES


@pytest.mark.parametrize("path", ["/", "/api/state", "/api/ranking", "/static/main.js"])
@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", f"?token={TOKEN}x"])
def test_nothing_without_the_token(stranger, path, query):
    assert stranger.get(path + query).status_code == 403


def test_the_token_in_an_address_only_opens_the_page(stranger):
    assert stranger.get(f"/api/state?token={TOKEN}").status_code == 403
    opened = stranger.get(f"/?token={TOKEN}")
    cookie = opened.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert stranger.get("/api/state").status_code == 200


def test_a_wrong_cookie(stranger):
    for value in ("wrong", "", '"', "ä".encode()):
        stranger.cookies.clear()
        value = value if isinstance(value, bytes) else value.encode()
        headers = {"cookie": b"egoscore_%d=%b" % (PORT, value)}
        assert stranger.get("/api/state", headers=headers).status_code == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", "", f"[::1]:{PORT}"],
)
def test_another_host(client, host):
    assert client.get("/api/state", headers={"host": host}).status_code == 400


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https" + BASE[4:]]
)
@pytest.mark.parametrize("path", ["/api/verdicts", "/api/undo"])
def test_another_origin_changes_nothing(client, room, origin, path):
    given = {"rows": [0], "kind": "abnormal"}
    answer = client.post(path, json=given, headers={"origin": origin})
    assert answer.status_code == 403
    assert client.get("/api/state", headers={"origin": origin}).status_code == 403
    assert room.desk.store.current() == []


def test_no_origin_changes_nothing(client, room):
    del client.headers["origin"]
    assert client.post("/api/verdicts", json={"rows": [0], "kind": "normal"}).status_code == 403
    assert room.desk.store.current() == []


@pytest.mark.parametrize("site", ["cross-site", "same-site", "?"])
def test_what_another_site_embeds_or_fetches(client, site):
    headers = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}
    assert client.get("/api/state", headers=headers).status_code == 403
    assert client.get("/", headers=headers).status_code == 403


def test_a_form_of_another_kind(client, room):
    body = '{"rows": [0], "kind": "abnormal"}'
    answer = client.post("/api/verdicts", content=body, headers={"content-type": "text/plain"})
    assert answer.status_code == 400
    assert room.desk.store.current() == []


def test_large_requests(client):
    def chunks():
        yield b" " * (MOST_BYTES // 2)
        yield b" " * (MOST_BYTES // 2)
        yield b" "

    headers = {"content-type": "application/json"}
    assert (
        client.post("/api/verdicts", content=b" " * (MOST_BYTES + 1), headers=headers).status_code
        == 413
    )
    assert client.post("/api/verdicts", content=chunks(), headers=headers).status_code == 413
    assert client.get("/api/ranking?search=" + "x" * 20_000).status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd",
        "/static/..%5capp.py", "/../../etc/passwd",
        "/api/export/../config.json",
    ],
)  # fmt: skip
def test_no_paths(client, path):
    assert client.get(path).status_code == 404


def test_every_answer_has_a_strict_policy(client, stranger):
    for path in ("/", "/static/main.js", "/api/state", "/nowhere"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


def test_the_page_names_no_other_place(client):
    from egoscore.serve.app import _static

    for name, content in _static().items():
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text, name
        assert "innerHTML" not in text, name
        assert "insertAdjacentHTML" not in text, name


def test_hostile_notes_come_back_as_they_were(client):
    for note in (HOSTILE, "'; DROP TABLE log; --", "=cmd()", "\ud800", "\x00", "a" * 10_000):
        given = {"rows": [7], "kind": "abnormal", "note": note, "author": HOSTILE}
        answer = client.post(
            "/api/verdicts", content=json.dumps(given), headers={"content-type": "application/json"}
        )
        assert answer.status_code == 200
        found = client.get("/api/node/7").json()["verdict"]
        assert found["note"] == note.replace("\ud800", "?")
        assert found["author"] == HOSTILE
    text = client.get("/api/export/verdicts.csv").text
    assert "\n=" not in text

"""Downloads: kept when whole and right, thrown away otherwise, and quiet."""

from __future__ import annotations

import hashlib
import http.server
import io
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from egoscore.load import datasets
from egoscore.load.datasets import DownloadError, fetch


def zip_file() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("network.pt", b"a network")
    return buffer.getvalue()


class Server:
    """A web server on this machine that answers as told and counts what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status, self.content, self.declared, self.delay = 200, b"", 0, 0.0
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                time.sleep(server.delay)
                self.send_response(server.status)
                self.send_header("Content-Length", str(server.declared or len(server.content)))
                self.end_headers()
                self.wfile.write(server.content)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    def stop(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/data/f.pt.zip"


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, and no proxy between us and this machine."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(datasets, "cache_dir", lambda: folder)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return folder


@pytest.fixture
def server(cache: Path) -> Iterator[Server]:
    started = Server()
    yield started
    started.stop()


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_download_is_kept_and_quiet(
    server: Server, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server.content = zip_file()
    path = fetch(server.url, "f.pt.zip", None)
    assert path.read_bytes() == server.content
    assert server.asked == ["/data/f.pt.zip"]
    assert files_in(cache) == ["f.pt.zip"]
    assert capfd.readouterr() == ("", "")


def test_a_download_with_the_right_checksum_is_kept(server: Server, cache: Path) -> None:
    server.content = zip_file()
    path = fetch(server.url, "f.pt.zip", hashlib.sha256(server.content).hexdigest())
    assert path.read_bytes() == server.content
    assert files_in(cache) == ["f.pt.zip"]


def test_a_download_with_another_checksum_is_thrown_away(
    server: Server, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server.content = zip_file()
    with pytest.raises(DownloadError, match="the download is not the published file"):
        fetch(server.url, "f.pt.zip", hashlib.sha256(b"another").hexdigest())
    assert server.asked == ["/data/f.pt.zip"]
    assert files_in(cache) == []
    assert capfd.readouterr() == ("", "")


def test_a_login_page_is_thrown_away(server: Server, cache: Path) -> None:
    server.content = b"<html>Welcome to our hotel</html>"
    with pytest.raises(DownloadError, match="the download is not a zip file"):
        fetch(server.url, "f.pt.zip", None)
    assert files_in(cache) == []


def test_half_a_file_is_thrown_away(server: Server, cache: Path) -> None:
    server.content = zip_file()
    server.declared = len(server.content) + 1
    with pytest.raises(DownloadError, match="the connection failed"):
        fetch(server.url, "f.pt.zip", None)
    assert files_in(cache) == []


def test_a_refusal_of_the_server_is_told(server: Server, cache: Path) -> None:
    server.status = 404
    with pytest.raises(DownloadError, match="the server answered 404"):
        fetch(server.url, "f.pt.zip", None)
    assert files_in(cache) == []


def test_a_silent_server_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    assert datasets._TIMEOUT_SECONDS <= 10
    monkeypatch.setattr(datasets, "_TIMEOUT_SECONDS", 0.2)
    server.delay = 1.0
    with pytest.raises(DownloadError, match=r"no answer within 0\.2 seconds"):
        fetch(server.url, "f.pt.zip", None)


def test_a_cache_that_cannot_be_written_is_told(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.content = zip_file()
    cache.write_text("a file where the folder should be")
    with pytest.raises(DownloadError, match="Not a directory"):
        fetch(server.url, "f.pt.zip", None)

    def forbidden(*_: Any, **__: Any) -> None:
        raise PermissionError("a long story")

    monkeypatch.setattr("pooch.retrieve", forbidden)
    with pytest.raises(DownloadError, match="the cache cannot be written to"):
        fetch(server.url, "f.pt.zip", None)

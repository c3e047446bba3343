"""The site is built strictly, and needs nothing from elsewhere."""

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest
from docs.pages import PAGES, ROOT

pytest.importorskip("mkdocs")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# what a browser fetches by itself; an <a> only leads somewhere
FETCHED = {"src", "srcset", "poster", "data", "href", "xlink:href", "action"}
ONLY_LEADING = {("a", "href"), ("link rel=canonical", "href")}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr, built.stderr
    return place


class _Fetches(HTMLParser):
    """Collects what a page makes a browser fetch."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        kind = f"link rel={dict(attributes).get('rel')}" if tag == "link" else tag
        self.found += [
            value
            for name, value in attributes
            if name in FETCHED and (kind, name) not in ONLY_LEADING and value
        ]


def is_elsewhere(address):
    return bool(urlsplit(address.strip()).netloc)


def test_every_page_is_built(site):
    assert {f"{page.stem}.html" for page in PAGES} <= {file.name for file in site.glob("*.html")}


def test_no_page_loads_anything_from_another_host(site):
    for file in site.rglob("*.html"):
        page = _Fetches()
        page.feed(file.read_text(encoding="utf-8"))
        assert page.found
        assert not [address for address in page.found if is_elsewhere(address)], file


def test_no_style_loads_anything_from_another_host(site):
    for file in [*site.rglob("*.css"), *site.rglob("*.html"), *site.rglob("*.svg")]:
        text = file.read_text(encoding="utf-8")
        styles = text if file.suffix == ".css" else "".join(re.findall(r"<style.*?</style>", text))
        asked = re.findall(r"""(?:url\(|@import)\s*["']?\s*((?:https?:)?//[^"')\s]+)""", styles)
        assert not asked, file


def test_what_a_page_names_is_there(site):
    for file in site.rglob("*.html"):
        page = _Fetches()
        page.feed(file.read_text(encoding="utf-8"))
        for address in page.found:
            path = urlsplit(address).path
            if path and not address.startswith("data:") and file.name != "404.html":
                assert (file.parent / path).exists(), (file, address)


@pytest.fixture
def address(site):
    """The site on a loopback port."""
    handler = partial(_Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_the_search_finds_pages_and_asks_no_other_host(address):
    playwright = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no browser is installed")
    asked = []
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}index.html")
        page.locator(".md-search__input").click()
        page.locator(".md-search__input").type("Tukey")
        first = page.locator(".md-search-result__link").first
        first.wait_for(state="attached", timeout=60_000)  # a busy machine is slow
        assert "meaning.html" in first.get_attribute("href")
        browser.close()
    assert any(url.startswith(address) for url in asked)
    assert not [url for url in asked if not url.startswith((address, "data:", "blob:", "about:"))]

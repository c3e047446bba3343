"""The page in a real browser, as a reviewer uses it. Without a browser these are skipped."""

import re
import shutil
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright
from serve.conftest import HOSTILE, Server

from egoscore.review.store import VerdictStore
from egoscore.review.verdicts import Verdict

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ROWS = ".ranking tbody tr"
SIZES = "[document.documentElement.scrollWidth, innerWidth]"


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no browser is installed")
    with sync_playwright() as running:
        opened = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def started(made_run, tmp_path_factory):
    """One server for all tests of this file."""
    run = shutil.copytree(made_run, tmp_path_factory.mktemp("browser") / "run")
    with Server(run) as server:
        yield server, VerdictStore.of_run(run)


class Visit:
    """A tab, and everything that it tried besides."""

    def __init__(self, browser, address, width=1280, **more):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **more)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.requests, self.told = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.told.append(message.text))
        self.page.on("pageerror", lambda error: self.told.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.told.append(dialog.message), dialog.dismiss()))
        self.page.goto(address)
        self.page.locator(ROWS).first.wait_for()

    def names(self):
        return self.page.locator(".ranking .node a").all_inner_texts()

    def open(self, name):
        self.page.get_by_role("link", name=name, exact=True).first.click()
        expect(self.page.locator("h1")).to_have_text(name)


@pytest.fixture
def visit(browser, started):
    """Opens the page; in the end nothing was complained about and nothing left the machine."""
    server, store = started
    opened = []

    def call(width=1280, **more):
        opened.append(Visit(browser, server.address, width, **more))
        return opened[-1]

    yield call
    for one in opened:
        hosts = {urlsplit(url).netloc for url in one.requests if not url.startswith("blob:")}
        one.context.close()
        assert one.told == []
        assert hosts == {urlsplit(server.address).netloc}
    while store.current():
        store.undo()


def test_the_token_does_not_stay_in_the_address(visit):
    page = visit().page
    assert "token" not in page.url
    page.reload()
    page.locator(ROWS).first.wait_for()


def test_search_open_walk_and_go_back(visit):
    tab = visit()
    page = tab.page
    page.keyboard.press("/")
    page.keyboard.type("zoe")
    page.keyboard.press("Enter")
    expect(page.locator(ROWS)).to_have_count(1)
    tab.open("Zoë")
    page.locator(".comparison svg.ego").first.wait_for()
    neighbour = page.locator(".around g.node[role=link]").first
    name = neighbour.get_attribute("aria-label").partition(",")[0]
    neighbour.click()
    expect(page.locator("h1")).to_have_text(name)
    page.locator("#hops").click()
    expect(page.locator(".around figcaption")).to_have_text("Two hops")
    page.go_back()
    expect(page.locator(".around figcaption")).to_have_text("All neighbours")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Zoë")
    page.go_back()
    expect(page.locator(ROWS)).to_have_count(1)
    page.go_forward()
    expect(page.locator("h1")).to_have_text("Zoë")
    page.reload()
    expect(page.locator("h1")).to_have_text("Zoë")


def test_a_verdict_changes_the_ranking_and_undo_restores_it(visit, started):
    tab, store = visit(), started[1]
    page, before = tab.page, tab.names()
    tab.open(before[30])
    page.locator("#note").fill(HOSTILE)
    page.locator("#author").fill("Ada")
    page.get_by_role("button", name="Abnormal").click()
    expect(page.locator("#message")).to_contain_text("Rank 31 → ")
    expect(page.locator("#said")).to_contain_text("by Ada")
    (saved,) = store.current()
    assert (saved.kind, saved.note, saved.author) == ("abnormal", HOSTILE, "Ada")
    page.get_by_role("link", name="Next to review →").click()
    expect(page.locator("h1")).to_have_text(before[0])
    page.locator("h1").click()
    page.keyboard.press("n")
    expect(page.locator("#progress")).to_contain_text("1 abnormal, 1 normal")
    page.locator("#back").click()
    page.locator(ROWS).first.wait_for()
    assert tab.names() != before
    assert page.locator(".up, .down").count() > 0
    assert page.locator(".badge.abnormal").count() == 1
    page.reload()
    page.locator(ROWS).first.wait_for()
    assert tab.names() != before
    for said in ("1 abnormal.", "No verdicts yet."):
        page.get_by_role("button", name="Undo").click()
        expect(page.locator("#progress")).to_contain_text(said)
    page.locator(ROWS).first.wait_for()
    expect(page.locator(".ranking .node a")).to_have_text(before)


def test_bulk_verdicts_and_statistics(visit, started):
    page = visit().page
    for place in range(6):
        page.locator(f"{ROWS} input").nth(place).check()
    expect(page.locator("#picked")).to_have_text("6 nodes selected")
    page.locator("#bulk").get_by_role("button", name="Abnormal").click()
    expect(page.locator("#progress")).to_contain_text("6 abnormal")
    expect(page.locator(".badge.abnormal")).to_have_count(6)
    page.get_by_role("link", name="Statistics").click()
    expect(page.locator("#counts")).to_have_text("6 abnormal, 0 normal, 0 unsure")
    expect(page.locator(".values tbody tr").first).to_contain_text("100% (6 of 6)")
    assert len(started[1].current()) == 6


def test_the_threshold_can_be_dragged(visit):
    page = visit().page
    said, handle = page.locator("#above"), page.get_by_role("slider")
    expect(said).to_contain_text("as in the run")
    frame, box = page.locator(".histogram").bounding_box(), handle.bounding_box()
    y = frame["y"] + frame["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] / 4, y, steps=5)
    page.mouse.up()
    expect(said).not_to_contain_text("as in the run")
    page.wait_for_function(
        """() => { const it = document.querySelector('[role=slider]');
          return it.ariaValueText.endsWith(` ${Number(it.ariaValueNow)}`); }"""
    )
    count = int(re.search(r"flags (\d+) nodes", said.inner_text())[1])
    page.locator("#show-above").click()
    expect(page.locator("#found")).to_contain_text(f"Found {count} nodes")
    page.get_by_role("slider").press("ArrowRight")
    expect(said).to_contain_text("flags")


def test_filters_have_an_address(visit):
    page = visit().page
    page.get_by_text("Filter and sort").click()
    page.get_by_label("Filter by").select_option(label="city (other columns)")
    page.get_by_label("Contains").fill("Graz")
    page.get_by_role("button", name="Add filter").click()
    expect(page.locator("#found")).to_contain_text("Found 60 nodes")
    page.get_by_label("Sort by").select_option(label="balance (attributes)")
    page.wait_for_url("**sort=x0**")
    page.reload()
    expect(page.locator("#found")).to_contain_text("Found 60 nodes")
    page.get_by_role("button", name="Remove the filter").click()
    expect(page.locator("#found")).to_contain_text("120 nodes")


def test_exports(visit):
    tab = visit()
    with tab.page.expect_download() as verdicts:
        tab.page.get_by_role("link", name="Export verdicts").click()
    assert verdicts.value.suggested_filename == "verdicts.csv"
    tab.open(tab.names()[0])
    with tab.page.expect_download() as graph:
        tab.page.get_by_role("link", name="GraphML").click()
    assert graph.value.suggested_filename.endswith(".graphml")


def test_the_keyboard_alone(visit):
    tab = visit()
    page, names = tab.page, tab.names()
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.innerText") == names[1]
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(names[1])
    page.keyboard.press("k")
    expect(page.locator("h1")).to_have_text(names[0])
    page.keyboard.press("u")
    expect(page.locator("#progress")).to_contain_text("1 unsure")
    page.keyboard.press("z")
    expect(page.locator("#progress")).to_contain_text("No verdicts yet")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_letters_in_a_note_are_no_verdicts(visit, started):
    tab = visit()
    tab.open(tab.names()[0])
    tab.page.locator("#note").press_sequentially("a n u z")
    assert started[1].current() == []
    assert tab.page.locator("#note").input_value() == "a n u z"


def test_a_tab_follows_another_one_and_the_command_line(visit, started):
    one, other = visit(), visit()
    started[1].add([Verdict("n3", "normal")])
    for tab in (one, other):
        expect(tab.page.locator("#progress")).to_contain_text("1 normal")
    one.page.locator(f"{ROWS} input").first.check()
    one.page.keyboard.press("Escape")
    one.page.locator("#bulk").get_by_role("button", name="Unsure").click()
    expect(other.page.locator("#progress")).to_contain_text("1 unsure")


def test_hostile_names_are_text(visit):
    tab = visit()
    tab.page.goto(tab.page.url.partition("#")[0] + "#/node/7")
    expect(tab.page.locator("h1")).to_have_text(HOSTILE)
    tab.page.locator(".comparison").wait_for()
    assert tab.page.locator("img, iframe, b").count() == 0


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_view_scrolls_sideways(visit, width):
    tab = visit(width, has_touch=width < 600)
    page = tab.page
    page.get_by_text("Filter and sort").click()
    needed, there = page.evaluate(SIZES)
    assert needed <= there == width
    tab.open(tab.names()[0])
    page.locator(".comparison").wait_for()
    assert page.evaluate(SIZES) == [width, width]
    page.get_by_role("link", name="Statistics").click()
    page.locator("#remaining").wait_for()
    assert page.evaluate(SIZES) == [width, width]


def test_every_control_has_a_name_and_the_focus_is_visible(visit):
    page = visit().page
    page.get_by_text("Filter and sort").click()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('a, button, input, select, textarea, [tabindex]')]
          .filter(e => e.checkVisibility() && !(e.innerText ?? e.textContent ?? '').trim()
            && e.tabIndex >= 0 && !e.getAttribute('aria-label') && !e.labels?.length)
          .map(e => e.outerHTML)"""
    )
    assert nameless == []
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "getComputedStyle(document.activeElement).outlineStyle !== 'none'"
                " && document.activeElement !== document.body"
            )
        )
    assert all(seen)


def test_light_and_dark_mode(visit):
    shades = {}
    for scheme in ("light", "dark"):
        page = visit(color_scheme=scheme).page
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        shades[scheme] = sum(map(int, colour.strip("rgb()").split(",")))
    assert shades["light"] > 700
    assert shades["dark"] < 150

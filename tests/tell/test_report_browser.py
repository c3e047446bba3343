"""The report in a real browser, as people see it. Without a browser these tests are skipped."""

import shutil

import pytest
from playwright.sync_api import sync_playwright
from tell.samples import config, findings, ranked
from tell.test_report import HOSTILE, hostile_run

from egoscore.tell.report import render_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTHS = (320, 390, 700, 1024, 1280)
SIZES = "[document.documentElement.scrollWidth, innerWidth]"
# what is shown is only looked at once the page was drawn anew
DRAWN = "() => new Promise(next => requestAnimationFrame(() => requestAnimationFrame(next)))"
FOCUSED = """() => {
  const it = document.activeElement, style = getComputedStyle(it);
  const box = it.getBoundingClientRect();
  return {
    tag: it.tagName, name: it.getAttribute('href') || it.innerText,
    outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    inView: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0,
  };
}"""


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
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    runs = {"usual": (config(), ranked(), findings()), "hostile": hostile_run()}
    for name, run in runs.items():
        (folder / f"{name}.html").write_text(render_report(*run), encoding="utf-8")
    return folder


class Visit:
    """A page that was opened, and everything that it tried besides."""

    def __init__(self, browser, file, width=1280, **context):
        self.context = browser.new_context(viewport={"width": width, "height": 844}, **context)
        self.page = self.context.new_page()
        self.requests, self.told, self.dialogs = [], [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.told.append(message.text))
        self.page.on("pageerror", lambda error: self.told.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog), dialog.dismiss()))
        self.page.goto(file.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["usual", "hostile"])
class TestEveryWidth:
    def test_the_page_does_not_scroll_sideways(self, browser, reports, name, width):
        with Visit(browser, reports / f"{name}.html", width) as visit:
            for is_open in (False, True):
                visit.page.evaluate(
                    "is => document.querySelectorAll('details').forEach(d => d.open = is)", is_open
                )
                needed, there = visit.page.evaluate(SIZES)
                assert there == width
                assert needed <= there

    def test_nothing_is_cut_off_at_the_side(self, browser, reports, name, width):
        with Visit(browser, reports / f"{name}.html", width) as visit:
            visit.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            outside = visit.page.evaluate(
                """() => [...document.querySelectorAll('main *')].filter(e =>
                  !e.closest('svg') && !e.closest('thead')
                  && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML)"""
            )
            assert outside == []

    def test_it_asks_for_nothing_and_complains_about_nothing(self, browser, reports, name, width):
        with Visit(browser, reports / f"{name}.html", width) as visit:
            visit.page.wait_for_load_state("networkidle")
            for link in visit.page.locator("td a").all()[:3]:
                link.hover()
            assert visit.requests == [(reports / f"{name}.html").as_uri()]
            assert visit.told == []
            assert visit.dialogs == []


@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_of_the_list_is_seen_with_its_reason_without_scrolling(browser, reports, width):
    with Visit(browser, reports / "usual.html", width) as visit:
        first = visit.page.locator(".top tbody tr").first
        assert first.locator(".node").inner_text() == "Ada 0"
        cause = first.locator(".cause")
        assert cause.inner_text().endswith("3.1x what is expected")
        box = cause.bounding_box()
        assert box["y"] + box["height"] < 844


def test_numbers_of_a_card_are_not_broken_on_a_phone(browser, reports):
    """Four columns beside each other: eight digits, or a date, stay on one line."""
    with Visit(browser, reports / "usual.html", 390) as visit:
        heights = visit.page.evaluate(
            """() => [...document.querySelectorAll('#node-1 .four td:not(:last-child)')].map(td => {
              td.textContent = '2024-11-02';
              const range = document.createRange();
              range.selectNodeContents(td);
              return range.getClientRects().length;
            })"""
        )
        assert set(heights) == {1}


def test_hostile_names_are_text_in_the_browser_too(browser, reports):
    with Visit(browser, reports / "hostile.html") as visit:
        nodes = visit.page.locator("td.node").all_inner_texts()
        assert nodes[:4] == HOSTILE[:4]
        assert visit.page.locator("script, img, iframe").count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_the_keyboard_reaches_every_link_and_every_fold(browser, reports, width):
    with Visit(browser, reports / "usual.html", width, reduced_motion="reduce") as visit:
        page = visit.page
        expected = page.evaluate(
            "[...document.querySelectorAll('a, summary')].filter(e => e.checkVisibility("
            "{contentVisibilityAuto: true})).map(e => e.getAttribute('href') || e.innerText)"
        )
        reached = []
        for _ in expected:
            page.keyboard.press("Tab")
            found = page.evaluate(FOCUSED)
            assert found["outline"], found
            assert found["inView"], found
            reached.append(found["name"])
        assert reached == expected
        assert reached[0] == "#content"
        assert len(reached) > 40


def test_the_keyboard_opens_a_fold(browser, reports):
    with Visit(browser, reports / "usual.html") as visit:
        fold = visit.page.locator("article details").nth(5)
        assert fold.get_attribute("open") is None
        fold.locator("summary").press("Enter")
        assert fold.get_attribute("open") is not None


def test_a_link_of_the_list_opens_what_it_leads_to(browser, reports):
    with Visit(browser, reports / "usual.html", reduced_motion="reduce") as visit:
        assert not visit.page.locator("#node-12").is_visible()
        visit.page.locator("a[href='#node-12']").press("Enter")
        visit.page.locator("#node-12").wait_for(state="visible")
        assert visit.page.locator("#title-12").evaluate(
            "e => e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().top < innerHeight"
        )


def test_dark_mode_is_dark_and_light_mode_light(browser, reports):
    shades = {}
    for scheme in ("light", "dark"):
        with Visit(browser, reports / "usual.html", color_scheme=scheme) as visit:
            colour = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
            shades[scheme] = sum(map(int, colour.strip("rgb()").split(",")))
    assert shades["light"] > 700
    assert shades["dark"] < 150


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_print_shows_everything_black_on_white(browser, reports, scheme):
    with Visit(browser, reports / "usual.html", color_scheme=scheme) as visit:
        page = visit.page
        height = page.evaluate("document.documentElement.scrollHeight")
        page.emulate_media(media="print")
        page.evaluate(DRAWN)
        hidden = page.evaluate(
            """() => [...document.querySelectorAll('.card, details > ul')]
              .filter(e => !e.checkVisibility({contentVisibilityAuto: true})
                || e.getBoundingClientRect().height === 0).map(e => e.id || e.outerHTML)"""
        )
        assert hidden == []
        assert page.evaluate("document.documentElement.scrollHeight") > 2 * height
        style = "getComputedStyle(document.body)"
        assert page.evaluate(f"{style}.backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate(f"{style}.color") == "rgb(0, 0, 0)"


@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_print_fits_the_paper(browser, reports, name):
    with Visit(browser, reports / f"{name}.html", 718) as visit:  # A4 between its margins
        visit.page.emulate_media(media="print")
        visit.page.evaluate(DRAWN)
        needed, there = visit.page.evaluate(SIZES)
        assert needed <= there
        ends = visit.page.evaluate(
            "[...document.querySelectorAll('table')].map(e => e.getBoundingClientRect().right)"
        )
        assert max(ends) <= there + 1


@pytest.mark.parametrize("width", [390, 1280])
def test_every_number_by_question_stands_beside_or_below_its_name(browser, reports, width):
    with Visit(browser, reports / "usual.html", width) as visit:
        named = visit.page.evaluate(
            """is_narrow => [...document.querySelectorAll('.top tbody tr')].map(row =>
              [...row.querySelectorAll('.part')].map(cell => is_narrow
                ? getComputedStyle(cell, '::before').content.replaceAll('"', '').trim()
                : document.querySelectorAll('.top thead th')[cell.cellIndex].innerText))""",
            width == 390,
        )
        assert named == [["features", "company", "place"]] * 50


def test_print_has_a_page_for_every_card(browser, reports):
    with Visit(browser, reports / "usual.html") as visit:
        assert visit.page.pdf(format="A4").count(b"/Type /Page\n") >= 20

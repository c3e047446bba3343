"""The report in a real browser, as people see it. Without a browser these tests are skipped."""

import shutil
from itertools import combinations

import pytest
from playwright.sync_api import sync_playwright
from report.samples import config, findings, ranked
from report.test_html import HOSTILE, hostile_run

from egoscore.report.ego_labels import Box
from egoscore.report.html import render_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTHS = (320, 390, 768, 1024, 1241, 1280, 1920)
MOST_PAGES = 28  # of paper, for 20 cards
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
def test_the_summary_is_seen_without_scrolling(browser, reports, width):
    with Visit(browser, reports / "usual.html", width) as visit:
        for part in (".lead", ".overview p", ".overview .careful"):
            box = visit.page.locator(part).first.bounding_box()
            assert box["y"] + box["height"] < 844, part


def test_the_first_of_the_list_is_seen_with_its_reason_without_scrolling(browser, reports):
    with Visit(browser, reports / "usual.html", 1280) as visit:
        first = visit.page.locator(".top tbody tr").first
        assert first.locator(".node").inner_text() == "Alder 0"
        reason = first.locator(".reason")
        assert reason.inner_text().endswith("3.1 times the expected value")
        box = reason.bounding_box()
        assert box["y"] + box["height"] < 844


# numbers, dates and ids of which some lie on another line than the rest
BROKEN = r"""() => {
  document.querySelectorAll('details').forEach(d => d.open = true);
  const broken = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, range = document.createRange();
    for (const found of text.textContent.matchAll(/[-+$]?\d[\w.,%-]*/g)) {
      if (found[0].length > 12) continue;
      range.setStart(text, found.index);
      range.setEnd(text, found.index + found[0].length);
      const boxes = [...range.getClientRects()].filter(box => box.width > 0);
      if (new Set(boxes.map(box => Math.round(box.top))).size > 1) broken.push(found[0]);
    }
  }
  return broken;
}"""
HEADS = """() => [...document.querySelectorAll('thead th')].map(head =>
  head.querySelector('button') ?? head).filter(head => {
  const range = document.createRange();
  range.selectNodeContents(head);
  return !/[ _]/.test(head.textContent.trim())
    && new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1;
}).map(head => head.textContent)"""


@pytest.mark.parametrize("width", [360, 390, 768, 1241, 1280])
def test_no_number_is_broken(browser, reports, width):
    with Visit(browser, reports / "usual.html", width) as visit:
        assert visit.page.evaluate(BROKEN) == []


@pytest.mark.parametrize(("width", "media"), [(1241, "screen"), (1280, "screen"), (718, "print")])
def test_no_word_of_a_heading_or_of_a_short_value_is_broken(browser, reports, width, media):
    with Visit(browser, reports / "usual.html", width) as visit:
        visit.page.emulate_media(media=media)
        visit.page.evaluate(DRAWN)
        assert visit.page.evaluate(HEADS) == []
        assert visit.page.evaluate(HEADS.replace("thead th", ".top .own, .top .node bdi")) == []


@pytest.mark.parametrize("width", [360, 390, 768, 1024])
def test_gauges_are_at_the_same_place_in_every_row_of_equal_cells(browser, reports, width):
    with Visit(browser, reports / "usual.html", width) as visit:
        rows = visit.page.evaluate(
            """() => [...document.querySelectorAll('.top tbody tr')].map(row =>
              [...row.querySelectorAll('.part')].map(cell => {
                const box = cell.getBoundingClientRect();
                return [box.left, box.width, box.top].map(Math.round);
              }))"""
        )
    for row in rows:
        assert [cell[:2] for cell in row] == [cell[:2] for cell in rows[0]]
        assert len({width for _, width, _ in row}) == 1
        assert len({top for *_, top in row}) == 1
        assert len({left for left, *_ in row}) == 3


def test_on_a_phone_the_name_of_a_feature_has_a_line_of_its_own(browser, reports):
    with Visit(browser, reports / "usual.html", 390) as visit:
        name, observed, expected, off = (
            cell.bounding_box()
            for cell in visit.page.locator("#node-1 .four tbody tr").first.locator("th, td").all()
        )
        assert name["width"] > 300
        assert name["y"] + name["height"] <= observed["y"] == expected["y"]
        assert observed["y"] + observed["height"] <= off["y"]
        assert off["width"] > 300


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_names_in_pictures_are_within_them_and_apart(browser, reports, name, width):
    with Visit(browser, reports / f"{name}.html", width) as visit:
        visit.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        pictures = visit.page.evaluate(
            """() => [...document.querySelectorAll('.ego svg')].map(svg => [svg, ...
              svg.querySelectorAll('text')].map(e => {
                const box = e.getBoundingClientRect();
                return [box.left, box.top, box.right, box.bottom];
              }))"""
        )
    assert sum(map(len, pictures)) > 90
    for (left, top, right, bottom), *texts in pictures:
        boxes = [Box(*box) for box in texts]
        for box in boxes:
            assert left <= box.left < box.right <= right
            assert top - 1 <= box.top < box.bottom <= bottom + 1  # with room for what no letter has
        for one, other in combinations(boxes, 2):
            low = min(one.bottom, other.bottom) - max(one.top, other.top)
            assert not one.touches(other) or low < 3


def test_hostile_names_are_text_in_the_browser_too(browser, reports):
    with Visit(browser, reports / "hostile.html") as visit:
        nodes = visit.page.locator("td.node").all_inner_texts()
        assert nodes[:4] == HOSTILE[:4]
        assert visit.page.locator("script").count() == 1
        assert visit.page.locator("img, iframe").count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_the_keyboard_reaches_every_link_and_every_fold(browser, reports, width):
    with Visit(browser, reports / "usual.html", width, reduced_motion="reduce") as visit:
        page = visit.page
        expected = page.evaluate(
            "[...document.querySelectorAll('a, summary, button, input')].filter("
            "e => e.checkVisibility({contentVisibilityAuto: true}))"
            ".map(e => e.getAttribute('href') || e.innerText)"
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
        assert page.evaluate("document.documentElement.scrollHeight") > height
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
                : document.querySelectorAll('.top thead th')[cell.cellIndex].innerText.trim()))""",
            width == 390,
        )
        assert named == [["features", "similarity", "position"]] * 20


def test_print_saves_paper(browser, reports):
    with Visit(browser, reports / "usual.html") as visit:
        pages = visit.page.pdf(format="A4").count(b"/Type /Page\n")
        assert pages <= MOST_PAGES
        visit.page.emulate_media(media="print")
        visit.page.evaluate(DRAWN)
        assert "open when chosen" not in visit.page.locator("main").inner_text()
        tables = "[...document.querySelectorAll('.card table')]"
        avoided = visit.page.evaluate(f"{tables}.map(e => getComputedStyle(e).breakInside)")
        assert set(avoided) == {"avoid"}


WIDE = """() => {
  const boxes = [...document.querySelectorAll('article')].map(e => e.getBoundingClientRect());
  const prose = [...document.querySelectorAll('main p')].map(e => e.getBoundingClientRect().width);
  const table = document.querySelector('.top').getBoundingClientRect();
  return [new Set(boxes.map(box => Math.round(box.left))).size, table.width, Math.max(...prose)];
}"""


@pytest.mark.parametrize(("width", "columns"), [(390, 1), (1280, 1), (1920, 2), (2560, 3)])
def test_the_whole_window_is_used_and_lines_stay_readable(browser, reports, width, columns):
    with Visit(browser, reports / "usual.html", width) as visit:
        found, table, prose = visit.page.evaluate(WIDE)
        assert found == columns
        assert table > 0.9 * width
        assert prose < 800

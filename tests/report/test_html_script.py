"""Search and sort in the list of nodes, in a real browser."""

import pytest
from report.samples import config, findings, ranked
from report.test_html import HOSTILE, hostile_run
from report.test_html_browser import Visit, browser

from egoscore.report.html import render_report

__all__ = ["browser"]  # a fixture

VISIBLE = """selector => [...document.querySelectorAll(selector)]
  .filter(e => e.checkVisibility()).map(e => e.dataset.rank ?? e.querySelector('.card').id)"""
CELLS = """name => [...document.querySelectorAll('.top tbody tr')].map(row =>
  row.querySelector(name).textContent.trim())"""
ROWS, CARDS = ".top tbody tr", "article"


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    runs = {"usual": (config(), ranked(), findings()), "hostile": hostile_run()}
    for name, run in runs.items():
        (folder / f"{name}.html").write_text(render_report(*run), encoding="utf-8")
    return folder


@pytest.fixture
def page(browser, reports):
    """The page of an invented run; nothing may go wrong on it."""
    with Visit(browser, reports / "usual.html") as visit:
        yield visit.page
        assert visit.told == []
        assert len(visit.requests) == 1


def head(page, name):
    return page.locator(".top thead th").filter(has_text=name).first


class TestSearch:
    @pytest.mark.parametrize(
        ("typed", "ranks"),
        [
            ("Alder", [1, 11]),
            ("alder 10", [11]),
            ("  CHENE ", [3, 13]),
            ("chêne expected", [3, 13]),
            ("nobody", []),
            ("", list(range(1, 21))),
        ],
    )
    def test_rows_and_cards_with_all_words_stay(self, page, typed, ranks):
        page.get_by_label("Search by name, id or reason").fill(typed)
        assert page.evaluate(VISIBLE, ROWS) == [str(rank) for rank in ranks]
        assert page.evaluate(VISIBLE, CARDS) == [f"node-{rank}" for rank in ranks]
        told = f"{len(ranks)} of 20 nodes" if typed else ""
        assert page.get_by_role("status").inner_text() == told

    def test_clearing_the_field_shows_everything_again(self, page):
        field = page.get_by_label("Search by name, id or reason")
        field.fill("nobody")
        field.press("Escape")
        assert len(page.evaluate(VISIBLE, ROWS)) == 20

    @pytest.mark.parametrize("typed", HOSTILE[:8])
    def test_hostile_text_is_searched_for_and_never_run(self, browser, reports, typed):
        with Visit(browser, reports / "hostile.html") as visit:
            visit.page.get_by_label("Search by name, id or reason").fill(typed)
            assert len(visit.page.evaluate(VISIBLE, ROWS)) >= 1
            head(visit.page, "node").locator("button").click()
            assert visit.page.locator("script").count() == 1
            assert visit.page.locator("img, iframe").count() == 0
            assert (visit.told, visit.dialogs) == ([], [])


class TestSort:
    @pytest.mark.parametrize("name", ["score", "p-value", "ego size", "community", "known_label"])
    def test_numbers_are_sorted_as_numbers_both_ways(self, page, name):
        cells = f"[data-name='{name}']"
        shown = [float(text) for text in page.evaluate(CELLS, cells)]
        orders = []
        for _ in range(2):
            head(page, name).locator("button").click()
            found = [float(text) for text in page.evaluate(CELLS, cells)]
            orders.append(head(page, name).get_attribute("aria-sort"))
            assert found == sorted(shown, reverse=orders[-1] == "descending")
        assert sorted(orders) == ["ascending", "descending"]
        assert page.locator("[aria-sort]").count() == 1

    def test_names_are_sorted_as_text_with_numbers_in_order(self, page):
        head(page, "node").locator("button").press("Enter")
        names = page.evaluate(CELLS, ".node")
        assert names[:4] == ["Alder 0", "Alder 10", "Birch 1", "Birch 11"]

    def test_at_first_the_list_is_sorted_by_rank(self, page):
        assert head(page, "rank").get_attribute("aria-sort") == "ascending"
        head(page, "rank").locator("button").click()
        assert page.evaluate(VISIBLE, ROWS) == [str(rank) for rank in range(20, 0, -1)]

    def test_unknown_values_are_last_both_ways(self, browser, tmp_path):
        known = ranked()["community"].to_pylist()
        known[3] = known[5] = None
        start = ranked()
        table = start.set_column(
            start.column_names.index("community"),
            start.schema.field("community"),
            [known],
        )
        file = tmp_path / "page.html"
        file.write_text(render_report(config(), table, findings(table)), encoding="utf-8")
        with Visit(browser, file) as visit:
            for _ in range(2):
                head(visit.page, "community").locator("button").click()
                assert visit.page.evaluate(VISIBLE, ROWS)[-2:] == ["4", "6"]

    def test_sorting_keeps_the_search(self, page):
        page.get_by_label("Search by name, id or reason").fill("birch")
        head(page, "rank").locator("button").click()
        assert page.evaluate(VISIBLE, ROWS) == ["12", "2"]

    def test_on_a_phone_the_columns_are_a_row_of_buttons(self, browser, reports):
        with Visit(browser, reports / "usual.html", 390) as visit:
            head(visit.page, "position").locator("button").click()
            assert head(visit.page, "position").get_attribute("aria-sort") == "descending"


def test_without_scripts_the_page_is_complete_and_has_no_dead_controls(browser, reports):
    with Visit(browser, reports / "usual.html", java_script_enabled=False) as visit:
        page = visit.page
        assert page.locator(ROWS).count() == page.locator(CARDS).count() == 20
        assert not page.locator("input").is_visible()
        assert page.locator("button").count() == 0


def test_a_script_that_is_not_ours_does_not_run(browser, reports, tmp_path):
    html = (reports / "usual.html").read_text(encoding="utf-8")
    file = tmp_path / "page.html"
    other = "<script>document.title = 'changed'</script><img src='x' onerror='document.title = 1'>"
    file.write_text(html.replace("</main>", f"</main>{other}"), encoding="utf-8")
    with Visit(browser, file) as visit:
        assert visit.page.title().startswith("Abnormal nodes")
        assert any("Content Security Policy" in text for text in visit.told)

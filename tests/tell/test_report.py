"""The report: one page that holds everything and runs nothing."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from egoscore.graph import AttributedGraph
from egoscore.score import ComponentTable
from egoscore.score.table import LEVEL_COMPONENTS
from egoscore.tell.metrics import Evaluation
from egoscore.tell.ranking import ranking
from egoscore.tell.report import histogram, render_report
from egoscore.tell.words import accuracy

VOID = {"meta", "link", "br", "img", "hr", "input", "rect", "line", "polyline"}
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "=cmd()",
    "{{ 7 * 7 }}{% include 'x' %}",
    "</td></tr></table>",
    "&lt;b&gt;",
    "\x1b[31m\u202e\n",
]


class Page(HTMLParser):
    """Every tag with its attributes, all text, and a check that tags are closed in order."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.open = [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def words(self):
        return " ".join(" ".join(self.text).split())


def table(score, ids=None, labels=None, node_info=None, threshold=None):
    size = len(score)
    graph = AttributedGraph.from_edges(
        [[], []], np.ones((size, 2)), ids=ids, labels=labels, node_info=node_info
    )
    components = ComponentTable(
        node=np.arange(size),
        ego_size=np.ones(size, dtype=np.int64),
        energy=np.full(size, 0.5, dtype=np.float32),
        values=np.ones((size, 2, len(LEVEL_COMPONENTS)), dtype=np.float32),
        taus=(0.25, 0.5),
        num_samples=1,
    )
    score = np.asarray(score, dtype=np.float64)
    cut = score.mean() if threshold is None else threshold
    return ranking(graph, score, (score > cut).astype(np.int64), components.columns())


def config(**changes):
    return {
        "source": "friends",
        "seed": 0,
        "preset": "paper",
        "contamination": 0.1,
        "settings": {"alpha": 0.5, "epochs": 3},
        "network": {"nodes": 8, "edges": 0, "features": 2, "directed": False},
        "fingerprint": "abc",
        "versions": {"python": "3.11"},
        **changes,
    }


LOSSES = np.array([[4.0, 2.0], [3.0, 1.5], [2.5, 1.0]])


def render(ranked, evaluation=None, losses=LOSSES, **changes):
    threshold = float(np.mean(ranked["score"].to_numpy()))
    return render_report(config(**changes), ranked, threshold, losses, evaluation)


@pytest.fixture(scope="module")
def hostile_page():
    html = render(
        table(np.arange(8.0), ids=HOSTILE, node_info={"kind": np.array(HOSTILE)}),
        source=HOSTILE[0],
        settings={HOSTILE[2]: HOSTILE[3]},
        fingerprint=HOSTILE[4],
        versions={HOSTILE[5]: HOSTILE[6]},
    )
    return html, Page(html)


class TestSafety:
    def test_nothing_is_fetched_and_nothing_runs(self, hostile_page):
        html, page = hostile_page
        assert not re.search(r"(src|href|url)\s*[=(]\s*[\"']?\s*(https?:)?//", html)
        assert not {"script", "img", "link", "iframe", "object", "embed"} & {
            tag for tag, _ in page.tags
        }
        for _, attributes in page.tags:
            assert not {"src", "href", "srcset", "data", "action"} & set(attributes)
            assert not [name for name in attributes if name.startswith("on")]

    def test_browsers_are_told_to_forbid_it_too(self, hostile_page):
        policy = [a["content"] for tag, a in hostile_page[1].tags if "http-equiv" in a]
        assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]

    def test_hostile_ids_are_text(self, hostile_page):
        html, page = hostile_page
        for name in HOSTILE[:-1]:
            assert page.text.count(name) >= 1, name
        assert "<img" not in html
        assert "<script" not in html

    def test_templates_in_the_data_are_not_filled_in(self, hostile_page):
        assert "49" not in hostile_page[1].text
        assert "{{ 7 * 7 }}{% include 'x' %}" in hostile_page[1].text

    def test_control_characters_are_spelled_out(self, hostile_page):
        html, page = hostile_page
        assert r"\x1b[31m\u202e\n" in page.text
        assert "\x1b" not in html
        assert "\u202e" not in html


class TestContent:
    def test_nodes_are_listed_from_the_most_abnormal(self):
        words = Page(render(table([1.0, 3.0, 2.0], ids=["low", "high", "middle"]))).words()
        assert words.index("high") < words.index("middle") < words.index("low ")

    def test_at_most_fifty_nodes_are_listed(self):
        html = render(table(np.arange(200.0)))
        assert "Most abnormal 50 nodes" in html
        assert html.count("<tr") == 51

    def test_flagged_nodes_are_marked_and_counted(self):
        html = render(table([0.0, 0.0, 0.0, 4.0, 5.0]))
        assert html.count('<tr class="flagged">') == 2
        assert "2 nodes are flagged" in html

    def test_known_outliers_are_told_with_all_three_metrics(self):
        evaluation = Evaluation(0.876, 0.5, 0.25, 4)
        words = Page(render(table([1.0, 2.0], labels=[0, 1]), evaluation)).words()
        assert accuracy(evaluation, 2) in words
        assert "known label" in words

    def test_without_labels_nothing_is_said_about_them(self):
        words = Page(render(table([1.0, 2.0]))).words()
        assert "ROC-AUC" not in words
        assert "known label" not in words

    def test_all_settings_are_told(self):
        words = Page(render(table([1.0, 2.0]))).words()
        for fact in ("alpha 0.5", "epochs 3", "seed 0", "fingerprint abc", "python version 3.11"):
            assert fact in words

    def test_losses_are_drawn_when_there_are_at_least_two(self):
        ranked = table([1.0, 2.0])
        assert "features: 4 → 2.5" in render(ranked)
        assert "adjacency: 2 → 1" in render(ranked)
        for losses in (LOSSES[:1], LOSSES[:0]):
            assert "polyline" not in render(ranked, losses=losses)

    def test_a_network_without_edges_has_no_loss_of_its_adjacency_to_divide_by(self):
        html = render(table([1.0, 2.0]), losses=LOSSES * [1.0, 0.0])
        assert "adjacency: 0 → 0" in html
        assert "nan" not in html

    def test_ids_are_never_rounded(self):
        html = render(table([1.0, 2.0], ids=[1000001.5, 1000002.5]))
        assert "1000001.5" in html

    @pytest.mark.parametrize("size", [1, 2, 7])
    def test_equal_scores_make_a_valid_page(self, size):
        page = Page(render(table(np.full(size, 2.0))))
        bars = [attributes for tag, attributes in page.tags if tag == "rect"]
        assert len(bars) == 1
        assert "nan" not in page.words()

    def test_ids_of_mixed_types_are_shown(self):
        ids = np.empty(3, dtype=object)
        ids[:] = ["ann", 7, (0, "x")]
        assert {"ann", "7", "(0, 'x')"} <= set(Page(render(table([1.0, 2.0, 3.0], ids))).text)


class TestHistogram:
    def test_every_node_is_in_one_bar(self):
        score = np.random.default_rng(0).gamma(2.0, size=500)
        bars = histogram(score, 3.0)["bars"]
        counts = [int(bar["title"].split()[0]) for bar in bars]
        assert sum(counts) == 500
        assert max(bar["height"] for bar in bars) == 176
        assert bars[int(np.argmax(counts))]["height"] == 176

    def test_bars_stay_on_the_page_and_stand_on_the_ground(self):
        for bar in histogram(np.array([0.0, 0.1, 5.0, 10.0]), 5.0)["bars"]:
            assert 0 <= bar["x"] <= 640 - bar["width"]
            assert bar["y"] + bar["height"] == pytest.approx(176, abs=0.02)

    def test_the_threshold_is_where_it_belongs(self):
        drawn = histogram(np.array([0.0, 2.0, 10.0]), 2.5)
        assert drawn["cut"] == 160
        assert [bar["above"] for bar in drawn["bars"]] == [False, False, True]
        assert (drawn["low"], drawn["high"]) == ("0", "10")


def test_what_is_rendered_is_plain_data():
    """Nothing of the report depends on more than what a run keeps on disk."""
    ranked = table([1.0, 2.0])
    again = pa.Table.from_pylist(ranked.to_pylist(), schema=ranked.schema)
    kept = json.loads(json.dumps(config()))
    assert render_report(kept, again, 1.5, LOSSES, None) == render(ranked)

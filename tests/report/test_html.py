"""The report: one page that is complete, needs no other file and runs no script but its own."""

import base64
import hashlib
import json
import re
import time
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from report.samples import (
    CAVEATS,
    NOTES,
    RULE,
    config,
    findings,
    ranked,
    ranked_as_paper,
    with_own_columns,
)

from egoscore import EgoScore, generate_network
from egoscore.detect import Origin, detect
from egoscore.detectors import label_of, vocabulary_of
from egoscore.errors import RunError
from egoscore.explain.explanation import Component, Deviation, Explanation, Tie
from egoscore.metrics import evaluate
from egoscore.notes import Note
from egoscore.ranking import own_columns
from egoscore.report.findings import Findings
from egoscore.report.html import render_report, unbroken, write_report
from egoscore.report.notes import render
from egoscore.report.sentences import accuracy, flagged, marks
from egoscore.report.top_nodes import other_components, parts_of, top_rows
from egoscore.run.tables import read_table, write_table
from egoscore.text import percent

WORDS = vocabulary_of("default")
SCRIPT = (files("egoscore.report") / "templates" / "report.js").read_text(encoding="utf-8").strip()
VOID = {"meta", "link", "br", "img", "hr", "input", "rect", "line", "polyline", "path", "polygon"}
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "=cmd()",
    "{{ 7 * 7 }}{% include 'x' %}",
    "</td></tr></table></details>",
    "&lt;b&gt;",
    "' onmouseover='alert(1)",
    "\x1b[31m\u202e\n",
    "x" * 10_000,
    "漢" * 10_000,
]
BLOCKS = ("light", "dark", "print")


class Page(HTMLParser):
    """Every tag with its attributes, and all text; tags must be closed in order.

    Markup that only controls line breaks is skipped.
    """

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.open = [], [], []
        self.feed(re.sub(r'<wbr>|<span class="whole">([^<]*)</span>', r"\1", html))
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
        if self.open and self.open[-1] not in ("style", "title", "script"):
            self.text.append(data)

    def words(self):
        return " ".join(" ".join(self.text).split())

    def with_tag(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


def hostile(name: str, found: Explanation) -> Explanation:
    """An explanation in which every text is `name`."""
    size = len(found.picture.nodes)
    return replace(
        found,
        node=name,
        causes=(name, name),
        summary=f"{name} stands out.",
        features=(Deviation(name, name, name, float("inf")),),
        structure=(Deviation(name, name, name, float("nan")),),
        surprising=(Tie(name, 1.0),),
        expected=(Tie(name, -1.0),),
        components=(Component(name, 1.0, 99.0),),
        picture=replace(found.picture, nodes=(name,) * size, shade=name),
    )


def hostile_run() -> tuple[dict, pa.Table, Findings]:
    """A run in which every text is hostile."""
    count = len(HOSTILE)
    ranking = ranked(count, node=pa.array(HOSTILE), kind=pa.array(HOSTILE))
    column = "</th><script>alert(1)</script>"
    ranking = ranking.rename_columns([column if n == "kind" else n for n in ranking.column_names])
    ranking = with_own_columns(ranking, ["known_label", "community", column])
    found = findings(ranking)
    each = [hostile(name, e) for name, e in zip(HOSTILE, found.explanations, strict=True)]
    told = replace(
        found,
        caveats=tuple(Note.warning("amounts", columns=[name]) for name in HOSTILE),
        notes=tuple(Note.info("edge-list", table=name) for name in HOSTILE),
        explanations=tuple(each),
    )
    described = config(
        source=HOSTILE[0],
        settings={HOSTILE[2]: HOSTILE[3], HOSTILE[9]: HOSTILE[10]},
        fingerprint=HOSTILE[4],
        versions={HOSTILE[5]: HOSTILE[6]},
        command=f"egoscore detect '{HOSTILE[1]}' --id {HOSTILE[9]}",
        reading={HOSTILE[7]: HOSTILE[8]},
    )
    return described, ranking, told


def _changed(**changes) -> Findings:
    """Findings with a single, changed explanation."""
    found = findings(explained=1)
    return replace(found, explanations=(replace(found.explanations[0], **changes),))


@pytest.fixture(scope="module")
def hostile_page():
    html = render_report(*hostile_run())
    return html, Page(html)


@pytest.fixture(scope="module")
def page():
    return Page(render_report(config(), ranked(), findings()))


class TestSafety:
    def test_nothing_is_loaded_and_nothing_runs(self, hostile_page):
        html, page = hostile_page
        assert not re.search(r"(src|href|url)\s*[=(]\s*[\"']?\s*(https?:)?//", html)
        assert "@import" not in html
        assert [a for tag, a in page.tags if tag == "script"] == [{}]
        forbidden = {"img", "link", "iframe", "object", "embed", "form", "use", "image"}
        assert not forbidden & {tag for tag, _ in page.tags}
        for tag, attributes in page.tags:
            assert not {"src", "srcset", "data", "action", "style"} & set(attributes)
            assert not [name for name in attributes if name.startswith("on")]
            if "href" in attributes:
                assert tag == "a"
                assert re.fullmatch(r"#[a-z0-9-]+", attributes["href"])

    def test_a_content_security_policy_forbids_it_too(self, hostile_page):
        html, page = hostile_page
        (script,) = re.findall("<script>(.*?)</script>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        allowed = f"script-src 'sha256-{digest}'; style-src 'unsafe-inline'"
        policy = [a["content"] for tag, a in page.tags if "http-equiv" in a]
        assert policy == [f"default-src 'none'; {allowed}"]

    def test_the_script_is_short_fixed_and_writes_only_text(self, hostile_page):
        assert f"<script>{SCRIPT}</script>" in hostile_page[0]
        assert len(SCRIPT.splitlines()) <= 60
        for word in ("innerHTML", "outerHTML", "insertAdjacent", "eval", "Function", ".write"):
            assert word not in SCRIPT
        for word in ("fetch", "XMLHttp", "import", "storage", "cookie", "location", ".style"):
            assert word not in SCRIPT

    def test_hostile_ids_are_text(self, hostile_page):
        html, page = hostile_page
        for name in HOSTILE[:8]:
            assert sum(name in text for text in page.text) >= 4, name
        assert "<img" not in html
        assert html.count("<script") == 1

    def test_templates_in_the_data_are_not_rendered(self, hostile_page):
        assert "49" not in hostile_page[1].text
        assert "{{ 7 * 7 }}{% include 'x' %}" in hostile_page[1].text

    def test_control_characters_are_spelled_out(self, hostile_page):
        html, page = hostile_page
        assert r"\x1b[31m\u202e\n" in page.text
        assert "\x1b" not in html
        assert "\u202e" not in html

    def test_long_text_loses_its_middle(self, hostile_page):
        html, page = hostile_page
        assert max(map(len, page.text)) <= 4000  # a command
        assert max(map(len, re.findall("x+", html.split("<pre>")[0]))) <= 1000  # a sentence
        assert max(map(len, re.findall("x+", html.split("<tbody")[1]))) <= 160  # the list
        assert any(re.fullmatch("x+…x+", text) for text in page.text)
        assert len(html) < 1_000_000


class TestContent:
    def test_the_summary_has_the_graph_the_rule_and_the_meaning(self, page):
        words, found = page.words(), findings()
        assert f"flagged (10%) {found.num_flagged} nodes 500 undirected edges 1,834" in words
        assert render(RULE) in words
        assert WORDS.meaning(found.questions, 500) in words

    def test_caveats_and_notes_are_listed_and_warnings_marked(self, page):
        words = page.words()
        for note in (*CAVEATS, *NOTES):
            assert render(note) in words
        assert len([a for a in page.with_tag("li") if a.get("class") == "careful"]) == 1
        assert words.index(render(CAVEATS[2])) < words.index("Most abnormal 20 nodes")
        assert words.index(render(NOTES[0])) > words.index("Appendix Score components")
        assert f"Warning: {render(CAVEATS[2])}" in words

    @pytest.mark.parametrize("before", [3, 300])
    def test_warnings_on_how_the_data_were_read_are_in_sight(self, before):
        coded = Note.warning("codes-as-numbers", table="nodes.csv", columns=["zip"])
        notes = (*[NOTES[0]] * before, coded)
        told = replace(findings(explained=0), caveats=(), notes=notes)
        words = Page(render_report(config(), ranked(), told)).words()
        assert f"Warning: {render(coded)}" in words.split("Most abnormal 20 nodes")[0]
        words = Page(render_report(config(), ranked(), replace(told, notes=NOTES))).words()
        assert "Warning" not in words

    def test_of_many_warnings_twenty_are_in_sight(self):
        coded = Note.warning("codes-as-numbers", table="nodes.csv", columns=["zip"])
        told = replace(findings(explained=0), caveats=(), notes=(coded,) * 50)
        words = Page(render_report(config(), ranked(), told)).words()
        assert words.split("Most abnormal 20 nodes")[0].count("Warning:") == 20
        assert "30 more warnings in the appendix" in words

    def test_of_many_notes_a_hundred_are_listed(self):
        notes = tuple(Note.info("edge-list", table=f"t{n}") for n in range(1234))
        words = Page(render_report(config(), ranked(), replace(findings(), notes=notes))).words()
        assert "1,234 notes" in words
        assert "t99 " in words
        assert "t100 " not in words
        assert "1,134 more" in words

    def test_the_list_has_the_numbers_of_the_ranking(self):
        ranking = ranked()
        html = render_report(config(), ranking, findings(ranking))
        body = html.split("<tbody")[1].split("</tbody>")[0]
        rows = [Page(part).text for part in re.findall(r"<tr.*?</tr>", body, re.DOTALL)]
        assert len(rows) == 20
        for texts, row in zip(rows, ranking.slice(0, 20).to_pylist(), strict=True):
            cells = [text.strip() for text in texts if text.strip()]
            marks = ["significant"] * row["significant"] + ["flagged"] * row["flag"]
            assert cells[:2] == [str(row["rank"]), row["node"]]
            del cells[2]  # the reason
            assert cells[2:4] == [f"{row['score']:#.4g}", f"{row['p_value']:.2g}"]
            rest = [*marks, str(row["ego_size"]), str(row["known_label"])]
            rest += [str(row["community"]), row["kind"]]
            assert cells[4 : 4 + len(rest)] == rest

    def test_the_list_has_causes_and_percentiles_by_question(self):
        ranking = ranked()
        found = findings(ranking)
        html = render_report(config(), ranking, found)
        body = html.split("<tbody")[1].split("</tbody>")[0]
        named = r'(?: data-name="(.*?)" data-value=".*?")?'
        cell = rf'<td role="cell" class="(?:text reason|part)"{named}>(.*?)</td>'
        cells = re.findall(cell, body, re.DOTALL)
        told = [(name, Page(f"<p>{inside}</p>").words()) for name, inside in cells]
        expected = []
        for row in top_rows(ranking, found):
            expected.append(("", row.reason))
            expected += [(part.label, percent(part.percentile)) for part in row.parts]
        assert told == expected

    def test_the_questions_are_explained_below_the_list(self, page):
        below = page.words().split("How to read the list")[1].split("Why: the")[0]
        for name in ("features", "similarity", "position"):  # those of the sample
            assert f"{label_of(name)} {WORDS.questions[name]}" in below

    def test_summary_list_and_reasons_come_before_statistics_and_the_appendix(self, page):
        ids = [a["id"] for tag, a in page.tags if tag == "h2"]
        assert ids == ["summary", "top", "why", "scores", "known", "appendix"]
        links = [a["href"] for a in page.with_tag("a") if not re.search(r"\d", a["href"])]
        assert list(dict.fromkeys(links)) == ["#content", *(f"#{name}" for name in ids)]
        first = page.words().split("Most abnormal 20 nodes")[0]
        for text in (flagged(ranked()), render(RULE), render(CAVEATS[2])):
            assert text in first

    def test_the_appendix_is_folded(self):
        html = render_report(config(), ranked(), findings())
        appendix = html.split('<h2 id="appendix">')[1]
        assert re.findall(r"<summary><h3>(.*?)</h3>", appendix) == [
            *("Score components", "Training curve", "How the data were read", "Settings"),
            *("How to reproduce", "Files of the run"),
        ]
        assert "<details open" not in appendix

    @pytest.mark.parametrize("code", ["ranking-stable", "ranking-partly-stable"])
    def test_the_reliability_and_what_it_follows_from_are_above_the_list(self, code):
        note = Note(code, "info" if code == "ranking-stable" else "warning")
        note = replace(note, fields={"kept": 7, "top": 10, "dropped": 0.1})
        told = replace(findings(), caveats=(note,), notes=())
        html = render_report(config(), ranked(), told)
        first = Page(html).words().split("Most abnormal 20 nodes")[0]
        level = told.reliability.fields["level"]
        assert f"Reliability: {level}" in first
        assert render(note) in first

    @pytest.mark.parametrize("make", [ranked, ranked_as_paper])
    @pytest.mark.parametrize("size", [1, 2, 10, 15, 19, 20, 21, 30, 500])
    def test_causes_are_marked_as_the_text_says(self, make, size):
        ranking, preset = make(size), "default" if make is ranked else "paper"
        told = findings(ranking)
        words = Page(render_report(config(preset=preset), ranking, told)).words()
        parts = [part for row in top_rows(ranking, told) for part in row.parts]
        if size > 20:
            assert "A value above 95 counts as a cause" in words
            assert all((part.percentile > 95.03) == part.is_cause for part in parts)
        else:
            assert "A value above 95" not in words
            most = int(re.search(r"no value is above (\d+); one that is estimated", words)[1])
            assert max(int(percent(part.percentile)) for part in parts) == most <= 95

    @pytest.mark.parametrize("most", [5, 99])
    def test_significant_nodes_are_marked_in_the_list_and_on_their_cards(self, most):
        ranking = ranked(significant=pa.array((np.arange(500) < 3).astype(np.int8)))
        page = Page(render_report(config(fdr=0.05), ranking, findings(ranking, explained=most)))
        marked = [a for a in page.with_tag("span") if a.get("class") == "badge significant"]
        assert len(marked) == 3 + 3
        assert marks(ranking, 0.05) in page.words()

    def test_with_the_paper_nothing_is_significant(self):
        ranking = ranked_as_paper()
        told = findings(ranking)
        html = render_report(config(preset="paper"), ranking, told)
        assert "ignificant</span>" not in html
        assert "Significant" not in html

    def test_the_first_twenty_are_explained(self, page):
        assert len(page.with_tag("article")) == 20
        links = {a["href"] for a in page.with_tag("a")}
        assert {f"#{part}-{n}" for part in ("node", "components") for n in range(1, 21)} <= links
        assert "#node-21" not in links
        words = page.words()
        for found in findings().explanations:
            assert found.summary in words
            contrast = {"actual": f"{found.energy_actual:.4g}", "expected": "0.4321"}
            assert (WORDS.contrast.format(**contrast) in words) == (found.ego_size > 1)
            for line in (*found.features, *found.structure):
                for text in (line.name, line.observed, line.expected, f"{line.size:+g}"):
                    assert text in words

    def test_edges_and_components_are_listed(self, page):
        words = page.words()
        for edges in (
            "Unexpected edges node surprise Alder 40 +3.1",
            "Expected edges node surprise Birch 61 -1.234",
            "Missing edges node surprise Chêne 62 +0.81",
        ):
            assert edges in words
        for part in parts_of(findings().explanations[0].questions, 500):
            assert f"{part.label} {part.answer:.4g} {percent(part.percentile)}" in words
            assert f"{part.label} {WORDS.questions[part.question]}" in words
        for one in other_components(findings().explanations[0]):
            name, share = one.name.replace("_", " "), percent(one.percentile)
            assert f"{name} {one.value:.4g} {share}" in words
            assert f"{name} {WORDS.components[one.name]}" in words
        assert "surprise features" not in words
        assert "140 nodes whose ego-graphs have 7 to 9 nodes" in words
        assert "12 more nodes are not shown" in words
        assert "shade: monthly income, least" in words

    def test_an_edge_that_is_neither_present_nor_expected_is_left_out(self):
        ties = (Tie("Nobody", -0.5, present=False),)
        told = _changed(surprising=(), expected=ties)
        words = Page(render_report(config(), ranked(), told)).words()
        assert "Nobody" not in words
        assert "Unexpected edges" not in words

    def test_without_features_there_is_no_table_of_them(self):
        words = Page(render_report(config(), ranked(), _changed(features=()))).words()
        assert "Features: actual" not in words
        assert "Position in the graph: actual" in words

    def test_the_columns_of_the_user_are_listed_by_name(self, tmp_path):
        """Also where they are named like ours, and after the ranking was written and read."""
        names = {"kind": "rank (input)", "community": "surprise_mine"}
        ranking = ranked().rename_columns([names.get(n, n) for n in ranked().column_names])
        ranking = with_own_columns(ranking, ["known_label", "surprise_mine", "rank (input)"])
        write_table(ranking, tmp_path / "scores.parquet")
        read = read_table(tmp_path / "scores.parquet")
        assert own_columns(read) == own_columns(ranking)
        html = render_report(config(), read, findings(read))
        assert html == render_report(config(), ranking, findings(ranking))
        heads = Page(html.split("<thead")[1].split("</thead>")[0].partition(">")[2]).words()
        assert (
            "ego size known_label surprise_mine rank (input) features similarity position" in heads
        )
        row = ranking.slice(0, 1).to_pylist()[0]
        card = Page(html).words().split("Why: the")[1]
        assert f"surprise_mine {row['surprise_mine']} rank (input) {row['rank (input)']}" in card

    def test_deviations_are_drawn_to_scale_with_an_arrow_beyond_six(self):
        sizes = (3.0, -1.0, 0.01, 0.0, 6.1, -99.0, np.inf, np.nan)
        lines = tuple(Deviation("age", "1", "2", size) for size in sizes)
        html = render_report(config(), ranked(), _changed(features=lines, structure=()))
        drawn = re.findall(r'<svg class="off".*?</svg>', html)
        bars = [re.search(r'x="([-\d.]+)" y="3" width="([\d.]+)"', one).groups() for one in drawn]
        expected = [(0, 30), (-10, 10), (0, 1.5), (0, 0), (0, 60), (-60, 60), (0, 60)]
        assert [tuple(map(float, bar)) for bar in bars] == expected
        assert ["beyond" in one for one in drawn] == [False] * 4 + [True] * 3
        assert all("M-30 0V12M30 0V12" in one for one in drawn)

    def test_settings_are_in_words(self):
        settings = {"max_nodes": None, "use_ema": False, "lr": 0.01, "steps": 100}
        described = config(settings=settings, contamination="auto")
        words = Page(render_report(described, ranked(), findings())).words()
        told = "share to flag automatic false discovery rate 0.1 max nodes automatic use ema no"
        assert f"{told} lr 0.01 steps 100" in words

    def test_networks_that_learn_the_same_are_drawn_as_mean_and_band(self, page):
        assert "mean of 3 networks: 1 →" in page.words()
        assert "range: 0." in page.words()
        assert "400 updates" in page.words()
        assert "not used" not in page.words().split("Training curve")[1].split("Settings")[0]

    def test_the_histogram_starts_at_zero_where_scores_do(self, page):
        for make, preset in ((ranked, "default"), (ranked_as_paper, "paper")):
            ranking = make(score=pa.array(5 + np.arange(500.0)[::-1])) if make is ranked else make()
            told = findings(ranking)
            html = render_report(config(preset=preset), ranking, told)
            drawn = html.split('aria-label="Histogram')[1].split("</svg>")[0]
            assert ('x="50.0" y="176.0" text-anchor="middle">0</text>' in drawn) == (make is ranked)

    def test_four_cards_are_open(self, page):
        """Two rows of them in a wide window."""
        assert len([a for a in page.with_tag("details") if "open" in a]) == 4

    def test_links_have_targets_and_ids_are_unique(self, page):
        ids = [a["id"] for _, a in page.tags if "id" in a]
        assert len(ids) == len(set(ids))
        named = [a[key] for _, a in page.tags for key in ("aria-labelledby",) if key in a]
        targets = [a["href"][1:] for a in page.with_tag("a")]
        assert {*named, *targets} <= set(ids)

    def test_no_heading_level_is_skipped(self, page):
        levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert max(np.diff(levels)) <= 1

    def test_pictures_have_labels(self, page):
        for attributes in page.with_tag("svg"):
            assert attributes.get("aria-hidden") or (
                attributes["role"] == "img" and attributes["aria-label"]
            )
        assert page.with_tag("html")[0]["lang"] == "en"

    def test_it_says_how_to_reproduce(self, page):
        words = page.words()
        assert " ".join(config()["command"].split()) in re.sub(r" +", " ", words)
        for fact in ("seed 0", "fingerprint of the data 3f5a9c0e1b7d", "torch version 2.13.0"):
            assert fact in words
        for name in ("scores.parquet", "config.json", "findings.json", "model.safetensors"):
            assert name in words
        for fact in ("hidden size 64", "updates 400"):
            assert fact in words

    def test_without_a_command_it_says_so(self):
        described = {k: v for k, v in config().items() if k not in ("command", "reading", "fdr")}
        words = Page(render_report(described, ranked(), findings())).words()
        assert "not started from the command line" in words

    def test_a_training_curve_needs_two_losses(self):
        told = findings()
        assert "Training curve" in render_report(config(), ranked(), told)
        for losses in ((), told.losses[:1]):
            html = render_report(config(), ranked(), replace(told, losses=losses))
            assert "Training curve" not in html

    def test_known_outliers_are_evaluated_with_curves(self, page):
        ranking = ranked()
        known = evaluate(ranking["known_label"].to_numpy(), ranking["score"].to_numpy())
        words = page.words()
        assert accuracy(known, 500) in words
        assert f"{100 * known.roc_auc:.1f}%" in words
        assert f"{100 * known.average_precision:.1f}%" in words

    def test_without_labels_there_is_no_evaluation(self):
        words = Page(render_report(config(), ranked(labels=False), findings())).words()
        assert "ROC" not in words
        assert "nown outlier" not in words
        assert "known_label" not in words

    def test_only_known_labels_are_evaluated(self):
        known = ranked()["known_label"].to_pylist()
        known[1::2] = [None] * 250
        ranking = ranked(known_label=pa.array(known, pa.int8()))
        expected = evaluate(np.array(known[::2]), ranking["score"].to_numpy()[::2])
        words = Page(render_report(config(), ranking, findings(ranking))).words()
        assert accuracy(expected, 500) in words
        assert "250 of 500 labels" in words

    def test_labels_of_one_kind_make_no_curve(self):
        ranking = ranked(known_label=pa.array(np.zeros(500, dtype=np.int64)))
        words = Page(render_report(config(), ranking, findings(ranking))).words()
        assert "All known labels are the same" in words
        assert "ROC" not in words

    def test_the_page_of_the_paper(self):
        ranking, words = ranked_as_paper(), vocabulary_of("paper")
        told = replace(findings(ranking), losses=((4.0, 2.0), (3.0, 1.0)), num_steps=300)
        text = Page(render_report(config(preset="paper"), ranking, told)).words()
        assert words.meaning(told.questions, 300) in text
        assert "features: 1 → 0.75 adjacency: 1 → 0.5" in text
        assert words.contrast.split("{actual}")[0] in text
        assert "features come before similarity" not in text
        assert "300 epochs" in text
        for name, question in words.questions.items():
            assert f"{name} {question}" in text

    @pytest.mark.parametrize("size", [1, 2, 3, 21])
    def test_small_graphs_without_explanations_make_a_valid_page(self, size):
        ranking = ranked(size, labels=False)
        for explained in (0, 20):
            words = Page(render_report(config(), ranking, findings(ranking, explained))).words()
            assert f"Most abnormal {min(size, 20)} node" in words
            assert "nan" not in re.findall(r"[a-z]+", words)

    def test_equal_scores_make_a_valid_page(self):
        ranking = ranked(7, score=pa.array(np.full(7, 2.0)), flag=pa.array([0] * 7))
        told = findings(ranking, explained=0)
        assert "0 of 7 nodes are flagged" in Page(render_report(config(), ranking, told)).words()

    def test_ids_are_never_rounded(self):
        ranking = ranked(2, node=pa.array([1000001.5, 1000002.5]))
        assert "1000001.5" in render_report(config(), ranking, findings(ranking, 0))


def palette(block):
    """The colours of a mode by name, from the style sheet."""
    style = (files("egoscore.report") / "templates" / "report.css.j2").read_text(encoding="utf-8")
    roots = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    modes = [dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", root)) for root in roots]
    light, dark, printed = modes
    return {"light": light, "dark": light | dark, "print": light | printed}[block]


def contrast(one, other):
    """As WCAG defines it."""

    def luminance(colour):
        parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


class TestColours:
    @pytest.mark.parametrize("block", BLOCKS)
    @pytest.mark.parametrize("ground", ["paper", "panel", "careful"])
    @pytest.mark.parametrize("text", ["ink", "soft", "link"])
    def test_text_can_be_read(self, block, ground, text):
        if (ground, text) == ("careful", "link"):
            return  # no link is there
        colours = palette(block)
        assert contrast(colours[text], colours[ground]) >= 4.5

    @pytest.mark.parametrize("block", BLOCKS)
    @pytest.mark.parametrize("drawn", ["mark", "warm", "third"])
    def test_lines_can_be_seen(self, block, drawn):
        colours = palette(block)
        assert contrast(colours[drawn], colours["paper"]) >= 3.0
        assert contrast(colours[drawn], colours["panel"]) >= 3.0

    def test_shades_get_lighter_step_by_step(self):
        style = (files("egoscore.report") / "templates" / "report.css.j2").read_text(
            encoding="utf-8"
        )
        shades = re.findall(r"\.s\d \{ fill: (#[0-9a-f]{6})", style)
        steps = [contrast(shade, "#000000") for shade in shades]
        assert len(steps) == 9
        assert steps == sorted(steps)


def test_a_hundred_thousand_nodes_are_small_and_fast(capsys):
    ranking = ranked(100_000)
    told = findings(ranking)
    start = time.process_time()
    html = render_report(config(), ranking, told)
    seconds = time.process_time() - start
    with capsys.disabled():
        print(f"\nreport of 100,000 nodes: {len(html.encode()) / 1e6:.2f} MB, {seconds:.1f} s CPU")
    assert len(html.encode()) < 3_000_000
    assert seconds < 10


QUICK = {
    "default": {"updates": 2, "hidden_size": 8},
    "paper": {"preset": "paper", "epochs": 1, "num_levels": 1, "num_samples": 1, "steps": 3},
}


class TestWriteReport:
    """The report of a finished run, written again from the files of the run."""

    @pytest.fixture(params=QUICK)
    def run(self, request, tmp_path):
        info = {"score": np.arange(50), "kind": np.array(["a", "b"] * 25)}
        graph = generate_network(50, 120, 3, seed=1, outlier_fraction=0.1)
        graph = replace(graph, node_info=info)
        origin = Origin("friends", NOTES, "egoscore detect friends")
        return detect(graph, origin, EgoScore(**QUICK[request.param]), tmp_path / "run").path

    def test_the_page_is_the_same(self, run):
        before = (run / "report.html").read_bytes()
        (run / "report.html").unlink()
        assert write_report(run) == run / "report.html"
        assert (run / "report.html").read_bytes() == before
        assert b"score (input)" in before

    def test_it_can_be_written_elsewhere(self, run, tmp_path):
        before = (run / "report.html").read_bytes()
        (run / "report.html").write_text("mine")
        assert write_report(run, tmp_path / "page.html") == tmp_path / "page.html"
        assert (tmp_path / "page.html").read_bytes() == before
        assert (run / "report.html").read_text() == "mine"

    def test_it_needs_neither_the_model_nor_the_graph(self, run):
        before = (run / "report.html").read_bytes()
        for name in ("model.safetensors", "network/nodes.parquet", "scores.csv"):
            (run / name).unlink()
        assert write_report(run).read_bytes() == before

    @pytest.mark.parametrize("name", ["config.json", "scores.parquet", "findings.json"])
    @pytest.mark.parametrize("damage", ["missing", "half", "other"])
    def test_a_damaged_run_is_refused_with_a_remedy(self, run, name, damage):
        whole = (run / name).read_bytes()
        (run / name).unlink()
        if damage == "half":
            (run / name).write_bytes(whole[: len(whole) // 2])
        elif damage == "other":
            (run / name).write_text("[]")
        with pytest.raises(RunError, match=r"run .*`egoscore detect`") as caught:
            write_report(run)
        assert "\n" not in str(caught.value)
        if name == "config.json":  # nobody knows which run this is
            assert "another directory" in str(caught.value)

    def test_findings_of_another_version_are_refused_with_a_remedy(self, run):
        record = json.loads((run / "findings.json").read_text())
        record |= {"remarks": ["4 nodes are significant."], "rule": "Scores above 1 are flagged."}
        (run / "findings.json").write_text(json.dumps(record))
        with pytest.raises(RunError, match=r"findings\.json .*`egoscore detect`"):
            write_report(run)

    def test_a_bug_of_the_program_is_not_reported_as_damage(self, run, monkeypatch):
        def fail(*_):
            raise KeyError("ours")

        monkeypatch.setattr("egoscore.report.html.render_report", fail)
        with pytest.raises(KeyError, match="ours"):
            write_report(run)

    def test_a_place_that_cannot_be_written_is_an_error(self, run, tmp_path):
        with pytest.raises(RunError, match="Cannot write"):
            write_report(run, tmp_path / "nowhere" / "page.html")

    def test_a_directory_without_a_run_is_an_error(self, tmp_path):
        with pytest.raises(RunError, match="holds no finished run"):
            write_report(tmp_path)


class TestUnbroken:
    """Lines break between words, never within a number."""

    @staticmethod
    def pieces(text, longest=14):
        return [Markup(piece).striptags() for piece in unbroken(text, longest).split("<wbr>")]

    @pytest.mark.parametrize("text", ["CUST-000485", "known_label", "contextual", "a b", ""])
    def test_short_text_is_not_broken(self, text):
        assert unbroken(text) == f'<span class="whole">{text}</span>'

    def test_longer_text_is_broken_after_separators(self):
        assert self.pieces("number_of_transactions") == ["number_", "of_", "transactions"]
        pieces = ["paid/", "total:", "in", "euros,", "yearly"]
        assert self.pieces("paid/total: in euros,yearly") == pieces

    @pytest.mark.parametrize("number", ["3.8x", "1,234,567.5", "-0.25", "2024-11-02"])
    def test_numbers_are_not_broken(self, number):
        assert number in self.pieces(f"neighbours it shares {number} as expected")

    def test_words_that_are_too_long_may_be_broken_anywhere(self):
        assert "<span" not in unbroken("x" * 15)
        assert "<span" not in unbroken("漢" * 8)
        assert unbroken(f"{'x' * 15} y") == f'{"x" * 15} <wbr><span class="whole">y</span>'

    def test_tags_are_escaped(self):
        assert "<b>" not in unbroken("<b>x</b>")
        assert "<b>" not in unbroken("<b>x</b> " * 9)

    @given(st.text(), st.integers(1, 20))
    def test_no_text_is_lost(self, text, longest):
        found = unbroken(text, longest)
        for tag in ('<span class="whole">', "</span>", "<wbr>"):
            found = Markup(str(found).replace(tag, ""))
        assert found.unescape() == text


@pytest.fixture(scope="module")
def named():
    """A report about nodes with names."""
    start = ranked(60)
    places = {"node": pa.array([f"id-{n}" for n in range(60)])}
    columns = {name: places.get(name, start[name]) for name in start.column_names}
    called = [f"Long Name Number {n}" for n in range(59)] + ["<b>\x1b</b>"]
    table = pa.table({"node": columns.pop("node"), "name": called, **columns})
    table = with_own_columns(table, ["known_label", "community", "kind"])
    found = findings(table)
    whys = [
        replace(
            why,
            node=f"id-{n}",
            name=called[n],
            surprising=(Tie("id-98", 2.0, name="Strange Friend"),),
        )
        for n, why in enumerate(found.explanations)
    ]
    return render_report(config(), table, replace(found, explanations=tuple(whys)))


class TestNames:
    """With names, these are shown instead of ids, in the list, the cards and the drawings."""

    def test_list_and_cards_show_name_and_id(self, named):
        page = Page(named)
        words = page.words().replace("\u200b", "")
        for text in ("1. Long Name Number 0", "id id-0", "Strange Friend"):
            assert text in words
        assert "id-98" not in words
        cells = re.findall(r'<td role="cell" class="node">(.*?)</td>', named)
        plain = [re.sub(r"<[^>]*>", "", cell) for cell in cells]
        assert plain[:2] == ["Long Name Number 0 id-0", "Long Name Number 1 id-1"]
        assert len(plain) == 20

    def test_without_names_no_id_is_added(self):
        table = ranked(60)
        assert 'class="id"' not in render_report(config(), table, findings(table))

"""What the command line prints: plain words, whatever the data hold."""

import io
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from rich.cells import cell_len
from rich.text import Text

from egoscore.explain.explanation import Deviation
from egoscore.graph import AttributedGraph
from egoscore.graph.datasets import DatasetEntry
from egoscore.settings import Settings
from egoscore.tell.console import (
    _MOST_LINES,
    show_datasets,
    show_detail,
    show_detection,
    show_network,
)
from egoscore.tell.metrics import Evaluation
from egoscore.tell.top_nodes import top_rows
from egoscore.tell.words import accuracy, meaning

HOSTILE = {
    "[red]alarm[/red]": "[red]alarm[/red]",
    "[/]": "[/]",
    "[link=http://example.org]x[/link]": "[link=http://example.org]x[/link]",
    ":smile:": ":smile:",
    "\x1b[2J\x1b[31m": r"\x1b[2J\x1b[31m",
    "two\r\nlines": r"two\r\nlines",
    "\u202etxt.exe": r"\u202etxt.exe",
    "│ 9 │": "│ 9 │",
}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """What rich lets speak louder than the terminal itself must not come from outside."""
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def terminal(monkeypatch):
    """Prints to a terminal of a given width; the lines as they came, and without their style."""

    def printed(width, show, *arguments):
        monkeypatch.setenv("COLUMNS", str(width))
        with redirect_stdout(Terminal()) as stream:
            show(*arguments)
        raw = stream.getvalue()
        return raw.splitlines(), Text.from_ansi(raw).plain.splitlines()

    return printed


CAUSES = (("features", "company"), ("place",))
REASONS = ("amount 12x what is expected", "core number 30% of what is expected")
WHY = [
    "features: amount 12x what is expected; also company",
    "place: core number 30% of what is expected",
]


def ranked(ids=("a", "b", "c"), evaluation=None, path="run", **columns):
    size = len(ids)
    table = pa.table(
        {
            "node": pa.array(ids),
            "score": 0.0123456 / np.arange(1, size + 1),
            "rank": np.arange(1, size + 1),
            "percentile": 99.94 - np.arange(size),
            "p_value": np.linspace(0.001, 1, size),
            "flag": (np.arange(size) == 0).astype(np.int8),
            **columns,
            "ego_size": np.arange(size) + 2,
            "energy": np.linspace(0.1239, 0.9, size),
        }
    )
    why = [
        SimpleNamespace(
            rank=rank, causes=causes, reason=reason, summary=f"Node {name} is high: \x1b because."
        )
        for rank, (name, causes, reason) in enumerate(zip(ids, CAUSES, REASONS, strict=False), 1)
    ]
    findings = SimpleNamespace(
        rule="Flagged are scores above 1.", num_flagged=1234, remarks=["Careful."], explanations=why
    )
    return SimpleNamespace(
        graph=SimpleNamespace(num_nodes=size, is_structural=False),
        ranking=table,
        evaluation=evaluation,
        path=Path(path),
        detector=SimpleNamespace(preset="paper", fdr=0.1),
        findings=findings,
    )


def cells(line):
    return [cell.strip() for cell in line.strip("│").split(" │ ")]


def rows(lines):
    return [cells(line) for line in lines if line.startswith("│")]


def test_every_row_says_what_the_ranking_says(capsys):
    show_detection(ranked(known_label=[1, 0, 0], kind=["joint", "normal", "normal"]), 2)
    lines = capsys.readouterr().out.splitlines()
    assert rows(lines) == [
        ["1", "a", "0.01235", "yes", "2", WHY[0], "1", "joint"],
        ["2", "b", "0.006173", "", "3", WHY[1], "0", "normal"],
    ]
    (header,) = (line for line in lines if line.startswith("┃"))
    assert [name.strip() for name in header.strip("┃").split("┃")] == [
        *("rank", "node", "score", "flag", "ego size", "why"),
        *("known", "kind"),
    ]


def test_columns_about_known_outliers_are_only_there_if_any_are_known(capsys):
    show_detection(ranked(), 3)
    output = capsys.readouterr().out
    assert [len(row) for row in rows(output.splitlines())] == [6, 6, 6]
    assert "known" not in output
    assert "kind" not in output


@pytest.mark.parametrize(("top", "shown"), [(1, 1), (3, 3), (20, 3)])
def test_as_many_rows_as_wanted_or_as_there_are(capsys, top, shown):
    show_detection(ranked(), top)
    output = capsys.readouterr().out
    assert len(rows(output.splitlines())) == shown
    assert f"Most abnormal {shown} of 3 nodes" in output


def test_one_node_is_one_node(capsys):
    show_detection(ranked(["a"]), 1)
    assert "Most abnormal 1 of 1 node " in capsys.readouterr().out


def test_no_table_if_no_rows_are_wanted(capsys):
    show_detection(ranked(), 0)
    output = capsys.readouterr().out
    assert "Most abnormal" not in output
    assert output.startswith(meaning("paper", 3))


def test_accuracy_is_told_if_outliers_are_known(capsys):
    known = Evaluation(0.9, 0.5, 0.25, 1)
    show_detection(ranked(evaluation=known), 3)
    assert accuracy(known, 3) in capsys.readouterr().out.splitlines()
    show_detection(ranked(), 3)
    assert "ROC-AUC" not in capsys.readouterr().out


def test_it_says_where_the_rest_is(capsys):
    show_detection(ranked(path="[bold]my[/bold]/run"), 3)
    *_, written, why = capsys.readouterr().out.splitlines()
    assert written.startswith("Written to [bold]my[/bold]/run: scores.csv, scores.parquet, ")
    assert why == "Why another node: egoscore explain '[bold]my[/bold]/run' NODE"


def test_who_is_flagged_and_why_the_first_is_high_is_told(capsys):
    show_detection(ranked(), 3)
    lines = capsys.readouterr().out.splitlines()
    assert "Flagged are scores above 1. That is 1,234 here." in lines
    assert "Careful." in lines
    assert r"Why the first: Node a is high: \x1b because." in lines


def test_if_no_rows_are_wanted_none_is_explained(capsys):
    show_detection(ranked(), 0)
    assert "Why the first" not in capsys.readouterr().out


def test_nodes_that_are_not_explained_have_no_why(capsys):
    show_detection(ranked(), 3)
    assert [row[5] for row in rows(capsys.readouterr().out.splitlines())] == [*WHY, ""]


class TestWhy:
    """The strongest cause in as many words as there is room for."""

    @pytest.mark.parametrize(
        ("width", "place", "words"),
        [(120, 5, WHY[0]), (84, 4, "features: amount 12x what is expected")],
    )
    def test_the_other_causes_are_told_where_they_have_room(self, terminal, width, place, words):
        _, lines = terminal(width, show_detection, ranked(), 3)
        assert rows(lines)[0][place] == words
        assert len(rows(lines)) == 3
        assert max(map(cell_len, lines)) <= width

    def test_a_long_name_gives_way_to_the_numbers(self, terminal):
        found = ranked()
        found.findings.explanations[0].reason = f"{'volume_' * 30}49 12x what is expected"
        _, lines = terminal(80, show_detection, found, 3)
        cells = [line[4] for line in rows(lines)]
        first = "".join(cells[: len(cells) - 2])
        assert first.startswith("features:volume_")
        assert first.replace(" ", "").endswith("4912xwhatisexpected")
        assert len(cells) <= 3 + _MOST_LINES  # the word before a long name has a line of its own

    def test_in_little_room_the_questions_are_named(self, terminal):
        _, lines = terminal(55, show_detection, ranked(), 3)
        assert rows(lines)[0][4] == "features, company"

    def test_the_size_gives_way_to_the_reason(self, terminal):
        for width, is_told in ((100, True), (84, False)):
            _, lines = terminal(width, show_detection, ranked(), 3)
            assert any("ego size" in line for line in lines) is is_told

    def test_beyond_what_is_explained_the_cause_is_named(self, capsys):
        found = ranked()
        found.findings.explanations = found.findings.explanations[:1]
        show_detection(found, 3)
        causes = [row.cause for row in top_rows(found.ranking)]
        lines = rows(capsys.readouterr().out.splitlines())
        assert [line[5] for line in lines[1:]] == causes[1:]

    def test_where_no_question_alone_is_the_cause_that_is_said(self, capsys):
        found = ranked()
        first = found.findings.explanations[0]
        first.causes, first.p_value, first.features, first.structure = (), 0.01, (), ()
        first.questions = {"company": 2.9, "place": 2.0}
        show_detection(found, 3)
        line = rows(capsys.readouterr().out.splitlines())[0]
        assert line[5] == "all together, mostly company"

    def test_what_is_far_off_by_itself_is_told_though_nothing_else_stands_out(self, capsys):
        found = ranked()
        first = found.findings.explanations[0]
        first.causes, first.p_value, first.questions = (), 0.4, {"features": 1.0}
        first.features, first.structure = (Deviation("pay", "$9", "$1", 9.0),), ()
        show_detection(found, 3)
        line = rows(capsys.readouterr().out.splitlines())[0]
        assert line[5] == "pay $9 where $1 is expected"

    def test_names_in_it_are_harmless(self, capsys):
        found = ranked()
        found.findings.explanations[0].reason = "\x1b[2J 12x what is expected"
        show_detection(found, 3)
        assert r"features: \x1b[2J 12x what is expected" in capsys.readouterr().out


class TestHostileText:
    def test_ids_are_text(self, capsys):
        show_detection(ranked(list(HOSTILE), kind=list(HOSTILE)), len(HOSTILE))
        output = capsys.readouterr().out
        lines = [line for line in output.splitlines() if line.startswith("│")]
        for line, text in zip(lines, HOSTILE.values(), strict=True):
            assert line.count(f"│ {text} ") == 2, text
        assert all(character.isprintable() or character == "\n" for character in output)

    def test_remarks_are_text(self, capsys):
        found = ranked()
        found.findings.remarks = ("Judged by 'ev\x1b[32mil'.",)
        show_detection(found, 3)
        assert r"Judged by 'ev\x1b[32mil'." in capsys.readouterr().out

    def test_ids_bring_no_colour_to_a_terminal_either(self, terminal):
        raw, plain = terminal(250, show_detection, ranked(list(HOSTILE)), len(HOSTILE))
        assert any("\x1b" in line for line in raw)  # the terminal does have styles
        for line, text in zip(
            (line for line in raw if line.startswith("│")), HOSTILE.values(), strict=True
        ):
            assert "\x1b" not in line
            assert f"│ {text} " in line
        assert not any("\x1b" in line for line in plain)

    @pytest.mark.parametrize("name", HOSTILE)
    def test_the_name_of_a_source_is_text(self, capsys, name):
        show_network(AttributedGraph.from_edges([[0], [1]], np.ones((3, 2))), name)
        assert capsys.readouterr().out == (
            f"{HOSTILE[name]}: 3 nodes, 1 undirected edge, 2 features.\n"
        )

    def test_a_data_set_is_text(self, capsys):
        show_datasets([DatasetEntry("[b]x[/b]", "[red]y", True, "/data/[z]", False)])
        assert rows(capsys.readouterr().out.splitlines()) == [
            ["[b]x[/b]", "[red]y", "directed", "no", "/data/[z]"]
        ]


class TestWidth:
    LONG = "".join(f"<{number}>" for number in range(100))

    @pytest.mark.parametrize("width", [40, 80, 120])
    def test_nothing_is_wider_than_the_terminal(self, terminal, width):
        found = ranked([self.LONG, "漢字" * 60, "c"], kind=["joint"] * 3)
        _, lines = terminal(width, show_detection, found, 3)
        assert max(cell_len(line) for line in lines) == width

    def test_a_long_id_is_folded_and_nothing_of_it_lost(self, terminal):
        _, lines = terminal(80, show_detection, ranked([self.LONG]), 1)
        assert len(rows(lines)) > 1
        assert "".join(row[1] for row in rows(lines)) == self.LONG

    def test_a_long_id_takes_no_room_from_the_numbers(self, terminal):
        _, lines = terminal(80, show_detection, ranked([self.LONG]), 1)
        assert rows(lines)[0][2:4] == ["0.01235", "yes"]

    def test_a_long_path_is_folded_and_nothing_of_it_lost(self, terminal):
        entry = DatasetEntry("long", "a test", False, f"/{self.LONG}", True)
        _, lines = terminal(80, show_datasets, [entry])
        assert "".join(row[4] for row in rows(lines)) == f"/{self.LONG}"

    def test_outside_a_terminal_lines_are_not_broken_to_fit_one(self, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "40")
        show_detection(ranked(evaluation=Evaluation(0.9, 0.5, 0.25, 1)), 3)
        lines = capsys.readouterr().out.splitlines()
        assert meaning("paper", 3) in lines
        assert rows(lines)[0][2:5] == ["0.01235", "yes", "2"]


def test_what_was_left_out_of_a_network_is_said_line_by_line(capsys):
    graph = AttributedGraph.from_edges([[0, 0, 2], [1, 1, 2]], np.ones((3, 2)))
    show_network(graph, "friends")
    assert capsys.readouterr().out.splitlines() == [
        "friends: 3 nodes, 1 undirected edge, 2 features.",
        "Left out: 1 self-loop.",
        "Left out: 1 repeated edge.",
    ]


def test_data_sets_are_told_with_what_they_are_and_where_they_come_from(capsys):
    entries = [
        DatasetEntry("friends", "who knows whom", False, "/data/friends.pt", True),
        DatasetEntry("mail", "who writes to whom", True, "https://example.org", False),
    ]
    show_datasets(entries)
    assert rows(capsys.readouterr().out.splitlines()) == [
        ["friends", "who knows whom", "undirected", "yes", "/data/friends.pt"],
        ["mail", "who writes to whom", "directed", "no", "https://example.org"],
    ]


def test_the_table_of_a_generated_network_fits_eighty_columns(terminal):
    found = ranked(["1234", "b", "c"], known_label=[1, 0, 0], kind=["structural"] * 3)
    _, lines = terminal(80, show_detection, found, 3)
    assert "…" not in "".join(lines)
    first, *_ = rows(lines)
    assert first == ["1", "1234", "0.01235", "yes", "features, company", "1", "structural"]


def test_every_decision_in_reading_is_told_as_text(capsys):
    graph = AttributedGraph.from_edges([[0], [1]], np.ones((3, 2)))
    show_network(graph, "friends", ["12 rows.", "The column '[red]a' is \x1b[31m left aside."])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "- 12 rows.",
        r"- The column '[red]a' is \x1b[31m left aside.",
    ]


def test_detail_goes_to_standard_error(capsys):
    found = ranked()
    found.detector = SimpleNamespace(seed=7, settings=Settings)
    show_detail(found, {"reading": 1.234, "the rest": 56.789})
    output, errors = capsys.readouterr()
    assert output == ""
    text = " ".join(errors.split())
    assert text.startswith("Settings: seed 7, dissimilarity rec, alpha 0.5,")
    assert "Time: reading 1.2 s, the rest 56.8 s. Memory at most" in text

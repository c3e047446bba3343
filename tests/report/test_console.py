"""What the command line prints: complete, and printable whatever the data are."""

import io
import json
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from report.samples import CAVEATS, NOTES, explanation, findings
from rich.cells import cell_len
from rich.text import Text

from egoscore import EgoScore, generate_network
from egoscore.detectors import vocabulary_of
from egoscore.explain.explanation import Deviation
from egoscore.graph import AttributedGraph
from egoscore.load.datasets import DatasetEntry
from egoscore.metrics import Evaluation
from egoscore.notes import Note
from egoscore.report.console import (
    _MOST_LINES,
    detection_record,
    show_datasets,
    show_detail,
    show_detection,
    show_graph,
)
from egoscore.report.notes import render
from egoscore.report.sentences import accuracy, flagged, summary
from egoscore.report.top_nodes import top_rows

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
    """Variables that rich prefers to the terminal itself."""
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def terminal(monkeypatch):
    """Prints to a terminal of a given width; returns the lines with and without their style."""

    def printed(width, show, *arguments):
        monkeypatch.setenv("COLUMNS", str(width))
        with redirect_stdout(Terminal()) as stream:
            show(*arguments)
        raw = stream.getvalue()
        return raw.splitlines(), Text.from_ansi(raw).plain.splitlines()

    return printed


REASONS = {
    ("features", "similarity"): "amount is 12 times the expected value",
    ("position",): "core number is 30% of the expected value",
}
WHY = [
    "features: amount is 12 times the expected value (also similarity)",
    "position: core number is 30% of the expected value",
]
EVALUATION = Evaluation(0.9, 0.5, 0.25, 1, 3)


def detected(ids=("a", "b", "c"), evaluation=None, path="run", **columns):
    """What `detect` returns, about nodes of which two are explained."""
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
    known = zip(ids, REASONS.items(), strict=False)
    why = tuple(
        replace(
            explanation(rank, size, 1.0, flag=False),
            **{"causes": causes, "reason": reason, "summary": f"{name} is high: \x1b because."},
        )
        for rank, (name, (causes, reason)) in enumerate(known, 1)
    )
    found = replace(findings(table), explanations=why, notes=(), caveats=CAVEATS[:2])
    return SimpleNamespace(
        graph=SimpleNamespace(num_nodes=size, labels=None),
        ranking=table,
        evaluation=evaluation,
        path=Path(path),
        detector=EgoScore("paper", seed=7),
        findings=found,
    )


def changed(found, **changes):
    """The same with other findings."""
    found.findings = replace(found.findings, **changes)
    return found


def first_changed(found, **changes):
    """The same with another explanation of the first node."""
    first, *others = found.findings.explanations
    return changed(found, explanations=(replace(first, **changes), *others))


def cells(line):
    return [cell.strip() for cell in line.strip("│").split(" │ ")]


def rows(lines):
    return [cells(line) for line in lines if line.startswith("│")]


class TestNames:
    NAMES = ("Ann", "two\nlines", "L" + 200 * "o" + "ng")

    def found(self):
        found = detected(("id-1", "id-2", "id-3"))
        columns = {name: found.ranking[name] for name in found.ranking.column_names}
        found.ranking = pa.table({"node": columns.pop("node"), "name": self.NAMES, **columns})
        return found

    def test_they_stand_beside_the_ids(self, capsys):
        show_detection(self.found(), 2)
        shown = rows(capsys.readouterr().out.splitlines())
        assert [row[:3] for row in shown] == [
            ["1", "Ann", "id-1"],
            ["2", r"two\nlines", "id-2"],
        ]

    def test_a_long_one_is_shortened(self, capsys):
        show_detection(self.found(), 3)
        output = capsys.readouterr().out
        assert "…" in output
        assert 100 < output.count("o") < 250

    def test_in_a_narrow_terminal_the_ids_make_room(self, terminal):
        _, lines = terminal(70, show_detection, self.found(), 2)
        (header,) = (line for line in lines if line.startswith("┃"))
        assert [name.strip() for name in header.strip("┃").split("┃")] == [
            *("rank", "name", "score", "flag", "why"),
        ]

    def test_json_has_both(self):
        found, bare = self.found(), detected()
        found.graph = bare.graph = generate_network(3, 2, 2)
        highest = json.loads(detection_record(found, 3))["top"]
        ids = ("id-1", "id-2", "id-3")
        assert [(row["node"], row["name"]) for row in highest] == [
            *zip(ids, self.NAMES, strict=True)
        ]
        assert "name" not in json.loads(detection_record(bare, 3))["top"][0]


class TestTable:
    def test_rows_are_those_of_the_ranking(self, capsys):
        show_detection(detected(known_label=[1, 0, 0], kind=["joint", "normal", "normal"]), 2)
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

    def test_significant_nodes_are_marked(self, capsys):
        show_detection(detected(significant=[1, 0, 0]), 3)
        marks = [row[3] for row in rows(capsys.readouterr().out.splitlines())]
        assert marks == ["significant", "", ""]

    def test_columns_about_known_outliers_need_labels(self, capsys):
        show_detection(detected(), 3)
        output = capsys.readouterr().out
        assert [len(row) for row in rows(output.splitlines())] == [6, 6, 6]
        assert "known" not in output
        assert "kind" not in output

    @pytest.mark.parametrize(("top", "shown"), [(1, 1), (3, 3), (20, 3)])
    def test_it_has_as_many_rows_as_requested_or_available(self, capsys, top, shown):
        show_detection(detected(), top)
        output = capsys.readouterr().out
        assert len(rows(output.splitlines())) == shown
        assert f"Most abnormal {shown} of 3 nodes" in output

    @pytest.mark.parametrize(("columns", "width"), [("70", 70), ("", 200), ("wide", 200)])
    def test_outside_a_terminal_it_is_as_wide_as_columns_says(
        self, capsys, monkeypatch, columns, width
    ):
        monkeypatch.setenv("COLUMNS", columns)
        long = detected(["a" * 20, "b", "c"])
        show_detection(first_changed(long, reason="words " * 60), 3)
        widest = max(cell_len(line) for line in capsys.readouterr().out.splitlines()[1:9])
        assert 0.8 * width < widest <= width

    def test_one_node_is_singular(self, capsys):
        show_detection(detected(["a"]), 1)
        assert "Most abnormal 1 of 1 node " in capsys.readouterr().out

    def test_without_rows_there_is_no_table(self, capsys):
        show_detection(detected(), 0)
        output = capsys.readouterr().out
        assert "Most abnormal" not in output
        assert output.startswith("1 of 3 nodes is flagged")


class TestLinesBelowTheTable:
    @staticmethod
    def lines(capsys, found):
        show_detection(found, 3)
        return capsys.readouterr().out.split("┘\n")[1].splitlines()

    @pytest.mark.parametrize("evaluation", [None, EVALUATION])
    @pytest.mark.parametrize("caveats", [(), CAVEATS[:2], CAVEATS, CAVEATS + CAVEATS])
    @pytest.mark.parametrize("notes", [(), NOTES])
    def test_there_are_at_most_five(self, capsys, evaluation, caveats, notes):
        found = changed(detected(evaluation=evaluation), caveats=caveats, notes=notes)
        assert len(self.lines(capsys, found)) == (4 if evaluation is None else 5)

    def test_the_first_says_how_many_are_flagged_and_why(self, capsys):
        found = detected()
        line = self.lines(capsys, found)[0]
        assert flagged(found.ranking) in line
        assert "10%" in line
        automatic = Note.info("threshold-far-out", threshold=7.123456)
        line = self.lines(capsys, changed(found, rule=automatic, threshold=7.123456))[0]
        assert flagged(found.ranking) in line
        assert "7.123" in line
        lowered = Note.info("threshold-significant", threshold=7.123456, fence=9.5)
        line = self.lines(capsys, changed(found, rule=lowered, threshold=7.123456))[0]
        assert flagged(found.ranking) in line
        assert "7.123" in line

    @pytest.mark.parametrize("caveats", [(), CAVEATS])
    def test_the_second_is_the_statement_about_reliability(self, capsys, caveats):
        found = changed(detected(), caveats=caveats)
        assert self.lines(capsys, found)[1] == render(found.findings.reliability)

    def test_accuracy_is_given_if_outliers_are_known(self, capsys):
        known = self.lines(capsys, detected(evaluation=EVALUATION))
        assert known[2] == accuracy(EVALUATION, 3)
        assert not any("ROC-AUC" in line for line in self.lines(capsys, detected()))

    def test_the_last_say_where_the_report_is_and_what_to_do_next(self, capsys):
        *_, written, following = self.lines(capsys, detected(path="[bold]my[/bold]/run"))
        assert written == "Report: [bold]my[/bold]/run/report.html"
        assert following == "Next: egoscore explain '[bold]my[/bold]/run' a"
        *_, written, _ = self.lines(capsys, changed(detected(), notes=NOTES))
        assert "3 notes" in written


class TestWhy:
    """The main cause in as many words as there is room for."""

    def test_nodes_without_answers_or_explanation_have_none(self, capsys):
        show_detection(changed(detected(), answers=()), 3)
        lines = rows(capsys.readouterr().out.splitlines())
        assert [row[5] for row in lines] == [*WHY, ""]

    @pytest.mark.parametrize(("width", "place", "words"), [(120, 5, WHY[0]), (92, 4, WHY[0][:47])])
    def test_other_causes_are_named_if_there_is_room(self, terminal, width, place, words):
        _, lines = terminal(width, show_detection, detected(), 3)
        assert rows(lines)[0][place] == words
        assert len(rows(lines)) == 3
        assert max(map(cell_len, lines)) <= width

    def test_a_long_name_is_shortened_and_the_numbers_stay(self, terminal):
        reason = f"{'volume_' * 30}49 is 12 times the expected value"
        _, lines = terminal(80, show_detection, first_changed(detected(), reason=reason), 3)
        second = next(number for number, row in enumerate(rows(lines)) if row[0] == "2")
        first = "".join(row[4] for row in rows(lines)[:second]).replace(" ", "")
        assert first.startswith("features:volume_")
        assert first.endswith("49is12timestheexpectedvalue")
        assert second <= 1 + _MOST_LINES  # the word before a long name has a line of its own

    def test_in_little_room_only_the_questions_are_named(self, terminal):
        _, lines = terminal(55, show_detection, detected(), 3)
        assert " ".join(row[4] for row in rows(lines)[:2]) == "features, similarity"

    def test_the_reason_takes_the_room_of_the_ego_size(self, terminal):
        for width, is_shown in ((100, True), (84, False)):
            _, lines = terminal(width, show_detection, detected(), 3)
            assert any("ego size" in line for line in lines) is is_shown

    def test_nodes_that_are_not_explained_have_their_cause_named(self, capsys):
        found = detected()
        found = changed(found, explanations=found.findings.explanations[:1])
        show_detection(found, 3)
        causes = [row.reason for row in top_rows(found.ranking, found.findings)]
        lines = rows(capsys.readouterr().out.splitlines())
        assert [line[5] for line in lines[1:]] == causes[1:]
        assert all(causes)

    def test_several_weak_causes_are_named_together(self, capsys):
        questions = {"similarity": 2.9, "position": 2.0}
        weak = {"causes": (), "p_value": 0.01, "features": (), "structure": ()}
        show_detection(first_changed(detected(), questions=questions, **weak), 3)
        line = rows(capsys.readouterr().out.splitlines())[0]
        assert line[5].startswith("all answers together, mostly similarity: ")

    def test_an_extreme_value_is_named_though_nothing_else_stands_out(self, capsys):
        weak = {"causes": (), "p_value": 0.4, "questions": {"features": 1.0}, "structure": ()}
        extreme = Deviation("pay", "$9", "$1", 9.0)
        show_detection(first_changed(detected(), features=(extreme,), **weak), 3)
        line = rows(capsys.readouterr().out.splitlines())[0]
        assert all(fact in line[5] for fact in ("pay", "$9", "$1"))

    def test_names_in_a_reason_are_printable(self, capsys):
        show_detection(first_changed(detected(), reason="\x1b[2J is 12 times as much"), 3)
        assert r"features: \x1b[2J is 12 times as much" in capsys.readouterr().out


class TestHostileText:
    def test_ids_are_text(self, capsys):
        show_detection(detected(list(HOSTILE), kind=list(HOSTILE)), len(HOSTILE))
        output = capsys.readouterr().out
        lines = [line for line in output.splitlines() if line.startswith("│")]
        for line, text in zip(lines, HOSTILE.values(), strict=True):
            assert line.count(f"│ {text} ") == 2, text
        assert all(character.isprintable() or character == "\n" for character in output)

    def test_warnings_are_text(self, capsys):
        warning = Note.warning("encoding-guessed", table="ev\x1b[32mil[b]", encoding="x")
        show_detection(changed(detected(), caveats=(warning,)), 3)
        assert r"ev\x1b[32mil[b]" in capsys.readouterr().out

    def test_ids_bring_no_colour_to_a_terminal(self, terminal):
        raw, plain = terminal(250, show_detection, detected(list(HOSTILE)), len(HOSTILE))
        assert any("\x1b" in line for line in raw)  # the terminal does have styles
        for line, text in zip(
            (line for line in raw if line.startswith("│")), HOSTILE.values(), strict=True
        ):
            assert "\x1b" not in line
            assert f"│ {text} " in line
        assert not any("\x1b" in line for line in plain)

    @pytest.mark.parametrize("name", HOSTILE)
    def test_the_name_of_a_source_is_text(self, capsys, name):
        show_graph(AttributedGraph.from_edges([[0], [1]], np.ones((3, 2))), name)
        assert capsys.readouterr().err.startswith(f"{HOSTILE[name]}: 3 nodes")

    def test_a_data_set_is_text(self, capsys):
        show_datasets([DatasetEntry("[b]x[/b]", "[red]y", True, "/data/[z]", False)])
        assert rows(capsys.readouterr().out.splitlines()) == [
            ["[b]x[/b]", "[red]y", "directed", "no", "/data/[z]"]
        ]


class TestWidth:
    LONG = "".join(f"<{number}>" for number in range(100))

    @pytest.mark.parametrize("width", [40, 80, 120])
    def test_nothing_is_wider_than_the_terminal(self, terminal, width):
        found = detected([self.LONG, "漢字" * 60, "c"], kind=["joint"] * 3)
        _, lines = terminal(width, show_detection, found, 3)
        assert max(cell_len(line) for line in lines) == width

    def test_a_long_id_is_folded_without_loss(self, terminal):
        _, lines = terminal(80, show_detection, detected([self.LONG]), 1)
        assert len(rows(lines)) > 1
        assert "".join(row[1] for row in rows(lines)) == self.LONG

    def test_a_long_id_takes_no_room_from_the_numbers(self, terminal):
        _, lines = terminal(80, show_detection, detected([self.LONG]), 1)
        assert rows(lines)[0][2:4] == ["0.01235", "yes"]

    def test_a_long_path_is_folded_without_loss(self, terminal):
        entry = DatasetEntry("long", "a test", False, f"/{self.LONG}", True)
        _, lines = terminal(80, show_datasets, [entry])
        assert "".join(row[4] for row in rows(lines)) == f"/{self.LONG}"

    def test_outside_a_terminal_lines_are_not_wrapped(self, capsys, monkeypatch):
        show_detection(detected(evaluation=EVALUATION), 3)
        lines = capsys.readouterr().out.splitlines()
        assert accuracy(EVALUATION, 3) in lines
        monkeypatch.setenv("COLUMNS", "40")  # of tables
        show_detection(detected(evaluation=EVALUATION), 3)
        assert accuracy(EVALUATION, 3) in capsys.readouterr().out.splitlines()
        assert rows(lines)[0][2:5] == ["0.01235", "yes", "2"]

    def test_the_table_of_a_generated_graph_fits_eighty_columns(self, terminal):
        found = detected(["1234", "b", "c"], known_label=[1, 0, 0], kind=["structural"] * 3)
        _, lines = terminal(80, show_detection, found, 3)
        assert "…" not in "".join(lines)
        first, *_ = rows(lines)
        assert first == ["1", "1234", "0.01235", "yes", "features, similarity", "1", "structural"]


class TestStandardError:
    def test_a_graph_and_the_notes_on_reading_it(self, capsys):
        graph = AttributedGraph.from_edges([[0], [1]], np.ones((3, 2)))
        odd = Note.info("column-constant", table="a", column="[red]a\x1b[31m")
        show_graph(graph, "friends", [*NOTES, odd])
        output, errors = capsys.readouterr()
        first, *notes = errors.splitlines()
        assert output == ""
        assert first == summary(graph, "friends")
        assert notes[:3] == [f"- {render(note)}" for note in NOTES]
        assert r"[red]a\x1b[31m" in notes[3]

    def test_details(self, capsys):
        found = detected()
        show_detail(found, {"reading": 1.234, "the rest": 56.789})
        output, errors = capsys.readouterr()
        assert output == ""
        lines = errors.splitlines()
        questions = found.findings.questions
        assert lines[0] == vocabulary_of("paper").meaning(questions, 3)
        notes = (found.findings.rule, *found.findings.caveats)
        assert lines[1:4] == [f"- {render(note)}" for note in notes]
        text = " ".join(lines[4:])
        for fact in ("a is high", "seed 7", "alpha 0.5", "reading 1.2 s", "the rest 56.8 s"):
            assert fact in text
        assert "Peak memory" in text


def test_data_sets_are_listed_with_their_sources(capsys):
    entries = [
        DatasetEntry("friends", "who knows whom", False, "/data/friends.pt", True),
        DatasetEntry("mail", "who writes to whom", True, "https://example.org", False),
    ]
    show_datasets(entries)
    assert rows(capsys.readouterr().out.splitlines()) == [
        ["friends", "who knows whom", "undirected", "yes", "/data/friends.pt"],
        ["mail", "who writes to whom", "directed", "no", "https://example.org"],
    ]


def test_windows_has_no_resource_module():
    """The module is imported there all the same, and prints no peak memory."""
    code = """
import sys
sys.modules["resource"] = None
from egoscore.report import console
print(repr(console._peak_memory()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "''"

"""An explanation on the terminal: complete, and printable whatever the names are."""

from dataclasses import replace

import pytest
from report.samples import explanation
from rich.cells import cell_len
from rich.text import Text

from egoscore import EgoScore, generate_network
from egoscore.detectors import label_of, vocabulary_of
from egoscore.explain.explanation import Deviation, Tie
from egoscore.report.console import show_explanation
from egoscore.report.top_nodes import other_components, parts_of
from egoscore.text import percent

HOSTILE = ["[red]x[/red]", "\x1b[2J", "two\nlines", "\u202etxt", "[/]", "\ud800"]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Variables that rich prefers to the terminal itself."""
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def printed(capsys):
    def lines(found):
        show_explanation(found, WORDS)
        output = capsys.readouterr().out
        return output, [
            [cell.strip() for cell in line.strip("│").split(" │ ")]
            for line in output.splitlines()
            if line.startswith("│")
        ]

    return lines


FOUND = explanation(4, 500, 4.5, flag=True)
WORDS = vocabulary_of("default")


def test_the_summary_comes_first(printed):
    assert printed(FOUND)[0].startswith(FOUND.summary)


def test_the_score_and_the_energies_are_shown(printed):
    text = " ".join(printed(replace(FOUND, ego_size=2))[0].split())
    energies = f"{FOUND.energy_actual:.4g}", f"{FOUND.energy_expected:.4g}"
    for fact in ("score 4.5 is above", "99.2%", "2 nodes", *energies):
        assert fact in text
    alone = printed(replace(FOUND, ego_size=1))[0]
    assert not any(energy in alone for energy in energies)
    assert "not above the threshold" in printed(replace(FOUND, flag=False))[0]


def test_every_deviation_and_component_has_its_row(printed):
    _, rows = printed(FOUND)
    for one in FOUND.features + FOUND.structure:
        expected = [one.name, one.observed, one.expected, f"{one.size:+.1f}"]
        assert expected in rows
    parts = parts_of(FOUND.questions, FOUND.num_nodes)
    assert len(parts) == len(FOUND.questions)
    for one in parts:
        assert [label_of(one.question), f"{one.answer:.4g}", f"{percent(one.percentile)}%"] in rows
    others = other_components(FOUND)
    assert others
    for one in others:
        name = one.name.replace("_", " ")
        assert [name, f"{one.value:.4g}", f"{percent(one.percentile)}%"] in rows
    assert len(rows) == len(FOUND.features + FOUND.structure) + len(parts) + len(others)


def test_the_nodes_it_is_compared_with_are_described(printed):
    text = " ".join(printed(FOUND)[0].split())
    assert "Among 140 nodes whose ego-graphs have 7 to 9 nodes" in text


def test_edges_are_listed_with_their_surprise(printed):
    ties = (Tie("ann", 2.345), Tie("bob", 0.5))
    missed = (Tie("cat", -1.0), Tie("dan", 0.7, present=False))
    output, _ = printed(replace(FOUND, surprising=ties, expected=missed))
    lines = {line.split(" edges")[0]: line for line in output.splitlines() if " edges" in line}
    assert lines["Unexpected"].endswith(": ann (+2.3), bob (+0.5).")
    assert lines["Expected"].endswith(": cat (-1.0).")
    assert lines["Missing"].endswith(": dan (+0.7).")


def test_empty_parts_are_left_out(printed):
    output, _ = printed(replace(FOUND, surprising=(), expected=(), structure=(), components=()))
    assert " edges" not in output
    assert "Position in the graph" not in output


@pytest.mark.parametrize("columns", [None, 80, 60])
def test_no_table_is_wider_than_eighty_columns(capsys, monkeypatch, columns):
    """Whether on a terminal or not: the names of quantities are wrapped."""
    if columns:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", str(columns))
    place = EgoScore(updates=2, hidden_size=8).fit(generate_network(60, 150, 4, seed=1)).explain(3)
    long = Deviation("a name of many words " * 5, "2024-11-02 12:00:00", "2019-03-17 18:30:00", 2.0)
    show_explanation(replace(FOUND, features=(long,), structure=place.structure), WORDS)
    output = Text.from_ansi(capsys.readouterr().out).plain
    tables = [line for line in output.splitlines() if line[:1] in "┏┃┡│└"]
    assert 40 < max(map(cell_len, tables)) <= (columns or 80)
    for one in place.structure:
        assert columns == 60 or f"│ {one.name} " in output


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_printed_as_text(printed, name):
    found = replace(
        FOUND,
        summary=name,
        features=(Deviation(name, name, name, 1.0),),
        structure=(Deviation(name, name, name, 1.0),),
        surprising=(Tie(name, 1.0),),
        expected=(Tie(name, -1.0),),
    )
    output, rows = printed(found)
    harmless = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    assert all(letter.isprintable() or letter == "\n" for letter in output)
    assert output.startswith(harmless + "\n")
    assert [row for row in rows if row[:3] == [harmless] * 3] == [
        [harmless, harmless, harmless, "+1.0"]
    ] * 2
    assert f": {harmless} (+1.0)." in output


def test_names_are_shown_and_the_id_is_told(printed):
    tie = Tie("n7", 2.0, name="Iroko Other")
    found = replace(FOUND, node="n-4", name="two\nlines", surprising=(tie,))
    text = " ".join(printed(found)[0].split())
    assert "id is n-4." in text
    assert "Iroko Other (+2.0)" in text
    assert "n7" not in text
    assert " id is " not in " ".join(printed(FOUND)[0].split())

"""What the tests of reading share: files written in the test, refusals of one sentence."""

import json
import re
from contextlib import nullcontext

import pytest

from egoscore.errors import EgoScoreError
from egoscore.load import Options, read_tables
from egoscore.notes import Note
from egoscore.report.notes import render
from egoscore.text import command_line_options


@pytest.fixture
def write(tmp_path):
    """Writes a file, text or bytes, and gives its path."""

    def write(name, content):
        path = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(data)
        return path

    return write


@pytest.fixture
def refusal():
    """The sentence with which something is refused; anything but one sentence fails."""

    def refusal(make, *args, **kwargs):
        with pytest.raises(EgoScoreError) as caught:
            make(*args, **kwargs)
        message = str(caught.value)
        assert message.endswith((".", "?")), message
        assert "\n" not in message, message
        assert len(re.findall(r"[.!?] [A-Z]", message)) == 0, message
        return message

    return refusal


@pytest.fixture
def read(write):
    """Reads CSV text for edges and, perhaps, nodes."""

    def read(edges, nodes=None, **options):
        paths = [write("edges.csv", edges)]
        if nodes is not None:
            paths.append(write("nodes.csv", nodes))
        return read_tables(*paths, options=Options(**options))

    return read


@pytest.fixture
def pairs():
    """The edges of a network by the ids of their ends, as a sorted list of sorted pairs."""

    def pairs(graph):
        coo = graph.adjacency.to_scipy().tocoo()
        ends = zip(graph.ids[coo.row], graph.ids[coo.col], strict=True)
        return sorted({tuple(sorted(end, key=str)) for end in ends}, key=str)

    return pairs


@pytest.fixture
def noted():
    """Whether exactly one note has this code and these fields."""

    def noted(loaded, code, **fields):
        alike = [note for note in loaded.notes if note.code == code]
        return sum(fields.items() <= note.fields.items() for note in alike) == 1

    return noted


@pytest.fixture(autouse=True)
def every_note_is_a_sentence(monkeypatch):
    """Whatever notes a test produces can be rendered and written as JSON."""
    made = []
    original = Note.__init__

    def record(note, *args, **kwargs):
        original(note, *args, **kwargs)
        made.append(note)

    monkeypatch.setattr(Note, "__init__", record)
    yield
    for note in made:
        json.dumps(note.fields)
        for as_options in (nullcontext(), command_line_options()):
            with as_options:
                sentence = render(note)
            assert sentence.endswith("."), sentence
            assert "\n" not in sentence or "\n" in str(note.fields), sentence

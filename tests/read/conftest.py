"""What the tests of reading share: files written in the test, refusals of one sentence."""

import re

import pytest

from egoscore.errors import EgoScoreError
from egoscore.read import Choices, read_tables


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

    def read(edges, nodes=None, **choices):
        paths = [write("edges.csv", edges)]
        if nodes is not None:
            paths.append(write("nodes.csv", nodes))
        return read_tables(*paths, choices=Choices(**choices))

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
def said():
    """Whether exactly one of the notes holds these words, and every note is a short sentence."""

    def said(reading, words):
        for note in reading.notes:
            assert note.endswith("."), note
            assert "\n" not in note
        return sum(words in note for note in reading.notes) == 1

    return said

"""A network that several processes share."""

import errno
import pickle
from dataclasses import replace

import numpy as np
import pytest

from egoscore import AttributedGraph, generate_network
from egoscore.engine.shared_graph import SharedGraph
from egoscore.errors import RunError


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", [None, str, object])
def test_what_is_opened_is_what_was_written(tmp_path, directed, kind):
    graph = generate_network(30, 60, 3, directed=directed)
    names = None if kind is None else np.array([f"n{i}" for i in range(30)], dtype=kind)
    ends = np.stack([np.repeat(np.arange(30), graph.adjacency.degrees), graph.adjacency.indices])
    graph = AttributedGraph.from_edges(ends, graph.features, directed, names)
    sent = pickle.dumps(SharedGraph.write(graph, tmp_path))
    opened = pickle.loads(sent).open()
    assert opened.fingerprint() == graph.fingerprint()
    assert opened.ids.tolist() == graph.ids.tolist()
    for found, expected in (
        (opened.adjacency, graph.adjacency),
        (opened.neighbours, graph.neighbours),
    ):
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_array_equal(found.indices, expected.indices)


def test_nothing_is_copied_into_what_is_sent(tmp_path):
    graph = generate_network(5000, 6000, 40)
    graph = replace(graph, names=np.array([f"Node {number}" for number in range(5000)]))
    assert len(pickle.dumps(SharedGraph.write(graph, tmp_path))) < 1000


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(RunError, match="No space left on device; make room there, set TMPDIR"):
        SharedGraph.write(generate_network(10, 10, 2), tmp_path)

"""All figures of a benchmark: which are drawn, of what, and what is said about it."""

import sys

import numpy as np
import pytest

from egoscore import generate_network
from egoscore.bench import draw, figures
from egoscore.bench.draw import choose_centres, choose_nodes, draw_figures, safe_names
from egoscore.detectors.settings import resolve
from egoscore.errors import RunError, TrainingError


@pytest.fixture(scope="module")
def graph():
    return generate_network(40, 100, 3)


@pytest.mark.parametrize(
    ("datasets", "names"),
    [
        (["books", "inj_cora"], ["books", "inj_cora"]),
        (["/data/My Net", "../up"], ["data-my-net", "up"]),
        (["a/b", "a b", "A-B"], ["a-b", "a-b-2", "a-b-3"]),
        (["a-2", "a", "./a"], ["a-2", "a", "a-3"]),
        (["数据", "...", "$x$"], ["graph", "graph-2", "x"]),
        (["x" * 300], ["x" * 60]),
    ],
)
def test_names_are_made_safe(datasets, names):
    assert safe_names(datasets) == names


@pytest.fixture
def small(graph, monkeypatch):
    """Little work: one small network under every name, a moment of training."""
    monkeypatch.setattr(draw, "load_source", lambda name, data_dir: graph)
    monkeypatch.setattr(draw, "Hyperparameters", QuickDraw)
    monkeypatch.setattr(draw, "resolve", lambda kind, given: resolve(kind, given | {"steps": 10}))
    monkeypatch.setattr(draw, "PAPER_SOLVERS", ("em", "s4"))
    monkeypatch.setattr(draw, "_RUNS", 2)
    monkeypatch.setattr(draw, "_RUN_SAMPLE", 4)
    monkeypatch.setattr(draw, "_PLATE_ROWS", 1)


class QuickDraw(draw.Hyperparameters):
    epochs = 3

    def choose(self, name, options=None):
        return {"lr": 0.01, "hidden_size": 8}[name]


def test_every_figure_is_written(small, tmp_path, monkeypatch):
    titles = {}
    monkeypatch.setattr(draw, "solver_errors", noting(titles, "solvers", draw.solver_errors))
    said = []
    had_pyplot = "matplotlib.pyplot" in sys.modules
    files = draw_figures(tmp_path / "out", ("my/net", "books"), None, said.append)
    folder = tmp_path / "out" / "figures"
    assert [path.name for path in files] == [
        "plate_my-net.png",
        "plate_books.png",
        "solver_errors.png",
        "energies.png",
        "energy_differences.png",
    ]
    assert set(folder.iterdir()) == set(files)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in files)
    assert [sum(str(path) in line for line in said) for path in files] == [1] * 5
    assert titles["solvers"].startswith("Books: 4 of 40 nodes, mean ± standard deviation of 2 runs")
    assert ("matplotlib.pyplot" in sys.modules) == had_pyplot


def noting(titles, key, make):
    def drawn(*args, **kwargs):
        figure = make(*args, **kwargs)
        titles[key] = figure.get_suptitle() or [part.get_suptitle() for part in figure.subfigs]
        return figure

    return drawn


def test_large_networks_are_sampled_and_the_titles_say_so(small, tmp_path, monkeypatch):
    titles = {}
    monkeypatch.setattr(draw, "_LARGE", 39)
    monkeypatch.setattr(draw, "_LARGE_EPOCHS", 1)
    monkeypatch.setattr(draw, "_LARGE_SAMPLE", 12)
    for name in ("energy_histograms", "plate", "solver_errors"):
        monkeypatch.setattr(draw, name, noting(titles, name, getattr(draw, name)))
    draw_figures(tmp_path, ("mine",), None, lambda sentence: None)
    assert titles["energy_histograms"] == [
        "Mine: 12 of 40 nodes, 3 reconstructions each, 1 epochs of training"
    ]
    assert all("1 epochs" in str(title) for title in titles.values())
    assert titles["solver_errors"].startswith("Mine: 4 of 40 nodes")
    assert titles["plate"].splitlines() == [
        "Mine: ego-graphs of 1 of 40 nodes, 1 epochs of training",
        "nodes drawn at random (seed 0), those with ego-graphs of 3 to 30 nodes first",
    ]


def test_one_divergence_does_not_cost_the_other_figures(small, tmp_path, monkeypatch):
    def diverge(*args, **kwargs):
        raise TrainingError("It diverged.")

    monkeypatch.setattr(draw, "solver_errors", diverge)
    said = []
    files = draw_figures(tmp_path, ("mine",), None, said.append)
    names = [path.name for path in files]
    assert names == ["plate_mine.png", "energies.png", "energy_differences.png"]
    assert any("It diverged." in sentence for sentence in said)


def test_nothing_is_trained_where_nothing_can_be_written(small, tmp_path, monkeypatch):
    monkeypatch.setattr(draw, "fit_model", None)
    (tmp_path / "figures").write_text("a file")
    with pytest.raises(RunError, match="Cannot make"):
        draw_figures(tmp_path, ("mine",), None, lambda sentence: None)


def test_nothing_is_trained_where_nothing_can_be_drawn(small, tmp_path, monkeypatch):
    monkeypatch.setattr(draw, "fit_model", None)
    monkeypatch.setattr(figures, "find_spec", lambda module: None)
    with pytest.raises(RunError, match="matplotlib and networkx"):
        draw_figures(tmp_path, ("mine",), None, lambda sentence: None)
    assert not (tmp_path / "figures").exists()


def test_no_data_sets_no_figures(tmp_path):
    assert draw_figures(tmp_path, (), None, lambda sentence: None) == []


def test_centres_have_ego_graphs_that_can_be_read_if_possible():
    sizes = np.array([1, 2, 3, 30, 31, 5, 50, 8])
    assert set(choose_centres(sizes, 4, seed=0)) == {2, 3, 5, 7}
    assert set(choose_centres(sizes, 3, seed=0)) < {2, 3, 5, 7}
    some = choose_centres(sizes, 6, seed=0)
    assert set(some[:4]) == {2, 3, 5, 7}
    assert len(set(some)) == 6
    assert len(choose_centres(sizes, 20, seed=0)) == len(sizes)


def test_nodes_are_drawn_by_their_seed():
    np.testing.assert_array_equal(choose_nodes(1000, 10, 0), choose_nodes(1000, 10, 0))
    assert set(choose_nodes(1000, 10, 0)) != set(choose_nodes(1000, 10, 1))
    np.testing.assert_array_equal(choose_nodes(5, 10, 0), np.arange(5))
    drawn = np.concatenate([choose_nodes(20, 5, seed) for seed in range(400)])
    counts = np.bincount(drawn, minlength=20)  # each 100 times, give or take 8.7
    assert 60 < counts.min() <= counts.max() < 140

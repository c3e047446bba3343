"""The libraries' detectors: every one scores, by its seed alone, and with BOND's meanings.

The defects that the table names are tested too: when a release repairs one, its row has to change.
"""

import random
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from pygod.nn.functional import double_recon_loss
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from egoscore.bench.protocol import Hyperparameters
from egoscore.bench.rivals import library_fits
from egoscore.bench.rivals.libraries import RIVALS
from egoscore.graph import AttributedGraph
from egoscore.graph.scaling import standardised

RNG = np.random.default_rng(0)
SIZE = 24
RING = np.stack([np.arange(SIZE), (np.arange(SIZE) + 1) % SIZE])
CLIQUE = np.stack(np.triu_indices(8, 1))
WHEEL = np.stack([np.full(13, 23), np.arange(10, 23)])
EDGES = np.concatenate([RING, CLIQUE, WHEEL], axis=1)
GRAPH = AttributedGraph.from_edges(EDGES, RNG.normal(size=(SIZE, 4)), labels=np.arange(SIZE) < 3)
# Others start from random weights, or draw their trees at random.
WITHOUT_CHANCE = {"lof", "scan", "radar"}


def choose(name, trial=0, **given):
    rival, draw = RIVALS[name], Hyperparameters("tiny", name, trial)
    chosen = {key: draw.choose(key) for key in rival.shared}
    chosen |= {key: draw.choose(key, options) for key, options in rival.own.items()}
    return chosen | given


def score(name, graph=GRAPH, epochs=3, seed=0, **given):
    return RIVALS[name].score(graph, choose(name, **given), epochs, seed)


def test_there_is_every_method_of_the_paper_and_more():
    groups = {}
    for name, rival in RIVALS.items():
        groups.setdefault(rival.group, []).append(name)
    assert groups == {
        "attributes": ["lof", "if", "mlpae"],
        "structure": ["scan", "radar", "anomalous"],
        "networks": ["gcnae", "dominant", "done", "adone", "anomalydae", "gaan", "guide", "conad"],
        "newer": ["ocgnn", "cola", "gadnr", "dmgd", "one"],
    }


@pytest.mark.parametrize("name", RIVALS)
def test_a_score_for_every_node_that_the_seed_decides(name):
    first, again, other = score(name), score(name), score(name, seed=1)
    assert first.shape == (SIZE,)
    assert first.dtype == np.float64
    assert np.isfinite(first).all()
    assert len(np.unique(first)) > 1
    np.testing.assert_array_equal(first, again)
    assert np.array_equal(first, other) == (name in WITHOUT_CHANCE)


@pytest.mark.parametrize("name", [name for name, rival in RIVALS.items() if rival.needs])
def test_the_global_generators_are_left_as_they_were(name):
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002
    torch.manual_seed(7)
    expected = random.random(), np.random.random(), torch.rand(1).item()  # noqa: NPY002
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002
    torch.manual_seed(7)
    score(name, epochs=1)
    assert (random.random(), np.random.random(), torch.rand(1).item()) == expected  # noqa: NPY002


@pytest.mark.parametrize("name", RIVALS)
def test_every_hyperparameter_drawn_reaches_the_detector(name):
    before = score(name)
    for key, options in RIVALS[name].own.items() | dict.fromkeys(RIVALS[name].shared).items():
        chosen = choose(name)[key]
        others = options or {"lr": (0.1, 0.01), "alpha": (0.8, 0.2), "dropout": (0.0, 0.3)}.get(
            key, (8, 16)
        )
        changed = (score(name, **{key: value}) for value in others if value != chosen)
        assert any(not np.array_equal(before, after) for after in changed), key


def test_no_detector_sees_labels():
    assert set(library_fits.as_data(GRAPH).keys()) == {"x", "edge_index"}


@pytest.mark.parametrize("directed", [False, True])
def test_pygod_gets_the_edges_and_raw_features(directed):
    graph = AttributedGraph.from_edges([[0, 2], [1, 1]], [[1e6], [2.0], [3.0]], directed)
    data = library_fits.as_data(graph)
    expected = [[0, 1], [2, 1]] if directed else [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert data.edge_index.T.tolist() == expected
    assert data.x.dtype == torch.float32
    assert data.x.tolist() == [[1e6], [2.0], [3.0]]


@pytest.mark.parametrize("name", ["dominant", "anomalydae", "gaan", "guide", "conad"])
def test_alpha_weighs_the_features(name, monkeypatch):
    x, s = torch.ones(1, 2), torch.ones(1, 3)
    assert double_recon_loss(x, 0 * x, s, s, weight=1.0) > 0
    assert double_recon_loss(x, x, s, 0 * s, weight=1.0) == 0
    weights = []

    def spy(x, x_, s, s_, weight=0.5, *others, **named):
        weights.append(weight)
        return double_recon_loss(x, x_, s, s_, weight, *others, **named)

    module = "dominant" if name == "conad" else name
    monkeypatch.setattr(f"pygod.nn.{module}.double_recon_loss", spy)
    score(name, epochs=1, alpha=0.8)
    assert weights == pytest.approx([0.8])


def test_lof_and_isolation_forest_are_scikit_learns():
    plain = LocalOutlierFactor(n_neighbors=20).fit(GRAPH.features).negative_outlier_factor_
    np.testing.assert_allclose(score("lof"), -plain)
    forest = IsolationForest(random_state=5).fit(GRAPH.features)
    np.testing.assert_allclose(score("if", seed=5), -forest.score_samples(GRAPH.features))


@pytest.mark.parametrize("name", ["lof", "if", "mlpae"])
def test_higher_is_more_abnormal(name):
    features = GRAPH.features.copy()
    features[7] += 50
    found = score(name, replace(GRAPH, features=features), lr=0.01)
    assert found.argmax() == 7


def test_standardised_features_have_unit_deviation():
    features = np.column_stack([RNG.normal(5, 100, SIZE), np.full(SIZE, 193978.0)])
    graph = standardised(AttributedGraph.from_edges(EDGES, features))
    np.testing.assert_allclose(graph.features.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(graph.features.std(0), [1, 0], atol=1e-6)


def test_importing_the_table_does_not_import_the_libraries():
    code = (
        "import sys, egoscore.bench.rivals.libraries as libraries; assert libraries.RIVALS;"
        "assert not {'torch', 'torch_geometric', 'pygod', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", RIVALS)
def test_a_last_node_without_edges_breaks_those_that_say_so(name):
    features = np.vstack([GRAPH.features, GRAPH.features[:1]])
    longer = AttributedGraph.from_edges(EDGES, features)
    if "no edge" in RIVALS[name].defect:
        with pytest.raises((RuntimeError, IndexError)):
            score(name, longer)
    else:
        assert score(name, longer).shape == (SIZE + 1,)


def test_conad_learns_nothing_from_its_contrast():
    settings = {"hid_dim": 8, "epoch": 5, "dropout": 0.1}
    narrow, wide = (library_fits.fit("CONAD", GRAPH, 0, margin=m, **settings) for m in (0.5, 100.0))
    np.testing.assert_array_equal(narrow, wide)


def test_conad_without_chance_is_dominant():
    settings = {"hid_dim": 8, "epoch": 5}
    conad, dominant = (library_fits.fit(n, GRAPH, 0, **settings) for n in ("CONAD", "DOMINANT"))
    np.testing.assert_allclose(conad, dominant, rtol=1e-4)


def test_dmgd_does_not_look_at_the_features():
    others = replace(GRAPH, features=GRAPH.features[::-1].copy())
    np.testing.assert_array_equal(score("dmgd"), score("dmgd", others))


def test_guide_does_not_take_the_motifs_of_another_network(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    path = AttributedGraph.from_edges([range(5), range(1, 6)], np.ones((6, 2)))
    star = AttributedGraph.from_edges([[0] * 5, range(1, 6)], np.ones((6, 2)))
    score("guide", path)
    alone = score("guide", star)
    library_fits.motif_folder.cache_clear()
    np.testing.assert_array_equal(alone, score("guide", star))
    np.testing.assert_array_equal(alone, score("guide", star))
    assert not list(tmp_path.iterdir())

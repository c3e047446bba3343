"""Jobs and rows, and that no method sees a label."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from egoscore import EgoScore, generate_network
from egoscore.bench.methods import OURS, choose_methods, job_of, jobs, methods
from egoscore.bench.protocol import Hyperparameters
from egoscore.detectors.paper.combine import combine
from egoscore.detectors.paper.model import fit_model, make_networks
from egoscore.detectors.paper.shards import measure_nodes
from egoscore.errors import ParameterError
from egoscore.runtime import one_thread

CPU = torch.device("cpu")
RIVALS = {
    *("lof", "if", "mlpae", "scan", "radar", "anomalous", "gcnae", "dominant", "done", "adone"),
    *("anomalydae", "gaan", "guide", "conad"),
}


class Short(Hyperparameters):
    """A trial that trains for two epochs."""

    epochs = 2


def test_all_that_the_paper_compares_is_there():
    assert RIVALS | {*OURS, "oddball", "amen", "default", "random", "degree", "-degree"} <= set(
        methods()
    )
    assert {f"{name}-standardised" for name in RIVALS} <= set(methods())
    assert {"rec@s4", "energy@reverse+langevin", "rec-untrained"} <= set(methods())


def test_names_groups_and_all():
    trivial = [name for name, row in methods().items() if row.group == "trivial"]
    assert choose_methods([]) == tuple(trivial)
    assert set(choose_methods(["lof", "paper"])) == {*trivial, "lof", *OURS}
    assert choose_methods(["LOF", "Paper"]) == choose_methods(["lof", "paper"])
    assert choose_methods(["all"]) == tuple(methods())
    assert "rec@s4" in choose_methods(["solvers"])
    with pytest.raises(ParameterError, match="lofe"):
        choose_methods(["lofe"])


def test_a_row_belongs_to_one_job():
    assert set(job_of()) == set(methods())
    assert sum(len(job.methods) for job in jobs().values()) == len(methods())


def test_one_model_serves_four_rows_and_every_solver():
    graph = generate_network(40, 80, 3, seed=1)
    wanted = frozenset({*OURS, "rec@s4", "energy@dpm", "likelihood"})
    with one_thread():
        found = jobs()["gdss"].run(graph, Short("builtin", "gdss", 0), wanted)
    assert found.keys() == wanted
    assert all(score.shape == (40,) and np.isfinite(score).all() for score in found.values())
    assert len({tuple(score) for score in found.values()}) == len(wanted)


@pytest.mark.parametrize("job", ["graff", "congress", "laplacian", "random-walk"])
def test_variants_draw_the_same_and_score_otherwise(job):
    graph = generate_network(40, 80, 3, seed=1)
    draws = Short("builtin", "gdss", 1), Short("builtin", job, 1)
    with one_thread():
        plain = jobs()["gdss"].run(graph, draws[0], frozenset({"rec"}))
        other = jobs()[job].run(graph, draws[1], frozenset({f"rec-{job}"}))
    assert draws[0].chosen == draws[1].chosen
    assert np.isfinite(other[f"rec-{job}"]).all()
    assert not np.allclose(other[f"rec-{job}"], plain["rec"])


def test_as_published_the_hidden_size_is_not_drawn_and_the_last_step_goes_too_far():
    graph = generate_network(40, 80, 3, seed=1)
    draw = Short("builtin", "published", 1)
    with one_thread():
        found = jobs()["published"].run(graph, draw, frozenset({"rec-published"}))
        settings = EgoScore(
            preset="paper", epochs=2, hidden_size=32, solver="em-overshoot", lr=draw.chosen["lr"]
        ).settings()
        model = fit_model(graph, settings, 1, CPU)
        table = measure_nodes(model, graph, CPU)
    assert draw.chosen.keys() == {"lr", "alpha"}
    expected = combine(table, "rec", draw.chosen["alpha"], "sqrt_snr", model.sde)
    np.testing.assert_array_equal(found["rec-published"], expected)


def test_untrained_rows_score_with_the_networks_that_the_seed_draws():
    graph = generate_network(30, 60, 3, seed=1)
    draw = Short("builtin", "untrained", 2)
    wanted = frozenset(f"{row}-untrained" for row in OURS)
    with one_thread():
        found = jobs()["untrained"].run(graph, draw, wanted)
        size, alpha = draw.chosen["hidden_size"], draw.chosen["alpha"]
        settings = EgoScore(preset="paper", epochs=1, hidden_size=size).settings()
        trained = fit_model(graph, settings, 2, CPU)
        drawn = replace(trained, networks=make_networks(settings, 3, False, 2))
        tables = [measure_nodes(model, graph, CPU) for model in (drawn, trained)]
    assert found.keys() == wanted
    for row, (_, dissimilarity, weighting) in OURS.items():
        as_drawn, as_trained = (
            combine(table, dissimilarity, alpha, weighting, drawn.sde) for table in tables
        )
        np.testing.assert_array_equal(found[f"{row}-untrained"], as_drawn)
        assert not np.allclose(as_drawn, as_trained)  # an epoch would have been seen


@pytest.mark.parametrize("job", ["trivial", "gdss", "untrained", "default", "oddball", "amen"])
def test_permuting_the_labels_changes_no_score_of_ours(job, monkeypatch):
    monkeypatch.setattr("egoscore.bench.methods.EgoScore", partial(EgoScore, updates=2))
    graph = generate_network(60, 120, 3, seed=2)
    shuffled = replace(graph, labels=np.random.default_rng(0).permutation(graph.labels))
    assert not np.array_equal(graph.labels, shuffled.labels)
    wanted = frozenset(row for row in jobs()[job].methods if "@" not in row)
    with one_thread():
        # the networks themselves, labels and all: nothing may look at them
        first, second = (
            jobs()[job].run(given, Short("builtin", job, 0), wanted) for given in (graph, shuffled)
        )
    assert all(np.array_equal(first[row], second[row]) for row in wanted)


@pytest.mark.parametrize(
    ("job", "run", "title"),
    [
        ("lof", ["lof"], "LOF"),
        ("gdss", ["rec"], "Rec"),
        ("gdss", ["rec", "energy"], "GDSS: Rec; Energy"),
        ("gdss", ["rec", "energy", "rec@s4", "likelihood"], "GDSS: Rec … Likelihood (4 rows)"),
        ("untrained", ["rec-untrained", "energy-untrained"], "Rec, untrained; Energy, untrained"),
    ],
)
def test_a_job_is_told_by_the_titles_of_its_rows(job, run, title):
    assert jobs()[job].title_of(run) == title

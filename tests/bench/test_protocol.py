"""What a trial draws."""

from collections import Counter

import pytest

from egoscore.bench.protocol import Hyperparameters


def test_draws_are_of_the_grid_and_recorded():
    draw = Hyperparameters("disney", "gdss", 3)
    lr, hidden = draw.choose("lr"), draw.choose("hidden_size")
    own = draw.choose("eta", (3, 5, 8))
    assert lr in (0.1, 0.05, 0.01)
    assert hidden in (8, 12, 16)
    assert draw.chosen == {"lr": lr, "hidden_size": hidden, "eta": own}


def test_a_value_belongs_to_its_name_and_trial_not_to_what_was_drawn_before():
    first, second = Hyperparameters("books", "gdss", 1), Hyperparameters("books", "gdss", 1)
    first.choose("alpha")
    assert first.choose("lr") == second.choose("lr")


@pytest.mark.parametrize("name", ["lr", "alpha", "dropout", "hidden_size"])
def test_all_options_are_drawn_about_equally_often(name):
    drawn = Counter(Hyperparameters("books", "gdss", trial).choose(name) for trial in range(3000))
    assert len(drawn) == 3
    assert all(900 < count < 1100 for count in drawn.values())


def test_names_jobs_and_data_sets_are_drawn_for_independently():
    def drawn(dataset="books", job="gdss", name="lr"):
        options = (0, 1, 2)
        return [Hyperparameters(dataset, job, trial).choose(name, options) for trial in range(50)]

    assert (
        len({tuple(d) for d in (drawn(), drawn("disney"), drawn(job="if"), drawn(name="a"))}) == 4
    )


def test_data_sets_have_their_hidden_sizes_epochs_and_batches():
    assert Hyperparameters("reddit", "gdss", 0).choose("hidden_size") in (32, 48, 64)
    assert Hyperparameters("weibo", "gdss", 0).choose("hidden_size") in (32, 64, 128, 256)
    assert [Hyperparameters(name, "gdss", 0).epochs for name in ("dgraph", "enron")] == [2, 300]
    sizes = [
        Hyperparameters(name, "gdss", 0).batch_size
        for name in ("disney", "books", "weibo", "enron")
    ]
    assert sizes == [0, 0, 2048, 4096]

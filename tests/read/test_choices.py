"""What the user says is kept, checked, and never dropped silently."""

import pytest

from egoscore.errors import InputError, ParameterError
from egoscore.read import Choices


def test_one_name_or_a_list_will_do():
    assert Choices(features="age", ignore=["a", "b"]) == Choices(
        features=("age",), ignore=("a", "b")
    )


def test_impute_is_the_median_or_nothing():
    with pytest.raises(ParameterError, match=r"must be None or 'median'\. Got 'mean'"):
        Choices(impute="mean")


def test_what_was_chosen_is_known_and_can_be_refused():
    choices = Choices(label="y", directed=True)
    assert choices.made == ("--label", "--directed")
    assert Choices().made == ()
    choices.refuse(("--id",), "never")
    with pytest.raises(InputError, match=r"^--label cannot be used here: there is no table\.$"):
        choices.refuse(("--id", "--label"), "there is no table")

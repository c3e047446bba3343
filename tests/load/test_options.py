"""Options are kept, checked, and never ignored silently."""

import pytest

from egoscore.errors import InputError, ParameterError
from egoscore.load import Options


def test_one_name_or_a_list_will_do():
    assert Options(features="age", ignore=["a", "b"]) == Options(
        features=("age",), ignore=("a", "b")
    )


def test_impute_is_the_median_or_nothing():
    assert Options() == Options(impute="median")
    assert Options(impute="none") == Options(impute=None)
    assert Options(impute="none").given == ("impute",)
    with pytest.raises(ParameterError, match=r"must be 'median' or 'none'\. Got 'mean'"):
        Options(impute="mean")


NAMING = ("source", "target", "id", "features", "ignore", "label", "weight", "columns")


@pytest.mark.parametrize(
    ("name", "blank"),
    [
        *((name, blank) for name in NAMING for blank in ("", "  ")),
        ("features", ("x", " ")),
        ("ignore", ("x", " ")),
    ],
)
def test_a_column_without_a_name_is_refused(refusal, name, blank):
    assert refusal(Options, **{name: blank}).startswith(f"`{name}=` is empty; name a column")


@pytest.mark.parametrize(
    "name",
    ["", "cp12511", "base64", "rot13", "undefined", "a\0b", "punycode", "idna", "unicode_escape"],
)
def test_an_encoding_that_is_not_known_is_refused(name):
    with pytest.raises(ParameterError, match="must be the name of an encoding, such as 'cp1251'"):
        Options(encoding=name)


@pytest.mark.parametrize(("name", "known"), [("CP1251", "cp1251"), ("UTF8", "utf-8")])
def test_an_encoding_may_be_written_in_any_way_that_python_knows(name, known):
    assert Options(encoding=name).encoding == known


def test_what_was_chosen_is_known_and_can_be_refused():
    options = Options(label="y", directed=True)
    assert options.given == ("label", "directed")
    assert Options().given == ()
    options.refuse(("id",), "never")
    with pytest.raises(InputError, match=r"^`label=` cannot be used here: there is no table\.$"):
        options.refuse(("id", "label"), "there is no table")

"""How the numbers of a column are written is decided by its name and all of its values."""

import numpy as np
import pytest

from egoscore.graph.number_form import CODE, WHOLE, YEAR, form_of

YEARS = np.arange(1950, 2020).astype(float)


def with_one(value):
    return np.append(YEARS, value)


@pytest.mark.parametrize(
    ("name", "values", "form"),
    [
        ("year", with_one(3020), YEAR),
        ("founded", with_one(20_015), YEAR),
        ("birth_year", with_one(2003.5), YEAR),
        ("Baujahr", YEARS[:1], YEAR),
        ("since", with_one(20_015), YEAR),  # by its values alone
        ("since", YEARS[:2], WHOLE),
        ("year", np.array([3.0, 12.0, 20.0]), WHOLE),  # of experience
        ("income_per_year", YEARS * 20, WHOLE),
        ("zip", YEARS * 41, CODE),
        ("AirportID", YEARS * 41, CODE),
        ("code", YEARS / 7, ""),
        ("idea", YEARS * 41, WHOLE),
        ("amount", YEARS / 7, ""),
        ("amount", YEARS[:0], ""),
    ],
)
def test_the_form(name, values, form):
    assert form_of(name, values) == form


def test_rare_decimals_are_found_among_many_whole_numbers():
    values = np.zeros(5000)
    values[1234] = 0.5
    assert form_of("a", values) == ""

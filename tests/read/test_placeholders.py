"""Values that probably stand for nothing are told, and nothing else is."""

import numpy as np
import pytest

AGES = np.random.default_rng(0).integers(18, 90, 200).astype(float)


@pytest.fixture
def with_value(read):
    """What is said of ages some of which are a value."""

    def tell(value, count, values=AGES):
        column = values.copy()
        column[:count] = value
        edges = "".join(f"{row},{row + 1}\n" for row in range(199))
        nodes = "".join(f"{row},{age:g}\n" for row, age in enumerate(column))
        reading = read(f"source,target\n{edges}", f"id,age\n{nodes}")
        return [note for note in reading.notes if "unlike all others" in note]

    return tell


@pytest.mark.parametrize("value", [-999, 999, -1, 99999, -99])
def test_a_value_that_is_used_so_often_there_and_far_from_others(with_value, value):
    (note,) = with_value(value, 20)
    assert f"is {value:g} in 20 rows" in note
    assert "leave these cells empty and give --impute median" in note


def test_one_below_zero_where_nothing_else_is_need_not_be_far(with_value):
    (note,) = with_value(-999, 20, AGES * 1000)
    assert "is -999 in 20 rows" in note


def test_not_if_it_is_there_once_or_twice(with_value):
    assert not with_value(-999, 2)


@pytest.mark.parametrize("value", [-1000, 99, 0])
def test_not_any_other_extreme_nor_one_that_is_near(with_value, value):
    assert not with_value(value, 20)


def test_not_minus_one_among_negative_numbers(with_value):
    assert not with_value(-1, 20, AGES - 60)


@pytest.mark.parametrize("day", ["1900-01-01", "9999-12-31", "1970-01-01"])
def test_so_are_the_first_and_last_days_that_programs_know(read, said, day):
    days = [f"202{number % 4}-0{1 + number % 9}-15" for number in range(40)]
    rows = "\n".join(f"n{number},{when}" for number, when in enumerate([*days, day]))
    edges = "source,target\n" + "\n".join(f"n{number},n{number + 1}" for number in range(40))
    assert said(read(edges, f"id,opened\n{rows}\n"), f"column 'opened' is {day} in 1 row, unlike")
    usual = rows.replace(day, "2019-06-30")
    assert not said(read(edges, f"id,opened\n{usual}\n"), "unlike all others")

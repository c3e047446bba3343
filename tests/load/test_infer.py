"""What a column is, by its type or by its cells."""

import decimal
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from egoscore.load.infer import MAX_CATEGORIES, Column, Damage, Unusable, infer_column
from egoscore.load.numbers import Notation


def column(values, kind=None, separator=""):
    return infer_column(
        "c", pa.chunked_array([pa.array(values, kind)]), "t.csv", Notation(separator)
    )


@pytest.mark.parametrize(
    ("values", "arrow", "kind", "numbers"),
    [
        ([1, 2], pa.int8(), "number", [1, 2]),
        ([1, 2**63], pa.uint64(), "number", [1, 2**63]),
        ([0.5, 2], pa.float32(), "number", [0.5, 2]),
        ([0.5, 2], pa.float16(), "number", [0.5, 2]),
        ([decimal.Decimal("1.25"), 2], pa.decimal128(5, 2), "number", [1.25, 2]),
        ([True, False], None, "yes/no", [1, 0]),
        (["Yes", " no"], None, "yes/no", [1, 0]),
        (["TRUE", "false"], pa.large_string(), "yes/no", [1, 0]),
        (["y", "n"], pa.string_view(), "yes/no", [1, 0]),
        (["Ja", "nein"], None, "yes/no", [1, 0]),
        (["Sí", "no"], None, "yes/no", [1, 0]),
        (["off", "ON"], None, "yes/no", [0, 1]),
        ([date(1970, 1, 2), date(1970, 1, 3)], None, "date", [1, 2]),
        (["1970-01-02", "1970-01-03"], None, "date", [1, 2]),
        (["1.5", "2"], None, "number", [1.5, 2]),
        ([timedelta(hours=3), timedelta(days=1)], None, "number", [3, 24]),
        ([time(6, 30), time(12)], None, "number", [6.5, 12]),
        ([time(6, 30), time(12)], pa.time32("s"), "number", [6.5, 12]),
    ],
)
def test_every_type_that_is_a_number(values, arrow, kind, numbers):
    found = column(values, arrow)
    assert isinstance(found, Column)
    assert found.kind == kind
    assert not found.is_missing.any()
    np.testing.assert_array_equal(found.parts[0], np.array(numbers, dtype=np.float32))


@pytest.mark.parametrize(
    "values",
    [[1, None, 3], [1.0, float("nan"), 3.0], ["1", "", "3"], ["1", "NA", "3"], [True, None, False]],
)
def test_gaps_are_found(values):
    assert column(values).is_missing.tolist() == [False, True, False]


def test_text_is_categories_and_a_gap_is_none_of_them():
    found = column(["red", "blue", None, "", "red"])
    assert found.kind == "category"
    assert found.details == ("blue", "red")
    np.testing.assert_array_equal(found.parts, [[0, 1, 0, 0, 0], [1, 0, 0, 0, 1]])
    assert found.is_missing.tolist() == [False, False, True, True, False]
    assert found.traits == ()
    assert column(["red", "NA"]).traits == ("category:NA",)


def test_declared_categories_are_categories_whatever_their_type():
    numbers = pa.chunked_array([pa.array([3, 1, 3]).dictionary_encode()])
    found = infer_column("c", numbers, "t", Notation())
    assert (found.kind, found.details) == ("category", ("1", "3"))
    words = pa.chunked_array([pa.array(["a", "b", None]).dictionary_encode()])
    assert infer_column("c", words, "t", Notation()).details == ("a", "b")


def test_the_limit_of_categories():
    assert MAX_CATEGORIES == 20
    words = [f"word {chr(97 + i)}" for i in range(MAX_CATEGORIES)]
    assert len(column(words).parts) == MAX_CATEGORIES
    found = column([*words, "one more"])
    assert isinstance(found, Unusable)
    assert (found.reason, found.fields["count"]) == ("many-texts", MAX_CATEGORIES + 1)


@pytest.mark.parametrize(
    "values", [[None, None], ["", None], [float("nan")] * 2, pa.nulls(2), pa.array([None], "int8")]
)
def test_an_empty_column_is_told(values):
    assert column(values) == Unusable("c", "empty")


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}], [b"x"], [(1, 2)]])
def test_what_cannot_be_a_number_is_told(values):
    assert column(values).reason == "type"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, np.inf, -np.inf], "infinite in row 2 below"),
        (["1", "inf"], "infinite in row 2 below"),
        ([1.0, -1e300], "beyond single precision (found -1e+300)"),
    ],
)
def test_numbers_beyond_all_bounds_are_refused(refusal, values, words):
    message = refusal(column, values)
    assert words in message
    assert "Column 'c' of t.csv" in message


def test_a_comma_that_separates_cells_may_be_a_decimal_comma_in_quotes():
    for separator in (";", ","):
        found = column(["1,5", "2,5"], separator=separator)
        assert (found.kind, found.parts[0].tolist()) == ("number", [1.5, 2.5])


def test_a_type_with_a_time_zone_is_told():
    moments = [datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 2, tzinfo=UTC)]
    assert column(moments, pa.timestamp("s", "Europe/Paris")).traits == ("utc",)
    assert column(moments, pa.timestamp("s")).traits == ()


def test_an_offset_is_what_was_taken_off():
    found = column([1_700_000_000, 1_700_000_001, None, 1_700_000_007])
    assert found.offset == 1_700_000_001
    assert found.parts[0].tolist() == [-1, 0, 0, 6]


NUMBERS = [str(number) for number in range(10, 60)]


@pytest.mark.parametrize(
    ("cells", "kind", "damage"),
    [
        ([*NUMBERS, " forty ", "x"], "number", Damage(2, "forty", 51)),
        ([*NUMBERS[:16], "forty", *NUMBERS, "", "NA"], "number", Damage(1, "forty", 17)),
        ([*(f"{n}%" for n in NUMBERS), "12"], "number", Damage(1, "12", 51)),
        ([*(f"${n}" for n in NUMBERS), "\u20ac12"], "number", Damage(1, "\u20ac12", 51)),
        ([*(f"{n}.5" for n in NUMBERS), "12,5"], "number", Damage(1, "12,5", 51)),
        ([f"2020-01-{d:02d}" for d in range(1, 32)] + ["2020-01-32"], "date",
         Damage(1, "2020-01-32", 32)),
        ([f"2020-01-{d:02d} 10:00Z" for d in range(1, 32)] + ["2020-02-01 10:00"], "date",
         Damage(1, "2020-02-01 10:00", 32)),
    ],
)  # fmt: skip
def test_a_few_cells_that_do_not_fit_are_damage(cells, kind, damage):
    found = column(cells)
    assert (found.kind, found.damage) == (kind, damage)
    empty = sum(cell in ("", "NA") for cell in cells)
    assert np.count_nonzero(found.is_missing) == damage.count + empty
    assert found.is_missing[damage.row - 1]


def test_the_numbers_beside_damage_are_those_of_pandas():
    cells = [*NUMBERS, "forty", "n.a.", "1e2", "-.5"]
    theirs = pd.to_numeric(pd.Series(cells), errors="coerce")
    found = column(cells)
    np.testing.assert_array_equal(found.is_missing, theirs.isna())
    np.testing.assert_array_equal(found.parts[0][~found.is_missing], theirs.dropna())


@pytest.mark.parametrize(
    "cells",
    [
        [*NUMBERS[:20], "A"],  # 20 numbers may be codes
        ["1", "2", "A"] * 40,
        [*NUMBERS, "a", "b", "c", "d", "e", "f"],  # more than a tenth
        [*(f"{n:05d}" for n in range(50)), "2A"],  # zeros in front: codes, no numbers
        [*("0" * 500), *(f"note {n}" for n in range(30))],
    ],
)
def test_codes_and_text_are_not_taken_for_damaged_numbers(cells):
    found = column(cells)
    assert isinstance(found, Unusable) or found.kind == "category"


def test_thousands_with_dots_are_no_damage_among_those_that_may_be_decimals():
    cells = [f"{n}.300" for n in range(10, 110)] + [f"1.234.{n}" for n in range(500, 505)]
    found = column(cells, separator=";")
    assert (found.damage, found.traits) == (None, ("thousands-dots",))
    wanted = [1000 * n + 300 for n in range(10, 110)] + [1_234_000 + n for n in range(500, 505)]
    np.testing.assert_array_equal(found.parts[0] + found.offset, wanted)


@pytest.mark.parametrize("separator", [";", "\t", ""])
def test_a_decimal_point_among_thousands_is_no_damage(separator):
    found = column([*(f"1,{n}" for n in range(100, 160)), "0.5"], separator=separator)
    assert (found.damage, found.traits) == (None, ("thousands-commas",))
    np.testing.assert_array_equal(found.parts[0], [*range(1100, 1160), 0.5])


def test_addresses_of_computers_are_no_damaged_numbers():
    found = column([*(f"192.168.100.{n}" for n in range(100, 200)), "unknown"])
    assert isinstance(found, Unusable)


@pytest.mark.parametrize("place", [0, 100])
def test_an_odd_beginning_is_no_damage_wherever_it_stands(place):
    cells = [f"{n}%" for n in range(100)]
    found = column([*cells[:place], "%7", *cells[place:]])
    assert (found.kind, found.damage) == ("number", None)


@pytest.mark.parametrize("name", ["date", "opening_date", "Day", "birthDate", "opened on", "DOB"])
@pytest.mark.parametrize("type_", [pa.string(), pa.int64(), pa.float64()])
def test_eight_digits_are_a_date_where_the_name_says_so(name, type_):
    values = pa.chunked_array([pa.array([20180103, 20171231, None]).cast(type_)])
    found = infer_column(name, values, "t", Notation())
    assert found.kind == "date"
    np.testing.assert_array_equal(found.parts[0] + found.offset, [17534, 17531, found.offset])
    assert found.is_missing.tolist() == [False, False, True]
    assert found.traits == ("eight-digits",)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("amount", [20180103, 20171231]),
        ("days", [20180103, 20171231]),
        ("update", [20180103, 20171231]),
        ("date", [20180103, 20180231]),
        ("date", [20180103, 1]),
        ("date", [20180103.5, 20180104.0]),
    ],
)
def test_other_eight_digits_are_numbers(name, values):
    for type_ in (pa.string(), pa.float64()):
        column = pa.chunked_array([pa.array([f"{value}" for value in values]).cast(type_)])
        assert infer_column(name, column, "t", Notation()).kind == "number"


def test_what_databases_write_where_nothing_is_is_nothing():
    found = column([r"\N", "red", "blue", None, ""])
    assert found.details == ("blue", "red")
    assert found.is_missing.tolist() == [True, False, False, True, True]
    found = column([r"\N", "1", "2"])
    assert found.kind == "number"
    assert found.is_missing.tolist() == [True, False, False]


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
        return [note for note in reading.notes if note.code == "placeholder"]

    return tell


@pytest.mark.parametrize("value", [-999, 999, -1, 99999, -99])
def test_a_value_that_is_used_so_often_there_and_far_from_others(with_value, value):
    (note,) = with_value(value, 20)
    assert note.severity == "warning"
    assert (note.fields["value"], note.fields["count"]) == (f"{value:g}", 20)


def test_one_below_zero_where_nothing_else_is_need_not_be_far(with_value):
    (note,) = with_value(-999, 20, AGES * 1000)
    assert (note.fields["value"], note.fields["count"]) == ("-999", 20)


def test_not_if_it_is_there_once_or_twice(with_value):
    assert not with_value(-999, 2)


@pytest.mark.parametrize("value", [-1000, 99, 0])
def test_not_any_other_extreme_nor_one_that_is_near(with_value, value):
    assert not with_value(value, 20)


def test_not_minus_one_among_negative_numbers(with_value):
    assert not with_value(-1, 20, AGES - 60)


@pytest.mark.parametrize("day", ["1900-01-01", "9999-12-31", "1970-01-01"])
def test_so_are_the_first_and_last_days_that_programs_know(read, noted, day):
    days = [f"202{number % 4}-0{1 + number % 9}-15" for number in range(40)]
    rows = "\n".join(f"n{number},{when}" for number, when in enumerate([*days, day]))
    edges = "source,target\n" + "\n".join(f"n{number},n{number + 1}" for number in range(40))
    assert noted(read(edges, f"id,opened\n{rows}\n"), "placeholder", value=day, count=1)
    usual = rows.replace(day, "2019-06-30")
    assert not noted(read(edges, f"id,opened\n{usual}\n"), "placeholder")

"""Dates as days, with pandas as judge."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.load.cell_formats import parse_most
from egoscore.load.dates import date_formats, days, parse_dates, parse_eight_digits


def parse(*cells):
    return parse_dates(pa.array(cells, pa.string()))


def expected(*cells, **how):
    moments = pd.to_datetime(list(cells), utc=True, **how)
    return (moments - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)


@given(st.lists(st.dates(date(1800, 1, 1), date(2200, 1, 1)), min_size=1))
@settings(deadline=None)
def test_every_date_in_every_way(dates):
    wanted = [(d - date(1970, 1, 1)).days for d in dates]
    for form in (
        "%Y-%m-%d",
        "%Y/%m/%d",
        "%d.%m.%Y",
        "%Y-%m-%d 00:00",
        "%d-%b-%Y",
        "%B %d, %Y",
        "%Y/%m/%d 12:00 AM",
    ):
        found, traits = parse(*(d.strftime(form) for d in dates))
        if (
            form != "%d.%m.%Y"
            or any(trait.startswith("or:") for trait in traits)
            or any(d.day > 12 for d in dates)
        ):
            np.testing.assert_allclose(found, wanted)


SHORT = " two-digit-year"


@pytest.mark.parametrize(
    "cells",
    [
        ("2020-01-02T03:04:05Z", "2021-05-06T07:08:09+02:00"),
        ("2020-01-02 03:04:05.123456", "2021-01-01 00:00:00"),
        ("2020-01-02 03:04",),
        ("2020-01-02T03:04:05.123456789",),
        ("2020-01-02T03:04:05.123456789Z",),
    ],
)
def test_iso_as_pandas_reads_it(cells):
    found, traits = parse(*cells)
    np.testing.assert_allclose(found, expected(*cells, format="ISO8601"), rtol=1e-12)
    assert traits == (("utc",) if "Z" in cells[0] else ())


@pytest.mark.parametrize(
    ("cells", "form", "how"),
    [
        (("13/01/2020", "1/2/2020"), "%d/%m/%Y", "day-month-year"),
        (("01/13/2020", "1/2/2020"), "%m/%d/%Y", "month-day-year"),
        (("2.1.2020",), "%d.%m.%Y", "day-month-year or:month-day-year"),
        (("25-12-2020 7:30",), "%d-%m-%Y %H:%M", "day-month-year"),
        (("2020/1/2 10:20:30",), "%Y/%m/%d %H:%M:%S", "year-month-day"),
        (("05-Jan-2015", "31-DEC-2014"), "%d-%b-%Y", "day-monthname-year"),
        (("5 January 2015", "1 may 2015"), "%d %B %Y", "day-monthname-year"),
        (("05JAN2015 14:30",), "%d%b%Y %H:%M", "day-monthname-year"),
        (("Jan 05, 2015", "Sep 30, 2015"), "%b %d, %Y", "monthname-day-year"),
        (("September 5 2015",), "%B %d %Y", "monthname-day-year"),
        (("01/13/2015 03:15 PM", "1/2/2015 12:05 am"), "%m/%d/%Y %I:%M %p", "month-day-year"),
        (("13/01/2015 12:15:30PM",), "%d/%m/%Y %I:%M:%S%p", "day-month-year"),
        (
            ("01/05/2015 03:15 PM",),
            "%d/%m/%Y %I:%M %p",
            "day-month-year or:month-day-year",
        ),
        (("2015-01-05 03:15 PM",), "%Y-%m-%d %I:%M %p", "year-month-day"),
        (("03/14/19", "1/2/72"), "%m/%d/%y", f"month-day-year{SHORT}"),
        (("31.12.68", "1.1.69"), "%d.%m.%y", f"day-month-year{SHORT}"),
        (("3-Feb-21", "28-DEC-99"), "%d-%b-%y", f"day-monthname-year{SHORT}"),
        (
            ("03/05/18",),
            "%d/%m/%y",
            f"day-month-year{SHORT} or:month-day-year",
        ),
        (("2015-01", "1999-12"), "%Y-%m", "month"),
    ],
)
def test_other_orders_are_told(cells, form, how):
    found, traits = parse(*cells)
    np.testing.assert_allclose(found, expected(*cells, format=form))
    assert " ".join(traits) == how


@pytest.mark.parametrize(
    "cells",
    [
        ("31/02/2020",),
        ("13/13/2020",),
        ("13/01/2020", "01/13/2020"),
        ("2020-02-31",),
        ("2020/02/1x",),
        ("01/02/2",),
        ("12",),
        ("1.5",),
        ("2020-01-02", "tomorrow"),
        ("", "NA"),
        ("1/2/2020x",),
        ("2020-01-02 25:00",),
        ("2020-01-02T10:61:00",),
        ("2020-01-02T10:00Z", "2020-01-02T10:00"),
        ("31-Feb-2015",),
        ("5 Mayor 2015",),
        ("5 Januar 2015",),
        ("5 Jan 5",),
        ("Jan 2015", "Feb 2015"),
        ("01/13/2015 13:15 PM",),
        ("01/13/2015 0:15 AM",),
        ("01/13/2015 3 PM",),
        ("2015-13",),
        ("1234-05",),
        ("2015-01", "2015-01-02"),
        ("20180103",),
    ],
)
def test_what_is_no_date_stays_text(cells):
    assert parse(*cells) is None


def test_eight_digits_are_days_from_1900_to_2100_or_nothing():
    cells = ("19000101", "20180103", " 21001231", "NA")
    found, traits = parse_eight_digits(pa.array(cells))
    np.testing.assert_allclose(found[:3], expected("1900-01-01", "2018-01-03", "2100-12-31"))
    assert np.isnan(found[3])
    assert traits == ("eight-digits",)
    for odd in ("20180231", "20181301", "18991231", "21010101", "2018013", "2018-01-03", "x"):
        assert parse_eight_digits(pa.array(["20180103", odd])) is None


def test_gaps_stay_gaps():
    found, _ = parse("2020-01-01", "", "NA", None)
    np.testing.assert_array_equal(np.isnan(found), [False, True, True, True])


@pytest.mark.parametrize(
    "kind",
    [
        pa.date32(),
        pa.date64(),
        pa.timestamp("s"),
        pa.timestamp("ns"),
        pa.timestamp("us", "Europe/Paris"),
    ],
)
def test_every_type_of_date(kind):
    moment = datetime(2020, 6, 1, tzinfo=UTC)
    column = pa.chunked_array([pa.array([moment, None], pa.timestamp("s", "UTC"))])
    plain = column if getattr(kind, "tz", None) else column.cast(pa.timestamp("s"))
    np.testing.assert_array_equal(days(plain.cast(kind)), [18414, np.nan])


@pytest.mark.parametrize(("kind", "odd"), [("", "Z"), ("", "+02:00"), ("Z", ""), ("+02:00", "")])
@pytest.mark.parametrize("place", [0, 30])
def test_one_cell_with_or_without_a_time_zone_does_not_hide_the_others(kind, odd, place):
    cells = [f"2020-01-{day:02d}T10:00{kind}" for day in range(1, 31)]
    with_odd = [*cells[:place], f"2020-03-01T10:00{odd}", *cells[place:]]
    found, traits = parse_most(
        pa.array(with_odd), np.ones(31, dtype=np.int64), 20, 0.9, date_formats
    )
    assert np.flatnonzero(np.isnan(found)).tolist() == [place]
    np.testing.assert_allclose(np.delete(found, place), expected(*cells, format="ISO8601"))
    assert traits == (("utc",) if kind else ())


FIRST = date(2020, 1, 1)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y/%m/%d %H:%M", "%d %b %Y"])
@pytest.mark.parametrize("bad", ["unknown", "2020-02-31", "31.02.2020", "02/31/2020", "0000-00-00"])
def test_a_few_cells_that_are_no_dates_are_left_open(form, bad):
    dates = [FIRST + timedelta(days=7 * week) for week in range(50)]
    cells = pa.array([*(d.strftime(form) for d in dates), bad])
    found, traits = parse_most(cells, np.ones(51, dtype=np.int64), 20, 0.9, date_formats)
    np.testing.assert_array_equal(found, [*((d - date(1970, 1, 1)).days for d in dates), np.nan])
    assert not any(trait.startswith("or:") for trait in traits)

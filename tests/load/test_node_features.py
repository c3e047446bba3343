"""Columns of a node table as features: every decision is a note."""

import io
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from egoscore.load import Options, read_tables

EDGES = "source,target\na,b\nb,c\nc,d\n"


def nodes(**columns):
    frame = pd.DataFrame({"id": list("abcd"), **columns})
    return frame.to_csv(index=False)


def test_every_kind_at_once(read, noted):
    reading = read(
        EDGES,
        nodes(
            age=[30, 40, 50, 61],
            vip=["yes", "no", "no", "yes"],
            joined=["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"],
            seen=["13/01/2020", "14/01/2020", "15/01/2020", "16/01/2020"],
            sum=["1,234.5", "2", "3", "4"],
            city=["Rome", "Oslo", "Rome", "Rome"],
            word=["w", "w", "w", "w"],
            empty=[None] * 4,
        ),
    )
    graph = reading.graph
    assert graph.feature_names == (
        "age", "vip", "joined", "seen", "sum", "city = Oslo", "city = Rome",
    )  # fmt: skip
    assert graph.features[0].tolist() == [30, 1, 18262, 18274, 1234.5, 0, 1]
    assert [column.kind for column in graph.columns] == [
        "number", "yes/no", "date", "date", "number", "category", "category",
    ]  # fmt: skip
    for kind, name in (("number", "age"), ("yes/no", "vip"), ("date", "joined")):
        assert noted(reading, "columns-read", kind=kind, columns=[name])
    assert noted(reading, "column-format", column="seen", kind="date", traits=["day-month-year"])
    assert noted(reading, "column-format", column="sum", kind="number", traits=["thousands-commas"])
    assert noted(reading, "column-categories", column="city", count=2)
    assert noted(reading, "column-constant", column="word")
    assert noted(reading, "column-unusable", column="empty", reason="empty")


def test_numbers_are_those_of_pandas(read):
    random = np.random.default_rng(0)
    table = random.normal(size=(4, 5)) * 10.0 ** random.integers(-9, 9, (4, 5))
    frame = pd.DataFrame(table, columns=list("stvwx"))
    graph = read(EDGES, nodes(**frame)).graph
    np.testing.assert_array_equal(graph.features, frame.to_numpy(np.float32))


def test_missing_values_are_one_error_that_names_columns_and_counts(read, refusal):
    table = nodes(age=[1, None, None, 4], city=["x", "y", None, "x"], fine=[1, 2, 3, 4])
    message = refusal(read, EDGES, table, impute="none")
    assert "missing values in 'age' (2), 'city' (1);" in message
    assert "`impute='none'`" in message
    assert "`ignore=`" in message
    assert "fine" not in message
    graph = read(EDGES, table, ignore=("age", "CITY")).graph
    assert graph.feature_names == ("fine",)


def test_impute_fills_and_flags(read, noted):
    reading = read(
        EDGES,
        nodes(
            age=[1, None, 3, 9],
            vip=["yes", "yes", None, "no"],
            city=["x", "y", None, "x"],
            same=[5, 5, None, 5],
        ),
        impute="median",
    )
    found = dict(zip(reading.graph.feature_names, reading.graph.features.T.tolist(), strict=True))
    assert found == {
        "age": [1, 3, 3, 9],
        "age is missing": [0, 1, 0, 0],
        "vip": [1, 1, 1, 0],
        "vip is missing": [0, 0, 1, 0],
        "city = x": [1, 0, 0, 1],
        "city = y": [0, 1, 0, 0],
        "city is missing": [0, 0, 1, 0],
        "same is missing": [0, 0, 1, 0],
    }
    assert noted(reading, "column-missing", column="age", count=1, fill="median")
    assert noted(reading, "column-missing", column="vip", count=1, fill="mode")
    assert noted(reading, "column-missing", column="city", count=1, fill="no category")
    assert noted(reading, "column-missing", column="same", count=1, fill="constant")


def test_features_are_those_asked_for_in_that_order(read, refusal):
    table = nodes(x=[1, 2, 3, 4], y=[2, 1, 2, 1], name=list("pqrs"))
    assert read(EDGES, table, features=("Y", "x")).graph.feature_names == ("y", "x")
    assert "does not have" in refusal(read, EDGES, table, features=("z",))
    assert "which holds the ids" in refusal(read, EDGES, table, features=("id",))
    both = {"features": ("x",), "ignore": ("x",)}
    assert "`features=` and `ignore=` both name the column 'x'" in refusal(
        read, EDGES, table, **both
    )


def test_text_with_many_values_is_left_out_or_refused(read, refusal, noted):
    ids = [f"n{i}" for i in range(30)]
    edges = "source,target\n" + "".join(f"{a},{b}\n" for a, b in pairwise(ids))
    frame = pd.DataFrame({"id": ids, "x": range(30), "note": [f"text {i}" for i in ids]})
    table = frame.to_csv(index=False)
    reading = read(edges, table)
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "column-unusable", column="note", reason="many-texts", count=30, limit=20)
    message = refusal(read, edges, table, features=("x", "note"))
    assert "'note' of" in message
    assert "cannot be a feature" in message


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_the_index_that_pandas_writes_is_no_feature(read, noted, name):
    table = f"{name},id,x\n0,a,1\n1,b,5\n2,c,2\n3,d,7\n"
    reading = read(EDGES, table)
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "column-unusable", reason="row-numbers")


def test_no_usable_column_means_the_structure(read, noted):
    reading = read(EDGES, nodes(word=["w"] * 4))
    assert reading.graph.is_structural
    assert noted(reading, "structural-features")


MOMENTS = {
    "unix seconds": [1_700_000_000, 1_700_000_001, 1_700_000_060, 1_700_003_600],
    "yyyymmdd": [20240101, 20240102, 20240103, 20240105],
    "latitude": [52.5200001, 52.5200002, 52.5200003, 52.5200009],
}


@pytest.mark.parametrize("name", MOMENTS)
def test_digits_that_float32_has_not_are_kept_beside_an_offset(read, name):
    numbers = np.array(MOMENTS[name], dtype=np.float64)
    graph = read(EDGES, nodes(when=numbers)).graph
    assert graph.feature_names == ("when",)
    assert graph.columns[0].offset == np.median(numbers)
    kept = graph.features[:, 0].astype(np.float64) + graph.columns[0].offset
    np.testing.assert_allclose(kept, numbers, rtol=1e-14)


def test_times_of_one_minute_are_told_apart(read):
    times = [f"2024-05-06 07:08:{second:02d}" for second in (1, 2, 3, 59)]
    graph = read(EDGES, nodes(at=times)).graph
    steps = np.diff(graph.features[:, 0]) * 86_400
    np.testing.assert_allclose(steps, [1, 1, 56], rtol=1e-4)
    assert graph.columns[0].show(float(graph.features[0, 0])).startswith("2024-05-06")


def test_what_float32_holds_is_kept_as_it_is(read):
    graph = read(EDGES, nodes(a=[1, 2, 3, 4], b=[0.1, 0.2, 0.35, 0.4], c=[18262, 18263, 0, 1]))
    assert [column.offset for column in graph.graph.columns] == [0, 0, 0]
    assert graph.graph.features[:, 0].tolist() == [1, 2, 3, 4]


def test_only_what_does_not_differ_is_the_same_everywhere(read, noted):
    reading = read(EDGES, nodes(x=[1, 2, 3, 5], same=[1_700_000_000.1] * 4))
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "column-constant", column="same")


def test_gaps_beside_an_offset_are_filled_with_the_median(read):
    seconds = [1_700_000_000, 1_700_000_001, 1_700_000_005, None]
    graph = read(EDGES, nodes(a=seconds), impute="median").graph
    assert graph.features[:, 0].tolist() == [-1, 0, 4, 0]
    assert graph.columns[0].offset == 1_700_000_001


def test_time_zones_are_told(read, noted):
    zoned = [f"2024-01-0{day}T12:00:00+02:00" for day in (1, 2, 3, 5)]
    reading = read(EDGES, nodes(at=zoned))
    assert noted(reading, "column-format", column="at", kind="date", traits=["utc"])
    assert reading.graph.features[0, 0] + reading.graph.columns[0].offset == pytest.approx(
        19723 + 10 / 24
    )


def test_quoted_commas_stand_between_thousands(read, noted):
    reading = read(EDGES, nodes(income=["1,234", "987", "12,345", "2,000"]))
    assert reading.graph.features[:, 0].tolist() == [1234, 987, 12345, 2000]
    assert noted(reading, "column-format", column="income", traits=["thousands-commas"])


MANY = [f"n{i}" for i in range(50)]
CHAIN = "source,target\n" + "".join(f"{a},{b}\n" for a, b in pairwise(MANY))


@pytest.mark.parametrize("unit", [1, 1000])
def test_seconds_since_1970_are_dates_if_they_are_called_times(read, noted, unit):
    moments = [None, *range(1_600_000_000 * unit, 1_600_300_000 * unit, 6000 * unit)][:50]
    frame = pd.DataFrame({"id": MANY, "created_at": moments, "paid": moments}).astype(
        dict.fromkeys(("created_at", "paid"), "Int64")
    )
    reading = read(CHAIN, frame.to_csv(index=False))
    columns = {column.title: column for column in reading.graph.columns}
    assert (columns["created_at"].kind, columns["paid"].kind) == ("date", "number")
    place = reading.graph.feature_names.index("created_at")
    assert columns["created_at"].show(float(reading.graph.features[1, place])) == "2020-09-13"
    assert "created_at is missing" in columns


def damaged(**cells):
    """A table of fifty nodes; `cells` are columns with (row, cell) pairs that are no numbers."""
    frame = pd.DataFrame({"id": MANY, "fine": np.arange(50) ** 2})
    for name, bad in cells.items():
        column = [str(20 + i) for i in range(50)]
        for row, cell in bad:
            column[row] = cell
        frame[name] = column
    return frame.to_csv(index=False)


def test_a_cell_that_is_no_number_among_numbers_is_told(read, refusal):
    table = damaged(age=[(16, "forty"), (30, "x")], sum=[(3, "y" * 99)])
    message = refusal(read, CHAIN, table, impute="none")
    assert (
        "column 'age' holds numbers except for 2 cells, the first 'forty' in row 17 below"
        in message
    )
    assert f"column 'sum' holds numbers except for 1 cell, the first '{'y' * 40}\u2026'" in message
    assert "'fine'" not in message
    assert "`impute='none'`" in message
    graph = read(CHAIN, table, ignore=("age", "sum")).graph
    assert graph.feature_names == ("fine",)


def test_a_cell_that_is_no_number_counts_as_missing(read, noted):
    reading = read(CHAIN, damaged(age=[(16, "forty")]))
    found = dict(zip(reading.graph.feature_names, reading.graph.features.T, strict=True))
    numbers = pd.Series([20.0 + i for i in range(50) if i != 16])
    assert found["age"][16] == numbers.median()
    np.testing.assert_array_equal(np.flatnonzero(found["age is missing"]), [16])
    assert noted(reading, "column-damaged", column="age", count=1, cell="forty", row=17)


def test_currencies_and_percents_are_numbers_and_told(read, noted):
    reading = read(
        EDGES,
        nodes(
            paid=["$1,234.50", "$7", "-$2", "$0"],
            share=["45%", "12%", "3.5%", "0%"],
            owed=["1 234.5", "2", "3", "4"],
        ),
    )
    assert reading.graph.features[0].tolist() == [1234.5, 45, 1234.5]
    for name, traits in (
        ("paid", ["unit:$", "thousands-commas"]),
        ("share", ["unit:%"]),
        ("owed", ["thousands-spaces"]),
    ):
        assert noted(reading, "column-format", column=name, kind="number", traits=traits)


def test_a_comma_in_a_file_with_semicolons_is_taken_by_a_rule_and_told(write, noted):
    edges = write("edges.csv", EDGES)
    table = nodes(sure=["1,5", "2", "3", "4"], open=["1,234", "2,345", "3,456", "4,567"])
    table = pd.read_csv(io.StringIO(table), dtype=str).to_csv(index=False, sep=";")
    reading = read_tables(edges, write("nodes.csv", table))
    np.testing.assert_allclose(reading.graph.features[0], [1.5, 1.234])
    traits = ["decimal-comma", "or:thousands-commas"]
    assert noted(reading, "column-format", column="open", traits=traits)


def test_what_is_the_same_everywhere_is_told_once(read):
    nodes = "id,region,one,x\na,north,1,1\nb,north,1,2\nc,north,1,4\n"
    reading = read("source,target\na,b\nb,c\n", nodes)
    for name in ("region", "one"):
        (note,) = [note for note in reading.notes if name in note.fields.values()]
        assert note.code == "column-constant"


def test_codes_with_zeros_in_front_are_no_numbers(read, noted):
    rows = "".join(f"n{i},{i * 37:05d},{i}\n" for i in range(40))
    edges = "source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(39))
    reading = read(edges, f"id,zip,x\n{rows}")
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "column-unusable", column="zip", reason="padded-codes")


EDGES_OF_THREE = "source,target\na,b\nb,c\n"
ZIPS = "id,zip,group\na,80331,1\nb,10115,2\nc,80331,1\n"


def test_numbers_that_are_names_are_told_and_can_be_declared(read, noted):
    reading = read(EDGES_OF_THREE, ZIPS)
    assert noted(reading, "codes-as-numbers", columns=["zip"])
    reading = read(EDGES_OF_THREE, ZIPS, categories=("zip", "group"))
    assert reading.graph.feature_names == ("zip = 10115", "zip = 80331", "group = 1", "group = 2")
    assert reading.graph.features[:, 1].tolist() == [1, 0, 1]
    assert not noted(reading, "codes-as-numbers")


def test_categories_must_be_features_and_few(read, refusal):
    many = "id,n\n" + "".join(f"{n},{n}\n" for n in range(30))
    edges = "source,target\n1,2\n2,3\n"
    message = refusal(read, edges, many, categories=("n",))
    assert "is text with 30 distinct values" in message
    assert message.endswith("leave it out of `categories=`.")
    assert "not a feature here" in refusal(read, edges, many, categories=("id",))
    assert "does not have" in refusal(read, edges, many, categories=("colour",))


def test_dots_stand_between_thousands_where_another_column_has_decimal_commas(read):
    nodes = "id;avg;hits\na;0,305;12.364\nb;0,27;181\nc;0,5;4.019\n"
    graph = read(EDGES_OF_THREE, nodes).graph
    assert graph.features[:, 1].tolist() == [12364, 181, 4019]


@pytest.mark.parametrize(
    ("nodes", "dots"),
    [
        ('id,m,d\na,"6,5",12.364\nb,"0,25",4.019\nc,"1,75",18.500\n', 12.364),  # in quotes
        ("id;m;p;d\na;6,5;0.51;12.364\nb;0,25;0.7;4.019\nc;1,75;0.2;18.500\n", 12.364),
        ("id;m;d\na;6,5;12.364\nb;0,25;4.019\nc;1,75;18.500\n", 12364),
    ],
)
def test_dots_are_points_where_commas_are_doubtful(read, nodes, dots):
    assert read(EDGES_OF_THREE, nodes).graph.features[0, -1] == pytest.approx(dots)


def test_a_text_category_of_a_frame_is_evidence_too():
    frame = pd.DataFrame({"id": list("abc"), "d": ["12.364", "181", "4.019"]})
    frame["m"] = pd.Categorical(["0,5", "0,25", "1,75"])
    edges = pd.DataFrame({"source": list("ab"), "target": list("bc")})
    found = read_tables(edges, frame).graph
    assert found.features[:, 0].tolist() == [12364, 181, 4019]


@pytest.mark.parametrize("values", [[[1], [2], [1]], [b"\xff", b"a", b"b"]])
def test_what_cannot_be_names_is_refused_as_categories(refusal, values):
    edges = pa.table({"source": ["a", "b"], "target": ["b", "c"]})
    nodes = pa.table({"id": ["a", "b", "c"], "v": values, "x": [1, 2, 3]})
    message = refusal(read_tables, edges, nodes, Options(categories=("v",)))
    assert "whose values cannot be categories; leave it out of `categories=`." in message


def test_a_number_that_is_none_is_no_category():
    edges = pa.table({"source": ["a", "b"], "target": ["b", "c"]})
    nodes = pa.table({"id": ["a", "b", "c"], "v": [1.0, float("nan"), 2.0]})
    graph = read_tables(edges, nodes, Options(categories=("v",), impute="median")).graph
    assert [name for name in graph.feature_names if "nan" in name] == []

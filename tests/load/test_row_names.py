"""Columns that only name the rows are no features, unless the user says so."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from egoscore.load import Options, read_tables

NAMES = [f"n{i}" for i in range(40)]
EDGES = pd.DataFrame({"source": NAMES[:-1], "target": NAMES[1:]})
RNG = np.random.default_rng(0)
UNIQUE = RNG.permutation(40) * 7 + 1000


def read(tmp_path, ending=".csv", index=None, options=None, **columns):
    """The graph of a table in a file, with a feature x besides the columns given."""
    nodes = pd.DataFrame({"id": NAMES, "x": RNG.normal(size=40), **columns}, index=index)
    path = tmp_path / f"nodes{ending}"
    if ending == ".csv":
        nodes.to_csv(path, index=index is not None)
    else:
        nodes.to_parquet(path)
    return read_tables(EDGES, path, options or Options())


@pytest.mark.parametrize(
    "name",
    [
        *("facebook_id", "AirportID", "user_id", "userid", "new id", "zip", "accountNumber"),
        *("customer_key", "uid"),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_unique_whole_numbers_that_are_called_ids_are_no_feature(tmp_path, noted, name, ending):
    reading = read(tmp_path, ending, **{name: UNIQUE})
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "column-unusable", column=name, reason="ids")
    asked = read(tmp_path, ending, options=Options(features=("x", name)), **{name: UNIQUE})
    assert asked.graph.feature_names == ("x", name)


def test_ids_with_more_digits_than_single_precision_and_gaps_are_no_feature(tmp_path, noted):
    ids = pd.array(UNIQUE + 145_647_315_578_475, "Int64")
    ids[3] = pd.NA
    ids[5] = ids[4]  # one is there twice
    reading = read(tmp_path, ".parquet", page_id=ids)
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "column-unusable", column="page_id", reason="ids")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("row", np.arange(40)),
        ("nth", RNG.permutation(40) + 50_000),
        ("step", RNG.permutation(40) * 25 + 300),
        ("scattered", RNG.choice(np.arange(60), 40, replace=False)),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_numbers_that_were_handed_out_are_no_feature(tmp_path, noted, name, values, ending):
    reading = read(tmp_path, ending, **{name: values})
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "column-unusable", column=name, reason="ids")
    asked = read(tmp_path, ending, options=Options(features=("x", name)), **{name: values})
    assert asked.graph.feature_names == ("x", name)


@pytest.mark.parametrize(
    ("values", "are_codes"),
    [
        (RNG.choice(9 * 10**8, 400, replace=False) + 10**8, True),
        (RNG.choice(10**10, 400, replace=False) + 9_780_000_000_000, True),
        (np.rint(RNG.normal(525_000_000, 10**6, size=400)), False),  # millionths of a degree
        (np.rint(RNG.lognormal(22, 0.4, size=400)), False),  # amounts
        (RNG.choice(10**8, 400, replace=False) + 1_600_000_000, False),  # seconds since 1970
        (RNG.choice(10**11, 400, replace=False) + 1_600_000_000_000, False),  # milliseconds
        (RNG.choice(10**8, 400, replace=False), False),
    ],
)
def test_long_codes_are_told_from_measures_by_their_values(values, are_codes):
    nodes = pd.DataFrame({"id": range(400), "x": RNG.normal(size=400), "field": values})
    graph = read_tables(pd.DataFrame({"source": [0, 1], "target": [1, 2]}), nodes).graph
    assert graph.feature_names == (("x",) if are_codes else ("x", "field"))


def test_where_there_are_no_names_what_may_be_codes_is_warned_of(write, noted):
    postcodes, ages = RNG.integers(10_000, 99_999, 40), RNG.integers(18, 99, 40)
    rows = zip(range(40), postcodes, ages, RNG.normal(size=40), strict=True)
    nodes = write("nodes.csv", "\n".join(",".join(map(str, row)) for row in rows))
    edges = write("edges.csv", "\n".join(f"{i},{i + 1}" for i in range(39)))
    reading = read_tables(edges, nodes)
    assert noted(reading, "codes-as-numbers", columns=["column 2"])


@pytest.mark.parametrize("name", ["ref", "reference", "isbn"])
def test_neither_are_references(tmp_path, noted, name):
    values = RNG.choice(10**7, 40, replace=False)
    assert noted(read(tmp_path, **{name: values}), "column-unusable", column=name, reason="ids")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("views", UNIQUE),
        ("views", RNG.permutation(40)),
        ("paid", RNG.choice(10**4, 40, replace=False)),
        ("world_rank", RNG.permutation(40)),
        ("money", RNG.choice(10**6, 40, replace=False) + 10**9),
        ("lat", RNG.choice(10**6, 40, replace=False) + 525_000_000),
        ("lived", np.rint(RNG.lognormal(23, 2, size=40))),
        ("seen", RNG.choice(10**8, 40, replace=False) + 1_600_000_000),  # seconds since 1970
        ("half", np.arange(40) / 2 + 0.5),
        ("zip", UNIQUE // 40),
        ("body_id", UNIQUE + 0.5),
    ],
)
def test_other_numbers_are_features(tmp_path, name, values):
    assert read(tmp_path, **{name: values}).graph.feature_names == ("x", name)


def test_texts_that_are_nearly_all_different_are_no_feature(tmp_path, noted):
    edges = pd.DataFrame({"source": NAMES[:9], "target": NAMES[1:10]})
    nodes = pd.DataFrame(
        {"id": NAMES[:10], "x": range(10), "who": list("abcdefghij"), "kind": list("ababababab")}
    )
    nodes.to_csv(tmp_path / "n.csv", index=False)
    reading = read_tables(edges, tmp_path / "n.csv")
    assert reading.graph.feature_names == ("x", "kind = a", "kind = b")
    assert noted(reading, "column-unusable", column="who", reason="all-different", count=10)
    asked = read_tables(edges, tmp_path / "n.csv", Options(features=("who",)))
    assert asked.graph.num_features == 10


class TestIndex:
    def test_the_index_of_a_frame_that_was_filtered_is_no_feature(self, noted):
        frame = pd.DataFrame({"id": NAMES, "x": range(40)})
        nodes = frame.iloc[RNG.permutation(40)]
        reading = read_tables(EDGES, nodes)
        assert reading.graph.feature_names == ("x",)
        assert noted(reading, "column-unusable", reason="index")

    @pytest.mark.parametrize("ending", [".csv", ".parquet"])
    def test_neither_is_one_that_was_written(self, tmp_path, ending):
        index = np.sort(RNG.permutation(100)[:40])
        assert read(tmp_path, ending, index=index).graph.feature_names == ("x",)

    def test_one_with_a_name_may_be_the_ids_and_is_no_feature_otherwise(self):
        by_rank = pd.DataFrame({"id": NAMES, "x": range(40)}, index=pd.Index(UNIQUE, name="rank"))
        assert read_tables(EDGES, by_rank).graph.feature_names == ("x",)
        by_name = pd.DataFrame({"x": range(40)}, index=pd.Index(NAMES, name="handle"))
        graph = read_tables(EDGES, by_name).graph
        assert (graph.ids.tolist(), graph.feature_names) == (NAMES, ("x",))


def test_facebook_ids_are_left_out_of_a_real_table(noted):
    folder = Path(__file__).resolve().parents[3] / "shared/data/tables/facebook_pages"
    if not folder.exists():
        pytest.skip("the real tables are not here")
    with gzip.open(folder / "nodes.csv.gz") as file:
        nodes = pd.read_csv(file)
    with gzip.open(folder / "edges.csv.gz") as file:
        edges = pd.read_csv(file)
    reading = read_tables(edges, nodes)
    assert {column.name for column in reading.graph.columns} == {"page_type"}
    assert noted(reading, "column-unusable", column="facebook_id", reason="ids")

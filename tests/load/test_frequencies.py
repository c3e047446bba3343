"""Columns with many categories become two features, compared with networkx and pandas."""

from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from egoscore.graph.csr import build_csr
from egoscore.load import Options, read_tables
from egoscore.load.frequencies import agreement, as_frequencies
from egoscore.load.infer import Column, Unusable

AIRPORTS = Path(__file__).resolve().parents[3] / "shared/data/tables/airports"


def expected_shares(source, values):
    """The share of each node's neighbours with the same value; NaN where none is known."""
    found = []
    for node in source:
        theirs = [values[other] for other in source[node] if values[other] is not None]
        unknown = values[node] is None or not theirs
        found.append(np.nan if unknown else np.mean([other == values[node] for other in theirs]))
    return np.array(found)


def random_tables(missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    source = nx.gnm_random_graph(200, 400, seed=seed)
    values = [f"v{i:02}" for i in np.minimum(rng.geometric(0.08, 200), 30)]
    values = [None if rng.random() < missing else value for value in values]
    edges = pd.DataFrame(source.edges, columns=["source", "target"])
    return source, values, edges, pd.DataFrame({"id": range(200), "kind": values})


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_frequency_and_agreement(tmp_path, noted, missing, ending):
    source, values, edges, nodes = random_tables(missing)
    path = tmp_path / f"nodes{ending}"
    nodes.to_csv(path, index=False) if ending == ".csv" else nodes.to_parquet(path)
    reading = read_tables(edges, path)
    graph = reading.graph
    flags = ("kind is missing",) if missing else ()
    ours = "kind (frequency)", "kind (share of neighbours with the same)"
    assert graph.feature_names == (ours[0], *flags, ours[1])
    assert [column.kind for column in graph.columns if column.kind != "missing"] == [
        *("frequency", "agreement")
    ]
    known = nodes["kind"].notna().to_numpy()
    shares = nodes["kind"].map(nodes["kind"].value_counts(normalize=True)).to_numpy()
    np.testing.assert_allclose(graph.features[known, 0], np.log(shares[known]), rtol=1e-6)
    expected = expected_shares(source, values)
    defined = ~np.isnan(expected)
    np.testing.assert_allclose(graph.features[defined, -1], expected[defined], rtol=1e-6)
    assert np.all(graph.features[~defined, -1] == np.median(graph.features[defined, -1]))
    assert noted(reading, "column-frequencies", column="kind", count=nodes["kind"].nunique())
    first = graph.columns[0]
    assert first.show(np.log(0.25)) == "25%"
    assert graph.columns[-1].show(0.5) == "50%"


def test_the_codes_are_kept_with_the_nodes():
    _, values, edges, nodes = random_tables(0.1)
    kind = read_tables(edges, nodes).graph.categories["kind"]
    assert kind.codes.dtype == np.int32
    assert [None if code < 0 else kind.names[code] for code in kind.codes] == values


def test_a_missing_category_has_no_median(noted):
    _, values, edges, nodes = random_tables(0.1)
    count = values.count(None)
    reading = read_tables(edges, nodes)
    assert noted(reading, "column-missing", column="kind", count=count, fill="frequency")


def test_nodes_without_a_row_have_no_category():
    _, _, edges, nodes = random_tables()
    graph = read_tables(edges, nodes.iloc[:150]).graph
    codes = graph.categories["kind"].codes
    assert len(codes) == graph.num_nodes
    assert np.all(codes[150:] == -1)
    assert np.isfinite(graph.features).all()


def infer(count, rows, reason="many-texts"):
    cells = [f"t{row % count}" for row in range(rows)]
    unusable = Unusable("c", reason, {"count": count, "limit": 20})
    return as_frequencies(unusable, pa.chunked_array([pa.array(cells)]), "t")


@pytest.mark.parametrize(
    ("count", "rows", "is_used"),
    [(21, 42, True), (21, 41, False), (5000, 10_001, True), (5001, 20_000, False)],
)
def test_the_limits(count, rows, is_used):
    found = infer(count, rows)
    assert isinstance(found, Column) == is_used
    if not is_used:
        assert found.fields["limit"] == max(20, min(5000, rows // 2))


def test_other_reasons_stay():
    assert infer(21, 100, "empty").reason == "empty"


def test_numbers_and_padded_codes_may_be_such_categories():
    edges = pd.DataFrame({"source": range(99), "target": range(1, 100)})
    numbers = np.arange(100) % 25
    nodes = pd.DataFrame({"id": range(100), "zip": [f"{n:05}" for n in numbers]})
    assert "zip (frequency)" not in read_tables(edges, nodes).graph.feature_names  # is constant
    nodes["branch"] = np.maximum(numbers, 3)
    graph = read_tables(edges, nodes, Options(categories=("branch",))).graph
    assert "branch (frequency)" in graph.feature_names
    assert set(graph.categories) == {"zip", "branch"}


def test_agreement_without_neighbours_is_unknown():
    near = build_csr(np.array([0, 1], np.int32), np.array([1, 0], np.int32), 3)
    found = agreement(near, np.array([2, 2, 0], np.int32))
    assert found[:2].tolist() == [1.0, 1.0]
    assert np.isnan(found[2])


@pytest.mark.skipif(not AIRPORTS.exists(), reason="the real tables are not here")
def test_the_countries_of_airports_are_used_and_their_names_are_not(noted):
    reading = read_tables(AIRPORTS / "edges.csv.gz", AIRPORTS / "nodes.csv.gz")
    graph = reading.graph
    nodes = pd.read_csv(AIRPORTS / "nodes.csv.gz", keep_default_na=False)
    assert {"country (frequency)", "country (share of neighbours with the same)"} <= set(
        graph.feature_names
    )
    assert noted(reading, "names", column="name")
    assert not [name for name in graph.feature_names if name.startswith(("name", "city"))]
    size = len(nodes)
    shares = nodes["country"].map(nodes["country"].value_counts(normalize=True)).to_numpy()
    place = graph.feature_names.index("country (frequency)")
    np.testing.assert_allclose(graph.features[:size, place], np.log(shares), rtol=1e-5)
    country = dict(zip(nodes["iata"], nodes["country"], strict=True))
    place = graph.feature_names.index("country (share of neighbours with the same)")
    for node in range(0, size, 100):
        ids = graph.ids[graph.neighbours_of(node)]
        if len(ids):
            same = np.mean([country[other] == country[graph.ids[node]] for other in ids])
            assert graph.features[node, place] == pytest.approx(same)

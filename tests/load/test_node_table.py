"""Every column of the node table has one role: ids, labels or features."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from egoscore.graph import AttributedGraph

EDGES = "source,target\na,b\nb,c\n"
NODES = "id,x,y,label\na,1,5,0\nb,2,3,1\nc,4,1,0\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"features": ("x",), "ignore": ("X",)},
            "`features=` and `ignore=` both name the column 'x'",
        ),
        ({"features": ("id",)}, "`features=` names the column 'id', which holds the ids"),
        ({"label": "id"}, "`label=` names the column 'id', which holds the ids"),
        ({"label": "x", "features": ("x",)}, "`label=` and `features=` both name the column 'x'"),
        ({"label": "label", "ignore": ("label",)}, "`label=` and `ignore=` both name"),
        ({"id": "id", "ignore": ("id",)}, "`id=` and `ignore=` both name"),
    ],
)
def test_no_column_is_two_things(read, refusal, options, words):
    assert words in refusal(read, EDGES, NODES, **options)


def test_features_named_twice_count_once_and_labels_stay_labels(read):
    graph = read(EDGES, NODES, features=("y", "x", "Y")).graph
    assert graph.feature_names == ("y", "x")
    assert graph.features[0].tolist() == [5, 1]
    assert graph.labels.tolist() == [0, 1, 0]


def test_a_column_called_label_may_be_the_id(read):
    nodes = "label,x\na,1\nb,2\nc,4\n"
    for options in ({"id": "label"}, {"id": "label", "features": ("x",)}):
        graph = read(EDGES, nodes, **options).graph
        assert graph.ids.tolist() == ["a", "b", "c"]
        assert graph.feature_names == ("x",)


def test_other_columns_are_not_read_when_features_are_named(read):
    nodes = "id,x,label,gap\na,1,p,\nb,2,q,3\nc,4,r,4\n"
    reading = read(EDGES, nodes, features=("x",))
    assert reading.graph.feature_names == ("x",)


def test_no_features_at_all_means_the_structure(read):
    assert read(EDGES, NODES, features=()).graph.is_structural


LABEL_EDGES = "source,target\na,b\nb,c\n"


def nodes(name, values):
    rows = "".join(f"{i},{x},{v}\n" for i, x, v in zip("abc", (1, 2, 4), values, strict=True))
    return f"id,x,{name}\n{rows}"


@pytest.mark.parametrize(
    "values", ["001", ("no", "No", "YES"), ("false", "False", "true"), ("0.0", "0.0", "1.0")]
)
@pytest.mark.parametrize("name", ["label", " Label"])
def test_words_for_zero_and_one(read, noted, values, name):
    reading = read(LABEL_EDGES, nodes(name, values))
    assert reading.graph.labels.tolist() == [0, 0, 1]
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "labels")


def test_given(read, refusal):
    assert read(LABEL_EDGES, nodes("fraud", "010"), label="FRAUD").graph.labels.tolist() == [
        0,
        1,
        0,
    ]
    assert read(LABEL_EDGES, nodes("fraud", "010")).graph.labels is None
    message = refusal(read, LABEL_EDGES, nodes("fraud", "012"), label="fraud")
    assert "'fraud' of" in message
    assert "must hold 0" in message
    assert "must hold 0" in refusal(read, LABEL_EDGES, nodes("fraud", "pqr"), label="fraud")
    assert "does not have" in refusal(read, LABEL_EDGES, nodes("fraud", "010"), label="nothing")


@pytest.mark.parametrize("values", ["017", "pqp", "121", ("inf", "1", "0")])
def test_a_label_of_other_values_is_left_out(read, noted, values):
    reading = read(LABEL_EDGES, nodes("label", values))
    assert reading.graph.labels is None
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "answer-not-binary", column="label")


@pytest.mark.parametrize("values", ["010", "017", "pqp"])
@pytest.mark.parametrize(
    "name",
    [
        *("labels", "y", "fraud", "is_fraud", "isFraud", "fraudulent", "Outlier", "is_outlier"),
        *("ANOMALY", "is_anomaly", "abnormal", "ground_truth", "Ground Truth", "is-fraud"),
    ],
)
def test_what_looks_like_the_answer_is_never_a_feature_by_itself(read, noted, name, values):
    reading = read(LABEL_EDGES, nodes(name, values))
    assert reading.graph.labels is None
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "answer-left-out", column=name)


def test_the_answer_is_used_as_the_user_says(read):
    graph = read(LABEL_EDGES, nodes("fraud", "010"), features=("x", "Fraud")).graph
    assert graph.feature_names == ("x", "fraud")
    graph = read(LABEL_EDGES, nodes("fraud", "010"), label="fraud").graph
    assert (graph.feature_names, graph.labels.tolist()) == (("x",), [0, 1, 0])


def test_beside_the_label_other_answers_are_left_out(read, noted):
    table = "id,x,fraud,label\na,1,0,0\nb,2,1,1\nc,4,1,0\n"
    for choices, left in [({}, "fraud"), ({"label": "fraud"}, "label")]:
        reading = read(LABEL_EDGES, table, **choices)
        assert reading.graph.feature_names == ("x",)
        assert reading.graph.labels is not None
        assert noted(reading, "answer-left-out", column=left)


@pytest.mark.parametrize("name", ["label", "kind"])
@pytest.mark.parametrize(
    ("values", "pair"),
    [
        (("-1", "-1", "1"), ("-1", "1")),
        (("normal", "Normal", "outlier"), ("normal", "outlier")),
        (("normal", "normal", " ANOMALY"), ("normal", "anomaly")),
        (("genuine", "genuine", "fraud"), ("genuine", "fraud")),
    ],
)
def test_other_pairs_are_labels_and_told(read, noted, name, values, pair):
    reading = read(LABEL_EDGES, nodes(name, values), label=None if name == "label" else name)
    assert reading.graph.labels.tolist() == [0, 0, 1]
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "label-words", column=name, normal=pair[0], outlier=pair[1])


@pytest.mark.parametrize("impute", ["median", "none"])
@pytest.mark.parametrize("label", [None, "label"])
@pytest.mark.parametrize(
    "values",
    [
        *(("0", "", "1"), ("no", "", "yes"), ("normal", "", "outlier"), ("-1", "", "1")),
        *(("0", "-1", "1"), ("0", "NaN", "1"), ("0", "None", "1"), ("0.0", "-1.0", "1.0")),
    ],
)
def test_labels_may_be_partly_unknown(read, noted, label, values, impute):
    reading = read(LABEL_EDGES, nodes("label", values), label=label, impute=impute)
    assert reading.graph.labels.tolist() == [0, -1, 1]
    assert noted(reading, "labels", column="label", known=2, count=3)


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series([0, np.nan, 1]),
        pd.Series([0, -1, 1]),
        pd.Series([0, None, 1], dtype="Int64"),
        pd.Series([0, None, 1], dtype=object),
        pd.Series([False, None, True], dtype="boolean"),
        pd.Series(["no", None, "yes"]),
        pd.Series(["0", "", "1"]),
    ],
    ids=["NaN", "-1", "Int64", "object", "boolean", "words", "text"],
)
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_labels_of_data_frames_may_be_partly_unknown(kind, labels):
    frame = pd.DataFrame({"id": list("abc"), "x": [1, 2, 4], "label": labels})
    frames = {"pandas": lambda f: f, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}
    edges = {"source": list("ab"), "target": list("bc")}
    graph = AttributedGraph.from_tables(edges, frames[kind](frame))
    assert graph.labels.tolist() == [0, -1, 1]
    assert graph.feature_names == ("x",)


def test_nan_of_polars_is_an_unknown_label_too():
    nodes = pl.DataFrame({"id": list("abc"), "x": [1, 2, 4], "label": [0.0, float("nan"), 1.0]})
    edges = {"source": list("ab"), "target": list("bc")}
    assert AttributedGraph.from_tables(edges, nodes).labels.tolist() == [0, -1, 1]


def test_nodes_without_a_row_have_an_unknown_label(read, noted):
    edges = LABEL_EDGES + "c,zoe\n"
    for label in (None, "label"):
        reading = read(edges, nodes("label", "001"), label=label)
        assert reading.graph.ids.tolist() == ["a", "b", "c", "zoe"]
        assert reading.graph.labels.tolist() == [0, 0, 1, -1]
        assert noted(reading, "labels", known=3, count=4)
    assert read(edges, nodes("label", "001"), impute="none").graph.labels.tolist() == [0, 0, 1]


def test_a_label_may_be_asked_for_as_a_feature(read):
    graph = read(LABEL_EDGES, nodes("label", "001"), features=("label",)).graph
    assert graph.feature_names == ("label",)
    assert graph.labels is None


@pytest.mark.parametrize(("count", "features"), [(21, ("x", "y")), (20, ("x",))])
def test_many_numbers_called_y_are_a_coordinate(read, count, features):
    rows = "".join(f"{row},{0.5 * row},{row % count}\n" for row in range(60))
    graph = read("source,target\n1,2\n2,3\n", f"id,x,y\n{rows}").graph
    assert graph.feature_names == features
    assert graph.labels is None

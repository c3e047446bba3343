"""Labels are 0 and 1 or words for them; what only is called so is a column like others."""

import pytest

EDGES = "source,target\na,b\nb,c\n"


def nodes(name, values):
    rows = "".join(f"{i},{x},{v}\n" for i, x, v in zip("abc", (1, 2, 4), values, strict=True))
    return f"id,x,{name}\n{rows}"


@pytest.mark.parametrize(
    "values", ["001", ("no", "No", "YES"), ("false", "False", "true"), ("0.0", "0.0", "1.0")]
)
@pytest.mark.parametrize("name", ["label", " Label"])
def test_words_for_zero_and_one(read, said, values, name):
    reading = read(EDGES, nodes(name, values))
    assert reading.graph.labels.tolist() == [0, 0, 1]
    assert reading.graph.feature_names == ("x",)
    assert said(reading, "known outliers")


def test_given(read, refusal):
    assert read(EDGES, nodes("fraud", "010"), label="FRAUD").graph.labels.tolist() == [0, 1, 0]
    assert read(EDGES, nodes("fraud", "010")).graph.labels is None
    message = refusal(read, EDGES, nodes("fraud", "012"), label="fraud")
    assert "'fraud' of" in message
    assert "must hold 0" in message
    assert "must hold 0" in refusal(read, EDGES, nodes("fraud", "pqr"), label="fraud")
    assert "does not have" in refusal(read, EDGES, nodes("fraud", "010"), label="nothing")


@pytest.mark.parametrize(("values", "features"), [("017", 2), ("pqp", 3)])
def test_other_values_are_a_column_like_others(read, said, values, features):
    reading = read(EDGES, nodes("label", values))
    assert reading.graph.labels is None
    assert reading.graph.num_features == features
    assert said(reading, "is no label of outliers")


def test_values_no_column_may_have_are_refused_as_such(read, refusal):
    assert "infinite" in refusal(read, EDGES, nodes("label", ("inf", "1", "0")))


@pytest.mark.parametrize("label", [None, "label"])
def test_labels_that_are_partly_known_are_refused_with_advice(read, refusal, label):
    message = refusal(read, EDGES, nodes("label", ("0", "", "1")), label=label)
    assert "1 of 3 are missing" in message
    assert "--ignore 'label'" in message
    assert read(EDGES, nodes("label", ("0", "", "1")), ignore=("label",)).graph.labels is None


def test_nodes_without_a_row_have_no_label(read, refusal, said):
    edges = EDGES + "c,zoe\n"
    reading = read(edges, nodes("label", "001"), impute="median")
    assert reading.graph.labels is None
    assert said(reading, "No label is known of 1 node")
    assert "leave out --impute" in refusal(
        read, edges, nodes("label", "001"), impute="median", label="label"
    )
    assert read(edges, nodes("label", "001")).graph.labels.tolist() == [0, 0, 1]


def test_a_label_may_be_asked_for_as_a_feature(read):
    graph = read(EDGES, nodes("label", "001"), features=("label",)).graph
    assert graph.feature_names == ("label",)
    assert graph.labels is None

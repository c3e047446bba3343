"""Labels are 0 and 1 or words for them; what only is called so is left out and told."""

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


@pytest.mark.parametrize("values", ["017", "pqp", "121", ("inf", "1", "0")])
def test_a_label_of_other_values_is_left_out(read, said, values):
    reading = read(EDGES, nodes("label", values))
    assert reading.graph.labels is None
    assert reading.graph.feature_names == ("x",)
    assert said(
        reading,
        "column 'label' looks like the answer but holds other values than 0 and 1, so it is left "
        "out; naming it in --features uses it.",
    )


@pytest.mark.parametrize("values", ["010", "017", "pqp"])
@pytest.mark.parametrize(
    "name",
    [
        *("labels", "y", "fraud", "is_fraud", "isFraud", "fraudulent", "Outlier", "is_outlier"),
        *("ANOMALY", "is_anomaly", "abnormal", "ground_truth", "Ground Truth", "is-fraud"),
    ],
)
def test_what_looks_like_the_answer_is_never_a_feature_by_itself(read, said, name, values):
    reading = read(EDGES, nodes(name, values))
    assert reading.graph.labels is None
    assert reading.graph.feature_names == ("x",)
    assert said(
        reading,
        f"column '{name}' looks like the answer and is left out; --label '{name}' evaluates with "
        "it, and naming it in --features uses it.",
    )


def test_the_answer_is_used_as_the_user_says(read):
    graph = read(EDGES, nodes("fraud", "010"), features=("x", "Fraud")).graph
    assert graph.feature_names == ("x", "fraud")
    graph = read(EDGES, nodes("fraud", "010"), label="fraud").graph
    assert (graph.feature_names, graph.labels.tolist()) == (("x",), [0, 1, 0])


def test_beside_the_label_other_answers_are_left_out(read, said):
    table = "id,x,fraud,label\na,1,0,0\nb,2,1,1\nc,4,1,0\n"
    for choices, left in [({}, "fraud"), ({"label": "fraud"}, "label")]:
        reading = read(EDGES, table, **choices)
        assert reading.graph.feature_names == ("x",)
        assert reading.graph.labels is not None
        assert said(reading, f"column '{left}' looks like the answer and is left out")


@pytest.mark.parametrize("name", ["label", "kind"])
@pytest.mark.parametrize(
    ("values", "pair"),
    [
        (("-1", "-1", "1"), "-1 and 1; 1"),
        (("normal", "Normal", "outlier"), "normal and outlier; outlier"),
        (("normal", "normal", " ANOMALY"), "normal and anomaly; anomaly"),
        (("genuine", "genuine", "fraud"), "genuine and fraud; fraud"),
    ],
)
def test_other_pairs_are_labels_and_told(read, said, name, values, pair):
    reading = read(EDGES, nodes(name, values), label=None if name == "label" else name)
    assert reading.graph.labels.tolist() == [0, 0, 1]
    assert reading.graph.feature_names == ("x",)
    assert said(reading, f"column '{name}' holds {pair} is taken to mean an outlier.")


@pytest.mark.parametrize("label", [None, "label"])
def test_labels_that_are_partly_known_are_refused_with_advice(read, refusal, label):
    message = refusal(read, EDGES, nodes("label", ("0", "", "1")), label=label)
    assert "1 of 3 are missing" in message
    assert "--ignore 'label'" in message
    assert read(EDGES, nodes("label", ("0", "", "1")), ignore=("label",)).graph.labels is None


def test_nodes_without_a_row_have_no_label(read, said):
    edges = EDGES + "c,zoe\n"
    reading = read(edges, nodes("label", "001"), impute="median")
    assert reading.graph.labels is None
    assert said(reading, "No label is known of 1 node")
    asked = read(edges, nodes("label", "001"), impute="median", label="label").graph
    assert (asked.labels.tolist(), asked.ids.tolist()) == ([0, 0, 1], ["a", "b", "c"])
    assert read(edges, nodes("label", "001")).graph.labels.tolist() == [0, 0, 1]


def test_a_label_may_be_asked_for_as_a_feature(read):
    graph = read(EDGES, nodes("label", "001"), features=("label",)).graph
    assert graph.feature_names == ("label",)
    assert graph.labels is None


@pytest.mark.parametrize(("count", "features"), [(21, ("x", "y")), (20, ("x",))])
def test_many_numbers_called_y_are_a_coordinate(read, count, features):
    rows = "".join(f"{row},{0.5 * row},{row % count}\n" for row in range(60))
    graph = read("source,target\n1,2\n2,3\n", f"id,x,y\n{rows}").graph
    assert graph.feature_names == features
    assert graph.labels is None

"""A column of the node table is one thing: id, label or feature."""

import pytest

EDGES = "source,target\na,b\nb,c\n"
NODES = "id,x,y,label\na,1,5,0\nb,2,3,1\nc,4,1,0\n"


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        (
            {"features": ("x",), "ignore": ("X",)},
            "--features and --ignore both name the column 'x'",
        ),
        ({"features": ("id",)}, "--features names the column 'id', which holds the ids"),
        ({"label": "id"}, "--label names the column 'id', which holds the ids"),
        ({"label": "x", "features": ("x",)}, "--label and --features both name the column 'x'"),
        ({"label": "label", "ignore": ("label",)}, "--label and --ignore both name"),
        ({"id": "id", "ignore": ("id",)}, "--id and --ignore both name"),
    ],
)
def test_no_column_is_two_things(read, refusal, choices, words):
    assert words in refusal(read, EDGES, NODES, **choices)


def test_features_named_twice_count_once_and_labels_stay_labels(read):
    graph = read(EDGES, NODES, features=("y", "x", "Y")).graph
    assert graph.feature_names == ("y", "x")
    assert graph.features[0].tolist() == [5, 1]
    assert graph.labels.tolist() == [0, 1, 0]


def test_a_column_called_label_may_be_the_id(read):
    nodes = "label,x\na,1\nb,2\nc,4\n"
    for choices in ({"id": "label"}, {"id": "label", "features": ("x",)}):
        graph = read(EDGES, nodes, **choices).graph
        assert graph.ids.tolist() == ["a", "b", "c"]
        assert graph.feature_names == ("x",)


def test_other_columns_are_not_read_when_features_are_named(read):
    nodes = "id,x,label,gap\na,1,p,\nb,2,q,3\nc,4,r,4\n"
    reading = read(EDGES, nodes, features=("x",))
    assert reading.graph.feature_names == ("x",)


def test_no_features_at_all_means_the_structure(read):
    assert read(EDGES, NODES, features=()).graph.is_structural

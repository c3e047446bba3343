"""The column with the names of nodes: chosen, detected, and never a feature."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from egoscore import AttributedGraph
from egoscore.load import Options, read_tables

EDGES = "source,target\n1,2\n2,3\n3,4\n4,5\n5,6\n"
PEOPLE = ("Ann", "Bob", "Cid", "Dee", "Eve", "Flo")


def nodes(**columns):
    """A table of six nodes with the ids 1 to 6, an age, and further columns."""
    columns = {"id": range(1, 7), "age": (31, 45, 52, 28, 39, 60), **columns}
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


class TestDetected:
    @pytest.mark.parametrize(
        "column",
        [
            *("name", "Name", "title", "label", "Label", "full_name", "Full Name", "display_name"),
            *("page_name", "AirportName", "song title", "username", "company", "email", "E-Mail"),
        ],
    )
    def test_columns_with_telling_names_are_taken(self, read, noted, column):
        reading = read(EDGES, nodes(**{column: PEOPLE}))
        assert reading.graph.names.tolist() == list(PEOPLE)
        assert reading.graph.feature_names == ("age",)
        assert noted(reading, "names", column=column, missing=0)

    @pytest.mark.parametrize("column", ["first_name", "last_name", "city", "filename", "named"])
    def test_others_are_not(self, read, column):
        assert read(EDGES, nodes(**{column: PEOPLE})).graph.names is None

    @pytest.mark.parametrize(
        "cells",
        [
            (7, 8, 9, 10, 11, 12),  # numbers
            ("1 km", "2 km", "3 km", "4 km", "5 km", "6 km"),
            ("2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04", "2020-01-05", "2020-01-06"),
            ("a", "b", "c", "a", "b", "c"),  # classes
            ("Ann", "", "", "", "", "Bob"),  # too few
        ],
    )
    def test_nor_is_what_is_no_name(self, read, cells):
        assert read(EDGES, nodes(name=cells), impute="median").graph.names is None

    def test_one_name_may_occur_twice_and_some_be_missing(self, read, noted):
        reading = read(EDGES, nodes(name=("Ann", " Bob ", "Cid", "Dee", "Ann", "")))
        assert reading.graph.names.tolist() == ["Ann", "Bob", "Cid", "Dee", "Ann", "6"]
        assert noted(reading, "names", column="name", missing=1)

    def test_the_most_telling_column_wins_and_no_other_one_is_a_feature(self, read, noted):
        mails = [f"{name.lower()}@example.org" for name in PEOPLE]
        table = nodes(email=mails, page_name=PEOPLE[::-1], name=PEOPLE)
        for column, expected in {"name": PEOPLE, "email": mails}.items():
            options = {} if column == "name" else {"name": column}
            reading = read(EDGES, table, **options)
            assert reading.graph.names.tolist() == list(expected)
            assert reading.graph.feature_names == ("age",)
            assert noted(reading, "names", column=column)
            assert noted(reading, "names-unused", column="page_name")

    def test_labels_of_outliers_are_no_names(self, read):
        graph = read(EDGES, nodes(label=("normal", *["Normal"] * 4, "outlier"))).graph
        assert graph.names is None
        assert graph.labels.tolist() == [0, 0, 0, 0, 0, 1]

    def test_the_ids_are_no_names_even_if_they_are_called_so(self, read, noted):
        edges = "a,b\nAnn,Bob\nBob,Cid\nCid,Dee\nDee,Eve\nEve,Flo\n"
        table = nodes(name=PEOPLE).replace("id,", "number,")
        reading = read(edges, table)
        assert reading.graph.ids.tolist() == list(PEOPLE)
        assert reading.graph.names is None

    def test_a_column_that_repeats_the_ids_is_neither_name_nor_feature(self, read, noted):
        table = nodes(Label=PEOPLE)
        for number, name in enumerate(PEOPLE, start=1):
            table = table.replace(f"\n{number},", f"\n{name},")
        edges = "a,b\nAnn,Bob\nBob,Cid\nCid,Dee\nDee,Eve\nEve,Flo\n"
        reading = read(edges, table)
        assert reading.graph.names is None
        assert reading.graph.feature_names == ("age",)
        assert noted(reading, "names-repeat-ids", column="Label")

    def test_nodes_without_a_row_are_shown_by_their_ids(self, read, noted):
        reading = read(EDGES + "6,99\n", nodes(name=PEOPLE), impute="median")
        assert reading.graph.names.tolist() == [*PEOPLE, "99"]
        assert noted(reading, "names", missing=1)

    def test_columns_named_for_something_else_are_left_alone(self, read):
        table = nodes(name=PEOPLE)
        assert read(EDGES, table, ignore=("name",)).graph.names is None
        chosen = read(EDGES, table, features=("age", "name")).graph
        assert (chosen.names, chosen.num_features) == (None, 7)
        assert read(EDGES, table, categories=("name",)).graph.num_features == 7

    def test_they_are_found_if_features_and_ids_are_named(self, read):
        graph = read(EDGES, nodes(name=PEOPLE), id="id", features=("age",)).graph
        assert graph.names.tolist() == list(PEOPLE)
        assert graph.feature_names == ("age",)

    def test_without_names_there_are_none(self, read):
        assert read(EDGES, nodes()).graph.names is None
        assert read(EDGES).graph.names is None

    def test_neither_structure_nor_fingerprint_depends_on_them(self, read):
        with_names, without = (
            read(EDGES, nodes(name=PEOPLE), **more).graph for more in ({}, {"ignore": "name"})
        )
        assert with_names.fingerprint() == without.fingerprint()


class TestWithoutHeader:
    EDGES = "1,2\n2,3\n3,4\n4,5\n5,6\n"
    NODES = "\n".join(
        f"{node},{age},{town},{name},{name.lower()}@b.org"
        for node, age, town, name in zip(
            range(1, 7), (31, 45, 52, 28, 39, 60), "ABABAB", PEOPLE, strict=True
        )
    )

    def test_the_first_column_of_different_texts_has_the_names(self, read, noted):
        reading = read(self.EDGES, self.NODES)
        assert reading.graph.names.tolist() == list(PEOPLE)
        assert noted(reading, "names", column="column 4")
        assert {column.name for column in reading.graph.columns} == {"column 2", "column 3"}

    def test_another_one_can_be_chosen(self, read):
        graph = read(self.EDGES, self.NODES, name="column 5").graph
        assert graph.names[0] == "ann@b.org"
        graph = read(self.EDGES, self.NODES, ignore=("column 4", "column 5")).graph
        assert graph.names is None

    def test_columns_that_have_names_are_known_by_these(self, read):
        columns = ("id", "age", "town", "called", "mail")
        graph = read(self.EDGES, self.NODES, node_columns=columns).graph
        assert graph.names[0] == "ann@b.org"


class TestChosen:
    def test_any_column_can_be_named(self, read, noted):
        reading = read(EDGES, nodes(city=("Rome", *["Oslo"] * 5), name=PEOPLE), name="City")
        assert reading.graph.names.tolist() == ["Rome", *["Oslo"] * 5]
        assert not any(title.startswith("city") for title in reading.graph.feature_names)
        assert noted(reading, "names", column="city", missing=0)

    @pytest.mark.parametrize(
        ("cells", "expected"),
        [([4, 5, 5], ["4", "5", "5"]), ([4.0, None, 5.0], ["4", "2", "5"])],
    )
    def test_numbers_become_text(self, cells, expected):
        table = pd.DataFrame({"id": [1, 2, 3], "age": [5, 6, 7], "code": cells})
        graph = read_tables({"a": [1, 2], "b": [2, 3]}, table, Options(name="code")).graph
        assert graph.names.tolist() == expected

    def test_categories_of_pandas_become_text(self):
        table = pd.DataFrame({"id": [1, 2, 3], "age": [5, 6, 7], "who": list("xyz")})
        table["who"] = table["who"].astype("category")
        graph = read_tables({"a": [1, 2], "b": [2, 3]}, table, Options(name="who")).graph
        assert graph.names.tolist() == list("xyz")

    @pytest.mark.parametrize(
        "options",
        [
            {"name": "nickname"},
            {"name": " "},
            {"name": "id"},
            {"name": "name", "ignore": "name"},
            {"name": "name", "features": "name"},
            {"name": "name", "label": "name"},
        ],
    )
    def test_what_cannot_be_is_refused(self, read, refusal, options):
        assert "`name=`" in refusal(read, EDGES, nodes(name=PEOPLE), **options)

    def test_without_a_table_of_nodes_there_is_nothing_to_name(self, read, refusal):
        assert "`name=`" in refusal(read, EDGES, name="name")

    def test_lists_are_no_names(self, refusal):
        table = {"id": [1, 2], "age": [5, 6], "tags": [[1], [2]]}
        message = refusal(read_tables, {"a": [1], "b": [2]}, table, Options(name="tags"))
        assert "'tags'" in message


class TestInPython:
    def test_from_tables(self, write):
        files = write("edges.csv", EDGES), write("nodes.csv", nodes(nick=PEOPLE))
        graph = AttributedGraph.from_tables(*files, name="nick")
        assert graph.names.tolist() == list(PEOPLE)

    @pytest.mark.parametrize("vectors", [False, True])
    @pytest.mark.parametrize("options", [{}, {"name": "nick"}])
    def test_from_networkx(self, vectors, options):
        theirs = nx.Graph([("u", ("v", 1)), (("v", 1), 7)])
        for number, (node, data) in enumerate(theirs.nodes.items()):
            data.update(nick=f"nick {number}", age=number)
            if vectors:
                data["x"] = [float(number), 1.0]
            if node != 7:
                data["name"] = f"name of {node}"
        theirs.add_node("w", age=3, name="Wim", nick="w", **({"x": [0.0, 1.0]} if vectors else {}))
        graph = AttributedGraph.from_networkx(theirs, **options)
        expected = ["name of u", "name of ('v', 1)", "7", "Wim"]
        if options:
            expected = ["nick 0", "nick 1", "nick 2", "w"]
        assert graph.names.tolist() == expected
        assert graph.ids.tolist() == list(theirs)

    def test_networkx_attributes_that_repeat_the_nodes_are_no_names(self):
        theirs = nx.path_graph(["a", "b", "c"])
        nx.set_node_attributes(theirs, {node: node for node in theirs}, "label")
        nx.set_node_attributes(theirs, {"a": 1, "b": 2, "c": 5}, "age")
        graph = AttributedGraph.from_networkx(theirs)
        assert (graph.names, graph.feature_names) == (None, ("age",))

    def test_from_edges(self, refusal):
        def make(names):
            return AttributedGraph.from_edges([[0], [1]], np.ones((3, 1)), names=names)

        assert make(["Ann", None, ""]).names.tolist() == ["Ann", "1", "2"]
        assert make(["Ann", "\ud800", 5]).names.tolist() == ["Ann", "\\ud800", "5"]
        assert make(None).names is None
        assert "(found 2)" in refusal(make, ["Ann", "Bob"])

    def test_what_a_node_is_shown_as(self):
        graph = AttributedGraph.from_edges([[0], [1]], np.ones((2, 1)), ids=[8, 9])
        assert (graph.shown(1), graph.name_of(1)) == ("9", None)
        named = AttributedGraph.from_edges([[0], [1]], np.ones((2, 1)), names=["Ann", "Bob"])
        assert (named.shown(1), named.name_of(1)) == ("Bob", "Bob")

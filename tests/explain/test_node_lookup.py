"""Nodes are found by their ids and names; what is close is suggested."""

import numpy as np
import pytest
import torch

from egoscore import AttributedGraph
from egoscore.errors import InputError
from egoscore.explain.node_lookup import rows_of


def network(size, ids=None, names=None):
    return AttributedGraph.from_edges([[], []], np.ones((size, 1)), ids=ids, names=names)


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def row_of(graph, node):
    (found,) = rows_of(graph, [node])
    return found


class TestId:
    def test_several_are_found_in_the_order_they_are_asked_for(self):
        graph = network(4, [30, 17, 5, 8])
        assert rows_of(graph, ["8", 30, 17, 30]) == [3, 0, 1, 0]
        assert rows_of(graph, []) == []

    def test_ids_are_gone_through_once_however_many_are_asked_for(self):
        class Counted(str):
            """Counts how often it is read."""

            times = 0

            def __str__(self):
                Counted.times += 1
                return str.__str__(self)

        graph = network(50, objects([Counted(f"n{number}") for number in range(50)]))
        Counted.times = 0
        assert rows_of(graph, [f"n{number}" for number in range(50)]) == list(range(50))
        assert Counted.times == 50

    def test_numbers_are_found_as_numbers_and_as_text(self):
        graph = network(4, [30, 17, 5, 8])
        assert row_of(graph, 17) == row_of(graph, "17") == row_of(graph, np.int64(17)) == 1

    def test_text_is_found_as_text(self):
        graph = network(3, ["ann", "bob", "cat"])
        assert row_of(graph, "cat") == row_of(graph, np.str_("cat")) == 2

    def test_of_ids_that_look_alike_the_same_kind_comes_first(self):
        graph = network(3, objects(["1", 1, (1, 2)]))
        assert (row_of(graph, "1"), row_of(graph, 1)) == (0, 1)

    def test_text_that_is_a_number_elsewhere_is_a_number(self):
        assert row_of(network(2, objects([1, "a"])), "1") == 0

    @pytest.mark.parametrize("size", [1, 2, 3, 50])
    def test_a_tuple_is_one_name_however_many_nodes_there_are(self, size):
        ids = objects([(number, number + 1) for number in range(size)])
        graph = network(size, ids)
        for number, name in enumerate(ids):
            assert row_of(graph, name) == number
            assert row_of(graph, str(name)) == number

    def test_what_equals_an_id_is_found_however_it_looks(self):
        one, other = frozenset([0, 8]), frozenset([8, 0])
        assert (one == other, str(one) == str(other)) == (True, False)
        graph = network(3, objects([frozenset("x"), one, 17]))
        assert (row_of(graph, other), row_of(graph, 17.0)) == (1, 2)

    @pytest.mark.parametrize(
        "name",
        [(1, 2), [0], np.array([0, 1]), torch.tensor([0, 1]), None, float("nan"), 2.5, b"a"],
    )
    def test_what_is_no_id_here_is_refused_in_one_sentence(self, name):
        with pytest.raises(InputError, match="There is no node") as caught:
            row_of(network(2), name)
        assert "\n" not in str(caught.value)

    def test_one_that_is_nearly_right_is_suggested(self):
        graph = network(3, ["Anna Smith", "Bob", "Cat"])
        with pytest.raises(InputError) as caught:
            row_of(graph, "Ana Smith")
        assert "'Ana Smith'" in str(caught.value)
        assert "did you mean 'Anna Smith'?" in str(caught.value)

    @pytest.mark.parametrize("written", ["bob", "BOB"])
    def test_the_case_of_letters_does_not_matter_for_that(self, written):
        others = [f"n{number}" for number in range(3000)]
        with pytest.raises(InputError) as caught:
            row_of(network(3001, [*others, "Bob"]), written)
        assert "'Bob'" in str(caught.value)

    def test_if_none_is_near_one_is_shown_as_an_example(self):
        with pytest.raises(InputError) as caught:
            row_of(network(3, [100, 200, 300]), "zebra")
        assert "'zebra'" in str(caught.value)
        assert "'100'" in str(caught.value)


def refusal(graph, node):
    with pytest.raises(InputError) as caught:
        row_of(graph, node)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_node_is_found_by_the_name_it_is_shown_by():
    ids = ["two\nlines", "\x1b[31m", r"a\nb", "a\nb"]
    graph = AttributedGraph.from_edges([[0, 1], [1, 2]], np.eye(4), ids=ids)
    assert rows_of(graph, [r"two\nlines", r"\x1b[31m", r"a\nb", "a\nb"]) == [0, 1, 2, 3]


class TestName:
    def test_a_node_is_found_by_its_name_as_by_its_id(self):
        graph = network(3, [7, 8, 9], ["Ann", "Bob", None])
        assert rows_of(graph, ["Bob", 7, "9", "Ann"]) == [1, 0, 2, 0]

    def test_ids_come_before_names(self):
        graph = network(3, ["a", "b", "c"], ["b", "c", "x"])
        assert rows_of(graph, ["b", "c", "x"]) == [1, 2, 2]

    def test_a_name_is_found_as_it_is_displayed(self):
        graph = network(2, ["a", "b"], ["tab\there", "b"])
        assert row_of(graph, "tab\\there") == row_of(graph, "tab\there") == 0

    def test_of_several_nodes_with_a_name_the_ids_are_listed(self):
        graph = network(4, [7, 8, 9, 10], ["Ann", "Bob", "Ann", "Eve"])
        message = refusal(graph, "Ann")
        assert "'7', '9'" in message
        assert "8" not in message

    def test_many_nodes_with_a_name_make_no_long_sentence(self):
        assert len(refusal(network(5000, names=["Ann"] * 5000), "Ann")) < 300

    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            ("anna smth", ["Anna Smith"]),
            ("acc-9", ["acc-1", "acc-2", "acc-3"]),
            ("liberty", ["Newark Liberty International Airport"]),
            ("airport newark", ["Newark Liberty International Airport"]),
            ("new ark", ["Newark Liberty International Airport"]),
        ],
    )
    def test_close_ids_and_names_are_suggested(self, written, meant):
        names = ["Anna Smith", "Bob", "Newark Liberty International Airport"]
        message = refusal(network(3, ["acc-1", "acc-2", "acc-3"], names), written)
        assert all(repr(one) in message for one in meant)
        assert message.count("'") == 2 + 2 * len(meant)

    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            ("orlando sanford", "Orlando Sanford International Airport"),
            ("Ohare", "Chicago O'Hare International Airport"),
            ("o\u2019hare", "Chicago O'Hare International Airport"),
            ("orland", "\u00d8rland Airport"),
            ("st etienne", "Saint-\u00c9tienne"),
        ],
    )
    def test_names_with_all_words_come_before_those_that_look_alike(self, written, meant):
        names = [
            *("Portland Airport", "\u00d8rland Airport", "Obando Airport", "Saint-\u00c9tienne"),
            *("Orlando Sanford International Airport", "Chicago O'Hare International Airport"),
        ]
        ids = ["OHE", "HRE", "ETI", "ORL", "ORD", "SFB"]
        message = refusal(network(6, ids, names), written)
        assert message.index("did you mean") < message.index(meant)
        assert "OHE" not in message

    def test_whole_words_come_first(self):
        names = ["Romanian Rome", "Romance", "Rom"]
        assert "'Rom', 'Romance' or 'Romanian Rome'" in refusal(network(3, names=names), " rom-")

    @pytest.mark.parametrize(
        "written", ["chicago o'hare", " Chicago O'Hare ", "CHICAGO O'HARE", "Chic\u00e1go O'Hare"]
    )
    def test_case_accents_and_space_around_a_unique_name_do_not_matter(self, written):
        graph = network(3, [7, 8, 9], ["Miami", "Chicago O'Hare", "miami"])
        assert row_of(graph, written) == 1
        assert row_of(graph, "miami") == 2
        assert "'7', '9'" in refusal(graph, "MIAMI")

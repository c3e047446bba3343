"""The column that names the nodes: by its name, or by what it holds."""

import pandas as pd
import pytest

from egoscore.load import read_tables

EDGES = "source,target\na,b\nb,c\n"


@pytest.mark.parametrize("name", ["id", "ID", " Id ", "node", "node_id"])
def test_by_its_name_wherever_it_stands(read, name):
    reading = read(EDGES, f"x,{name}\n1,a\n2,b\n4,c\n")
    assert reading.graph.ids.tolist() == ["a", "b", "c"]
    assert "ids-guessed" not in [note.code for note in reading.notes]


def test_a_name_that_only_may_be_the_id_must_hold_ids(read, noted):
    reading = read(EDGES, "name,code,x\nAnn,a,1\nBob,b,2\nCid,c,3\n")
    assert reading.graph.ids.tolist() == ["a", "b", "c"]
    assert noted(reading, "ids-guessed", column="code")
    reading = read(EDGES, "code,name,x\nq,a,1\nr,b,2\ns,c,3\n")
    assert noted(reading, "ids-guessed", column="name")


def test_the_name_an_end_has(read, noted):
    reading = read("payer,payee\na,b\nb,c\n", "other,payer,x\na,a,1\nb,b,2\nc,c,3\n")
    assert noted(reading, "ids-guessed", column="payer")


def test_given(read, refusal):
    graph = read(EDGES, "id,code,x\n1,a,1\n2,b,2\n3,c,3\n", id="CODE").graph
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.feature_names == ("id", "x")
    nodes = "id,x\na,1\nb,2\nc,3\n"
    assert "does not have; it has 'id', 'x'" in refusal(read, EDGES, nodes, id="nothing")
    assert "both name" in refusal(read, EDGES, nodes, id="id", ignore=("id",))


def test_no_such_column_is_told(read, refusal):
    message = refusal(read, EDGES, "x,y\n1,2\n2,3\n")
    assert "that names the nodes as the edges do in 'source' and 'target' ('a' and 'b')" in message


def test_ids_that_are_there_twice_are_told(read, refusal):
    message = refusal(read, EDGES, "x,code\n1,a\n2,b\n3,b\n4,c\n")
    assert "'code' would, but some ids occur twice, such as 'b': drop such rows." in message


def test_ids_that_are_empty_are_told(read, refusal):
    message = refusal(read, EDGES, "x,code\n1,a\n2,b\n3,\n4,c\n")
    assert "'code' would, but some of its cells are empty: fill in or drop such rows." in message


def test_exchanged_tables_are_noticed(read, refusal):
    message = refusal(read, "code,x\na,1\nb,2\nc,3\n", "source,target\na,b\nb,c\n")
    assert "`edges=` and `nodes=` are swapped" in message


def test_whole_numbers_that_pandas_wrote_with_a_point_are_the_same_ids(read, noted):
    reading = read("source,target\n11,12\n12,13\n", "x,code\n5,11.0\n7,12.0\n9,13.0\n")
    assert noted(reading, "ids-guessed", column="code")
    assert reading.graph.ids.tolist() == [11, 12, 13]


def test_the_index_of_a_frame(noted):
    edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}, index=[5, 9])
    nodes = pd.DataFrame({"x": [1, 2, 3]}, index=["a", "b", "c"])
    reading = read_tables(edges, nodes)
    assert reading.graph.ids.tolist() == ["a", "b", "c"]
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "ids-guessed", column=None)
    named = read_tables(edges, nodes.rename_axis("id"))
    assert named.graph.ids.tolist() == ["a", "b", "c"]


def test_the_column_that_holds_most_of_the_edges_ids(noted):
    edges = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 4]})
    nodes = pd.DataFrame({"x": [1, 2, 3, 9]}, index=[1, 2, 3, 4])
    reading = read_tables(edges, nodes)
    assert reading.graph.ids.tolist() == [1, 2, 3, 4]
    assert reading.graph.feature_names == ("x",)
    assert noted(reading, "ids-guessed", column=None)


def test_of_two_that_hold_as_many_the_first(read, noted):
    reading = read(EDGES, "p,q,r,x\na,a,b,1\nz,b,a,2\nb,c,c,4\n")
    assert noted(reading, "ids-guessed", column="q")


def test_exchanged_tables_are_noticed_by_what_they_hold(read, refusal):
    accounts = "Konto,Umsatz\n" + "".join(f"k{i},{i}\n" for i in range(9))
    payments = "Zahler,Betrag\n" + "".join(f"k{i % 9},{i}\n" for i in range(40))
    message = refusal(read, accounts, payments)
    assert "'Zahler' would, but most ids occur several times" in message
    assert message.endswith("perhaps `edges=` and `nodes=` are swapped.")


def test_a_row_that_is_there_twice_does_not_hide_the_ends_of_the_edges(read, refusal):
    edges = "stamp,user,stars,product\n" + "".join(f"{99 + i},u{i % 6},{i % 5},p{i % 7}\n" for i in range(30))  # fmt: skip # noqa: E501
    names = [*(f"u{i}" for i in range(6)), *(f"p{i}" for i in range(7))]
    nodes = "".join(f"{name},{place + 50}\n" for place, name in enumerate([*names, "u1"]))
    message = refusal(read, edges, f"key,value\n{nodes}")
    assert "'key' would, but some ids occur twice, such as 'u1': drop such rows." in message

"""The ends of edges: by name, by the ids they hold, or by their place, which is said."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoscore.read import Choices, read_tables
from egoscore.read.csv_file import CsvTable
from egoscore.read.ends import find_ends
from egoscore.read.names import PAIRS
from egoscore.read.table import INDEX, ArrowTable


def table(*names):
    return ArrowTable("t", pa.table([[1]] * len(names), names=list(names)))


def ends(edges, choices=None, notes=None, nodes=None):
    return find_ends(edges, nodes, choices or Choices(), [] if notes is None else notes)


@pytest.mark.parametrize("pair", PAIRS)
def test_every_pair_is_found_wherever_it_stands(pair):
    first, second = pair[0].upper(), f" {pair[1]} "
    notes = []
    assert ends(table("when", second, "x", first), notes=notes) == (first, second)
    assert notes == []


def test_half_a_pair_says_nothing():
    notes = []
    assert ends(table("a", "from", "b"), notes=notes) == ("a", "from")
    assert "'a' to column 'from', taken by their place" in notes[0]


def test_a_nameless_index_is_not_an_end(write):
    assert ends(table(INDEX, "a", "b")) == ("a", "b")
    path = write("t.csv", ",a,b\n0,x,y\n")
    assert ends(CsvTable(path)) == ("a", "b")


@pytest.mark.parametrize(
    ("choices", "found"),
    [
        (Choices(source="B", target="a"), ("b", "a")),
        (Choices(source="b"), ("b", "a")),
        (Choices(target="a"), ("b", "a")),
        (Choices(source="source"), ("source", "target")),
        (Choices(target="target"), ("source", "target")),
    ],
)
def test_what_is_given_counts(choices, found):
    names = ("source", "target") if "source" in found else ("a", "b")
    assert ends(table(*names), choices) == found


def test_refusals(refusal):
    assert "needs two columns" in refusal(ends, table("a"))
    both = Choices(source="a", target="a")
    assert "both name the column 'a'" in refusal(ends, table("a", "b"), both)


NODES = "id,x\nann,1\nbob,2\ncid,4\n"
BY_IDS = "edges go from column 'p' to column 'q', as both hold ids of"


@pytest.mark.parametrize(
    ("edges", "nodes"),
    [
        ("n,p,q\n1,ann,bob\n2,bob,cid\n", NODES),
        ("when,p,eur,q\n2020-01-01,ann,5,bob\n2020-01-02,bob,6,cid\n", NODES),
        ("note,p,q\nhello,ann,bob\nbye,bob, cid\nhello,zoe,ann\n", NODES),
        ("eur,p,q\n500,1,2\n600,2,3\n", "id,x\n1,9\n2,8\n3,7\n"),
        ("eur,p,q\n500,1.0,2\n600,2.0,3\n", "id,x\n1,9\n2,8\n3,7\n"),
        ("n,p,q\n1,ann,bob\n2,bob,cid\n", "x,handle\n5,ann\n5,bob\n4,cid\n"),
    ],
)
def test_the_two_columns_that_hold_ids_of_the_nodes_are_the_ends(read, said, edges, nodes):
    reading = read(edges, nodes)
    assert said(reading, BY_IDS)
    assert reading.graph.num_edges == 2


def test_with_one_end_given_the_other_is_the_column_that_holds_ids(read, said, pairs):
    reading = read("n,q,p\n1,bob,ann\n2,cid,bob\n", NODES, source="p")
    assert said(reading, "from column 'p' to column 'q', as 'q' holds ids of")
    assert pairs(reading.graph) == [("ann", "bob"), ("bob", "cid")]


def test_ids_are_found_in_every_kind_of_table(tmp_path, said):
    edges = pa.table({"n": [1, 2], "p": ["ann", "bob"], "q": ["bob", "cid"]})
    nodes = pa.table({"id": ["ann", "bob", "cid"], "x": [1, 2, 4]})
    for name, one in (("e", edges), ("n", nodes)):
        pq.write_table(one, tmp_path / f"{name}.parquet")
    files = (tmp_path / "e.parquet", tmp_path / "n.parquet")
    for sources in ((edges, nodes), files):
        assert said(read_tables(*sources), BY_IDS)


def test_the_names_count_more_than_what_columns_hold(read, refusal):
    edges = "source,target,p,q\n1,2,ann,bob\n2,3,bob,cid\n"
    assert "name nodes that are not in" in refusal(read, edges, NODES)


@pytest.mark.parametrize("choices", [{"weight": "n"}, {"ignore": ("N",)}])
def test_what_the_user_says_is_something_else_is_no_end(read, said, choices):
    nodes = "id,x\n1,9\n2,8\n3,7\n"
    assert said(read("n,p,q\n2,1,2\n1,2,3\n", nodes, **choices), BY_IDS)
    assert said(read("n,p,q\n2,1,2\n1,2,3\n", **choices), "from column 'p' to column 'q', taken")


def numbered(first, count=6):
    rows = "".join(f"{first + row},v{row % 3},v{(row + 1) % 3},w\n" for row in range(count))
    return f"n,p,q,kind\n{rows}"


def test_row_numbers_are_no_ends_even_if_they_are_ids_where_two_other_columns_are(read, said):
    nodes = "id,x\n" + "".join(f"{row},{row % 4}\n" for row in range(20))
    rows = "".join(f"{row},{row % 3},{row % 5 + 7}\n" for row in range(12))
    reading = read(f"n,p,q\n{rows}", nodes)
    assert said(reading, BY_IDS)
    assert not said(reading, "only counts the rows")


def test_row_numbers_that_are_one_of_two_columns_of_ids_are_warned_of(read, said):
    nodes = "id,x\n" + "".join(f"{row},{row % 4}\n" for row in range(20))
    rows = "".join(f"{row},{row % 3},s{row}\n" for row in range(12))
    reading = read(f"n,p,shop\n{rows}", nodes)
    assert said(reading, "from column 'n' to column 'p', as both hold ids of")
    assert said(reading, "'n' only counts the rows and is taken as an end of the edges all the")


def test_four_columns_of_ids_are_taken_by_place(read, said):
    nodes = "id,x\nann,1\nbob,2\ncid,4\n"
    reading = read("a,b,c,d\nann,bob,cid,ann\nbob,cid,ann,ann\n", nodes)
    assert said(reading, "from column 'a' to column 'b', taken by their place")


def test_a_column_of_nodes_that_only_counts_is_no_better_than_names_of_which_some_are_unknown(
    read, said
):
    nodes = "acct,rank,x\n" + "".join(f"A{row},{row},{row % 4}\n" for row in range(1, 31))
    rows = "".join(
        f"{row},{row % 7 + 1},{'new' if row % 5 == 0 else f'A{row}'},A{row % 9 + 1}\n"
        for row in range(1, 25)
    )
    reading = read(f"n,qty,p,q\n{rows}", nodes, impute="median")
    assert said(reading, BY_IDS)


def test_dates_of_any_type_are_no_ends(said):
    import datetime

    texts = ["2020-01-01", "2020-01-02", "2020-01-05"]
    days = [
        pa.array(texts).dictionary_encode(),
        pa.array([datetime.date.fromisoformat(text) for text in texts]),
        pa.array([datetime.time(hour) for hour in range(3)]),
    ]
    for column in days:
        reading = read_tables(pa.table({"at": column, "p": ["a", "b", "c"], "q": ["b", "c", "a"]}))
        assert said(reading, "column 'at' holds dates or times, so it is taken for no end")


def test_names_that_look_like_months_are_ends(read, said):
    edges = "p,q,note\n2014-07,2014-08,x\n2014-08,2014-09,y\n"
    reading = read(edges)
    assert said(reading, "from column 'p' to column 'q', taken by their place")
    assert not said(reading, "holds dates")


@pytest.mark.parametrize("first", [0, 1])
def test_row_numbers_that_are_no_ids_are_no_ends_where_there_are_nodes(read, said, first):
    nodes = "id,kind\nv0,w\nv1,u\nw,u\n"  # kind is an id as well, so that three columns hold ids
    reading = read(numbered(first), nodes, impute="median")
    assert said(reading, "column 'n' only counts the rows, so it is taken for no end")
    assert said(reading, "from column 'p' to column 'q', taken by their place")


def test_row_numbers_are_warned_of_where_there_are_no_nodes(read, said):
    reading = read(numbered(1))
    assert said(reading, "from column 'n' to column 'p', taken by their place")
    assert said(reading, "if it is none, name the ends with --source and --target")


@pytest.mark.parametrize("first", [2, 100])
def test_other_numbers_are_not_warned_of(read, said, first):
    assert not said(read(numbered(first)), "only counts the rows")


@pytest.mark.parametrize("date", ["2020-01-0{}", "{}.1.2020", "0{}-Jan-2020", "2020-01-0{} 10:00"])
def test_dates_are_no_ends_if_there_are_other_columns(read, said, date):
    days = [date.format(day) for day in (1, 2, 5)]
    rows = zip(days, "abc", "bca", strict=True)
    lines = [",".join(row) for row in rows]
    reading = read("\n".join(["at,p,q", *lines]))
    assert said(reading, "column 'at' holds dates or times, so it is taken for no end")
    assert said(reading, "from column 'p' to column 'q', taken by their place")
    reading = read("\n".join(["at,p", *(line.rpartition(",")[0] for line in lines)]))
    assert said(reading, "column 'at' holds dates or times and is taken as an end of the edges all")


def test_dates_by_type_are_no_ends():
    frame = pa.table({"at": pa.array([1, 2], pa.date32()), "p": ["a", "b"], "q": ["b", "c"]})
    assert ends(ArrowTable("t", frame)) == ("p", "q")

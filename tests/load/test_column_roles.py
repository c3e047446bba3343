"""Columns of ids: of the ends of edges and of the nodes, by name, by content or by position."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoscore.load import Options, read_tables
from egoscore.load.column_names import PAIRS
from egoscore.load.column_roles import find_endpoints
from egoscore.load.csv import CsvTable
from egoscore.load.table import INDEX, ArrowTable

EDGES = "source,target\na,b\nb,c\n"


def table(*names):
    return ArrowTable("t", pa.table([[1]] * len(names), names=list(names)))


def ends(edges, options=None, notes=None, nodes=None):
    return find_endpoints(edges, nodes, options or Options(), [] if notes is None else notes)


@pytest.mark.parametrize("pair", PAIRS)
def test_every_pair_is_found_wherever_it_stands(pair):
    first, second = pair[0].upper(), f" {pair[1]} "
    notes = []
    assert ends(table("when", second, "x", first), notes=notes) == (first, second)
    assert notes == []


def test_half_a_pair_says_nothing():
    notes = []
    assert ends(table("a", "from", "b"), notes=notes) == ("a", "from")
    assert [note.fields["because"] for note in notes] == ["position"]


def test_a_nameless_index_is_not_an_end(write):
    assert ends(table(INDEX, "a", "b")) == ("a", "b")
    path = write("t.csv", ",a,b\n0,x,y\n")
    assert ends(CsvTable(path)) == ("a", "b")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (Options(source="B", target="a"), ("b", "a")),
        (Options(source="b"), ("b", "a")),
        (Options(target="a"), ("b", "a")),
        (Options(source="source"), ("source", "target")),
        (Options(target="target"), ("source", "target")),
    ],
)
def test_what_is_given_counts(options, found):
    names = ("source", "target") if "source" in found else ("a", "b")
    assert ends(table(*names), options) == found


def test_refusals(refusal):
    assert "needs two columns" in refusal(ends, table("a"))
    both = Options(source="a", target="a")
    assert "both name the column 'a'" in refusal(ends, table("a", "b"), both)


NODES = "id,x\nann,1\nbob,2\ncid,4\n"
BY_IDS = {"source": "p", "target": "q", "because": "ids", "guessed": ["p", "q"]}
BY_POSITION = {"source": "p", "target": "q", "because": "position"}


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
def test_the_two_columns_that_hold_ids_of_the_nodes_are_the_ends(read, noted, edges, nodes):
    reading = read(edges, nodes, impute="none")
    assert noted(reading, "ends-guessed", **BY_IDS)
    assert reading.graph.num_edges == 2


def test_with_one_end_given_the_other_is_the_column_that_holds_ids(read, noted, pairs):
    reading = read("n,q,p\n1,bob,ann\n2,cid,bob\n", NODES, source="p")
    assert noted(reading, "ends-guessed", **{**BY_IDS, "guessed": ["q"]})
    assert pairs(reading.graph) == [("ann", "bob"), ("bob", "cid")]


def test_ids_are_found_in_every_kind_of_table(tmp_path, noted):
    edges = pa.table({"n": [1, 2], "p": ["ann", "bob"], "q": ["bob", "cid"]})
    nodes = pa.table({"id": ["ann", "bob", "cid"], "x": [1, 2, 4]})
    for name, one in (("e", edges), ("n", nodes)):
        pq.write_table(one, tmp_path / f"{name}.parquet")
    files = (tmp_path / "e.parquet", tmp_path / "n.parquet")
    for sources in ((edges, nodes), files):
        assert noted(read_tables(*sources), "ends-guessed", **BY_IDS)


def test_the_names_count_more_than_what_columns_hold(read, refusal):
    edges = "source,target,p,q\n1,2,ann,bob\n2,3,bob,cid\n"
    assert "refer to nodes that are not in" in refusal(read, edges, NODES)


@pytest.mark.parametrize("options", [{"weight": "n"}, {"ignore": ("N",)}])
def test_what_the_user_says_is_something_else_is_no_end(read, noted, options):
    nodes = "id,x\n1,9\n2,8\n3,7\n"
    assert noted(read("n,p,q\n2,1,2\n1,2,3\n", nodes, **options), "ends-guessed", **BY_IDS)
    assert noted(read("n,p,q\n2,1,2\n1,2,3\n", **options), "ends-guessed", **BY_POSITION)


def numbered(first, count=6):
    rows = "".join(f"{first + row},v{row % 3},v{(row + 1) % 3},w\n" for row in range(count))
    return f"n,p,q,kind\n{rows}"


def test_row_numbers_are_no_ends_even_if_they_are_ids_where_two_other_columns_are(read, noted):
    nodes = "id,x\n" + "".join(f"{row},{row % 4}\n" for row in range(20))
    rows = "".join(f"{row},{row % 3},{row % 5 + 7}\n" for row in range(12))
    reading = read(f"n,p,q\n{rows}", nodes)
    assert noted(reading, "ends-guessed", **BY_IDS)
    assert not [note for note in reading.notes if note.code in ("odd-end", "skipped-end")]


def test_row_numbers_that_are_one_of_two_columns_of_ids_are_warned_of(read, noted):
    nodes = "id,x\n" + "".join(f"{row},{row % 4}\n" for row in range(20))
    rows = "".join(f"{row},{row % 3},s{row}\n" for row in range(12))
    reading = read(f"n,p,shop\n{rows}", nodes)
    assert noted(reading, "ends-guessed", source="n", target="p", because="ids")
    assert noted(reading, "odd-end", column="n", holds="row-numbers")


def test_four_columns_of_ids_are_taken_by_place(read, noted):
    nodes = "id,x\nann,1\nbob,2\ncid,4\n"
    reading = read("a,b,c,d\nann,bob,cid,ann\nbob,cid,ann,ann\n", nodes)
    assert noted(reading, "ends-guessed", source="a", target="b", because="position")


def test_a_column_of_nodes_that_only_counts_is_no_better_than_names_of_which_some_are_unknown(
    read, noted
):
    nodes = "acct,rank,x\n" + "".join(f"A{row},{row},{row % 4}\n" for row in range(1, 31))
    rows = "".join(
        f"{row},{row % 7 + 1},{'new' if row % 5 == 0 else f'A{row}'},A{row % 9 + 1}\n"
        for row in range(1, 25)
    )
    reading = read(f"n,qty,p,q\n{rows}", nodes, impute="median")
    assert noted(reading, "ends-guessed", **BY_IDS)


def test_dates_of_any_type_are_no_ends(noted):
    import datetime

    texts = ["2020-01-01", "2020-01-02", "2020-01-05"]
    days = [
        pa.array(texts).dictionary_encode(),
        pa.array([datetime.date.fromisoformat(text) for text in texts]),
        pa.array([datetime.time(hour) for hour in range(3)]),
    ]
    for column in days:
        reading = read_tables(pa.table({"at": column, "p": ["a", "b", "c"], "q": ["b", "c", "a"]}))
        assert noted(reading, "skipped-end", column="at", holds="dates")


def test_names_that_look_like_months_are_ends(read, noted):
    edges = "p,q,note\n2014-07,2014-08,x\n2014-08,2014-09,y\n"
    reading = read(edges)
    assert noted(reading, "ends-guessed", **BY_POSITION)
    assert not noted(reading, "skipped-end")


@pytest.mark.parametrize("first", [0, 1])
def test_row_numbers_that_are_no_ids_are_no_ends_where_there_are_nodes(read, noted, first):
    nodes = "id,kind\nv0,w\nv1,u\nw,u\n"  # kind is an id as well, so that three columns hold ids
    reading = read(numbered(first), nodes, impute="median")
    assert noted(reading, "skipped-end", column="n", holds="row-numbers")
    assert noted(reading, "ends-guessed", **BY_POSITION)


def test_row_numbers_are_warned_of_where_there_are_no_nodes(read, noted):
    reading = read(numbered(1))
    assert noted(reading, "ends-guessed", source="n", target="p", because="position")
    assert noted(reading, "odd-end", column="n", holds="row-numbers")


@pytest.mark.parametrize("first", [2, 100])
def test_other_numbers_are_not_warned_of(read, noted, first):
    assert not noted(read(numbered(first)), "odd-end")


@pytest.mark.parametrize("date", ["2020-01-0{}", "{}.1.2020", "0{}-Jan-2020", "2020-01-0{} 10:00"])
def test_dates_are_no_ends_if_there_are_other_columns(read, noted, date):
    days = [date.format(day) for day in (1, 2, 5)]
    rows = zip(days, "abc", "bca", strict=True)
    lines = [",".join(row) for row in rows]
    reading = read("\n".join(["at,p,q", *lines]))
    assert noted(reading, "skipped-end", column="at", holds="dates")
    assert noted(reading, "ends-guessed", **BY_POSITION)
    reading = read("\n".join(["at,p", *(line.rpartition(",")[0] for line in lines)]))
    assert noted(reading, "odd-end", column="at", holds="dates")


def test_dates_by_type_are_no_ends():
    frame = pa.table({"at": pa.array([1, 2], pa.date32()), "p": ["a", "b"], "q": ["b", "c"]})
    assert ends(ArrowTable("t", frame)) == ("p", "q")


@pytest.mark.parametrize("name", ["id", "ID", " Id ", "node", "node_id"])
def test_ids_by_their_name_wherever_they_stand(read, name):
    reading = read(EDGES, f"x,{name}\n1,a\n2,b\n4,c\n")
    assert reading.graph.ids.tolist() == ["a", "b", "c"]
    assert "ids-guessed" not in [note.code for note in reading.notes]


def test_a_name_that_only_may_be_the_id_must_hold_ids(read, noted):
    reading = read(EDGES, "name,code,x\nAnn,a,1\nBob,b,2\nCid,c,3\n")
    assert reading.graph.ids.tolist() == ["a", "b", "c"]
    assert noted(reading, "ids-guessed", column="code")
    reading = read(EDGES, "code,name,x\nq,a,1\nr,b,2\ns,c,3\n")
    assert noted(reading, "ids-guessed", column="name")


def test_ids_may_have_the_name_of_an_end(read, noted):
    reading = read("payer,payee\na,b\nb,c\n", "other,payer,x\na,a,1\nb,b,2\nc,c,3\n")
    assert noted(reading, "ids-guessed", column="payer")


def test_ids_as_given(read, refusal):
    graph = read(EDGES, "id,code,x\n1,a,1\n2,b,2\n3,c,3\n", id="CODE").graph
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.feature_names == ("x",)
    nodes = "id,x\na,1\nb,2\nc,3\n"
    assert "does not have; it has 'id', 'x'" in refusal(read, EDGES, nodes, id="nothing")
    assert "both name" in refusal(read, EDGES, nodes, id="id", ignore=("id",))


def test_no_column_of_ids_is_told(read, refusal):
    message = refusal(read, EDGES, "x,y\n1,2\n2,3\n")
    assert "'source' and 'target' of the edges refer to ('a' and 'b')" in message


def test_ids_that_are_there_twice_are_told(read, refusal):
    message = refusal(read, EDGES, "x,code\n1,a\n2,b\n3,b\n4,c\n")
    assert "'code' matches, but some ids occur twice, such as 'b': drop such rows." in message


def test_ids_that_are_empty_are_told(read, refusal):
    message = refusal(read, EDGES, "x,code\n1,a\n2,b\n3,\n4,c\n")
    assert "'code' matches, but some of its cells are empty: fill in or drop such rows." in message


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
    assert "'Zahler' matches, but most ids occur several times" in message
    assert message.endswith("perhaps `edges=` and `nodes=` are swapped.")


def test_a_row_that_is_there_twice_does_not_hide_the_ends_of_the_edges(read, refusal):
    edges = "stamp,user,stars,product\n" + "".join(f"{99 + i},u{i % 6},{i % 5},p{i % 7}\n" for i in range(30))  # fmt: skip # noqa: E501
    names = [*(f"u{i}" for i in range(6)), *(f"p{i}" for i in range(7))]
    nodes = "".join(f"{name},{place + 50}\n" for place, name in enumerate([*names, "u1"]))
    message = refusal(read, edges, f"key,value\n{nodes}")
    assert "'key' matches, but some ids occur twice, such as 'u1': drop such rows." in message


class TestEdgesReferToAnotherColumn:
    EDGES = "from,to\n0,1\n1,2\n2,3\n3,4\n"
    NODES = "id,age,new_id\n901,30,2\n902,41,0\n903,35,1\n904,28,4\n905,61,3\n"

    def test_a_column_with_their_ids_is_taken_rather_than_one_called_id(self, read, noted):
        reading = read(self.EDGES, self.NODES)
        assert reading.graph.ids.tolist() == [2, 0, 1, 4, 3]
        assert noted(reading, "ids-guessed", column="new_id")
        assert reading.graph.feature_names == ("age",)

    def test_the_one_called_id_is_taken_if_it_has_some_of_them(self, read, noted):
        reading = read("from,to\n901,1\n902,2\n903,3\n904,4\n", self.NODES)
        assert reading.graph.ids.tolist()[:5] == [901, 902, 903, 904, 905]

    def test_so_it_is_if_the_user_says_so(self, read, refusal):
        assert "902" in refusal(read, self.EDGES, self.NODES, id="id")


def test_the_edges_of_a_real_table_refer_to_its_second_column_of_ids(noted):
    folder = Path(__file__).resolve().parents[3] / "shared/data/tables/twitch_de"
    if not folder.exists():
        pytest.skip("the real tables are not here")
    reading = read_tables(folder / "edges.csv.gz", folder / "nodes.csv.gz")
    assert noted(reading, "ids-guessed", column="new_id")
    assert {column.name for column in reading.graph.columns} >= {"days", "views"}
    assert noted(reading, "column-unusable", column="id", reason="ids")

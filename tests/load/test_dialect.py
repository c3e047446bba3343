"""How a file writes its table down, found out from its first lines."""

import pytest

from egoscore.load.dialect import SPACES, Hints, TooShortError, detect_dialect
from egoscore.report.notes import render


def dialect(text, is_whole=True, given=()):
    data = text if isinstance(text, bytes) else text.encode()
    return detect_dialect(data, is_whole, "t.csv", Hints(given))


@pytest.mark.parametrize(
    ("separator", "word"),
    [(",", None), (";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars"), (" ", "spaces")],
)
def test_separators_are_found_and_told(separator, word):
    found = dialect("source,target,w\nann,bob,1\nbob,eve,2\n".replace(",", separator))
    assert found.separator == separator
    assert found.names == ("source", "target", "w")
    assert found.rows == (("ann", "bob", "1"), ("bob", "eve", "2"))
    shown = {word} if word else set()
    assert {render(note) for note in found.notes} == {
        f"t.csv: cells are separated by {name}." for name in shown
    }


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("1  2\n10 20\n3    4\n", SPACES),
        (" 1 2\n 3 4\n", SPACES),
        ("1 2\t5\n3 4\t6\n", SPACES),
        ('id;text\n1;"a, b"\n2;"c, d"\n', ";"),
        ('id,text\n1,"a; b"\n2,"c; d"\n', ","),
        ('source,target\n"a;b","c;d"\n"e;f","g;h"\n', ","),
        ("id;x;y\n1;2,5;3,5\n2;4,5;5,5\n", ";"),
        ("sep=;\nid;x\n1;2\n", ";"),
        ("id\nann\nbob\n", ","),
        ('id,text\n1,"two\nlines, yes"\n', ","),
    ],
)
def test_quotes_and_runs_are_respected(text, separator):
    assert dialect(text).separator == separator


@pytest.mark.parametrize(
    ("text", "names", "has_header"),
    [
        ("1,2\n2,3\n", ("column 1", "column 2"), False),
        ("-1.5,2\nx,3\n", ("column 1", "column 2"), False),
        ("u1,u2\nu2,u3\n", ("column 1", "column 2"), False),
        ("ann,bob\nbob,eve\n", ("column 1", "column 2"), False),
        ("a@x.org,b@y.org\nc@z.org,d@w.org\n", ("column 1", "column 2"), False),
        ("ann,23\nbob,45\n", ("column 1", "column 2"), False),
        ("id1,id2\nid7,id8\n", ("id1", "id2"), True),
        ("payer,payee\nann,bob\n", ("payer", "payee"), True),
        ("left,right\nann,bob\n", ("left", "right"), True),
        (" Source , TARGET \n1,2\n", ("Source", "TARGET"), True),
        ("country,2019\nFR,2018\n", ("country", "2019"), True),
        ("# FromNodeId\tToNodeId\n1\t2\n", ("FromNodeId", "ToNodeId"), False),
        ("#source,target\nann,bob\nbob,eve\n", ("source", "target"), False),
        ("% asym\n% 3 4\n1 2\n2 3\n", ("column 1", "column 2"), False),
        ("\ufeffsource,target\n1,2\n", ("source", "target"), True),
        ("\r\nsource,target\r\n1,2\r\n", ("source", "target"), True),
        ("source,target\r1,2\r", ("source", "target"), True),
        ("source,target", ("source", "target"), True),
    ],
)
def test_a_row_of_names_is_told_from_data(text, names, has_header):
    found = dialect(text)
    assert (found.names, found.has_header) == (names, has_header)
    assert any(note.code == "no-header" for note in found.notes) == (names[0] == "column 1")


@pytest.mark.parametrize(
    ("text", "has_header"),
    [
        ("ann,Rome,5.5\nbob,Oslo,7\neve,Bern,1e3\n", False),
        ("ann,Rome,2020-01-05\nbob,Oslo,2020-02-29\n", False),
        ("ann,Rome,?,5.5\nbob,Oslo,3,7\n", False),
        ("ann,Rome,x,5\nbob,Oslo,3,7\n", True),  # a name above numbers
        ("ann,Rome,5\nbob,Oslo,none at all\n", True),
        ("country,city,2019,2020\nIT,Rome,5,6\nNO,Oslo,7,8\n", True),
        ("gene,tissue,0,1,2\nA,x,0.5,1.5,2.5\nB,y,0.25,1,2\n", True),
        (",name,a\n0,ann,x\n1,bob,y\n", True),
    ],
)
def test_numbers_above_numbers_are_data(text, has_header):
    assert dialect(text).has_header == has_header


def test_two_columns_of_edges_are_their_ends():
    for text in ("1 2\n1 3\n", "u1,u2\nu2,u3\n"):
        found = detect_dialect(text.encode(), True, "t", Hints(are_edges=True))
        assert (found.names, found.has_header) == (("source", "target"), False)
        assert found.notes[-1].fields["columns"] == ["source", "target"]
    wide = detect_dialect(b"1 2 0.5\n1 3 0.7\n", True, "t", Hints(are_edges=True))
    assert wide.names == ("column 1", "column 2", "column 3")


@pytest.mark.parametrize(
    ("text", "has_header"),
    [
        ("ann,bob\ncid,dan\n", False),  # as far as anyone can tell, these might be names
        ("1,2\n3,4\n", False),
        ("from,to\nann,bob\n", True),
        ("P,q\nann,bob\n", True),
        ("a,b\nann,5\neve,7\n", True),
    ],
)
def test_the_user_may_name_all_columns(text, has_header):
    found = detect_dialect(text.encode(), True, "t", Hints(columns=("p", "Q")))
    assert (found.names, found.has_header) == (("p", "Q"), has_header)
    assert len(found.rows) == 2 + text.count("eve") - has_header
    assert [note.code for note in found.notes] == ["columns-given"]


def test_all_columns_must_be_named(refusal):
    message = refusal(detect_dialect, b"1,2,3\n4,5,6\n", True, "t", Hints(columns=("p", "q")))
    assert "3 columns" in message
    assert "2 names" in message


def test_columns_without_a_name_are_called_by_their_place():
    found = dialect("id,,x,\na,1,2,\n")
    assert found.names == ("id", "column 2", "x", "column 4")
    assert found.nameless == {"column 2", "column 4"}
    assert dialect("1,2\n").nameless == frozenset()


def test_names_the_user_gives_are_names():
    assert not dialect("u1,u2\nu3,u4\n").has_header
    assert dialect("u1,u2\nu3,u4\n", given=["U1"]).has_header


def test_a_sample_that_ends_anywhere_does_not_mislead():
    whole = "source;target\n" + "ann;bob\n" * 50
    for end in range(20, 30):
        with pytest.raises(TooShortError):  # the second row might go on
            dialect(whole[:end], is_whole=False)
    for end in range(31, len(whole)):
        found = dialect(whole[:end], is_whole=False)
        assert (found.separator, found.names) == (";", ("source", "target"))
        assert set(found.rows) <= {("ann", "bob")}


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"id,caf\xe9\n1,2\n", "cp1252"),
        (b"id,caf\xe9\x81\n1,2\n", "latin-1"),
        ("id,caf\u00e9\n1,2\n".encode(), "utf-8"),
        ("id,caf\u00e9\n1,2\n".encode("utf-16"), "utf-16"),
        ("id,caf\u00e9\n1,2\n".encode("utf-8-sig"), "utf-8"),
    ],
)
def test_encodings(data, encoding):
    found = dialect(data)
    assert found.encoding == encoding
    assert found.names[0] == "id"
    assert found.names[1].startswith("caf\u00e9")
    assert bool(found.notes) == (encoding != "utf-8")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a": 1}', "JSON"),
        (b" [1, 2]", "JSON"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"%PDF-1.4\n1 0 obj", "a PDF"),
        (b"a,b\n\x00,1\n", "not a text file"),
        (b"\xff\xd8\xff\xe0\x01\x02", "not a text file"),
        (b"# only\n# comments\n", "holds no table"),
        (b"\n\n", "holds no table"),
        (b"sep=,", "has no rows"),
    ],
)
def test_what_is_no_table_is_told(refusal, data, words):
    assert words in refusal(dialect, data)

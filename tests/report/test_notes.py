"""Notes as text: every code has a sentence, and the sentence holds the key facts."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import egoscore
from egoscore.explain.explanation import Deviation
from egoscore.notes import WHY_UNUSABLE, Note
from egoscore.report.loading_notes import _FILLS, _KINDS, _ODDITIES, _SEPARATORS, _TRAITS
from egoscore.report.notes import SENTENCES, render
from egoscore.text import command_line_options

FILE, TABLE, COLUMN = "graph.mat", "nodes.csv", "monthly income"
OF_COLUMN = {"table": TABLE, "column": COLUMN}
LOST = {"edges": "edges.csv", "nodes": TABLE, "count": 3, "example": "c-17"}
FAR = Deviation("age", "900", "41", 12.0, "number", "", 900.0, 41.0, True)
AGREEMENT = {
    "found": 31,
    "expected": 2.68,
    "nodes": 400,
    "usual": 4.0,
    "questions": ["features", "features"],
}

# Realistic fields of every note, and what its sentence must hold besides the text in the fields.
EXAMPLES: dict[str, tuple[dict, tuple[str, ...]]] = {
    "edge-list": ({"table": TABLE}, ()),
    "tables-from-pipes": ({}, ("pipes",)),
    "encoding-detected": ({"table": TABLE, "encoding": "UTF-16"}, ()),
    "encoding-given": ({"table": TABLE, "encoding": "cp1251"}, ()),
    "encoding-guessed": ({"table": TABLE, "encoding": "Windows-1252"}, ("encoding=",)),
    "column-frequencies": (OF_COLUMN | {"count": 1234}, ("1,234 categories", "neighbours")),
    "columns-given": (
        {"table": TABLE, "columns": ["p", "q"], "header": False},
        ("'p', 'q'", "as data"),
    ),
    "separator": ({"table": TABLE, "separator": ";"}, ("semicolons",)),
    "no-header": (
        {"table": TABLE, "columns": ["column 1", "column 2"], "edges": False},
        ("column 1", "node_columns="),
    ),
    "mixed-types": (OF_COLUMN, ("text",)),
    "undirected-file": ({"file": FILE}, ("directed=",)),
    "names": ({**OF_COLUMN, "missing": 3}, ("3 nodes", "name=")),
    "names-unused": (OF_COLUMN, ("left out", "name=")),
    "names-repeat-ids": (OF_COLUMN, ("left out",)),
    "attribute-unused": (OF_COLUMN, ("not used",)),
    "dgraph": ({"file": FILE}, ("class 1",)),
    "array-features": ({"file": FILE, "name": "X"}, ("features",)),
    "array-labels": ({"file": FILE, "name": "gnd"}, ("outliers",)),
    "array-not-labels": ({"file": FILE, "name": "gnd"}, ("not used",)),
    "arrays-unused": ({"file": FILE, "names": ["Class", "str_anomaly"]}, ("not used",)),
    "edge-values-unused": ({"file": FILE, "name": "edge_attr"}, ("not used",)),
    "entries-differ": ({"file": FILE, "name": "Network"}, ("without weight",)),
    "not-symmetric": ({"file": FILE, "name": "Network"}, ("undirected", "directed=")),
    "ends-guessed": (
        {
            "table": "edges.csv",
            **{"source": "payer", "target": "payee", "nodes": TABLE},
            **{"because": "ids", "guessed": ["payer", "payee"]},
        },
        ("both", "source=", "target="),
    ),
    "odd-end": (OF_COLUMN | {"holds": "dates"}, ("dates", "source=", "target=")),
    "skipped-end": (OF_COLUMN | {"holds": "row-numbers"}, ("counts the rows",)),
    "columns-unused": ({"table": TABLE, "columns": ["memo", "day"]}, ("columns", "are not used")),
    "ids-guessed": (OF_COLUMN, ("ids",)),
    "ids-whole-decimals": (OF_COLUMN, ("12.0", "12")),
    "ids-point-zero": (OF_COLUMN, (".0",)),
    "ids-trimmed": ({}, ("spaces",)),
    "ids-respelled": ({"count": 3, "example": "C-17", "known": "c-17"}, ("3 ids",)),
    "nodes-without-row-kept": (LOST, ("3 nodes", "kept", "imputed")),
    "nodes-without-row-dropped": (
        LOST | {"lost_edges": 5},
        ("3 nodes", "5 edges", "impute='none'"),
    ),
    "isolated-nodes": ({"table": TABLE, "count": 2}, ("2 nodes", "no edges")),
    "labels": (OF_COLUMN | {"known": 1200, "count": 3000}, ("outliers", "1,200 of 3,000 nodes")),
    "label-words": (OF_COLUMN | {"normal": "no", "outlier": "yes"}, ("outlier",)),
    "answer-left-out": (OF_COLUMN, ("label='monthly income'", "features=")),
    "answer-not-binary": (OF_COLUMN, ("0 and 1", "features=")),
    "columns-read": ({"table": TABLE, "kind": "date", "columns": ["since"]}, ("1970",)),
    "column-format": (
        OF_COLUMN | {"kind": "number", "traits": ["unit:$", "decimal-comma"]},
        ("'$' removed", "decimal comma"),
    ),
    "column-categories": (
        OF_COLUMN | {"count": 4, "traits": ["category:none"]},
        ("4 categories", "'none'"),
    ),
    "column-constant": (OF_COLUMN, ("same value", "left out")),
    "column-unusable": (
        OF_COLUMN | {"reason": "many-texts", "count": 812, "limit": 100},
        ("812", "100", "left out"),
    ),
    "column-damaged": (
        OF_COLUMN | {"kind": "number", "count": 2, "cell": "n/a?", "row": 17},
        ("2 cells", "row 17", "missing"),
    ),
    "column-missing": (OF_COLUMN | {"count": 12, "fill": "median"}, ("12 nodes", "median")),
    "codes-as-numbers": (
        {"table": TABLE, "columns": ["zip", "branch"]},
        ("categories=", "ignore="),
    ),
    "placeholder": (
        OF_COLUMN | {"value": "-999", "count": 7},
        ("7 rows", "empty"),
    ),
    "weights-missing": (OF_COLUMN | {"count": 9}, ("9 edges", "median")),
    "edge-features": ({"columns": ["amount"], "directed": True}, ("'amount'", "received")),
    "edges-counted": ({"columns": ["edges sent"], "count": 93}, ("'edges sent'", "93 repeated")),
    "structural-features": ({}, ("features", "clustering")),
    "self-loops-dropped": ({"count": 1, "weight": None}, ("1 self-loop",)),
    "duplicates-dropped": ({"count": 1234, "weight": "amount"}, ("1,234 repeated edges",)),
    "agreement-of-questions": (
        AGREEMENT,
        ("31 of 400 nodes", "about 3 ", "features and features"),
    ),
    "list-may-be-chance": (
        AGREEMENT | {"found": 4},
        ("chance", "4 of 400 nodes", "about 3 "),
    ),
    "reliability": (
        {"level": "limited", "because": [{"code": "few-nodes", "fields": {"nodes": 50}}] * 3},
        ("limited", "50 nodes", "2 more warnings"),
    ),
    **{
        f"ranking-{how}": ({"kept": 4, "top": 10, "dropped": 0.1}, ("4 of the 10", "10%"))
        for how in ("stable", "partly-stable", "unstable")
    },
    "reliability-not-measured": ({}, ("stability",)),
    "nothing-far-out": ({"nodes": 1234}, ("1,234",)),
    "many-far-out": ({"count": 300, "nodes": 1234}, ("300", "1,234")),
    "verdicts-counted": ({"abnormal": 3, "normal": 2, "unsure": 1}, ("6 verdicts", "3 abnormal")),
    "verdicts-point-to": (
        {
            "towards": [
                {
                    "quantity": "number of neighbours",
                    "kind": "structure",
                    "part": "value",
                    "is_high": True,
                    "size": 1.0,
                },
                {
                    "quantity": "age",
                    "kind": "number",
                    "part": "neighbours",
                    "is_high": False,
                    "size": 0.5,
                },
                {
                    "quantity": "amount",
                    "kind": "number",
                    "part": "extreme",
                    "is_high": True,
                    "size": 0.5,
                },
                {
                    "quantity": "type = shop",
                    "kind": "yes/no",
                    "part": "value",
                    "is_high": False,
                    "size": 0.5,
                },
            ]
        },
        ("many neighbours", "neighbours with low age", "unusual amount", "not type = shop"),
    ),
    "verdicts-one-kind": ({"abnormal": 3, "normal": 0, "unsure": 0}, ("abnormal", "normal")),
    "verdicts-few": ({"count": 4}, ("4 verdicts", "few")),
    "verdicts-contradict": ({"count": 2, "pairs": [["a", "b"]]}, ("2 pairs", "'a' and 'b'")),
    "verdicts-unexpected": (
        {"count": 1, "nodes": [["a", "normal"]]},
        ("1 verdict", "'a' (normal)"),
    ),
    "verdicts-skipped": ({"count": 2}, ("2 verdicts", "were skipped")),
    "causes-of-highest": (
        {"top": 20, "counts": {"features": 5, "similarity": 3, "position": 0}},
        ("20 highest", "5 are", "by features", "3 by similarity", "0 by position"),
    ),
    "networks-used": ({"explained": 0.344, "weight": 0.5}, ("34%", "0.5")),
    "networks-unused": ({"reason": "no-gain", "explained": 0.344}, ("34%", "not used")),
    "neighbours-tell-nothing": ({"explained": 0.01}, ("not scored",)),
    "amounts": ({"columns": ["balance", "turnover"]}, ("ratio",)),
    "follows-trivial": ({"quantity": "degree", "correlation": 0.613}, ("neighbours", "+0.61")),
    "all-scores-equal": ({}, ("equal",)),
    "no-edges": ({"self_loops": 2}, ("no edges", "2 self-loops")),
    "few-nodes": ({"nodes": 30}, ("30 nodes",)),
    "too-few-nodes": ({"nodes": 1}, ("1 node,",)),
    "significant-nodes": ({"count": 3, "nodes": 1500, "rate": 0.05}, ("3 of 1,500 nodes", "5%")),
    "threshold-far-out": ({"threshold": 7.123456}, ("7.123", "Tukey")),
    "threshold-significant": ({"threshold": 4.321, "fence": 7.123456}, ("4.321", "7.123", "Tukey")),
    "threshold-share": ({"threshold": 1234.5, "share": 0.05}, ("1,234", "0.05")),
}
OTHER_FIELDS = {"separator", "holds", "kind", "because", "reason", "fill", "quantity", "traits"}


def test_every_sentence_has_an_example():
    assert set(EXAMPLES) == set(SENTENCES)


@pytest.mark.parametrize("code", SENTENCES)
def test_a_sentence_holds_the_key_facts(code):
    fields, facts = EXAMPLES[code]
    text = render(Note.info(code, **fields))
    assert text.isprintable()
    assert text[0].isupper() or text.startswith((TABLE, FILE, "edges.csv", *"0123456789"))
    assert text.endswith(".")
    names = (value for name, value in fields.items() if name not in OTHER_FIELDS)
    for fact in (*facts, *_texts(names)):
        assert fact in text, fact


def _texts(values) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (one for one in value if isinstance(one, str))


class TestVariants:
    """Fields with a few possible values: each has its words."""

    @pytest.mark.parametrize(
        ("code", "name", "values"),
        [
            ("separator", "separator", {**_SEPARATORS, "::": ""}),
            ("odd-end", "holds", _ODDITIES),
            ("skipped-end", "holds", _ODDITIES),
            ("columns-read", "kind", _KINDS),
            ("column-missing", "fill", _FILLS),
            ("follows-trivial", "quantity", ("degree", "norm")),
            ("networks-unused", "reason", ("no-gain", "structure-only")),
            ("ends-guessed", "because", ("ids", "position")),
        ],
    )
    def test_every_value_gives_another_sentence(self, code, name, values):
        fields, _ = EXAMPLES[code]
        texts = [render(Note.info(code, **fields | {name: value})) for value in values]
        assert len(set(texts)) == len(texts) > 1
        assert all(text.isprintable() for text in texts)

    @pytest.mark.parametrize("trait", [trait for trait in _TRAITS if trait != "hours"])
    @pytest.mark.parametrize("kind", ["number", "date"])
    def test_every_trait_of_a_format_is_described(self, kind, trait):
        fields = OF_COLUMN | {"kind": kind, "traits": [trait, "or:month-day-year"]}
        text = render(Note.info("column-format", **fields))
        assert f"{_TRAITS[trait]} (month, day, year would fit as well)" in text

    def test_times_of_day_are_read_as_hours(self):
        fields = OF_COLUMN | {"kind": "number", "traits": ["hours"]}
        assert "times, read as hours" in render(Note.info("column-format", **fields))

    @pytest.mark.parametrize("reason", WHY_UNUSABLE)
    def test_every_reason_to_leave_out_a_column_is_given(self, reason):
        fields = {"kind": "list<int64>", "count": 812, "limit": 100}
        text = render(Note.info("column-unusable", **OF_COLUMN, reason=reason, **fields))
        assert COLUMN in text
        assert WHY_UNUSABLE[reason].format(**fields) in text

    def test_one_of_two_ends_may_be_guessed(self):
        fields, _ = EXAMPLES["ends-guessed"]
        text = render(Note.info("ends-guessed", **fields | {"guessed": ["payee"]}))
        assert "'payee' holds ids of" in text

    def test_the_index_of_a_data_frame_may_hold_the_ids(self):
        text = render(Note.info("ids-guessed", table="nodes", column=None))
        assert "index" in text
        assert "None" not in text

    def test_no_significant_node_is_a_finding_too(self):
        text = render(Note.info("significant-nodes", count=0, nodes=1500, rate=0.1))
        assert text.startswith("No node is significant")

    def test_weights_of_dropped_edges_count(self):
        fields = {"count": 2, "weight": "amount"}
        assert "'amount'" in render(Note.info("self-loops-dropped", **fields))
        assert "counted" in render(Note.info("duplicates-dropped", **fields))
        assert "merged" in render(Note.info("duplicates-dropped", count=2, weight=None))

    def test_nouns_and_verbs_agree_with_one(self):
        one = AGREEMENT | {"found": 1}
        assert "1 of 400 nodes is" in render(Note.info("agreement-of-questions", **one))
        assert "1 id of the edges differs" in render(
            Note.info("ids-respelled", count=1, example="A", known="a")
        )
        assert "1 node of nodes.csv has" in render(
            Note.info("isolated-nodes", table=TABLE, count=1)
        )
        assert "column 'a' is not used" in render(
            Note.info("columns-unused", table=TABLE, columns=["a"])
        )

    def test_on_the_command_line_parameters_are_options(self):
        fields, _ = EXAMPLES["nodes-without-row-dropped"]
        with command_line_options():
            assert "--impute none" in render(Note.info("nodes-without-row-dropped", **fields))


def note_calls() -> Iterator[tuple[str, ast.Call]]:
    """Every call of `Note.info` and `Note.warning` in the package, with its place."""
    for path in sorted(Path(egoscore.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if is_call and ast.unparse(node.func) in ("Note.info", "Note.warning"):
                yield f"{path.name}:{node.lineno}", node


CALLS = [(where, call) for where, call in note_calls() if isinstance(call.args[0], ast.Constant)]


def test_every_code_in_the_package_has_a_sentence():
    assert len(CALLS) > 50
    assert {call.args[0].value for _, call in CALLS} <= set(SENTENCES)


@pytest.mark.parametrize(("where", "call"), CALLS, ids=[where for where, _ in CALLS])
def test_a_note_has_the_fields_of_its_sentence(where, call):
    names = {keyword.arg for keyword in call.keywords}
    signature = inspect.signature(SENTENCES[call.args[0].value])
    if None in names:  # **fields, which only a run shows
        signature.bind_partial(**dict.fromkeys(names - {None}))
    else:
        signature.bind(**dict.fromkeys(names))


def test_every_sentence_belongs_to_a_code_in_the_package():
    """Some codes are chosen at run time, so any string of the package may be one."""
    rendering = {"notes.py", "loading_notes.py", "verdict_notes.py"}
    used = set()
    for path in Path(egoscore.__file__).parent.rglob("*.py"):
        if not (path.parent.name == "report" and path.name in rendering):
            tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            used |= {node.value for node in tree if isinstance(node, ast.Constant)}
    assert set(SENTENCES) <= used


def test_thousands_are_separated():
    fields = {"table": TABLE, "column": "name", "reason": "many-values"}
    text = render(Note.info("column-unusable", **fields, count=3249, limit=1000))
    assert "3,249" in text
    assert "1,000" in text

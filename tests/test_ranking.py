"""The ranking: every node once, most abnormal first, with the user's id and columns."""

import csv

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import percentileofscore

from egoscore.detectors.paper.components import LEVEL_COMPONENTS, ComponentTable
from egoscore.explain.sentences import Scores
from egoscore.graph import AttributedGraph
from egoscore.ranking import has_names, id_column, own_columns, ranking, with_reasons
from egoscore.report.spreadsheet import write_spreadsheet
from egoscore.run.tables import read_table, write_table

SCORE = np.array([0.5, 2.0, 1.0, 2.0, -1.0])
P_VALUE = np.array([0.5, 0.01, 0.2, 0.01, 0.9])
SCORES = Scores(SCORE, P_VALUE, threshold=1.5)
TAUS = (0.25, 0.5)


def components(size=5):
    rng = np.random.default_rng(0)
    return ComponentTable(
        node=np.arange(size),
        ego_size=np.arange(size) + 1,
        energy=rng.random(size, dtype=np.float32),
        values=rng.random((size, len(TAUS), len(LEVEL_COMPONENTS)), dtype=np.float32),
        taus=TAUS,
        num_samples=1,
    )


def graph(**kwargs):
    return AttributedGraph.from_edges([[0, 1], [1, 2]], np.ones((5, 2)), **kwargs)


def ranked(**kwargs):
    return ranking(graph(**kwargs), SCORES, components().columns())


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def test_the_order_of_columns_is_fixed():
    table = ranked(labels=[0, 1, 0, 0, 0], node_info={"kind": np.array(list("abcde"))})
    levels = [f"{name}@{tau:g}" for name in LEVEL_COMPONENTS for tau in TAUS]
    assert table.column_names == [
        *("node", "score", "rank", "percentile", "p_value", "flag", "known_label", "kind"),
        *("ego_size", "energy"),
        *levels,
    ]
    assert "known_label" not in ranked().column_names


def test_an_unknown_label_is_empty():
    table = ranked(labels=[0, 1, -1, 0, 0])
    assert table["known_label"].to_pylist() == [1, 0, None, 0, 0]


def test_rows_are_sorted_by_score_then_by_node_number():
    table = ranked(ids=["a", "b", "c", "d", "e"])
    assert table["node"].to_pylist() == ["b", "d", "c", "a", "e"]
    assert table["score"].to_pylist() == [2.0, 2.0, 1.0, 0.5, -1.0]
    assert table["rank"].to_pylist() == [1, 2, 3, 4, 5]
    assert table["flag"].to_pylist() == [1, 1, 0, 0, 0]
    assert table["p_value"].to_pylist() == [0.01, 0.01, 0.2, 0.5, 0.9]


def test_percentile_is_the_share_of_nodes_that_score_lower():
    expected = [percentileofscore(SCORE, value, kind="strict") for value in np.sort(SCORE)[::-1]]
    assert ranked()["percentile"].to_pylist() == pytest.approx(expected)


def test_every_row_has_the_values_of_its_node():
    labels, kinds = [0, 1, 0, 0, 1], np.array(list("vwxyz"))
    table, measured = ranked(labels=labels, node_info={"kind": kinds}), components()
    order = table["node"].to_numpy()
    assert table["known_label"].to_pylist() == [labels[node] for node in order]
    assert table["kind"].to_pylist() == kinds[order].tolist()
    assert table["ego_size"].to_pylist() == (order + 1).tolist()
    np.testing.assert_array_equal(table["energy"], measured.energy[order])
    for name in LEVEL_COMPONENTS:
        for level, tau in enumerate(TAUS):
            expected = measured.component(name)[order, level]
            np.testing.assert_array_equal(table[f"{name}@{tau:g}"], expected)


OURS = ("score", "rank", "percentile", "p_value", "flag", "significant", "known_label", "ego_size")


class TestColumnsOfTheUser:
    @pytest.mark.parametrize(
        "name", [*OURS, "node", "reason", "energy", f"feature_error@{TAUS[0]}"]
    )
    def test_none_overwrites_one_of_ours(self, name):
        table = ranked(ids=list("abcde"), node_info={name: np.arange(5) + 7.0})
        bare = ranked(ids=list("abcde"))
        assert own_columns(table) == [f"{name} (input)"]
        assert table[f"{name} (input)"].to_pylist() == [8.0, 10.0, 9.0, 7.0, 11.0]
        assert table.drop_columns([f"{name} (input)"]).equals(bare)

    @pytest.mark.parametrize("names", [("score", "score (input)"), ("score (input)", "score")])
    def test_none_overwrites_another(self, names):
        table = ranked(node_info={name: np.full(5, i) for i, name in enumerate(names)})
        assert set(own_columns(table)) == {"score (input)", "score (input) (input)"}
        assert {table[name][0].as_py() for name in own_columns(table)} == {0, 1}

    def test_their_names_survive_the_file(self, tmp_path):
        info = {"rank": np.arange(5), "kind": np.array(list("abcde"))}
        table = ranked(labels=[0, 1, 0, 0, 0], node_info=info)
        write_table(table, tmp_path / "scores.parquet")
        read = read_table(tmp_path / "scores.parquet")
        assert own_columns(read) == own_columns(table) == ["known_label", "rank (input)", "kind"]
        assert read.equals(table)

    def test_a_table_without_metadata_has_none(self):
        assert own_columns(ranked(node_info={"kind": np.arange(5)}).replace_schema_metadata()) == []


class TestNames:
    NAMES = ("Ann", None, "Cid", "=1+1", "two\nlines")

    def test_they_come_after_the_ids(self):
        bare, table = ranked(ids=list("abcde")), ranked(ids=list("abcde"), names=self.NAMES)
        assert table.column_names[:2] == ["node", "name"]
        assert table["name"].to_pylist() == ["b", "=1+1", "Cid", "Ann", "two\nlines"]
        assert table.drop_columns(["name"]).equals(bare)
        assert (has_names(table), has_names(bare)) == (True, False)

    def test_a_column_of_the_users_called_so_is_renamed_only_if_it_must_be(self):
        info = {"name": np.arange(5) + 7}
        both, own = ranked(names=self.NAMES, node_info=info), ranked(node_info=info)
        assert own_columns(both) == ["name (input)"]
        assert both["name"][1].as_py() == "=1+1"
        assert own_columns(own) == ["name"]
        assert not has_names(own)

    def test_they_survive_both_files(self, tmp_path):
        table = ranked(names=self.NAMES)
        write_table(table, tmp_path / "scores.parquet")
        assert read_table(tmp_path / "scores.parquet").equals(table)
        write_spreadsheet(table, tmp_path / "scores.csv")
        with (tmp_path / "scores.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["name"] for row in rows] == ["1", "'=1+1", "Cid", "Ann", "two\nlines"]

    def test_a_component_cannot_take_their_place(self):
        measured = {"ego_size": np.ones(5), "name": np.full(5, 7.0)}
        table = ranking(graph(names=self.NAMES), SCORES, measured)
        assert table["name"].to_pylist()[2] == "Cid"


def test_reasons_are_the_last_column_and_empty_below_the_highest():
    table = with_reasons(ranked(ids=list("abcde")), ["first", "second"])
    assert table.column_names == [*ranked().column_names, "reason"]
    assert table["reason"].to_pylist() == ["first", "second", None, None, None]
    assert with_reasons(ranked(), [])["reason"].to_pylist() == [None] * 5


def test_one_node_can_be_ranked():
    graph = AttributedGraph.from_edges([[], []], [[1.0]])
    one = Scores(np.array([3.0]), np.array([0.5]), threshold=4.0)
    table = ranking(graph, one, components(1).columns())
    assert table.slice(0, 1).to_pylist()[0]["percentile"] == 0.0


def test_a_component_cannot_overwrite_the_p_value():
    measured = {"ego_size": np.ones(5), "p_value": np.full(5, 7.0)}
    table = ranking(graph(), SCORES, measured)
    assert table["p_value"].to_pylist() == [0.01, 0.01, 0.2, 0.5, 0.9]
    assert table.column_names.count("p_value") == 1


class TestIds:
    @pytest.mark.parametrize(
        ("ids", "kind"),
        [
            (np.arange(3), pa.int64()),
            (np.array(["a", "b"]), pa.string()),
            (objects(["a", "b"]), pa.string()),
            (np.array([0.5, 1.5]), pa.float64()),
        ],
    )
    def test_ids_of_one_type_keep_it(self, ids, kind):
        column = id_column(ids)
        assert column.type == kind
        assert column.to_pylist() == ids.tolist()

    @pytest.mark.parametrize(
        "ids", [[1, "a"], ["a", 2.5], [2**70, 1], [2**63, "x"], [frozenset("a"), 1], [(0, "a"), 1]]
    )
    def test_ids_of_mixed_types_become_text(self, ids):
        assert id_column(objects(ids)).to_pylist() == [str(name) for name in ids]

    @pytest.mark.parametrize(
        "name", ["<img src=x onerror=alert(1)>", "=cmd()", "\x1b[31m", "a\0b", "", "\u202e", "漢"]
    )
    def test_hostile_ids_survive_the_file_unchanged(self, tmp_path, name):
        table = ranked(ids=["a", name, "c", "d", "e"])
        pq.write_table(table, tmp_path / "scores.parquet")
        assert pq.read_table(tmp_path / "scores.parquet")["node"][0].as_py() == name

    def test_a_lone_surrogate_is_no_error(self):
        id_column(objects(["\ud800", "a"]))

    def test_tuples_become_text(self):
        column = id_column(objects([(0, 1), (1, 0)]))
        assert column.to_pylist() == ["(0, 1)", "(1, 0)"]

    def test_different_ids_stay_different(self):
        assert len(set(id_column(objects([b"a", "a"])).to_pylist())) == 2

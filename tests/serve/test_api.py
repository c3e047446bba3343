"""The answers that the page is made of."""

import io
import json
from itertools import pairwise

import networkx
import numpy as np
import pytest
from run.samples import make
from serve.conftest import HOSTILE

from egoscore.explain.explanation import Explanation
from egoscore.review.store import VerdictStore
from egoscore.review.verdicts import Verdict
from egoscore.serve.node_view import explanation_record
from egoscore.serve.room import Room


def ranking(client, **query):
    answer = client.get("/api/ranking", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def rows(page):
    return [row["row"] for row in page["rows"]]


def give(client, rows, kind, **more):
    answer = client.post("/api/verdicts", json={"rows": rows, "kind": kind, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


class TestRanking:
    def test_pages_follow_each_other(self, client, room):
        first, second = ranking(client, count=40), ranking(client, count=40, start=40)
        order = np.argsort(-room.score, kind="stable").tolist()
        assert rows(first) + rows(second) == order[:80]
        assert first["total"] == room.table.num_nodes

    @pytest.mark.parametrize("key", ["score", "x0", "neighbours", "name", "o:city", "c:ego_size"])
    def test_every_column_can_be_sorted_by(self, client, room, key):
        up = rows(ranking(client, sort=key, count=200))
        down = rows(ranking(client, sort=key, desc=1, count=200))
        assert sorted(up) == sorted(down) == list(range(room.table.num_nodes))
        columns = room.table.columns
        values = columns[key].values() if key in columns else room.table.names
        values = values.to_pylist() if hasattr(values, "to_pylist") else values.tolist()
        assert [values[row] for row in up] == sorted(values)
        assert [values[row] for row in down] == sorted(values, reverse=True)

    @pytest.mark.parametrize(
        ("text", "found"),
        [("ada 11", [11, 110, 111]), ("ZOE", [8]), ("n119", [119]), ("<img", [7])],
    )
    def test_search_finds_names_and_ids(self, client, text, found):
        got = rows(ranking(client, search=text))
        assert set(found) <= set(got)
        assert len(got) < 20

    def test_filters(self, client, room):
        limits = '[["x0", 0, null], ["o:city", "graz"], ["flag", 0, 0]]'
        got = set(rows(ranking(client, where=limits, count=200)))
        city = np.arange(room.table.num_nodes) % 2 == 0
        values = room.graph.features[:, 0].astype(float)
        assert got == set(np.flatnonzero((values >= 0) & city & ~room.flag).tolist())

    @pytest.mark.parametrize(
        "query",
        [
            {"sort": "nothing"}, {"start": -1}, {"start": "x"}, {"count": 10_000}, {"where": "{"},
            {"where": '[["score"]]'}, {"where": '[["score", NaN, 1]]'}, {"where": "[" * 5000},
            {"where": '[["nothing", 1, 2]]'}, {"search": "x" * 300}, {"verdict": "odd"},
            {"extra": "../config.json"}, {"where": '[["score", true, 1]]'},
        ],
    )  # fmt: skip
    def test_what_is_no_query_is_refused(self, client, query):
        answer = client.get("/api/ranking", params=query)
        assert answer.status_code == 400
        assert answer.json()["problem"].endswith(".")

    def test_steps_follow_the_list(self, client):
        order = rows(ranking(client, sort="x0"))
        for one, other in pairwise(order[:5]):
            asked = {"sort": "x0", "row": one, "by": 1}
            assert client.get("/api/step", params=asked).json()["row"] == other
        asked = {"sort": "x0", "row": order[0], "by": -1}
        assert client.get("/api/step", params=asked).json()["row"] is None


def test_the_histogram_counts_every_node_and_so_does_the_threshold(client, room):
    found = client.get("/api/histogram").json()
    assert sum(found["counts"]) == room.table.num_nodes
    for threshold in (found["threshold"], -1e9, 1e9, float(np.median(room.score))):
        above = client.get("/api/above", params={"threshold": threshold}).json()["count"]
        assert above == int((room.score > threshold).sum())


class TestNode:
    def test_its_parts(self, client, room):
        node = client.get("/api/node/7").json()
        assert node["name"] == HOSTILE
        assert node["id"] == "n7"
        assert node["rank"] == int(room.rank[7])
        assert [one["name"] for one in node["attributes"]][:3] == [
            "balance",
            "<b>age</b>",
            "visits",
        ]
        assert node["others"] == [{"name": "city", "value": "Wien"}]

    def test_its_surroundings(self, client, room):
        truth = networkx.from_scipy_sparse_array(room.graph.neighbours.to_scipy())
        for hops in (1, 2):
            found = client.get(f"/api/surroundings/7?hops={hops}").json()
            real = networkx.ego_graph(truth, 7, hops)
            drawn = [one["row"] for one in found["nodes"]]
            assert drawn[0] == 7
            assert set(drawn) <= set(real)
            assert len(drawn) + found["left_out"] == len(real)
            edges = {frozenset((drawn[a], drawn[b])) for a, b in found["edges"]}
            assert edges == {frozenset(e) for e in real.subgraph(drawn).edges}
            places = {(one["x"], one["y"]) for one in found["nodes"]}
            assert len(places) == len(drawn)

    def test_its_explanation(self, client, room):
        for _ in range(20):
            found = client.get("/api/explanation/7").json()["explanation"]
            if found:
                break
        why = room.desk.detector.explain("n7")
        assert found["summary"] == why.summary
        assert [one["name"] for one in found["features"]] == [one.name for one in why.features]
        assert found["picture"]["nodes"][0]["row"] == 7
        for one in (*found["unexpected"], *found["fitting"]):
            assert one["row"] in room.graph.neighbours_of(7)

    @pytest.mark.parametrize("row", ["-1", "120", "x", "1e3", "9" * 30])
    def test_what_is_no_node(self, client, row):
        for view in ("node", "surroundings", "explanation"):
            assert client.get(f"/api/{view}/{row}").status_code in (400, 404)


class TestVerdicts:
    def test_they_move_the_ranking_and_say_why(self, client, room):
        before = rows(ranking(client, count=200))
        found = give(client, before[:3], "normal")
        found = give(client, before[40:44], "abnormal", note="seen", author="Ada")
        assert found["state"]["counts"] == {"abnormal": 4, "normal": 3, "unsure": 0}
        assert not found["state"]["is_learning"]
        assert found["own"][0]["changes"]
        assert found["own"][0]["to"] < found["own"][0]["from"]
        assert found["state"]["next"] not in before[:3] + before[40:44]
        after = ranking(client, count=200)
        assert rows(after) != before
        assert rows(ranking(client, verdict="abnormal")) == [
            r for r in rows(after) if r in before[40:44]
        ]
        assert len(rows(ranking(client, verdict="none", count=200))) == len(before) - 7
        taught = room.desk.detector.teach(
            {f"n{row}": row in before[40:44] for row in before[:3] + before[40:44]}
        )
        ranks = taught.review_columns()["updated_rank"]
        assert rows(after) == np.argsort(ranks).tolist()

    def test_the_list_can_be_sorted_by_verdict(self, client):
        give(client, [5], "abnormal")
        give(client, [6], "unsure")
        give(client, [4], "normal")
        assert rows(ranking(client, sort="verdict", desc=1))[:4] == [5, 6, 4, 0]

    def test_undo_and_taking_back(self, client, room):
        start = rows(ranking(client))
        give(client, [1, 2], "abnormal")
        give(client, [3], "normal")
        assert client.post("/api/undo", json={}).json()["rows"] == [3]
        assert {one.node for one in room.desk.store.current()} == {"n1", "n2"}
        give(client, [1, 2], "")
        assert room.desk.store.current() == []
        assert rows(ranking(client)) == start
        for _ in range(2):
            client.post("/api/undo", json={})
        assert {one.node for one in room.desk.store.current()} == {"n1", "n2"}
        client.post("/api/undo", json={})
        assert client.post("/api/undo", json={}).status_code == 400

    @pytest.mark.parametrize(
        "given",
        [
            [], 1, None, {}, {"rows": [0]}, {"rows": [], "kind": "normal"},
            {"rows": [True], "kind": "normal"}, {"rows": [0.5], "kind": "normal"},
            {"rows": [[0]], "kind": "normal"}, {"rows": [120], "kind": "normal"},
            {"rows": [-1], "kind": "normal"}, {"rows": "0", "kind": "normal"},
            {"rows": [0], "kind": "odd"}, {"rows": [0], "kind": ["normal"]},
            {"rows": [0], "kind": "normal", "note": 1},
            {"rows": [0], "kind": "normal", "note": "x" * 10_001},
            {"rows": [0], "kind": "normal", "author": "x" * 201},
            {"rows": list(range(1001)), "kind": "normal"},
        ],
    )  # fmt: skip
    def test_what_is_no_verdict_is_refused(self, client, room, given):
        assert client.post("/api/verdicts", json=given).status_code == 400
        assert room.desk.store.current() == []

    def test_verdicts_of_others_are_seen(self, client, run):
        key = client.get("/api/state").json()["key"]
        VerdictStore.of_run(run).add([Verdict("n5", "abnormal"), Verdict("gone", "normal")])
        state = client.get("/api/state").json()
        assert state["key"] != key
        assert state["counts"]["abnormal"] == 1
        assert client.get("/api/node/5").json()["kind"] == "abnormal"

    def test_statistics(self, client):
        order = rows(ranking(client, count=200))
        give(client, order[:6], "abnormal")
        give(client, order[6:12], "normal")
        found = client.get("/api/statistics").json()
        assert found["counts"] == {"abnormal": 6, "normal": 6, "unsure": 0}
        assert found["unsupervised"][0] == {
            "k": 10,
            "reviewed": 10,
            "abnormal": 6,
            "precision": 0.6,
        }
        assert 0 <= found["remaining"]["about"] <= found["remaining"]["among"]


class TestExports:
    def test_verdicts(self, client):
        give(client, [7], "abnormal", note="=1+1")
        text = client.get("/api/export/verdicts.csv").text
        assert text.splitlines()[1].startswith("n7,abnormal,'=1+1,")

    @pytest.mark.parametrize("hops", [1, 2])
    @pytest.mark.parametrize(
        ("kind", "read"), [("graphml", networkx.read_graphml), ("gexf", networkx.read_gexf)]
    )
    def test_neighbourhoods(self, client, room, kind, read, hops):
        asked = {"row": 7, "hops": hops, "format": kind}
        graph = read(io.BytesIO(client.get("/api/export/neighbourhood", params=asked).content))
        truth = networkx.from_scipy_sparse_array(room.graph.neighbours.to_scipy())
        real = networkx.ego_graph(truth, 7, hops)
        assert {int(one) for one in graph} == set(real)
        assert {frozenset(map(int, e)) for e in graph.edges} == {frozenset(e) for e in real.edges}
        assert graph.nodes["7"]["label"] == HOSTILE
        assert graph.nodes["7"]["city"] == "Wien"

    def test_another_format(self, client):
        asked = {"row": 7, "format": "../graphml"}
        assert client.get("/api/export/neighbourhood", params=asked).status_code == 400


def test_every_noise_level_of_the_paper_s_detector_is_shown(tmp_path):
    make(tmp_path / "paper")
    room = Room.open(tmp_path / "paper")
    row = int(np.argmax(room.score))
    why = room.explaining.of(row, 60)
    found = explanation_record(room, why)["picture"]
    assert [one["tau"] for one in found["levels"]] == pytest.approx([1 / 3, 2 / 3], abs=1e-3)
    for one in found["levels"]:
        assert len(one["shade"]) == len(found["nodes"])
        assert all(0 <= shade <= 1 for shade in one["shade"])
    assert Explanation.from_dict(json.loads(json.dumps(why.to_dict()))) == why

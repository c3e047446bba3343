"""An invented run for the tests of the report: nothing is computed, nothing is missing."""

import numpy as np
import pyarrow as pa

from egoscore.explain.explainer import MOST_NODES
from egoscore.explain.explanation import (
    Component,
    Deviation,
    Explanation,
    Picture,
    Tie,
)
from egoscore.notes import Note
from egoscore.report.findings import Findings
from egoscore.report.top_nodes import ANSWERED
from egoscore.run.tables import described

TREES = (
    "Alder",
    "Birch",
    "Chêne",
    "Dogwood",
    "Elm",
    "Fir",
    "Ginkgo",
    "Hemlock",
    "Iroko",
    "Juniper",
)
QUESTIONS = ("features", "similarity", "position")
COMPONENTS = ("linear_residual", "mismatch", *(f"surprise_{name}" for name in QUESTIONS))
PAPER_QUESTIONS = ("features", "structure", "energy")
RULE = Note.info("threshold-share", threshold=2.345, share=0.1)
CAVEATS = (
    Note.info("significant-nodes", count=4, nodes=500, rate=0.1),
    Note.info("networks-used", explained=0.34, weight=0.5),
    Note.warning("follows-trivial", quantity="degree", correlation=0.61),
)
NOTES = (
    Note.info("ids-guessed", table="nodes.csv", column="name"),
    Note.info("columns-read", table="nodes.csv", kind="date", columns=["member since"]),
    Note.info("column-missing", table="nodes.csv", column="age", count=12, fill="median"),
)


def node_name(number: int) -> str:
    """An id as people have them."""
    return f"{TREES[number % 10]} {number}"


def picture(seed: int, size: int) -> Picture:
    """An ego-graph of two groups with some unexpected edges."""
    rng = np.random.default_rng(seed)
    group = np.arange(size) % 2
    likely = np.where(group[:, None] == group[None], 0.5, 0.03)
    pairs = np.argwhere(np.triu(rng.random((size, size)) < likely, 1))
    among = [(int(a), int(b)) for a, b in pairs if a > 0]
    spokes = [(0, other) for other in range(1, size)]
    expected = [edge for edge in spokes if group[edge[1]] == 0] + among[::-1][: len(among) - 1]
    fresh = [(1, size - 1)] if size > 2 else []
    return Picture(
        nodes=tuple(node_name(number + 100 * seed) for number in range(size)),
        actual=tuple(spokes + among),
        expected=tuple(expected + fresh),
        shade="monthly income",
        shade_actual=(1.0, *rng.random(size - 1).round(3).tolist()),
        shade_expected=(0.3, *rng.random(size - 1).round(3).tolist()),
        left_out=12 if size == MOST_NODES else 0,
    )


def explanation(rank: int, num_nodes: int, score: float, flag: bool) -> Explanation:
    """Why the node of a rank has its score."""
    rng = np.random.default_rng(rank)
    size = (7, 11, 24, 20, 1, 2, 17)[rank % 7]
    node = node_name(rank - 1)
    causes = tuple(QUESTIONS[(rank + turn) % 3] for turn in range(1 + rank % 3))
    return Explanation(
        node=node,
        score=score,
        rank=rank,
        num_nodes=num_nodes,
        percentile=100.0 * (1 - rank / num_nodes),
        p_value=float(np.exp(-score)),
        flag=flag,
        ego_size=size,
        questions={name: 9.0 - turn for turn, name in enumerate(dict.fromkeys(causes + QUESTIONS))},
        causes=causes,
        reason="monthly income is 3.1 times the expected value",
        summary=f"{node} ranks {rank} of {num_nodes} nodes: monthly income is $9,800 (expected: "
        "$3,150), and 3 of its neighbours are unlike it.",
        features=(
            Deviation(
                "monthly income",
                *("$9,800", "$3,150", round(4 + 3 * rng.random(), 2)),
                *("number", "$", 9800.0, 3150.0),
            ),
            Deviation("member since", "2024-11-02", "2019-03-17", 2.4),
            Deviation("country = NZ", "yes", "4% yes", 2.1),
            Deviation("age", "19", "41.5", -1.8),
        ),
        structure=(
            Deviation("share of neighbours linked to each other", "0", "0.42", -3),
            Deviation("core number", "2", "5.1", -1.4),
        ),
        surprising=tuple(Tie(node_name(40 + j), round(3.1 - 0.7 * j, 3)) for j in range(rank % 5)),
        expected=(Tie(node_name(61), -1.234), Tie(node_name(62), 0.81, present=False)),
        unlike=(),
        extremes=(),
        energy_actual=round(1.2 + rng.random(), 4),
        energy_expected=0.4321,
        components=tuple(
            Component(name, round(rng.exponential(3), 4), p)
            for name, p in zip(COMPONENTS, 100 * rng.random(5) ** 0.2, strict=True)
        ),
        compared_with="140 nodes whose ego-graphs have 7 to 9 nodes",
        picture=picture(rank, size),
    )


def ranked(num_nodes: int = 500, labels: bool = True, **columns: pa.Array) -> pa.Table:
    """The ranking of the default preset, with three columns of the user's."""
    rng = np.random.default_rng(0)
    score = np.sort(rng.exponential(size=num_nodes))[::-1]
    known = (rng.random(num_nodes) < np.minimum(1, score / 8)).astype(np.int64)
    own = {"known_label": known} if labels else {}
    own |= {"community": rng.integers(0, 9, num_nodes)}
    own |= {"kind": np.array(["contextual", "wholesale"])[rng.integers(0, 2, num_nodes)]}
    parts = {
        f"surprise_{name}": 0.4 * score + rng.exponential(size=num_nodes) for name in QUESTIONS
    }
    table = {
        "node": [node_name(number) for number in range(num_nodes)],
        "score": score,
        "rank": np.arange(1, num_nodes + 1),
        "percentile": 100 * np.arange(num_nodes)[::-1] / num_nodes,
        "p_value": np.exp(-score),
        "flag": (score > threshold_of(score)).astype(np.int8),
        **own,
        "significant": (score > 5).astype(np.int8),
        "ego_size": rng.integers(1, 40, num_nodes),
        **parts,
        "feature_norm": rng.random(num_nodes).astype(np.float32),
    }
    found = pa.table({name: columns.get(name, values) for name, values in table.items()})
    return with_own_columns(found, list(own))


def with_own_columns(ranking: pa.Table, names: list[str]) -> pa.Table:
    """The ranking, where the columns of these names are the user's."""
    return ranking.cast(described(ranking.schema, {"own": names}))


def ranked_as_paper(num_nodes: int = 300) -> pa.Table:
    """The ranking of the preset 'paper'."""
    rng = np.random.default_rng(1)
    start = ranked(num_nodes, labels=False)
    last = start.column_names.index("ego_size")
    kept = [name for name in start.column_names[: last + 1] if name != "significant"]
    parts = ("feature_error", "structure_error", "energy_after", "energy_shift")
    values = {"energy": rng.random(num_nodes)}
    values |= {f"{part}@{tau}": rng.random(num_nodes) for part in parts for tau in (0.25, 0.5)}
    table = pa.table({name: start[name] for name in kept} | values)
    return with_own_columns(table, ["community", "kind"])


def threshold_of(score: np.ndarray) -> float:
    """The threshold that about a tenth of the nodes exceed."""
    return float(np.percentile(score, 90))


def answers_of(ranking: pa.Table) -> tuple[dict[str, float], ...]:
    """The answers of the first nodes by question."""
    size = min(ANSWERED, ranking.num_rows)
    if "surprise_position" in ranking.column_names:
        columns = {name: ranking[f"surprise_{name}"].to_numpy()[:size] for name in QUESTIONS}
    else:
        values = np.random.default_rng(3).exponential(size=(len(PAPER_QUESTIONS), size))
        columns = dict(zip(PAPER_QUESTIONS, values, strict=True))
    rows = [{name: float(values[row]) for name, values in columns.items()} for row in range(size)]
    return tuple(rows)


def findings(ranking: pa.Table | None = None, explained: int = 20) -> Findings:
    """Findings about a ranking in which nothing is missing."""
    ranking = ranked() if ranking is None else ranking
    score, flag = ranking["score"].to_numpy(), ranking["flag"].to_numpy()
    rng = np.random.default_rng(2)
    fall = 0.4 + 0.6 * np.exp(-np.arange(200)[:, None] / np.array([30, 40, 50]))
    losses = fall * (1 + 0.05 * rng.standard_normal((200, 3)))
    is_default = "surprise_position" in ranking.column_names
    count = min(explained, len(score))
    return Findings(
        threshold=threshold_of(score),
        num_flagged=int(flag.sum()),
        rule=RULE,
        caveats=CAVEATS,
        notes=NOTES,
        losses=tuple(map(tuple, losses[:, : 3 if is_default else 2].round(5).tolist())),
        loss_names=() if is_default else ("features", "adjacency"),
        step="update" if is_default else "epoch",
        num_steps=400,
        answers=answers_of(ranking),
        explanations=tuple(
            explanation(rank, len(score), float(score[rank - 1]), bool(flag[rank - 1]))
            for rank in range(1, count + 1)
        ),
    )


def config(**changes: object) -> dict[str, object]:
    """A run's config.json."""
    return {
        "source": "customers/nodes.csv",
        "seed": 0,
        "preset": "default",
        "contamination": 0.1,
        "fdr": 0.1,
        "settings": {"hidden_size": 64, "updates": 400, "lr": 0.005},
        "network": {"nodes": 500, "edges": 1834, "features": 12, "directed": False},
        "fingerprint": "3f5a9c0e1b7d",
        "versions": {"python": "3.11.9", "egoscore": "0.5.0", "torch": "2.13.0"},
        "command": "egoscore detect customers/nodes.csv --edges customers/edges.csv --out runs/c",
        **changes,
    }

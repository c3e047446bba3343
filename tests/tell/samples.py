"""A run made up for the report's tests: everything filled in, nothing computed."""

import numpy as np
import pyarrow as pa

from egoscore.explain.explanation import Component, Deviation, Explanation, Picture, Tie
from egoscore.tell.findings import Findings

FIRST_NAMES = ("Ada", "Ben", "Chloé", "Dmitri", "Eve", "Farid", "Grace", "Hugo", "Ines", "Jun")
QUESTIONS = ("features", "company", "place")


def node_name(number: int) -> str:
    """An id as people have them."""
    return f"{FIRST_NAMES[number % 10]} {number}"


def picture(seed: int, size: int) -> Picture:
    """An ego-graph of two groups, some edges of which are not expected."""
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
        before=tuple(spokes + among),
        after=tuple(expected + fresh),
        shade="monthly income",
        shade_before=(1.0, *rng.random(size - 1).round(3).tolist()),
        shade_after=(0.3, *rng.random(size - 1).round(3).tolist()),
        left_out=12 if size > 30 else 0,
    )


def explanation(rank: int, num_nodes: int, score: float, flag: bool) -> Explanation:
    """Why the node of a rank has its score."""
    rng = np.random.default_rng(rank)
    size = (7, 11, 24, 45, 1, 2, 17)[rank % 7]
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
        questions={name: 9.0 - turn for turn, name in enumerate(causes)},
        causes=causes,
        reason=f"{causes[0]} 3.1x what is expected",
        summary=f"{node} stands out by its {causes[0]}: its monthly income is $9,800 where $3,150 "
        "would be expected, and 3 of its neighbours are unlike it.",
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
            Deviation("share of neighbours joined with each other", "0", "0.42", -3),
            Deviation("core number", "2", "5.1", -1.4),
        ),
        surprising=tuple(Tie(node_name(40 + j), round(3.1 - 0.7 * j, 3)) for j in range(rank % 5)),
        expected=(Tie(node_name(61), -1.234), Tie(node_name(62), 0.81, present=False)),
        unlike=(),
        energy_before=round(1.2 + rng.random(), 4),
        energy_after=0.4321,
        components=tuple(
            Component(f"surprise_{name}", round(rng.exponential(3), 4), p)
            for name, p in zip(QUESTIONS, 100 * rng.random(3) ** 0.2, strict=True)
        ),
        compared_with="140 nodes whose ego-graphs have 7 to 9 nodes",
        picture=picture(rank, size),
    )


def ranked(num_nodes: int = 500, labels: bool = True, **columns: pa.Array) -> pa.Table:
    """The ranking of the default preset."""
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
    return pa.table({name: columns.get(name, values) for name, values in table.items()})


def ranked_as_paper(num_nodes: int = 300) -> pa.Table:
    """The ranking of the preset 'paper'."""
    rng = np.random.default_rng(1)
    start = ranked(num_nodes, labels=False)
    last = start.column_names.index("ego_size")
    kept = [name for name in start.column_names[: last + 1] if name != "significant"]
    parts = ("feature_error", "structure_error", "energy_after", "energy_shift")
    values = {"energy": rng.random(num_nodes)}
    values |= {f"{part}@{tau}": rng.random(num_nodes) for part in parts for tau in (0.25, 0.5)}
    return pa.table({name: start[name] for name in kept} | values)


def threshold_of(score: np.ndarray) -> float:
    """What about a tenth of the nodes exceed."""
    return float(np.percentile(score, 90))


def findings(ranking: pa.Table | None = None, explained: int = 20) -> Findings:
    """What was found about a ranking; everything there is to say is said."""
    ranking = ranked() if ranking is None else ranking
    score, flag = ranking["score"].to_numpy(), ranking["flag"].to_numpy()
    rng = np.random.default_rng(2)
    fall = 0.4 + 0.6 * np.exp(-np.arange(200)[:, None] / np.array([30, 40, 50]))
    losses = fall * (1 + 0.05 * rng.standard_normal((200, 3)))
    count = min(explained, len(score))
    return Findings(
        threshold=threshold_of(score),
        num_flagged=int(flag.sum()),
        rule="The threshold is set so that one node in ten is flagged (--contamination 0.1).",
        remarks=(
            "4 nodes of 500 marked as significant: about 10% of such marks are wrong.",
            "A node's surroundings explain 34% of its features by straight lines.",
            "Careful: the ranking mostly follows the number of neighbours (rank correlation "
            "+0.61) and may mean little else.",
        ),
        notes=(
            "nodes.csv: 500 rows, ids from the column 'name'.",
            "The column 'member since' was read as dates.",
            "12 empty cells of the column 'age' were filled with its median.",
        ),
        losses=tuple(map(tuple, losses.round(5).tolist())),
        num_steps=400,
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

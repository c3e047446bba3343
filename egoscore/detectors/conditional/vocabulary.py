"""The words of the default detector."""

from __future__ import annotations

from collections.abc import Sequence

from egoscore.detectors.base import Vocabulary
from egoscore.detectors.conditional.channels import ALONE, CHANNELS, QUESTIONS
from egoscore.text import counted

_SCALE = (
    "A score of 2.3 means that about 1 in 10 {nodes} is at least as unusual, 4.6 means 1 in 100 "
    "and 7 means 1 in 1,000. Beyond 1 in 5 this is an estimate rather than a count."
)


def _meaning(questions: Sequence[str], num_nodes: int) -> str:
    if "features" not in questions:
        scale = _SCALE.format(nodes=f"of the {counted(num_nodes, 'node')}")
        return f"{scale} As the graph has no features, only the position of a node is scored."
    scale = _SCALE.format(nodes="nodes with a similar number of neighbours")
    asked = " ".join(QUESTIONS[question] for question in questions)
    return f"{scale} The score combines the answers to {len(questions)} questions. {asked}"


VOCABULARY = Vocabulary(
    questions=QUESTIONS,
    components={name: channel.label for name, channel in CHANNELS.items()}
    | {f"surprise_{name}": f"answer to the question: {asked}" for name, asked in QUESTIONS.items()},
    compared_with="all nodes",
    meaning=_meaning,
    contrast="The mean squared difference between the node and its neighbours is {actual} "
    "(expected {expected}), with every feature in standard deviations.",
    has_zero=True,
    labels={"extremes": "extreme"},
    alone=ALONE,
)

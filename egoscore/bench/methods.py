"""The methods: jobs, and the table rows that each of them fills."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from egoscore.bench.gdss import OURS, PUBLISHED, Gdss, Scores
from egoscore.bench.protocol import Draw
from egoscore.detectors.paper.solve import SOLVERS
from egoscore.errors import ParameterError
from egoscore.graph import AttributedGraph

Run = Callable[[AttributedGraph, Draw, frozenset[str]], Scores]
_MANY = 4  # rows of a job that are not listed one by one


@dataclass(frozen=True)
class Row:
    """A row of the table: its title, the group of methods it belongs to, and its known defect."""

    title: str
    family: str
    defect: str = ""


@dataclass(frozen=True)
class Job:
    """The unit of work of a trial, which fills one or several rows.

    `run` computes the scores of the wanted rows from a graph without labels; `needs` is the module
    that must be installed, from the extra `bench`; `title` names the rows together.
    """

    name: str
    rows: Mapping[str, Row]
    run: Run
    needs: str = ""
    title: str = ""

    def title_of(self, run: Sequence[str]) -> str:
        """The titles of these rows of the job."""
        titles = [self.rows[row].title for row in run]
        if len(titles) < _MANY:
            listed = "; ".join(titles)
        else:
            listed = f"{titles[0]} … {titles[-1]} ({len(titles)} rows)"
        return f"{self.title}: {listed}" if self.title and len(titles) > 1 else listed


def _variant(name: str, title: str, family: str, **settings: Any) -> Job:
    """The paper's rows with other settings; their names end in the name of the variant."""
    rows = {f"{row}-{name}": Row(f"{known[0]}, {title}", family) for row, known in OURS.items()}
    ours = Gdss(f"-{name}", settings)
    return Job(name, rows, ours.run)


def _score_by_default(graph: AttributedGraph, draw: Draw, wanted: frozenset[str]) -> Scores:
    from egoscore.detector import EgoScore

    return {"default": EgoScore(seed=draw.seed).fit(graph).decision_score_.numpy()}


def _trivial(graph: AttributedGraph, draw: Draw, wanted: frozenset[str]) -> Scores:
    from egoscore.bench.rivals.formulas import TRIVIAL

    return {row: TRIVIAL[row].score(graph, draw.seed) for row in wanted}


def _training_free(graph: AttributedGraph, draw: Draw, wanted: frozenset[str]) -> Scores:
    from egoscore.bench.rivals.formulas import TRAINING_FREE

    return {row: TRAINING_FREE[row].score(graph, draw.seed) for row in wanted}


def _ego_networks(graph: AttributedGraph, draw: Draw, wanted: frozenset[str]) -> Scores:
    from egoscore.bench.rivals.egonets import amen, oddball

    methods = {"oddball": oddball, "amen": amen}
    return {row: methods[row](graph) for row in wanted}


def _library_jobs() -> Iterable[Job]:
    from egoscore.bench.rivals.libraries import RIVALS
    from egoscore.graph.scaling import standardised

    def job(name: str, scaled: bool) -> Job:
        rival = RIVALS[name]
        row = f"{name}-standardised" if scaled else name

        def run(graph: AttributedGraph, draw: Draw, wanted: frozenset[str]) -> Scores:
            chosen = {key: draw.choose(key) for key in rival.shared}
            chosen |= {key: draw.choose(key, options) for key, options in rival.own.items()}
            given = standardised(graph) if scaled else graph
            return {row: rival.score(given, chosen, draw.epochs, draw.seed)}

        title = f"{rival.title} (standardised)" if scaled else rival.title
        family = f"{rival.family}-standardised" if scaled else rival.family
        return Job(row, {row: Row(title, family, rival.defect)}, run, rival.needs)

    for scaled in (False, True):
        for name in RIVALS:
            yield job(name, scaled)


@cache
def jobs() -> dict[str, Job]:
    """All jobs by name, in the order of the table."""
    from egoscore.bench.rivals.formulas import TRAINING_FREE, TRIVIAL

    trivial = {name: Row(score.title, "trivial") for name, score in TRIVIAL.items()}
    free = {name: Row(score.title, "training-free") for name, score in TRAINING_FREE.items()}
    titles = {row: title for row, (title, _, _) in OURS.items()}
    four = {row: Row(title, "paper") for row, title in titles.items()}
    others = {
        f"{row}@{solver}": Row(f"{title}, {solver}", "solvers")
        for solver in SOLVERS
        for row, title in titles.items()
        if solver != "em"
    }
    likelihood = {"likelihood": Row("Likelihood", "likelihood")}
    gdss = Gdss()
    listed = [
        Job("trivial", trivial, _trivial, title="Trivial scores"),
        Job("training-free", free, _training_free, title="Training-free"),
        *_library_jobs(),
        Job("oddball", {"oddball": Row("OddBall", "ego-networks")}, _ego_networks),
        Job("amen", {"amen": Row("AMEN", "ego-networks")}, _ego_networks),
        Job("gdss", four | others | likelihood, gdss.run, title="GDSS"),
        _variant("published", "as published", "published", **PUBLISHED),
        _variant("untrained", "untrained", "untrained", epochs=0),
        _variant("graff", "GRAFF", "models", model="gdss-graff"),
        _variant("congress", "ConGress-like", "models", model="congress"),
        _variant("laplacian", "Laplacian positions", "models", positions="laplacian"),
        _variant("random-walk", "random-walk positions", "models", positions="random_walk"),
        Job("default", {"default": Row("egoscore", "default")}, _score_by_default),
    ]
    return {job.name: job for job in listed}


@cache
def job_of() -> dict[str, Job]:
    """The job that fills a row, by row name, in the order of the table."""
    return {row: job for job in jobs().values() for row in job.rows}


@cache
def rows() -> dict[str, Row]:
    """All rows by name, in the order of the table."""
    return {name: row for job in jobs().values() for name, row in job.rows.items()}


def choose_rows(methods: Iterable[str]) -> tuple[str, ...]:
    """The rows that names of rows and groups stand for, always with the trivial scores."""
    known = rows()
    wanted = {name for name, row in known.items() if row.family == "trivial"}
    for method in methods:
        meant = {name for name, row in known.items() if method in (name, row.family, "all")}
        if not meant:
            groups = dict.fromkeys(row.family for row in known.values())
            rule = f"names from `egoscore bench --list`, or of its groups: {', '.join(groups)}, all"
            raise ParameterError("methods", rule, method)
        wanted |= meant
    return tuple(name for name in known if name in wanted)

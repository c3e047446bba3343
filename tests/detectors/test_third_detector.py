"""A detector written by somebody else: one line registers it, and everything works with it."""

import json
import os
import subprocess
import sys

import pytest

MODULES = {
    "__init__.py": "",
    "settings.py": """
from dataclasses import dataclass
from egoscore.detectors.settings import number, setting

@dataclass(frozen=True)
class ToySettings:
    sharpness: float = setting(2.0, number(0, 9), "Exponent of the degree.")
""",
    "vocabulary.py": """
from egoscore.detectors.base import Vocabulary

VOCABULARY = Vocabulary(
    questions={"degree": "Has it an unusual number of neighbours?"},
    components={"degree": "number of neighbours"},
    compared_with="all nodes",
    meaning=lambda questions, nodes: "The degree.",
    contrast="{actual} and {expected}",
)
""",
    "detector.py": """
from dataclasses import dataclass
import numpy as np
import torch
from egoscore.detectors.base import Detector, Losses
from egoscore.detectors.inputs import graph_blocks, measured_block
from egoscore.explain.explainer import Explainer, components_of
from egoscore.explain.explanation import Deviation, Picture, Reasons

@dataclass(frozen=True)
class Degrees:
    degree: np.ndarray

    def columns(self):
        return {"ego_size": self.degree + 1, "degree": self.degree.astype(float)}

@dataclass(frozen=True)
class ToyDetector(Detector):
    sharpness: float
    width: int

    @classmethod
    def fit(cls, graph, settings, job):
        if job.store is not None:
            job.store.save("sharpness", {"value": torch.tensor(settings.sharpness)}, {"a": 1})
            assert job.store.load("sharpness")[1] == {"a": 1}
        detector = cls(settings.sharpness, graph.num_features)
        return detector, detector.measure(graph, job)

    def measure(self, graph, job):
        return Degrees(np.asarray(graph.adjacency.degrees, dtype=np.int64))

    def score(self, table):
        return table.degree.astype(float) ** self.sharpness

    def p_values(self, score, training_score):
        return (1 + (training_score >= score[:, None]).sum(1)) / (1 + len(training_score))

    def answers(self, table, nodes):
        return [{"degree": float(table.degree[node])} for node in nodes]

    def caveats(self, graph, table, num_significant):
        return []

    @classmethod
    def quicker(cls, settings):
        return settings

    def explainer(self, graph, table, job):
        return ToyExplainer(graph, table)

    def inputs(self, graph, table):
        return measured_block({"degree": table.degree}), *graph_blocks(graph)

    @property
    def model(self):
        return self

    @property
    def losses(self):
        return Losses(np.zeros((0, 0)))

    @property
    def num_features(self):
        return self.width

    def to_tensors(self, table):
        facts = {"sharpness": self.sharpness, "width": self.width}
        return {"degree": torch.from_numpy(table.degree)}, facts

    @classmethod
    def from_tensors(cls, tensors, facts):
        return cls(facts["sharpness"], facts["width"]), Degrees(tensors["degree"].numpy())

class ToyExplainer(Explainer):
    def __init__(self, graph, table):
        self.graph, self.table = graph, table

    def reasons(self, node):
        degree = float(self.table.degree[node])
        usual = float(np.median(self.table.degree))
        everybody = np.arange(len(self.table.degree))
        deviation = Deviation("degree", f"{degree:g}", f"{usual:g}", degree - usual)
        return Reasons(
            ego_size=int(degree) + 1,
            questions={"degree": degree},
            causes=("degree",),
            features=(),
            structure=(deviation,),
            surprising=(),
            expected=(),
            unlike=(),
            extremes=(),
            energy_actual=0.0,
            energy_expected=0.0,
            components=components_of({"degree": self.table.degree.astype(float)}, everybody, node),
            compared_with="all nodes",
            picture=Picture((str(self.graph.ids[node]),), (), (), "degree", (0.5,), (0.5,)),
        )

    def phrase(self, cause, reasons):
        return f"it has {reasons.ego_size - 1} neighbours"

    def in_short(self, cause, reasons):
        return f"{reasons.ego_size - 1} neighbours"
""",
}
REGISTER = """
from egoscore import detectors
detectors.PRESETS["toy"] = ("toy", "Toy")
"""
PYTHON = """
import json, sys
import numpy as np
from egoscore import EgoScore, generate_network
from egoscore.detect import Origin, detect
from egoscore.run.reader import Run

graph, out = generate_network(60, 150, 3), sys.argv[1]
degree = np.asarray(graph.adjacency.degrees, dtype=float)
fitted = EgoScore(preset="toy", sharpness=3).fit(graph)
assert (fitted.decision_score_.numpy() == degree**3).all()
assert (EgoScore(preset="toy").fit(graph).decision_score_.numpy() == degree**2).all()
fitted.save(out + ".model")
loaded = EgoScore.load(out + ".model")
assert loaded.get_params() == fitted.get_params()
assert (loaded.decision_function(graph) == fitted.decision_score_).all()
assert loaded.explain(5, graph).summary == fitted.explain(5).summary
assert f"has {degree[5]:g} neighbours" in fitted.explain(5).summary
try:
    EgoScore(preset="toy", alpha=0.5).fit(graph)
except ValueError as error:
    assert "alpha" in str(error)
else:
    raise AssertionError("a setting of another preset was accepted")
found = detect(graph, Origin("made"), EgoScore(preset="toy", sharpness=3), out)
assert found.ranking["score"].to_pylist() == sorted(degree**3, reverse=True)
assert Run.open(out).config["settings"] == {"sharpness": 3}
assert "sharpness" in EgoScore.__doc__
ids = graph.ids.tolist()
taught = fitted.teach({ids[0]: True, ids[1]: False})
assert (taught.decision_score_ == fitted.decision_score_).all()
assert (taught.updated_score_ != fitted.decision_score_).any()
assert not {ids[0], ids[1]} & set(taught.suggest(58))
taught.save(out + ".taught")
again = EgoScore.load(out + ".taught")
assert (again.updated_score(graph) == taught.updated_score_).all()
detect(graph, Origin("made"), EgoScore(preset="toy", sharpness=3), out)  # and again
"""
LATE = """
from sklearn.base import clone
from egoscore import EgoScore, detectors, generate_network
EgoScore().get_params()
detectors.PRESETS["late"] = ("toy", "Toy")
late = clone(EgoScore(preset="late", sharpness=5.0))
assert late.get_params()["sharpness"] == 5.0
assert late.set_params(sharpness=4.0).settings().sharpness == 4.0
late.fit(generate_network(20, 40, 2))
"""
COMMAND = """
import sys
from egoscore.cli import main
main()
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Runs code in a process that knows the detector: what it prints."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "toy").mkdir()
    for name, text in MODULES.items():
        (folder / "toy" / name).write_text(text)
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])

    def run(code, *arguments):
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": path, "COLUMNS": "80"},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_it_works_in_python(toy, tmp_path):
    toy(REGISTER + PYTHON, tmp_path / "run")


def test_it_may_be_registered_after_others_were_used(toy):
    toy(LATE)


def test_it_works_on_the_command_line(toy, tmp_path):
    out = tmp_path / "run"
    command = ("detect", "builtin", "--out", out, "--preset=toy", "--sharpness=1", "--json")
    record = json.loads(toy(REGISTER + COMMAND, *command))
    assert record["meaning"] == "The degree."
    assert record["top"][0]["causes"] == ["degree"]
    scores = [row["score"] for row in record["top"]]
    assert scores == sorted(scores, reverse=True)
    shown = toy(REGISTER + COMMAND, *command[:-1], "--top=3")
    assert f"{record['top'][0]['ego_size'] - 1} neighbours" in shown
    node = record["top"][0]["node"]
    assert json.loads(toy(REGISTER + COMMAND, "explain", out, node, "--json"))["causes"] == [
        "degree"
    ]
    reviewed = json.loads(toy(REGISTER + COMMAND, "review", out, "--abnormal", node, "--json"))
    assert [one["kind"] for one in reviewed["verdicts"]] == ["abnormal"]
    assert node not in [one["node"] for one in reviewed["next"]]
    (out / "report.html").unlink()
    toy(REGISTER + COMMAND, "report", out)
    assert "Has it an unusual number of neighbours?" in (out / "report.html").read_text()


def test_its_options_are_in_a_panel_of_their_own(toy):
    output = toy(REGISTER + COMMAND, "detect", "--help-all")
    panel = output.split("Only with --preset toy")[1].split("╰")[0]
    assert "--sharpness" in panel
    assert "Exponent of the degree." in panel

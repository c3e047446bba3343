"""The command line: options, output, and errors of one line."""

import errno
import importlib.metadata
import inspect
import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from jinja2 import TemplateNotFound
from sklearn.metrics import average_precision_score, roc_auc_score

import egoscore
from egoscore import EgoScore
from egoscore.cli import app, main, program
from egoscore.cli.options import data_sets, names
from egoscore.detectors import settings_of
from egoscore.errors import EgoScoreError
from egoscore.load.datasets import is_dataset, list_datasets
from egoscore.report.findings import Findings
from egoscore.report.notes import render
from egoscore.run.reader import Run
from egoscore.text import command_line_options, printable

QUICK = {
    "preset": "paper",
    "epochs": 2,
    "num_levels": 2,
    "num_samples": 1,
    "steps": 10,
    "hidden_size": 8,
}
OPTIONS = [f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items()]
PARAMETERS = inspect.signature(EgoScore).parameters
ON_COMMAND_LINE = [name for name in PARAMETERS if name not in ("directed", "verbose")]
DEFAULT, PAPER = (
    [field.name for field in fields(settings_of(preset))] for preset in ("default", "paper")
)
OF_TABLES = {"edges", "nodes", "source", "target", "id", "features", "ignore", "categories",
             "label", "name", "weight", "impute", "encoding",
             "columns", "node_columns"}  # fmt: skip
HEAVY = ("torch", "numba", "scipy", "sklearn", "pyarrow", "networkx", "torch_geometric")


@pytest.fixture
def call(monkeypatch, capsys):
    """Runs the command line in this process: exit code, output, errors."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["egoscore", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return run


def detect_options():
    return typer.main.get_command(app).commands["detect"].params


class TestHelp:
    @pytest.mark.parametrize("flag", ["--help", "-h"])
    def test_help_lists_the_commands(self, call, flag):
        code, output, _ = call(flag)
        assert code == 0
        for command in ("detect", "explain", "report", "bench", "datasets", "--version"):
            assert command in output

    def test_without_arguments_help_is_shown(self, call):
        _, output, errors = call()
        assert "Usage" in output + errors

    def test_long_help_of_detect_lists_every_option(self, call, monkeypatch):
        monkeypatch.setenv("COLUMNS", "200")
        code, output, _ = call("detect", "--help-all")
        assert code == 0
        for name in ON_COMMAND_LINE:
            assert f"--{name.replace('_', '-')} " in output.replace(",", " ")

    def test_long_options_are_the_parameters_of_the_detector(self):
        options = {param.name: param for param in detect_options()}
        own = {"data", "out", "top", "data_dir", "directed", "as_json", "verbose"}
        own.add("help_all")
        assert set(options) == {*own, *OF_TABLES, *ON_COMMAND_LINE}
        for name in ON_COMMAND_LINE:
            assert f"--{name.replace('_', '-')}" in options[name].opts
        for name in ("preset", "seed", "fdr", "contamination"):
            assert options[name].default == PARAMETERS[name].default

    def test_help_of_detect_is_short_and_leaves_the_settings_out(self, call, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        code, output, _ = call("detect", "--help")
        assert code == 0
        assert len(output.splitlines()) < 40
        for name in ("out", "edges", "nodes", "preset", "label", "impute", "help-all"):
            assert f"--{name} " in output
        for name in {*PAPER, *DEFAULT}:
            assert f"--{name.replace('_', '-')} " not in output

    @pytest.mark.parametrize("command", ["", *typer.main.get_command(app).commands])
    def test_help_names_no_types_of_python(self, call, command):
        output = call(*command.split(), "--help")[1]
        assert not re.findall(r"<\w+( range)?>|\[\[|\{", output)

    def test_what_only_the_paper_needs_comes_last_in_long_help(self, call, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        lines = call("detect", "--help-all")[1].splitlines()
        panels = {
            line.strip("╭─╮ "): number for number, line in enumerate(lines) if line.startswith("╭")
        }
        common, *rest = panels
        assert [common, *rest][:2] == ["Arguments", "Options"]
        assert rest[1].startswith("Your tables")
        starts = list(panels.values())
        assert starts[3] - starts[0] < 40
        assert rest[-1] == "Only with --preset paper"
        of_paper = "\n".join(lines[starts[-1] :])
        others = "\n".join(lines[: starts[-1]])
        for name in set(PAPER) - set(DEFAULT):
            option = f"--{name.replace('_', '-')} "
            assert option in of_paper
            assert option not in others
        assert "--epochs " in of_paper
        assert "--updates " in others

    def test_every_option_is_explained(self):
        assert all(param.help for param in detect_options())

    def test_help_that_differs_is_told_for_each_preset(self):
        batch_size = next(one for one in detect_options() if one.name == "batch_size").help
        for preset in ("default", "paper"):
            field = next(f for f in fields(settings_of(preset)) if f.name == "batch_size")
            assert f"{preset}: {field.metadata['help']} ({field.default})" in batch_size


class TestVersion:
    def test_it_is_that_of_the_package(self, call):
        assert call("--version") == (0, f"{egoscore.__version__}\n", "")

    def test_the_command_is_installed(self):
        (command,) = importlib.metadata.entry_points(group="console_scripts", name="egoscore")
        assert command.load() is program

    def test_as_a_program_it_ends_with_the_exit_code_and_all_output(self):
        for words, code, said in (
            (["--version"], 0, egoscore.__version__),
            (["detect", "no"], 2, ""),
        ):
            done = subprocess.run(
                [sys.executable, "-m", "egoscore", *words],
                capture_output=True,
                text=True,
                check=False,
            )
            assert (done.returncode, done.stdout.strip()) == (code, said)
            assert done.stderr.startswith("egoscore: ") == (code == 2)


class TestDatasets:
    def test_every_data_set_is_listed(self, call, monkeypatch):
        monkeypatch.setenv("COLUMNS", "200")
        code, output, _ = call("datasets")
        assert code == 0
        for entry in list_datasets():
            assert f" {entry.name} " in output
            assert entry.where in output

    def test_a_missing_folder_is_reported(self, call, tmp_path):
        code, output, errors = call("datasets", "--data-dir", tmp_path / "no")
        assert (code, output) == (2, "")
        assert errors == (
            f"egoscore: The data folder {tmp_path / 'no'} does not exist or is not a folder.\n"
        )


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Output of one run of the real command, and its directory."""
    out = tmp_path_factory.mktemp("cli") / "run"
    command = [sys.executable, "-m", "egoscore", "detect", "builtin", "--out", out]
    done = subprocess.run(
        [*command, *OPTIONS, "--top", "7"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, out


class TestDetect:
    def test_a_table_and_at_most_five_lines_are_printed(self, found):
        output, out = found
        lines = output[output.rindex("└") :].splitlines()[1:]
        assert 0 < len(lines) <= 5
        assert not [line for line in lines if not line.strip()]
        assert str(out / "report.html") in output
        assert f"egoscore explain {out}" in lines[-1]

    def test_the_most_abnormal_nodes_are_shown(self, found):
        output, out = found
        assert "Most abnormal 7 of 1,000 nodes" in output
        shown = re.findall(r"^│ +(\d+) │ (\S+) +│ +(\S+) │", output, re.MULTILINE)
        rows = pq.read_table(out / "scores.parquet").slice(0, 7).to_pylist()
        assert shown == [(str(r["rank"]), str(r["node"]), f"{r['score']:#.4g}") for r in rows]

    def test_known_outliers_are_evaluated_by_three_metrics(self, found):
        output, out = found
        table = pq.read_table(out / "scores.parquet")
        labels, score = table["known_label"].to_numpy(), table["score"].to_numpy()
        numbers = [roc_auc_score(labels, score), average_precision_score(labels, score)]
        numbers.append(labels[:60].sum() / 60)
        line = next(line for line in output.splitlines() if "ROC-AUC" in line)
        assert all(f"{100 * number:.1f}%" in line for number in numbers)

    def test_no_colours_and_no_bars_outside_a_terminal(self, found):
        assert "\x1b" not in found[0]

    def test_it_does_what_the_detector_does(self, found):
        table = pq.read_table(found[1] / "scores.parquet").sort_by("node")
        expected = EgoScore(**QUICK).fit(egoscore.load_dataset("builtin")).decision_score_
        np.testing.assert_array_equal(table["score"], expected)

    def test_top_0_prints_no_table(self, found, call):
        code, output, _ = call("detect", "builtin", "--out", found[1], *OPTIONS, "--top", "0")
        assert code == 0
        assert "Most abnormal" not in output
        assert "ROC-AUC" in output

    def test_every_option_reaches_the_detector(self, call, monkeypatch, tmp_path):
        given = {
            **{"preset": "paper", "seed": 4, "contamination": 0.2, "fdr": 0.3},
            **{"dissimilarity": "energy"},
            **{"alpha": 0.25, "weighting": "snr", "num_levels": 5, "num_samples": 2},
            **{"model": "congress", "positions": "laplacian"},
            **{"num_hops": 2, "max_nodes": 9, "sde": "ve", "solver": "s4", "steps": 11},
            **{"hidden_size": 12, "epochs": 6, "lr": 0.5, "weight_decay": 0.25},
            **{"batch_size": 77, "use_ema": True, "gpu": -1, "num_workers": 3},
        }
        assert {*given, "updates"} == set(ON_COMMAND_LINE)  # which is the other preset's
        seen = []

        def record(graph, origin, detector, out):
            seen.append((origin, out, detector.get_params()))
            raise EgoScoreError("enough")

        monkeypatch.setattr("egoscore.detect.detect", record)
        options = [
            f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
            for name, value in given.items()
        ]
        code, _, errors = call("detect", "builtin", "--out", tmp_path / "run", *options)
        assert (code, errors) == (2, "egoscore: enough\n")
        ((origin, out, parameters),) = seen
        assert (origin.source, out) == ("builtin", tmp_path / "run")
        command = f"egoscore detect builtin --out {tmp_path / 'run'} --preset=paper --seed=4"
        assert origin.command.startswith(command)
        assert parameters == {**given, "updates": None, "directed": False, "verbose": 1}
        call("detect", "builtin", "--out", tmp_path / "run", "--updates=7")
        assert seen[1][2]["updates"] == 7

    def test_a_flag_can_be_turned_off(self, call, monkeypatch, tmp_path):
        seen = []

        def record(graph, source, detector, out):
            seen.append(detector.use_ema)
            raise EgoScoreError("enough")

        monkeypatch.setattr("egoscore.detect.detect", record)
        for flags in (["--no-use-ema"], []):
            call("detect", "builtin", "--out", tmp_path / "run", "--preset=paper", *flags)
        assert seen == [False, None]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Two tables: forty people, one with an outlying income, and the payments between them."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    income = rng.normal(3000, 100, 40).round()
    income[7] = 98_000
    rows = [f"p{n},{income[n]:.0f},{'NZ' if n % 2 else 'PT'}" for n in range(40)]
    (folder / "people.csv").write_text("name,income,country\n" + "\n".join(rows) + "\n")
    ends = rng.integers(0, 40, (120, 2))
    lines = [f"p{a},p{b},{rng.integers(1, 9)}" for a, b in ends if a != b]
    (folder / "payments.csv").write_text("payer,payee,amount\n" + "\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def made(tables, tmp_path_factory):
    """A run of those tables, by the command line, and what it printed."""
    out = tmp_path_factory.mktemp("made") / "run"
    command = [
        *("detect", "--edges", tables / "payments.csv", "--nodes", tables / "people.csv"),
        *("--out", out, "--updates=3", "--hidden-size=8"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "egoscore", *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return out, done.stdout


class TestTables:
    def test_two_tables_become_a_run_that_finds_the_outlier(self, made):
        out, output = made
        ranked = pq.read_table(out / "scores.parquet").to_pylist()
        assert ranked[0]["node"] == "p7"
        first = next(line for line in output.splitlines() if "│ p7 " in line)
        assert "income" in first

    def test_the_run_names_its_tables(self, made, tables):
        config = json.loads((made[0] / "config.json").read_text())
        assert config["source"] == f"{tables / 'payments.csv'} and {tables / 'people.csv'}"
        assert config["contamination"] == "auto"
        assert config["command"].startswith("egoscore detect --edges ")

    def test_with_json_nothing_else_is_printed(self, call, tables, tmp_path):
        code, output, errors = call(
            *("detect", "--edges", tables / "payments.csv", "--nodes", tables / "people.csv"),
            *("--out", tmp_path / "run", "--updates=3", "--hidden-size=8", "--json", "--top=3"),
        )
        assert (code, errors) == (0, "")
        record = json.loads(output)
        assert [row["rank"] for row in record["top"]] == [1, 2, 3]
        assert record["top"][0]["node"] == "p7"
        assert record["notes"]

    def test_json_names_every_note_by_its_code(self, call, tables, tmp_path):
        command = ("detect", "--edges", tables / "payments.csv", "--out", tmp_path / "run")
        record = json.loads(call(*command, "--updates=3", "--hidden-size=8", "--json")[1])
        kept = json.loads((tmp_path / "run" / "findings.json").read_text())
        assert record["codes"] == [*kept["notes"], kept["rule"], *kept["caveats"]]
        codes = {note["code"] for note in record["codes"]}
        assert {"threshold-far-out", "significant-nodes", "few-nodes"} <= codes
        assert all(note["severity"] in ("info", "warning") for note in record["codes"])

    def test_verbose_prints_all_notes_and_settings_to_standard_error(self, call, tables, tmp_path):
        command = ("detect", "--edges", tables / "payments.csv", "--out", tmp_path / "run")
        command += ("--updates=3", "--hidden-size=8")
        code, brief, errors = call(*command)
        assert (code, errors) == (0, "")
        code, output, errors = call(*command, "-v")
        assert (code, output) == (0, brief)
        found = Findings.from_json(Run.open(tmp_path / "run").findings)
        with command_line_options():
            texts = [render(note) for note in (*found.notes, found.rule, *found.caveats)]
        assert all(printable(text) in errors for text in texts)
        assert "updates 3" in errors
        assert "MB" in errors

    def test_without_a_table_of_nodes_their_structure_is_used(self, call, tables, tmp_path):
        out = tmp_path / "run"
        edges = ("detect", "--edges", tables / "payments.csv")
        code, *_ = call(*edges, "--out", out, "--updates=3", "--hidden-size=8")
        assert code == 0
        code, output, errors = call("explain", out, "p7", "--json")
        assert (code, errors) == (0, "")
        assert "core number" in {one["name"] for one in json.loads(output)["structure"]}


class TestExplain:
    def test_the_reasons_are_printed(self, call, made):
        code, output, errors = call("explain", made[0], "p7")
        assert (code, errors) == (0, "")
        assert output.startswith("p7 ranks 1 of 40 ")
        assert "│ income " in output

    def test_json_is_the_explanation_of_the_detector(self, call, made):
        code, output, _ = call("explain", made[0], "p3", "--json")
        assert code == 0
        found = EgoScore.load(made[0]).explain("p3")
        assert json.loads(output) == json.loads(json.dumps(found.to_dict()))

    def test_json_has_values_as_numbers_and_as_text(self, call, made):
        record = json.loads(call("explain", made[0], "p7", "--json")[1])
        by_name = {one["name"]: one for one in record["features"]}
        income, country = by_name["income"], by_name["country = NZ"]
        assert (income["observed_value"], income["observed"]) == (98_000, "98,000")
        assert 2000 < income["expected_value"] < 98_000
        assert (country["kind"], country["observed_value"], country["observed"]) == (
            *("category", 1),
            "yes",
        )
        assert 0 <= country["expected_value"] <= 1
        for one in record["structure"]:
            assert isinstance(one["observed_value"], float)
            assert isinstance(one["expected_value"], float)

    def test_a_node_may_be_called_like_an_option(self, call, tmp_path):
        rng = np.random.default_rng(0)
        lines = [f"{-a},{-b}" for a, b in rng.integers(1, 30, (90, 2)) if a != b]
        (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(lines) + "\n")
        quick = ("--updates=3", "--hidden-size=8", "--out", tmp_path / "run")
        assert call("detect", "--edges", tmp_path / "edges.csv", *quick)[0] == 0
        code, output, _ = call("explain", tmp_path / "run", "-12", "--json")
        assert (code, json.loads(output)["node"]) == (0, "-12")

    def test_an_unknown_node(self, call, made):
        code, output, errors = call("explain", made[0], "p77")
        assert (code, output) == (2, "")
        assert errors.startswith("egoscore: ")
        assert "'p77'" in errors
        assert "did you mean 'p7', " in errors

    @pytest.mark.parametrize("missing", ["", "nowhere"])
    def test_a_missing_run(self, call, tmp_path, missing):
        code, _, errors = call("explain", tmp_path / missing, "p7")
        assert code == 2
        assert "holds no finished run of egoscore; run `egoscore detect`" in errors
        assert errors.count("\n") == 1

    def test_a_model_without_its_graph(self, call, made, tmp_path):
        for name in ("model.safetensors", "findings.json", "config.json"):
            (tmp_path / name).write_bytes((made[0] / name).read_bytes())
        code, _, errors = call("explain", tmp_path, "p7")
        assert code == 2
        assert "nodes.parquet is missing" in errors
        assert "`egoscore detect` command again" in errors
        assert errors.count("\n") == 1


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Forty people with names, two of them with the same, and whom they know."""
    folder = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(0)
    names = [f"Ann No. {n}" if n % 2 else f"Bob No. {n}" for n in range(40)]
    names[6] = names[8]
    rows = [f"{100 + n},{names[n]},{rng.normal(30, 9):.0f},n{n}" for n in range(40)]
    (folder / "nodes.csv").write_text("id,page_name,age,nick\n" + "\n".join(rows) + "\n")
    ends = rng.integers(0, 40, (120, 2))
    lines = [f"{100 + a},{100 + b}" for a, b in ends if a != b]
    (folder / "edges.csv").write_text("from,to\n" + "\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def named_run(people, tmp_path_factory):
    """A run by two processes that share the graph."""
    out = tmp_path_factory.mktemp("named") / "run"
    command = ("detect", people, "--out", out, *OPTIONS, "--num-workers=2", "--top=40")
    done = subprocess.run(
        [sys.executable, "-m", "egoscore", *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return out, done.stdout


class TestNames:
    def names(self, out):
        table = pq.read_table(out / "scores.parquet")
        return dict(zip(table["node"].to_pylist(), table["name"].to_pylist(), strict=True))

    def test_every_list_has_them(self, named_run):
        out, output = named_run
        names = self.names(out)
        assert names[103] == "Ann No. 3"
        assert all(f"│ {name} " in output for name in names.values())
        csv = (out / "scores.csv").read_text().splitlines()
        assert csv[0].startswith('"node","name","score"')
        assert any(line.startswith('103,"Ann No. 3",') for line in csv)
        record = json.loads((out / "findings.json").read_text())
        assert all(one["name"] == names[int(one["node"])] for one in record["explanations"])
        assert {"names"} <= {note["code"] for note in record["notes"]}

    def test_the_report_shows_them_in_the_drawings_too(self, named_run):
        out, _ = named_run
        page = (out / "report.html").read_text()
        record = json.loads((out / "findings.json").read_text())
        for one in record["explanations"]:
            drawn = one["picture"]["nodes"]
            assert set(drawn) <= set(self.names(out).values())
            assert all(f"<title>{name}</title>" in page for name in drawn)

    @pytest.mark.parametrize("node", ["103", "Ann No. 3"])
    def test_a_node_is_explained_by_its_id_and_by_its_name(self, call, named_run, node):
        code, output, errors = call("explain", named_run[0], node)
        assert (code, errors) == (0, "")
        assert output.startswith("Ann No. 3 ranks ")
        record = json.loads(call("explain", named_run[0], node, "--json")[1])
        assert (record["node"], record["name"]) == ("103", "Ann No. 3")
        assert all(tie["name"].startswith(("Ann", "Bob")) for tie in record["expected"])
        assert (
            EgoScore.load(named_run[0]).explain(node).to_dict()
            == EgoScore.load(named_run[0]).explain(103).to_dict()
        )

    def test_a_name_of_two_nodes_is_refused_with_their_ids(self, call, named_run):
        code, output, errors = call("explain", named_run[0], "Bob No. 8")
        assert (code, output, errors.count("\n")) == (2, "", 1)
        assert "'106', '108'" in errors

    def test_a_close_name_is_suggested(self, call, named_run):
        code, _, errors = call("explain", named_run[0], "ann no 37")
        assert (code, errors.count("\n")) == (2, 1)
        assert "'Ann No. 37'" in errors

    def test_another_column_can_be_chosen_for_the_same_run(self, call, people, tmp_path):
        found = []
        for options in ((), ("--name", "nick")):
            command = ("detect", people, "--out", tmp_path / "run", *OPTIONS, "--ignore=age", "-v")
            code, _, errors = call(*command, *options)
            assert code == 0, errors
            config = json.loads((tmp_path / "run" / "config.json").read_text())
            found.append((self.names(tmp_path / "run")[103], config["fingerprint"]))
        assert [name for name, _ in found] == ["Ann No. 3", "n3"]
        assert found[0][1] == found[1][1]

    def test_an_unknown_column(self, call, people, tmp_path):
        code, _, errors = call("detect", people, "--out", tmp_path / "run", "--name=called")
        assert (code, errors.count("\n")) == (2, 1)
        assert "--name" in errors
        assert "'called'" in errors


class TestWaiting:
    """On a terminal a progress bar is shown while a run is read, on standard error."""

    @pytest.mark.parametrize(
        ("command", "title"),
        [(["explain", "p7"], "Explaining"), (["report"], "Writing the report")],
    )
    def test_a_bar_shows_progress(self, call, made, monkeypatch, command, title):
        shown, done = [], []

        @contextmanager
        def noted(text, total, unit, verbose, stays):
            shown.append((text, total, verbose, stays))
            yield done.append

        monkeypatch.setattr("egoscore.progress.progress_bar", noted)
        call(command[0], made[0], *command[1:])
        assert shown == [(title, sum(done), 1, False)]

    def test_there_is_no_bar_with_json(self, call, made, monkeypatch):
        monkeypatch.setattr("rich.console.Console.is_terminal", True)
        assert call("explain", made[0], "p7", "--json")[2] == ""


class TestReport:
    def test_the_page_is_the_same_again(self, call, made, tmp_path):
        page = tmp_path / "page.html"
        assert call("report", made[0], "--out", page) == (0, f"Report: {page}\n", "")
        assert page.read_bytes() == (made[0] / "report.html").read_bytes()

    def test_a_folder_without_a_run(self, call, tmp_path):
        code, _, errors = call("report", tmp_path)
        assert code == 2
        assert "holds no finished run" in errors
        assert errors.count("\n") == 1


class TestRefusals:
    def refused(self, call, tmp_path, *arguments):
        """The error message for these arguments; nothing is written."""
        out = tmp_path / "run"
        code, _, errors = call("detect", *arguments, "--out", out)
        assert code == 2
        assert errors.startswith("egoscore: ")
        assert errors.count("\n") == 1
        assert "Traceback" not in errors
        assert not out.exists()
        return errors

    def test_an_unknown_data_set(self, call, tmp_path):
        message = self.refused(call, tmp_path, "biultin")
        assert "There is no data set 'biultin' (did you mean 'builtin'?)" in message

    @pytest.mark.parametrize(
        ("option", "rule"),
        [
            ("--alpha=1.5", "--alpha must be a number from 0 to 1 (found 1.5)."),
            ("--alpha=nan", "--alpha must be a number from 0 to 1 (found nan)."),
            ("--contamination=0.9", "--contamination must be a number above 0 and at most 0.5"),
            ("--seed=-1", "--seed must"),
            ("--solver=euler", "must be one of 'em', 'reverse', 'em+langevin'"),
            ("--hidden-size=7", "--hidden-size must be a multiple of 4 from 4 to 4096 (found 7)."),
            ("--epochs=-3", "--epochs must"),
            ("--preset=best", "--preset must"),
            ("--num-workers=0", "--num-workers must"),
            ("--epochs=many", "--epochs must be a whole number (found 'many')."),
            ("--seed=x", "--seed must be a whole number (found 'x')."),
            ("--lr=x", "--lr must be a number (found 'x')."),
            ("--colour=red", "--colour"),
            ("--top=-1", "--top must be a whole number of at least 0 (found '-1')."),
        ],
    )
    def test_a_bad_parameter(self, call, tmp_path, option, rule):
        assert rule in self.refused(call, tmp_path, "builtin", "--preset=paper", option)

    def test_a_parameter_of_another_preset(self, call, tmp_path):
        message = self.refused(call, tmp_path, "builtin", "--alpha=0.5")
        assert "--alpha needs --preset paper" in message

    def test_parameters_are_checked_before_data_are_read(self, call, tmp_path):
        assert "--alpha" in self.refused(call, tmp_path, "nowhere", "--alpha=1.5")

    def test_a_missing_gpu(self, call, tmp_path, monkeypatch):
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        out = tmp_path / "run"
        code, _, errors = call("detect", "builtin", "--gpu=0", "--out", out, *OPTIONS)
        assert code == 2
        assert "GPU 0" in errors
        assert "use -1" in errors
        assert errors.count("\n") == 1

    def test_either_a_source_or_edges_are_required(self, call, tmp_path):
        assert "Give either SOURCE" in self.refused(call, tmp_path)
        both = self.refused(call, tmp_path, "builtin", "--edges", tmp_path / "e.csv")
        assert "found both" in both
        assert "--nodes needs --edges" in self.refused(call, tmp_path, "builtin", "--nodes=n.csv")

    def test_the_directory_is_checked_before_data_are_read(self, call, tmp_path):
        (tmp_path / "thesis.tex").touch()
        code, _, errors = call("detect", "nowhere", "--out", tmp_path)
        assert code == 2
        assert "is not empty and holds no run" in errors

    @pytest.mark.parametrize(
        ("option", "blanks"),
        [
            *((one, ("", " ")) for one in ("source", "target", "id", "label", "weight")),
            *((several, ("", " ", ",")) for several in ("features", "ignore")),
        ],
    )
    def test_an_option_that_names_no_column(self, call, tmp_path, option, blanks):
        for blank in blanks:
            message = self.refused(call, tmp_path, "--edges=e.csv", f"--{option}={blank}")
            assert f"--{option} is empty; name a column" in message

    def test_an_unknown_encoding(self, call, tmp_path):
        message = self.refused(call, tmp_path, "--edges=e.csv", "--encoding=klingon")
        assert "--encoding must be the name of an encoding" in message
        assert "(found 'klingon')" in message

    def test_an_unusable_path_is_refused_before_data_are_read(self, call, tmp_path, monkeypatch):
        (tmp_path / "file").touch()
        places = {
            tmp_path / "file" / "a" / "run": "Not a directory",
            tmp_path / ("long" * 100): "File name too long",
        }
        for out, reason in places.items():
            code, _, errors = call("detect", "nowhere", "--out", out)
            assert (code, errors) == (2, f"egoscore: Cannot use {out} for a run: {reason}.\n")
        asked = []
        monkeypatch.setattr(os, "access", lambda place, mode: asked.append(place))
        out = tmp_path / "a" / "run"
        code, _, errors = call("detect", "nowhere", "--out", out)
        assert (code, errors) == (2, f"egoscore: Cannot use {out} for a run: Permission denied.\n")
        assert asked == [tmp_path]
        assert not (tmp_path / "a").exists()

    def test_training_that_diverges_leaves_nothing_behind_but_the_lock(self, call, tmp_path):
        run = tmp_path / "run"
        changes = ("--epochs=90", "--lr=9")
        code, _, errors = call("detect", "builtin", "--out", run, *OPTIONS, *changes)
        assert (code, errors.count("\n")) == (2, 1)
        assert "smaller lr (now 9.0)" in errors
        assert [path.name for path in run.iterdir()] == [".lock"]

    def test_characters_that_the_output_cannot_encode_are_escaped(self, tmp_path):
        table = {"id": ["漢", "b", "c"], "x": [1.0, 2.0, 4.0]}
        pq.write_table(pa.table(table), tmp_path / "nodes.parquet")
        pq.write_table(pa.table({"a": ["漢"], "b": ["b"]}), tmp_path / "edges.parquet")
        command = [sys.executable, "-m", "egoscore", "detect", tmp_path, "--out", tmp_path / "run"]
        done = subprocess.run(
            [*command, *OPTIONS],
            capture_output=True,
            check=False,
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert rb"\u6f22" in done.stdout

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "egoscore", "datasets"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 2
        assert done.stderr == "egoscore: Cannot write the output: No space left on device.\n"

    @pytest.mark.parametrize(
        "defect", [TemplateNotFound("a.html"), OSError("ours"), OSError(errno.ENOENT, "ours")]
    )
    def test_other_errors_of_the_system_are_not_blamed_on_the_output(
        self, call, monkeypatch, defect
    ):
        def fail(*_):
            raise defect

        monkeypatch.setattr("egoscore.load.datasets.list_datasets", fail)
        with pytest.raises(type(defect)) as raised:
            call("datasets")
        assert raised.value is defect

    def test_a_closed_pipe_does_not_stop_a_run(self, tmp_path):
        """As with `| head`; here the pipe is closed from the start."""
        command = [sys.executable, "-m", "egoscore", "detect", "builtin", "--out", tmp_path / "run"]
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [*command, *OPTIONS], stdout=writing, stderr=subprocess.PIPE, check=False
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (0, b"")
        assert (tmp_path / "run" / "report.html").exists()

    @pytest.mark.parametrize(
        ("words", "facts"),
        [
            (["detect", "builtin"], ["`egoscore detect` needs --out DIR: "]),
            (["explain", "run"], ["`egoscore explain` needs NODE: "]),
            (["explain"], ["`egoscore explain` needs RUN: "]),
            (["foo"], ["no command 'foo'", "detect, report, review, bench, datasets, explain"]),
            (["detct"], ["no command 'detct'", "did you mean 'detect'?"]),
            (["detect", "--sed=3"], ["no option --sed", "did you mean --seed?", "--help-all`"]),
            (["report", "--quux"], ["no option --quux", "`egoscore report --help`"]),
        ],
    )
    def test_a_command_that_cannot_be_read(self, call, words, facts):
        code, output, errors = call(*words)
        assert (code, output) == (2, "")
        assert errors.startswith("egoscore: ")
        assert errors.count("\n") == 1
        assert all(fact in errors for fact in facts), errors

    def test_a_report_needs_a_folder_to_be_written_to(self, call, made, tmp_path):
        code, _, errors = call("report", made[0], "--out", tmp_path / "no" / "page.html")
        assert code == 2
        assert f"the folder {tmp_path / 'no'} does not exist" in errors

    def test_an_interruption_says_how_to_continue(self, call, monkeypatch, tmp_path):
        def interrupt(*_, **__):
            raise KeyboardInterrupt

        for early_or_late in ("egoscore.detector.EgoScore.__init__", "egoscore.detect.detect"):
            with monkeypatch.context() as patch:
                patch.setattr(early_or_late, interrupt)
                code, _, errors = call("detect", "builtin", "--out", tmp_path / "run")
            assert code == 130
            assert "run the same command again" in errors
            assert errors.count("\n") == 1

    def test_an_internal_error_is_not_hidden(self, monkeypatch, tmp_path):
        def defect(*_):
            raise RuntimeError("a defect")

        monkeypatch.setattr("egoscore.detect.detect", defect)
        monkeypatch.setattr(sys, "argv", ["egoscore", "detect", "builtin", f"--out={tmp_path}/r"])
        with pytest.raises(RuntimeError, match="a defect"):
            main()


class TestStart:
    def imported(self, code):
        """The heavy packages that `code` imports in a fresh process."""
        report = f"\nimport sys\nprint('heavy:', *[m for m in {HEAVY!r} if m in sys.modules])"
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code + report],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()[-1].split()[1:]

    def test_importing_the_package_imports_nothing_heavy(self):
        assert self.imported("import egoscore; dir(egoscore); egoscore.__version__") == []

    @pytest.mark.parametrize(
        "command", [[], *([name] for name in typer.main.get_command(app).commands)]
    )
    def test_help_imports_nothing_heavy(self, command):
        code = (
            "import sys\n"
            "from egoscore.cli import main\n"
            f"for arguments in ([*{command}, '--help'], ['--version']):\n"
            "    sys.argv = ['egoscore', *arguments]\n"
            "    try:\n"
            "        main()\n"
            "    except SystemExit as ended:\n"
            "        assert not ended.code, ended.code\n"
        )
        assert self.imported(code) == []

    def test_the_check_above_can_fail(self):
        assert "scipy" in self.imported("import egoscore; egoscore.AttributedGraph")

    @pytest.mark.parametrize(
        ("words", "offered"),
        [
            (["detect", "bui"], ["builtin"]),
            (["detect", "inj_c"], ["inj_cora"]),
            (["detect", "varied-5"], [f"varied-5{n}" for n in range(4)]),
            (["detect", "--preset", ""], ["default", "paper"]),
            (["detect", "--impute", "m"], ["median"]),
            (["detect", "--impute", "n"], ["none"]),
            (["detect", "no-such"], []),
        ],
    )
    def test_completion_imports_nothing_heavy(self, words, offered):
        code = (
            "import os, sys\n"
            f"words = ['egoscore', *{words!r}]\n"
            "sys.argv = ['egoscore']\n"
            "os.environ['_EGOSCORE_COMPLETE'] = 'complete_bash'\n"
            "os.environ['COMP_WORDS'] = ' '.join(words)\n"
            "os.environ['COMP_CWORD'] = str(len(words) - 1)\n"
            "from egoscore.cli import main\n"
            "try:\n"
            "    main()\n"
            "except SystemExit:\n"
            f"    print(*[m for m in {HEAVY!r} if m in sys.modules])\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
        )
        *found, slow = done.stdout.splitlines()
        assert ([one for one in found if one], slow) == (offered, "")

    def test_every_data_set_is_offered(self):
        names = [name for start in ("", "v", "injected-") for name in data_sets(start)]
        assert all(is_dataset(name) for name in names)
        assert not any(name.startswith(("varied", "injected")) for name in data_sets(""))
        listed = {entry.name for entry in list_datasets()}
        families = {"varied-00 to varied-53", "injected-00 to injected-19"}
        assert {*names} | families >= listed

    def test_the_presets_offered_are_those_there_are(self):
        preset = next(option for option in detect_options() if option.name == "preset")
        offered = preset.shell_complete(None, "")
        assert [one.value for one in offered] == ["default", "paper"]
        for one in offered:
            EgoScore(preset=one.value).settings()


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["a, b,,a"], ("a", "b")),
        (["a", "b"], ("a", "b")),
        (['"a,b", c'], ("a,b", "c")),
        ([], ()),
    ],
)
def test_names_have_commas_between_them_and_quotes_around_a_comma(texts, found):
    assert names(*texts) == found

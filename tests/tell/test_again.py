"""The page of a finished run, written again: the same page, from what the run keeps."""

import pytest

from egoscore import EgoScore, generate_network
from egoscore.detect import Origin, detect
from egoscore.errors import RunError
from egoscore.tell.again import write_report

QUICK = {
    "default": {"updates": 2, "hidden_size": 8},
    "paper": {"preset": "paper", "epochs": 1, "num_levels": 1, "num_samples": 1, "steps": 3},
}


@pytest.fixture(params=QUICK)
def run(request, tmp_path):
    graph = generate_network(50, 120, 3, seed=1, outlier_fraction=0.1)
    origin = Origin("friends", ("12 rows were read.",), "egoscore detect friends")
    return detect(graph, origin, EgoScore(**QUICK[request.param]), tmp_path / "run").path


def spoil(path, how):
    whole = path.read_bytes()
    path.unlink()
    if how == "half":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "other":
        path.write_text("[]")


def test_it_is_the_page_that_was_there(run):
    before = (run / "report.html").read_bytes()
    (run / "report.html").unlink()
    assert write_report(run) == run / "report.html"
    assert (run / "report.html").read_bytes() == before


def test_it_is_written_where_it_is_wanted(run, tmp_path):
    before = (run / "report.html").read_bytes()
    (run / "report.html").write_text("mine")
    assert write_report(run, tmp_path / "page.html") == tmp_path / "page.html"
    assert (tmp_path / "page.html").read_bytes() == before
    assert (run / "report.html").read_text() == "mine"


@pytest.mark.parametrize("lost", ["model.safetensors", "network/nodes.parquet", "scores.csv"])
def test_it_needs_neither_the_model_nor_the_network(run, lost):
    before = (run / "report.html").read_bytes()
    (run / lost).unlink()
    assert write_report(run).read_bytes() == before


@pytest.mark.parametrize("lost", ["config.json", "scores.parquet", "findings.json"])
@pytest.mark.parametrize("how", ["gone", "half", "other"])
def test_a_run_that_is_not_whole_is_told_in_one_sentence(run, lost, how):
    spoil(run / lost, how)
    with pytest.raises(RunError, match="`egoscore detect` command again") as caught:
        write_report(run)
    assert "\n" not in str(caught.value)
    assert "another directory" in str(caught.value) or lost != "config.json"


def test_a_place_that_cannot_be_written_is_told(run, tmp_path):
    with pytest.raises(RunError, match="Cannot write"):
        write_report(run, tmp_path / "nowhere" / "page.html")


def test_a_folder_that_is_no_run_is_told(tmp_path):
    with pytest.raises(RunError, match="holds no finished run"):
        write_report(tmp_path)

"""Settings: every rule lets good values through and refuses bad ones in one form of words."""

import inspect
from dataclasses import asdict

import numpy as np
import pytest

from egoscore import EgoScore
from egoscore.errors import EgoScoreError, ParameterError
from egoscore.settings import PRESETS, RULES, SETTING_NAMES, check, resolve

GOOD = {
    "dissimilarity": ["rec", "energy"],
    "alpha": [0, 1, 0.5, np.float32(0.5), np.float64(1.0), np.int64(0)],
    "weighting": ["sqrt_snr", "snr", "none"],
    "num_levels": [1, 999, np.int64(4)],
    "num_samples": [1, 999, np.int32(3)],
    "model": ["gdss", "gdss-graff", "congress"],
    "positions": ["none", "laplacian", "random_walk"],
    "num_hops": [1, 99, np.uint8(2)],
    "max_nodes": [None, 1, 2**15, np.int16(50)],
    "sde": ["vp", "ve", "subvp"],
    "solver": ["em", "reverse", "em+langevin", "reverse+langevin", "s4"],
    "steps": [1, 2**23, np.int64(100)],
    "hidden_size": [4, 256, np.int64(16)],
    "epochs": [0, 2**23, np.int64(300)],
    "lr": [1e-9, 10, np.float32(0.01)],
    "weight_decay": [0, 10.0, np.float64(0.01)],
    "batch_size": [0, 10**9, np.int64(4096)],
    "use_ema": [True, False],
    "updates": [1, 2**17, np.int64(400)],
    "fdr": [1e-6, 0.99, np.float32(0.1)],
    "preset": ["default", "paper"],
    "seed": [0, 2**64 - 1, np.uint64(2**64 - 1)],
    "contamination": [1e-6, 0.5, np.float32(0.1), "auto"],
    "directed": [True, False],
    "gpu": [-1, 0, 7, np.int64(-1)],
    "num_workers": [1, 4096, np.int64(2)],
    "verbose": [0, 3, np.int64(1)],
}
NAN = float("nan")
BAD = {
    "dissimilarity": ["Rec", "", None, 1],
    "alpha": [-0.1, 1.5, NAN, "0.5", True, None, 1j, np.float64("nan")],
    "weighting": ["SNR", None, 1],
    "num_levels": [0, 1000, 2.0, True, "4", NAN, None],
    "num_samples": [0, 1000, 2.5, False],
    "model": ["GDSS", None, 1],
    "positions": ["walk", None],
    "num_hops": [0, 100, 1.0, True],
    "max_nodes": [0, 2**15 + 1, 1.5, True, "50"],
    "sde": ["VP", None],
    "solver": ["euler", "langevin", None],
    "steps": [0, 2**23 + 1, 10.0, True],
    "hidden_size": [0, -4, 6, 8.0, True],
    "epochs": [-1, 2**23 + 1, 1.0, True],
    "lr": [0, -0.1, 10.1, NAN, float("inf"), True],
    "weight_decay": [-1e-9, 10.1, NAN, True],
    "batch_size": [-1, 1.0, True],
    "use_ema": [1, 0, "False", None],
    "updates": [0, 2**17 + 1, 1.0, True],
    "fdr": [0, 1, -0.1, NAN, True, "auto"],
    "preset": ["papr", None],
    "seed": [-1, 2**64, 0.0, True, None],
    "contamination": [0, 0.51, -0.1, NAN, True, "Auto", "0.1"],
    "directed": [1, "no", None],
    "gpu": [-2, 0.0, "cuda:0", True, None],
    "num_workers": [0, 4097, 1.0, True],
    "verbose": [-1, 0.5, True],
}


def pairs(table):
    cases = [(name, value) for name, values in table.items() for value in values]
    return pytest.mark.parametrize(("name", "value"), cases, ids=[f"{n}={v!r}" for n, v in cases])


def home(name):
    """A preset that has the parameter."""
    return "paper" if hasattr(PRESETS["paper"], name) else "default"


def test_every_parameter_has_a_rule_and_every_rule_is_tried():
    parameters = set(inspect.signature(EgoScore).parameters)
    assert set(RULES) == parameters == set(GOOD) == set(BAD)


@pairs(GOOD)
def test_good_values_pass(name, value):
    check(name, value)
    EgoScore(**{"preset": home(name)} | {name: value}).settings()


@pairs(BAD)
def test_bad_values_are_refused_by_name_and_value(name, value):
    with pytest.raises(ParameterError) as caught:
        check(name, value)
    message = str(caught.value)
    assert message.startswith(f"The '{name}' parameter of EgoScore must be ")
    assert message.endswith(f". Got {value!r} instead.")
    assert "\n" not in message


@pairs(BAD)
def test_the_detector_refuses_them_when_it_is_used_not_before(name, value):
    detector = EgoScore(**{"preset": home(name)} | {name: value})
    if value is None and name in SETTING_NAMES:
        detector.settings()  # the preset's
        return
    with pytest.raises(ParameterError, match=f"^The '{name}' parameter of EgoScore must be "):
        detector.settings()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("alpha", 1.5, "must be a float in [0, 1]. Got 1.5 instead."),
        ("num_levels", 0, "must be an int from 1 to 999. Got 0 instead."),
        ("max_nodes", 0, "must be None or an int from 1 to 32768. Got 0 instead."),
        ("hidden_size", 6, "must be a multiple of 4 from 4 to 4096. Got 6 instead."),
        ("weighting", "x", "must be one of 'sqrt_snr', 'snr', 'none'. Got 'x' instead."),
    ],
)
def test_the_words_are_these(name, value, message):
    with pytest.raises(ParameterError) as caught:
        check(name, value)
    assert str(caught.value) == f"The '{name}' parameter of EgoScore {message}"


def test_a_bad_parameter_is_a_value_error_and_one_of_ours():
    assert issubclass(ParameterError, ValueError)
    assert issubclass(ParameterError, EgoScoreError)


@pytest.mark.parametrize("flag", ["use_ema", "directed"])
def test_flags_of_numpy_are_flags(flag):
    check(flag, np.bool_(True))


def test_what_is_not_given_comes_from_the_preset():
    settings = resolve("paper", {"alpha": 0.2, "epochs": None})
    assert asdict(settings) == asdict(PRESETS["paper"]) | {"alpha": 0.2}


def test_numbers_of_numpy_become_plain_ones():
    settings = resolve("paper", {"epochs": np.int64(3), "lr": np.float32(0.5)})
    assert type(settings.epochs) is int
    assert type(settings.lr) is float
    assert type(resolve("default", {"updates": np.int64(3)}).updates) is int


def test_a_value_of_zero_is_given_and_not_the_presets():
    assert resolve("paper", {"alpha": 0, "epochs": 0, "batch_size": 0}).epochs == 0
    with pytest.raises(ParameterError, match=r"batch_size.*at least 1 with this preset"):
        resolve("default", {"batch_size": 0})


@pytest.mark.parametrize(("preset", "name"), [("default", "alpha"), ("paper", "updates")])
def test_what_a_preset_has_no_use_for_is_refused(preset, name):
    value = GOOD[name][0]
    with pytest.raises(ParameterError) as caught:
        EgoScore(**{"preset": preset, name: value}).settings()
    other = home(name)
    assert str(caught.value) == (
        f"The '{name}' parameter of EgoScore must be left out with preset '{preset}', where it "
        f"plays no part (it is one of '{other}'). Got {value!r} instead."
    )


def test_presets_keep_their_own_rules():
    for preset in PRESETS.values():
        for name, value in asdict(preset).items():
            check(name, value)


def test_the_paper_preset_is_the_paper():
    paper = PRESETS["paper"]
    assert (paper.num_levels, paper.num_samples, paper.num_hops) == (4, 3, 1)
    assert (paper.max_nodes, paper.epochs, paper.weight_decay) == (None, 300, 0.01)
    assert (paper.sde, paper.solver, paper.steps) == ("vp", "em", 100)
    assert (paper.dissimilarity, paper.weighting, paper.use_ema) == ("rec", "sqrt_snr", False)
    assert paper.alpha in (0.8, 0.5, 0.2)
    assert paper.lr in (0.1, 0.05, 0.01)
    assert paper.hidden_size in (8, 12, 16)

"""Search strategies on objectives that are formulas, without kernels and GPUs."""

from __future__ import annotations

import sys

import pytest

from pyptx.errors import MissingToolError
from pyptx.tune import Space, restrict
from pyptx.tune.strategies import make_strategy, parse_budget
from pyptx.tune.trial import Trial

SMALL = Space(restrict(lambda A, B: A + B != 3), A=[1, 2, 3], B=[1, 2])
LARGE = Space(restrict(lambda A, B: (A + B) % 3 != 0), A=range(40), B=range(40), C=range(20), D=["x", "y"])


def cost(config: dict) -> float:
    near = abs(config["A"] - 31) / 10 + abs(config["B"] - 7) / 10 + abs(config["C"] - 11) / 20
    return 1 + near + (config["D"] == "x")


def search(name: str, space: Space, count: int, seed: int = 0) -> list[dict]:
    strategy = make_strategy(name, space, seed=seed).strategy
    found = []
    while len(found) < count and (config := strategy.ask()) is not None:
        found.append(config)
        trial = Trial(config, state="modeled", seconds=cost(config) if "D" in config else 1.0)
        strategy.tell(trial, trial.seconds if config.get("C") != 0 else None)  # some cannot be used
    return found


def test_auto_takes_the_grid_of_a_small_space_and_searches_a_large_one():
    small = make_strategy("auto", SMALL)
    assert (small.name, small.max_trials) == ("grid", None)
    pytest.importorskip("optuna")
    large = make_strategy("auto", LARGE)
    assert (large.name, large.max_trials) == ("tpe", 200)


def test_auto_without_optuna_draws_at_random(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.setattr("pyptx.tune.strategies.find_spec", lambda name: None)
    search = make_strategy("auto", LARGE)
    assert search.name == "random" and "pip install 'pyptx-workbench[tune]'" in str(search.note)
    with pytest.raises(MissingToolError, match="needs Optuna"):
        make_strategy("tpe", LARGE)


@pytest.mark.parametrize("name", ["grid", "model", "random"])
def test_every_feasible_configuration_of_a_small_space_comes_once(name: str):
    found = search(name, SMALL, 100)
    assert sorted(map(str, found)) == sorted(map(str, SMALL.feasible())) and len(found) == 4


@pytest.mark.parametrize("name", ["random", "tpe"])
def test_a_search_never_asks_for_what_is_refused_or_was_asked_before(name: str):
    if name == "tpe":
        pytest.importorskip("optuna")
    found = search(name, LARGE, 60)
    assert len({str(config) for config in found}) == 60
    assert not any(LARGE.refusal(config) for config in found)


def test_tpe_comes_nearer_than_chance_with_as_many_trials():
    pytest.importorskip("optuna")
    best = {
        name: sorted(min(map(cost, search(name, LARGE, 60, seed))) for seed in range(3))[1]
        for name in ("tpe", "random")
    }
    assert best["tpe"] < best["random"]


def test_random_draws_from_a_space_that_cannot_be_listed():
    huge = Space(**{name: range(100) for name in "ABCDE"})
    found = search("random", huge, 50)
    assert len({str(config) for config in found}) == 50


def test_the_same_seed_gives_the_same_order():
    assert search("random", LARGE, 20, seed=3) == search("random", LARGE, 20, seed=3)
    assert search("random", LARGE, 20, seed=3) != search("random", LARGE, 20, seed=4)


def test_a_small_space_ends_a_search():
    pytest.importorskip("optuna")
    assert len(search("tpe", SMALL, 100)) == 4


@pytest.mark.parametrize(
    "text, trials, seconds",
    [
        (12, 12, None),
        ("12", 12, None),
        ("90s", None, 90),
        ("10min", None, 600),
        ("1.5 h", None, 5400),
        (None, None, None),
    ],
    ids=str,
)
def test_budgets(text, trials, seconds):
    found = parse_budget(text)
    assert (found.trials, found.seconds) == (trials, seconds)


@pytest.mark.parametrize("text", [0, "soon", "-3s", True, 1.5], ids=str)
def test_what_is_no_budget(text):
    with pytest.raises(ValueError, match="budget"):
        parse_budget(text)

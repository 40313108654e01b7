"""In what order configurations are tried, and which: the whole grid, the model's order, random ones, Optuna's TPE."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice
from typing import Any, Protocol

from pyptx.tune.space import Config, Space
from pyptx.tune.trial import Trial, key_of, plain

__all__ = ["GRID_MOST", "STRATEGIES", "Grid", "Random", "Strategy", "Tpe", "strategy_of"]

GRID_MOST = 500                                         # feasible configurations that "auto" tries all of
STRATEGIES = ("auto", "grid", "model", "tpe", "random")
_DEFAULT_TRIALS = 200
_SAMPLE = 2000                                          # of a large space, for the model to choose from


class Strategy(Protocol):
    """What a study asks."""

    name: str

    def ask(self) -> Config | None:
        """The next configuration; None when there is none."""

    def tell(self, trial: Trial, value: float | None) -> None:
        """What became of it: the objective, None for one that cannot be used."""


class Grid:
    """Every configuration, once."""

    name = "grid"

    def __init__(self, configs: Iterator[Config]):
        self._configs = configs

    def ask(self) -> Config | None:
        return next(self._configs, None)

    def tell(self, trial: Trial, value: float | None) -> None:
        """The order does not depend on it."""


class Random(Grid):
    """Different configurations, drawn evenly from those that no restriction refuses."""

    name = "random"

    def __init__(self, space: Space, seed: int = 0):
        super().__init__(_drawn(space, random.Random(seed)))


class Tpe:
    """Optuna's tree-structured Parzen estimator, asked and told; beginning with configurations somebody thinks good.

    Args:
        first: what to begin with.
        known: trials of an earlier run, told at once.
    Raises:
        ImportError: Optuna is not installed.
    """

    name = "tpe"

    def __init__(self, space: Space, seed: int = 0, first: list[Config] | None = None):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna, self._space, self._seen = optuna, space, set()
        self._first = list(first or ())
        self._values = {name: {plain(v): v for v in values} for name, values in space.parameters.items()}
        self._study = optuna.create_study(sampler=optuna.samplers.TPESampler(
            seed=seed, multivariate=True, constant_liar=True))
        self._open: dict[str, Any] = {}
        self._told: set[str] = set()
        self._fallback = Random(space, seed)

    def ask(self) -> Config | None:
        for _ in range(100):                            # what was tried already, or is refused, is told at once
            if self._first:
                self._study.enqueue_trial({name: plain(v) for name, v in self._first.pop(0).items()})
            asked = self._study.ask()
            config = {name: self._values[name][asked.suggest_categorical(name, list(choices))]
                      for name, choices in self._values.items()}
            if key_of(config) in self._seen or self._space.refusal(config) is not None:
                self._study.tell(asked, state=self._optuna.trial.TrialState.FAIL)
                continue
            self._seen.add(key_of(config))
            self._open[key_of(config)] = asked
            return config
        while (config := self._fallback.ask()) is not None:             # it goes round in a small circle
            if key_of(config) not in self._seen:
                self._seen.add(key_of(config))
                return config
        return None

    def tell(self, trial: Trial, value: float | None) -> None:
        if trial.key in self._told:
            return
        self._told.add(trial.key)
        asked = self._open.pop(trial.key, None)
        if asked is not None and value is not None:
            self._study.tell(asked, value)
        elif asked is not None:
            self._study.tell(asked, state=self._optuna.trial.TrialState.FAIL)
        elif value is not None:                         # not asked for here: of an earlier run
            self._seen.add(trial.key)
            kinds = {name: self._optuna.distributions.CategoricalDistribution(list(choices))
                     for name, choices in self._values.items()}
            self._study.add_trial(self._optuna.trial.create_trial(
                params={name: plain(v) for name, v in trial.config.items()}, distributions=kinds, value=value))


def strategy_of(name: str, space: Space, *, seed: int = 0) -> tuple[str, Strategy, int | None]:
    """The strategy's name with "auto" decided, the strategy, and the trials it does unless told; None: all.

    Raises:
        ValueError: no strategy is called so.
        ImportError: "tpe" without Optuna.
    """
    if name not in STRATEGIES:
        raise ValueError(f"strategy {name!r}; expected one of {', '.join(STRATEGIES)}")
    if name == "auto":
        small = sum(1 for _ in islice(space.feasible(), GRID_MOST + 1)) <= GRID_MOST
        name = "grid" if small else "tpe" if find_spec("optuna") else "random"
    make: dict[str, Callable[[], Strategy]] = {
        "grid": lambda: Grid(space.feasible()), "model": lambda: Grid(_sampled(space, seed)),
        "random": lambda: Random(space, seed), "tpe": lambda: Tpe(space, seed)}
    return name, make[name](), None if name in ("grid", "model") else _DEFAULT_TRIALS


def _sampled(space: Space, seed: int) -> Iterator[Config]:
    """All configurations of a space that is not too large, else different ones drawn from it."""
    if len(space) <= _SAMPLE:
        return space.feasible()
    return islice(_drawn(space, random.Random(seed)), _SAMPLE)


def _drawn(space: Space, rng: random.Random) -> Iterator[Config]:
    if len(space) <= 1 << 16:
        configs = list(space.feasible())
        rng.shuffle(configs)
        yield from configs
        return
    seen: set[int] = set()
    misses = 0
    while misses < 100_000 and len(seen) < len(space):
        index = rng.randrange(len(space))
        if index in seen or space.refusal(config := space[index]) is not None:
            misses += 1
            continue
        seen.add(index)
        misses = 0
        yield config


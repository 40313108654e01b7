"""Search strategies and budgets: grid, random, Optuna's TPE, and the performance model's ranking."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from itertools import islice
from typing import Any, Protocol

from pyptx.errors import MissingToolError, OptionError
from pyptx.tune.space import Config, Space
from pyptx.tune.trial import Trial, config_key, plain_value

__all__ = [
    "MAX_GRID",
    "STRATEGIES",
    "Budget",
    "Grid",
    "Random",
    "Search",
    "Strategy",
    "Tpe",
    "make_strategy",
    "parse_budget",
]

MAX_GRID = 500  # feasible configurations up to which "auto" is an exhaustive search
STRATEGIES = ("auto", "grid", "model", "tpe", "random")
_DEFAULT_TRIALS = 200
_INSTALLATION = "pip install 'pyptx-workbench[tune]'"
_SAMPLE = 2000  # configurations drawn from a large space for the model to rank
_UNITS = {"s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a search; None: no limit."""

    trials: int | None = None
    seconds: float | None = None


def parse_budget(value: Budget | int | str | timedelta | None) -> Budget:
    """Return the budget of a number of trials, a text such as "90s", "10min" or "2h", or a timedelta.

    Raises:
        OptionError: the value is not one of these, or not positive.
    """
    if value is None or isinstance(value, Budget):
        return value or Budget()
    if isinstance(value, timedelta):
        found = Budget(seconds=value.total_seconds())
    elif isinstance(value, int) and not isinstance(value, bool):
        found = Budget(trials=value)
    elif isinstance(value, str) and (text := re.fullmatch(r"\s*([\d.]+)\s*(s|min|m|h)\s*", value)):
        found = Budget(seconds=float(text[1]) * _UNITS[text[2]])
    elif isinstance(value, str) and value.strip().isdigit():
        found = Budget(trials=int(value))
    else:
        raise OptionError(f"budget {value!r}; expected a number of configurations, or a time such as '90s' or '10min'")
    if (found.trials or found.seconds or 0) <= 0:
        raise OptionError(f"budget {value!r}; expected a positive number or time")
    return found


class Strategy(Protocol):
    """Proposes configurations and learns from their results."""

    name: str

    def ask(self) -> Config | None:
        """Return the next configuration; None when the search is over."""
        ...

    def tell(self, trial: Trial, value: float | None) -> None:
        """Report a result: the objective, or None for a configuration that is not usable."""


@dataclass(frozen=True, slots=True)
class Search:
    """A strategy with its limit.

    Attributes:
        name: "grid", "random", "tpe" or "model".
        strategy: proposes configurations and learns from results.
        max_trials: configurations to try; None: all of them.
        note: what a better search needs; shown with the results.
    """

    name: str
    strategy: Strategy
    max_trials: int | None
    note: str | None = None


class Grid:
    """Every configuration once."""

    name = "grid"

    def __init__(self, configs: Iterator[Config]):
        self._configs = configs

    def ask(self) -> Config | None:
        return next(self._configs, None)

    def tell(self, trial: Trial, value: float | None) -> None:
        """Results do not change the order."""


class Random(Grid):
    """Feasible configurations in random order, drawn uniformly without replacement."""

    name = "random"

    def __init__(self, space: Space, seed: int = 0):
        super().__init__(_drawn(space, random.Random(seed)))


class Tpe:
    """Optuna's tree-structured Parzen estimator through its ask-and-tell interface.

    Args:
        space: the configurations.
        seed: seed of the sampler.
        first: configurations to try first.
    Raises:
        MissingToolError: Optuna is not installed.
    """

    name = "tpe"

    def __init__(self, space: Space, seed: int = 0, first: list[Config] | None = None):
        try:
            import optuna
        except ImportError as error:
            raise MissingToolError("strategy 'tpe' needs Optuna, which is not installed", hint=_INSTALLATION) from error

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna, self._space, self._seen = optuna, space, set()
        self._first = list(first or ())
        self._values = {name: {plain_value(v): v for v in values} for name, values in space.parameters.items()}
        self._study = optuna.create_study(
            sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)
        )
        self._open: dict[str, Any] = {}
        self._told: set[str] = set()
        self._fallback = Random(space, seed)

    def ask(self) -> Config | None:
        for _ in range(100):  # repeated and refused configurations are reported as failed
            if self._first:
                self._study.enqueue_trial({name: plain_value(v) for name, v in self._first.pop(0).items()})
            asked = self._study.ask()
            config = {
                name: self._values[name][asked.suggest_categorical(name, list(choices))]
                for name, choices in self._values.items()
            }
            if config_key(config) in self._seen or self._space.refusal(config) is not None:
                self._study.tell(asked, state=self._optuna.trial.TrialState.FAIL)
                continue
            self._seen.add(config_key(config))
            self._open[config_key(config)] = asked
            return config
        while (config := self._fallback.ask()) is not None:  # the sampler repeats itself
            if config_key(config) not in self._seen:
                self._seen.add(config_key(config))
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
        elif value is not None:  # restored from an earlier run
            self._seen.add(trial.key)
            kinds = {
                name: self._optuna.distributions.CategoricalDistribution(list(choices))
                for name, choices in self._values.items()
            }
            self._study.add_trial(
                self._optuna.trial.create_trial(
                    params={name: plain_value(v) for name, v in trial.config.items()}, distributions=kinds, value=value
                )
            )


def make_strategy(name: str, space: Space, *, seed: int = 0) -> Search:
    """Return a strategy by name, with its default limit; "auto" is resolved by the size of the space.

    Raises:
        OptionError: there is no such strategy.
        MissingToolError: "tpe" without Optuna.
    """
    if name not in STRATEGIES:
        raise OptionError(f"strategy {name!r}; expected one of {', '.join(STRATEGIES)}")
    note = None
    if name == "auto":
        small = sum(1 for _ in islice(space.feasible(), MAX_GRID + 1)) <= MAX_GRID
        name = "grid" if small else "tpe" if find_spec("optuna") else "random"
        if name == "random":
            note = f"configurations are drawn at random, because Optuna is not installed; to search: {_INSTALLATION}"
    make: dict[str, Callable[[], Strategy]] = {
        "grid": lambda: Grid(space.feasible()),
        "model": lambda: Grid(_sampled(space, seed)),
        "random": lambda: Random(space, seed),
        "tpe": lambda: Tpe(space, seed),
    }
    return Search(name, make[name](), None if name in ("grid", "model") else _DEFAULT_TRIALS, note)


def _sampled(space: Space, seed: int) -> Iterator[Config]:
    """Return all configurations of a small space, or a random sample of a large one."""
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

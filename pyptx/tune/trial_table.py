"""The trials of a study: the list, the next one to run, and the best."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyptx.assembly import Assembly
from pyptx.errors import OptionError
from pyptx.tune import result_store
from pyptx.tune.space import Config, Space
from pyptx.tune.strategies import Search
from pyptx.tune.trial import Trial, config_key

__all__ = ["Objective", "TrialTable"]

_MAX_LISTED = 5000  # combinations of a space whose refused ones become trials too

Objective = str | Callable[[Trial], float]


class TrialTable:
    """All trials of one study. Methods may be called from several threads.

    Args:
        space: the configurations.
        search: the order in which they are tried.
        objective: "time", or a function of a Trial; lower is better.
        compile_config: returns the machine code of a configuration, for `Trial.compiled`.
        on_added: called with each trial added by `take`.
    Attributes:
        trials: in order of number.
        by_key: the same trials by configuration key.
        lock: held while the table changes.
        finished: trials completed since `finished` was last set to 0.
    """

    search: Search
    space: Space
    lock: threading.RLock
    finished: int

    def __init__(
        self,
        space: Space,
        search: Search,
        objective: Objective,
        *,
        compile_config: Callable[[Mapping[str, Any]], Assembly],
        on_added: Callable[[Trial], None],
    ):
        if objective != "time" and not callable(objective):
            raise OptionError(f"objective {objective!r}; expected 'time' or a function of a Trial")
        self.space, self.search, self.objective = space, search, objective
        self.trials: list[Trial] = []
        self.by_key: dict[str, Trial] = {}
        self.lock = threading.RLock()
        self.finished = 0
        self._compile_config, self._on_added = compile_config, on_added
        self._stored: Mapping[str, Mapping[str, Any]] = {}

    # reading ----------------------------------------------------------------------------------------------------------

    def best(self) -> Trial | None:
        """Return the trial with the lowest objective; measured trials take precedence over modeled ones.

        Among measured times inside the confidence interval of the best one, the trial that uses fewer resources wins.
        """
        with self.lock:
            usable = [t for t in self.trials if t.usable]
        measured = [t for t in usable if t.kind == "measured"]
        best = min(measured or usable, key=lambda t: (self.value(t), _resource_rank(t)), default=None)
        if best is None or not measured or self.objective != "time" or best.interval is None:
            return best
        high = best.interval[1]
        tied = [
            t
            for t in measured
            if t.seconds is not None
            and t.seconds <= high
            and t.measurement.get("stage") == best.measurement.get("stage")
            and t.measurement.get("slower") is None
        ]
        return min(tied, key=_resource_rank, default=best)

    def value(self, trial: Trial) -> float:
        """Return the objective of a trial that has a time; lower is better."""
        if callable(self.objective):
            return float(self.objective(trial))
        assert trial.seconds is not None, f"{trial.label} has no time"
        return trial.seconds

    def counts(self) -> dict[str, int]:
        """Number of trials in each state that occurs."""
        with self.lock:
            counted: dict[str, int] = {}
            for trial in self.trials:
                counted[trial.state] = counted.get(trial.state, 0) + 1
        return counted

    def expected_total(self) -> int:
        """Number of trials when the search is over, as far as it is known."""
        if self.search.name == "grid" or self.search.max_trials is None:
            return len(self.trials)
        return max(len(self.trials), self.search.max_trials)

    def duplicate_keys(self, trials: Sequence[Trial]) -> list[str | None]:
        """For each trial the key of the trial it duplicates, or None."""
        return [None if trial.duplicate_of is None else self.trials[trial.duplicate_of].key for trial in trials]

    # changing ---------------------------------------------------------------------------------------------------------

    def take(self) -> Trial | None:
        """Start the next trial and return it; None when the search is over."""
        with self.lock:
            for trial in self.trials:
                if trial.state == "queued":
                    return _start(trial)
            search = self.search
            while search.name != "grid" and (search.max_trials is None or self._attempted() < search.max_trials):
                config = search.strategy.ask()
                if config is None:
                    return None
                trial = self.by_key.get(config_key(config))
                if trial is None:
                    trial = self._add(config)
                    self._on_added(trial)
                    if not trial.done:
                        return _start(trial)
                self._report(trial)
        return None

    def finish(self, trial: Trial, *, complete: bool) -> list[Trial]:
        """Copy the result of a trial to its duplicates and return them.

        Args:
            complete: no further work on the trial is expected, so the search learns its result.
        """
        with self.lock:
            self.finished += complete
            duplicates = [t for t in self.trials if t.duplicate_of == trial.number]
            for duplicate in duplicates:
                duplicate.seconds, duplicate.kind, duplicate.interval = trial.seconds, trial.kind, trial.interval
            if complete:
                self._report(trial)
        return duplicates

    def populate(self, stored: Mapping[str, Mapping[str, Any]]) -> None:
        """Add all trials of a grid; for other searches those with stored results.

        Args:
            stored: rows of the store by configuration key, as `result_store.load` returns them.
        """
        self._stored = stored
        if self.search.name == "grid":
            self._populate_grid()
            return
        for row in list(stored.values()):
            config = result_store.stored_config(row["config"], self.space)
            if config is not None and self.space.refusal(config) is None:
                self._report(self._add(config))

    def _populate_grid(self) -> None:
        space, limit = self.space, self.search.max_trials
        points = space.points() if len(space) <= _MAX_LISTED else ((config, None) for config in space.feasible())
        for config, refused in points:
            if limit is not None and refused is None and self._attempted() >= limit:
                break
            self._add(config, refused)
        for trial in self.trials:  # a duplicate may come before the trial it duplicates
            original = self._stored[trial.key]["twin"] if trial.state == "duplicate" else None
            trial.duplicate_of = self.by_key[original].number if original in self.by_key else None

    def _add(self, config: Config, refused: str | None = None) -> Trial:
        trial = Trial(dict(config), number=len(self.trials), _compile=self._compile_config)
        if refused is not None:
            trial.state, trial.reason, trial.fault = "refused", refused, "restriction"
        elif (row := self._stored.get(trial.key)) is not None:
            result_store.restore_trial(trial, row, self.by_key)
        self.trials.append(trial)
        self.by_key[trial.key] = trial
        return trial

    def _report(self, trial: Trial) -> None:
        self.search.strategy.tell(trial, self.value(trial) if trial.usable else None)

    def _attempted(self) -> int:
        return sum(trial.fault != "restriction" for trial in self.trials)


def _start(trial: Trial) -> Trial:
    trial.state, trial.reason, trial.fault = "compiling", None, None
    return trial


def _resource_rank(trial: Trial) -> tuple[int, int, str]:
    """Sort key that prefers configurations with fewer registers, then less shared memory."""
    used = trial.resources
    return (used.registers, trial.shared_bytes or 0, trial.key) if used else (0, 0, trial.key)

"""The trials of a study: which there are, which is next, what is kept of each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyptx.tune import results
from pyptx.tune.space import Config
from pyptx.tune.trial import Trial, key_of

__all__ = ["Book"]

_LISTED = 5000                                          # combinations of a space whose refused ones become trials too


class Book:
    """What a study knows of its trials; a Study has `kernel`, `problem`, `space` and the rest.

    Args:
        objective: "time", or a function of a Trial, less is better.
        strategy: its name, what asks and tells, and how many configurations it tries, None for all there are.
    Attributes:
        trials: all of them, by number.
        by_key: the same by configuration.
    """

    def __init__(self, objective: str | Callable[[Trial], float], strategy: tuple[str, Any, int | None]):
        if objective != "time" and not callable(objective):
            raise ValueError(f"objective {objective!r}; expected 'time' or a function of a Trial")
        self.objective = objective
        self.strategy, self._strategy, self._most = strategy
        self.trials: list[Trial] = []
        self.by_key: dict[str, Trial] = {}
        self._kept: dict[str, Mapping[str, Any]] = {}
        self._finished = 0                              # trials that needed no more work, in this run
        self._lock = threading.RLock()

    # what there is ----------------------------------------------------------------------------------------------------

    @property
    def best(self) -> Trial | None:
        """The trial with the least objective; measured ones go before modelled ones.

        Among measured times that the best one's interval holds, the one that takes less of the chip.
        """
        with self._lock:
            usable = [t for t in self.trials if t.usable]
        measured = [t for t in usable if t.kind == "measured"]
        best = min(measured or usable, key=lambda t: (self.value(t), _tie(t)), default=None)
        if measured and self.objective == "time" and best.interval is not None:
            best = min((t for t in measured if t.seconds <= best.interval[1] and t.measurement.get("stage") ==
                        best.measurement.get("stage") and t.measurement.get("slower") is None), key=_tie, default=best)
        return best

    def value(self, trial: Trial) -> float:
        """The objective of a trial that has a time; less is better."""
        return trial.seconds if self.objective == "time" else float(self.objective(trial))

    def trial(self, config: Mapping[str, Any]) -> Trial | None:
        """The trial of a configuration; None when there is none yet."""
        return self.by_key.get(key_of(config))

    def counts(self) -> dict[str, int]:
        """How many trials are in each state that occurs."""
        with self._lock:
            found: dict[str, int] = {}
            for trial in self.trials:
                found[trial.state] = found.get(trial.state, 0) + 1
        return found

    # what is next -----------------------------------------------------------------------------------------------------

    def take(self) -> Trial | None:
        """The next trial to work on; None when there is none, or the budget is used up."""
        with self._lock:
            if self.out_of_time:
                return None
            for trial in self.trials:
                if trial.state == "queued":
                    return self._begin(trial)
            while self.strategy not in ("grid",) and (self._most is None or self._tried() < self._most):
                config = self._strategy.ask()
                if config is None:
                    return None
                trial = self.by_key.get(key_of(config))
                if trial is None:
                    trial = self._add(config)
                    if not trial.done:
                        return self._begin(trial)
                self._strategy.tell(trial, self.value(trial) if trial.usable else None)
        return None

    def changed(self, trial: Trial) -> None:
        """Tell subscribers; keep the trial when it is done."""
        if trial.done:
            with self._lock:
                self._finished += self._run.done(trial)
                twins = [t for t in self.trials if t.twin == trial.number]
                for twin in twins:
                    twin.seconds, twin.kind, twin.interval = trial.seconds, trial.kind, trial.interval
                if self._run.done(trial):
                    self._strategy.tell(trial, self.value(trial) if trial.usable else None)
            self.save([trial, *twins])
        self._tell("trial", trial)

    # what is kept -----------------------------------------------------------------------------------------------------

    def save(self, trials: Sequence[Trial]) -> None:
        about = {"kernel": self.kernel.name, "problem": str(self.problem), "sizes": self.problem.sizes,
                 "target": self.target}
        twins = [None if trial.twin is None else self.trials[trial.twin].key for trial in trials]
        results.save(self.key, zip(trials, twins, strict=True), about, self._checked_with)

    def _begin(self, trial: Trial) -> Trial:
        trial.state, trial.reason, trial.fault = "compiling", None, None
        return trial

    def _add(self, config: Config, refused: str | None = None) -> Trial:
        trial = Trial(dict(config), number=len(self.trials), _compile=self.compiled)
        if refused is not None:
            trial.state, trial.reason, trial.fault = "refused", refused, "restriction"
        elif (row := self._kept.get(trial.key)) is not None:
            results.restore(trial, row, self.by_key)
        self.trials.append(trial)
        self.by_key[trial.key] = trial
        if self.state != "new":
            self._tell("added", trial)
        return trial

    def _list_trials(self, kept: Mapping[str, Mapping[str, Any]]) -> None:
        """All of a grid; of other spaces what is known already.

        Args:
            kept: what the store has, by configuration.
        """
        self._kept = {key: row for key, row in kept.items() if self._holds(row)}
        if self.strategy == "grid":
            points = self.space.points() if len(self.space) <= _LISTED else ((c, None) for c in self.space.feasible())
            for config, refused in points:
                if self._most is not None and refused is None and self._tried() >= self._most:
                    break
                self._add(config, refused)
            for trial in self.trials:                   # a duplicate may stand before what it is the same as
                twin = self._kept[trial.key]["twin"] if trial.state == "duplicate" else None
                trial.twin = self.by_key[twin].number if twin in self.by_key else None
            return
        for row in list(self._kept.values()):
            config = results.config_in(row["config"], self.space)
            if config is not None and self.space.refusal(config) is None:
                trial = self._add(config)
                self._strategy.tell(trial, self.value(trial) if trial.usable else None)

    def _tried(self) -> int:
        return sum(t.fault != "restriction" for t in self.trials)

    def _total(self) -> int:
        if self.strategy == "grid" or self._most is None:
            return len(self.trials)
        return max(len(self.trials), self._most)

    def _holds(self, row: Mapping[str, Any]) -> bool:
        """Whether what is stored says the same under the limits of this study."""
        if row["fault"] == "spills":
            return not self.spills
        return row["fault"] != "hang" or row["measurement"].get("limit_s", 0) >= self.limit_s


def _tie(trial: Trial) -> tuple:
    """Among equal times the configuration that takes less of the chip."""
    used = trial.resources
    return (used.registers, trial.shared_bytes or 0, trial.key) if used else (0, 0, trial.key)

"""The trials of a study: which there are, which is next, what is kept of each."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.tune import results
from pyptx.tune.space import Config
from pyptx.tune.trial import Trial, key_of

__all__ = ["Book"]

_LISTED = 5000                                          # combinations of a space whose refused ones become trials too


class Book:
    """What a Study does with its trials for the run that works through them; the study's attributes are its own."""

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

    @property
    def out_of_time(self) -> bool:
        return self.budget.seconds is not None and self._clock.seconds > self.budget.seconds

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

    def save(self, trials: Sequence[Trial]) -> None:
        about = {"kernel": self.kernel.name, "problem": str(self.problem), "sizes": self.problem.sizes,
                 "target": self._run.target or self.kernel.arch}
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

    def _list_trials(self) -> None:
        """All of a grid; of other spaces what is known already."""
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

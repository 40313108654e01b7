"""How a study works through its trials with a GPU: assemble and model all, check and screen in the model's order, race.

Assembling and modelling keep the CPUs busy as without a GPU. What runs on the GPU runs in child processes, one for
each GPU: a fault costs its configuration and the child, no more.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from pyptx.tune.cluster import Lost, connected
from pyptx.tune.control import StopRun
from pyptx.tune.isolation import Child, ChildError, Died, Fault, Hang, Stopped, children
from pyptx.tune.job import Job
from pyptx.tune.places import device_of
from pyptx.tune.racing import Race, Rules, Screening, Standing, screen
from pyptx.tune.running import Run
from pyptx.tune.statistics import Median
from pyptx.tune.trial import Trial

if TYPE_CHECKING:
    from pyptx.tune.study import Study

__all__ = ["GpuTimer", "Measured"]

_BATCH = 16                                             # of a search: configurations between two looks at what it says
_MODEL_BEST = 64                                        # strategy "model": so many are measured
_LEAST_S, _TIMES = 2.0, 20                              # runs may take so many times the best, but so long at least
_PATIENCE_S = 8.0                                       # for loading, copies, the writes over the L2


class GpuTimer:
    """A child's GPU as the Timer of a race; a new child is told the jobs again."""

    def __init__(self, child: Child, jobs: Mapping[str, Job], limit_s: float):
        self.child, self.jobs, self.limit_s = child, jobs, limit_s
        self._told: dict[int, set[str]] = {}

    def sample(self, name: str, count: int) -> Sequence[float]:
        told = self._told.get(self.child.generation, set())
        if name in told:
            return self._ask(name, count)
        answer = self._ask(self.jobs[name], count)
        self._told = {self.child.generation: self._told.get(self.child.generation, set()) | {name}}
        return answer

    def conditions(self) -> Mapping[str, Any]:
        try:
            return self.child.ask("on_gpu", "conditions", limit_s=self.limit_s)
        except (Fault, Hang, Died):                     # an ended child is replaced at the next run
            return {}

    def mode(self, name: str) -> str:
        return self.child.ask("on_gpu", "mode", name, limit_s=self.limit_s)

    def _ask(self, job: Job | str, count: int) -> Sequence[float]:
        try:
            return self.child.ask("on_gpu", "sample", job, count, limit_s=self.limit_s)
        except Fault:
            self.child.end()                            # the context may be lost
            raise


class Measured(Run):
    """Works for one study on one or several GPUs."""

    def __init__(self, study: Study, rules: Rules | None = None):
        super().__init__(study)
        self.rules = rules or Rules()
        self._jobs: dict[str, Job] = {}
        self._gpus: list[Child] = []
        self._best: float | None = None
        self._left: set[str] = set()                    # modelled, and not good enough to be measured
        self._survivors: dict[str, Screening] = {}

    def gpu_children(self) -> AbstractContextManager[list[Child]]:
        """The processes that measure, one for each GPU."""
        cluster = self.study.cluster
        return children(1) if cluster is None else connected(cluster)

    def done(self, trial: Trial) -> bool:
        return trial.done and (trial.state != "modelled" or trial.key in self._left)

    def work(self) -> None:
        study = self.study
        self._survivors, self._left = {}, set()
        for trial in study.trials:
            if trial.state == "modelled":
                trial.state = "queued"
        checker = study.checker
        with self.gpu_children() as self._gpus:
            for child in self._gpus:
                ordinal = getattr(child, "ordinal", device_of(study.problem))
                child.prepare(*filter(None, (checker and checker.setup(), ("gpu", ordinal, {}))))
            try:
                while self._batch(self._gpus):
                    pass
                self._race(self._gpus[0])
            except (StopRun, Stopped):
                return
            finally:
                for child in self._gpus:
                    child.end()
        self._gpus = []

    def interrupt(self) -> None:
        super().interrupt()
        for child in list(self._gpus):
            child.stop()

    # assembling and modelling -----------------------------------------------------------------------------------------

    def _batch(self, gpus: list[Child]) -> bool:
        """Take some configurations as far as the race; False when there are none any more."""
        study = self.study
        self._ready: list[Trial] = []
        self.in_threads(_BATCH if study.strategy == "tpe" else None)
        study.control.step()
        ordered = sorted(self._ready, key=lambda t: (t.seconds is None, t.seconds, t.number))
        if study.strategy == "model":
            most = study.budget.trials or _MODEL_BEST
            self._left = {trial.key for trial in ordered[most:]}
            for trial in ordered[most:]:
                study.changed(trial)
            ordered = ordered[:most]
        self._screen(ordered, gpus)
        return bool(self._ready) and study.strategy == "tpe"

    def attempt(self, trial: Trial, child: Child) -> None:
        study = self.study
        study.changed(trial)
        built = self.build(trial)
        if built is None:
            return
        study.control.step()
        self.predict(trial, built, child)
        if trial.state != "modelled":                   # the model cannot say: measured all the same, at the end
            trial.state, trial.reason, trial.fault, trial.seconds = "compiled", None, None, None
        study.changed(trial)
        job = Job.of(trial.key, built.launch, target=built.compiled.target, options=study.options)
        with self._lock:
            self._jobs[trial.key] = job
            self._ready.append(trial)

    # on the GPU -------------------------------------------------------------------------------------------------------

    def _screen(self, trials: list[Trial], gpus: list[Child]) -> None:
        """Check and time configurations, the model's best first; each GPU takes the next."""
        waiting = iter(trials)

        def work(child: Child) -> None:
            try:
                while self._error is None:
                    self.study.control.step()
                    with self._lock:
                        trial = None if self.study.out_of_time else next(waiting, None)
                    if trial is None:
                        return
                    try:
                        self._measure(trial, child)
                    except Lost as error:               # measured by the next run
                        trial.state, self._lost = "queued", error
                        return
            except (StopRun, Stopped):
                return
            except BaseException as error:
                self._error = self._error or error
        threads = [threading.Thread(target=work, args=(child,), daemon=True) for child in gpus]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._error is not None:
            raise self._error
        self.study.control.step()
        for trial in waiting:                           # out of time: it stays as the model has it
            self._left.add(trial.key)

    def _measure(self, trial: Trial, child: Child) -> None:
        study, job = self.study, self._jobs[trial.key]
        trial.kind, trial.seconds = None, None
        try:
            found = child.ask("on_gpu", "check", job, limit_s=study.limit_s if self._best is None else self._limit_s)
            trial.error = found["error"]
            if found["reason"] is not None:
                trial.state, trial.reason, trial.fault = "wrong", found["reason"], "wrong"
                study.changed(trial)
                return
            trial.checked = study.checker is not None and study.checker.reference is not None
            timer = GpuTimer(child, self._jobs, study.limit_s if self._best is None else self._limit_s)
            screening = screen(timer, trial.key, self._best, self.rules)
        except (Stopped, Lost):
            raise
        except ChildError as error:
            self._failed(trial, error, child)
            return
        self._took(trial, screening.median, {"seconds": screening.seconds, "n": len(screening.seconds),
                                             "stage": "screening", "mode": timer.mode(trial.key), "cold": True})
        if screening.stays:
            with self._lock:
                self._survivors[trial.key] = screening
                self._best = min(filter(None, (self._best, screening.median.value)))
        study.changed(trial)

    @property
    def _limit_s(self) -> float:
        """Seconds a few runs may take, before they count as hanging."""
        return max(_LEAST_S, _TIMES * self.rules.more * (self._best or 0)) + _PATIENCE_S

    def _race(self, child: Child) -> None:
        """The configurations near the best against each other."""
        study = self.study
        if self._best is None:
            return
        near = {key: found for key, found in self._survivors.items()
                if found.median.value <= self.rules.near * self._best}
        reference = min(near, key=lambda key: near[key].median.value)
        race = Race(GpuTimer(child, self._jobs, self._limit_s), self.rules, seed=study.seed, step=study.control.step,
                    errors=(Fault, Hang, Died), failed=lambda key, error: self._failed(self._trial(key), error, child))
        for standing in race.run(list(near), reference):
            self._stands(standing, race)

    def _stands(self, standing: Standing, race: Race) -> None:
        trial = self._trial(standing.name)
        self._took(trial, standing.seconds, {
            **trial.measurement, "n": standing.rounds, "stage": "race", "slower": standing.slower,
            "conditions": race.log[-1] if race.log else {}})
        self.study.changed(trial)

    def _took(self, trial: Trial, seconds: Median, measurement: dict[str, Any]) -> None:
        trial.state, trial.kind, trial.seconds = "measured", "measured", seconds.value
        trial.interval, trial.measurement = (seconds.low, seconds.high), measurement

    def _failed(self, trial: Trial, error: Exception, child: Child) -> None:
        child.end()                                     # after a fault nothing runs in its context any more
        trial.state, trial.seconds, trial.kind, trial.interval = "failed", None, None, None
        trial.fault, trial.reason = getattr(error, "fault", "error"), f"on the GPU: {error}"
        trial.measurement = {"limit_s": self.study.limit_s}
        self._survivors.pop(trial.key, None)
        self.study.changed(trial)

    def _trial(self, key: str) -> Trial:
        return self.study.by_key[key]

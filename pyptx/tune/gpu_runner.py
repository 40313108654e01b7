"""The run of a study with a GPU: assemble and model all trials, check and screen them best first, race the fastest.

Assembling and modeling use all CPUs, as without a GPU. Launches run in child processes, one for each GPU: a fault
ends the child and fails its trial only.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from pyptx import ledger
from pyptx.analysis.work.call import Call
from pyptx.ledger.origins import measurement_of
from pyptx.runtime.cuda.driver import SIMULATED
from pyptx.tune.background import StopRun
from pyptx.tune.clusters import processes
from pyptx.tune.dask_cluster import AnyChild, WorkerLost
from pyptx.tune.environment import device_ordinal
from pyptx.tune.isolation import ChildDied, ChildError, ChildTimeout, SweepStopped, TrialFault
from pyptx.tune.job import Job
from pyptx.tune.race import Race, RaceResult, RaceSettings, Screening, screen
from pyptx.tune.runner import Runner
from pyptx.tune.statistics import Median
from pyptx.tune.trial import Trial

if TYPE_CHECKING:
    from pyptx.tune.study import Study

__all__ = ["GpuTimer", "GpuRunner"]

_BATCH = 16  # configurations of a search measured at a time
_MODEL_BEST = 64  # configurations that strategy "model" measures
_MIN_LIMIT_S, _LIMIT_FACTOR = 2.0, 20  # time limit of runs: a multiple of the best time, with a minimum
_OVERHEAD_S = 8.0  # added to time limits for loading, copies and L2 flushes


class GpuTimer:
    """A child's GPU as the Timer of a race. Jobs are sent once to each process."""

    child: AnyChild
    jobs: Mapping[str, Job]
    limit_s: float

    def __init__(self, child: AnyChild, jobs: Mapping[str, Job], limit_s: float):
        self.child, self.jobs, self.limit_s = child, jobs, limit_s
        self._sent: dict[int, set[str]] = {}  # process generation -> keys of the jobs it has

    def sample(self, name: str, count: int) -> Sequence[float]:
        if name in self._sent.get(self.child.generation, set()):
            return self._ask(name, count)
        answer = self._ask(self.jobs[name], count)
        self._sent = {self.child.generation: self._sent.get(self.child.generation, set()) | {name}}
        return answer

    def conditions(self) -> Mapping[str, Any]:
        try:
            return self.child.ask("on_gpu", "conditions", limit_s=self.limit_s)
        except (TrialFault, ChildTimeout, ChildDied):  # the next request restarts a dead child
            return {}

    def mode(self, name: str) -> str:
        return self.child.ask("on_gpu", "mode", name, limit_s=self.limit_s)

    def _ask(self, job: Job | str, count: int) -> Sequence[float]:
        try:
            return self.child.ask("on_gpu", "sample", job, count, limit_s=self.limit_s)
        except TrialFault:
            self.child.end()  # the context may be lost
            raise


class GpuRunner(Runner):
    """Executes the runs of one study on one or several GPUs."""

    settings: RaceSettings

    def __init__(self, study: Study, settings: RaceSettings | None = None):
        super().__init__(study)
        self.settings = settings or RaceSettings()
        self._jobs: dict[str, Job] = {}
        self._gpus: Sequence[AnyChild] = ()
        self._best: float | None = None
        self._unmeasured: set[str] = set()  # keys of trials that remain modeled
        self._survivors: dict[str, Screening] = {}

    def gpu_children(self) -> AbstractContextManager[Sequence[AnyChild]]:
        """Child processes that measure, one for each GPU."""
        return processes(self.study.machine, self.study.cluster, None, measuring=True)

    def done(self, trial: Trial) -> bool:
        return trial.done and (trial.state != "modeled" or trial.key in self._unmeasured)

    def work(self) -> None:
        study = self.study
        self._survivors, self._unmeasured = {}, set()
        for trial in study.trials:
            if trial.state == "modeled":
                trial.state = "queued"
        checker = study.checker
        with self.gpu_children() as self._gpus:
            for child in self._gpus:
                ordinal = getattr(child, "ordinal", device_ordinal(study.problem))
                child.prepare(*filter(None, (checker and checker.setup(), ("gpu", ordinal, {}))))
            try:
                while self._batch(self._gpus):
                    pass
                self._race_on_any(self._gpus)
                self._keep_best()
            except (StopRun, SweepStopped):
                return
            finally:
                for child in self._gpus:
                    child.end()
        self._gpus = ()

    def interrupt(self) -> None:
        super().interrupt()
        for child in list(self._gpus):
            child.stop()

    # assembling and modeling -----------------------------------------------------------------------------------------

    def _batch(self, gpus: Sequence[AnyChild]) -> bool:
        """Assemble, model and screen some configurations; return False when none is left."""
        study = self.study
        self._ready: list[Trial] = []
        self.in_threads(_BATCH if study.strategy == "tpe" else None)
        study.control.checkpoint()
        ordered = sorted(self._ready, key=lambda t: (t.seconds is None, t.seconds, t.number))
        if study.strategy == "model":
            limit = study.budget.trials or _MODEL_BEST
            self._unmeasured = {trial.key for trial in ordered[limit:]}
            for trial in ordered[limit:]:
                study.update(trial)
            ordered = ordered[:limit]
        self._screen(ordered, gpus)
        return bool(self._ready) and study.strategy == "tpe"

    def attempt(self, trial: Trial, child: AnyChild) -> None:
        study = self.study
        study.update(trial)
        built = self.build(trial)
        if built is None:
            return
        study.control.checkpoint()
        self.predict(trial, built, child)
        if trial.state != "modeled":  # the model failed: measure it after the others
            trial.state, trial.reason, trial.fault, trial.seconds, trial.interval = "compiled", None, None, None, None
        study.update(trial)
        job = Job.of(trial.key, built.launch, target=built.compiled.target, options=study.options)
        with self._lock:
            self._jobs[trial.key] = job
            self._ready.append(trial)

    # on the GPU -------------------------------------------------------------------------------------------------------

    def _screen(self, trials: list[Trial], gpus: Sequence[AnyChild]) -> None:
        """Check and time configurations, best modeled time first; each GPU takes the next one."""
        waiting = deque(trials)

        def work(child: AnyChild) -> None:
            try:
                while self._error is None:
                    self.study.control.checkpoint()
                    with self._lock:
                        trial = waiting.popleft() if waiting and not self.study.out_of_time else None
                    if trial is None:
                        return
                    modeled = trial.state, trial.kind, trial.seconds, trial.interval
                    try:
                        self._measure(trial, child)
                    except WorkerLost as error:  # another worker measures it
                        trial.state, trial.kind, trial.seconds, trial.interval = modeled
                        with self._lock:
                            waiting.appendleft(trial)
                            lost.append(child)
                            self._lost = error
                        return
            except (StopRun, SweepStopped):
                return
            except BaseException as error:
                self._error = self._error or error

        lost: list[AnyChild] = []
        while left := [child for child in gpus if child not in lost]:
            threads = [threading.Thread(target=work, args=(child,), daemon=True) for child in left]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            if self._error is not None:
                raise self._error
            self.study.control.checkpoint()
            if not waiting or self.study.out_of_time:
                break
        else:
            for trial in waiting:
                trial.state = "queued"
            raise WorkerLost(f"no process is left to run trials: {self._lost}")
        for trial in waiting:  # out of time: keep the modeled result
            self._unmeasured.add(trial.key)

    def _measure(self, trial: Trial, child: AnyChild) -> None:
        study, job = self.study, self._jobs[trial.key]
        trial.kind, trial.seconds, trial.interval = None, None, None
        try:
            found = child.ask("on_gpu", "check", job, limit_s=study.limit_s if self._best is None else self._limit_s)
            trial.error = found["error"]
            if found["reason"] is not None:
                trial.state, trial.reason, trial.fault = "wrong", found["reason"], "wrong"
                study.update(trial)
                return
            trial.checked = study.checker is not None and study.checker.reference is not None
            timer = GpuTimer(child, self._jobs, study.limit_s if self._best is None else self._limit_s)
            screening = screen(timer, trial.key, self._best, self.settings)
        except (SweepStopped, WorkerLost):
            raise
        except ChildError as error:
            self._failed(trial, error, child)
            return
        self._record(
            trial,
            screening.median,
            {
                "seconds": screening.seconds,
                "n": len(screening.seconds),
                "stage": "screening",
                "mode": timer.mode(trial.key),
                "cold": True,
            },
        )
        if screening.stays:
            with self._lock:
                self._survivors[trial.key] = screening
                self._best = min(filter(None, (self._best, screening.median.value)))
        study.update(trial)

    @property
    def _limit_s(self) -> float:
        """Time limit of a few runs, in seconds."""
        return max(_MIN_LIMIT_S, _LIMIT_FACTOR * self.settings.more * (self._best or 0)) + _OVERHEAD_S

    def _race_on_any(self, gpus: Sequence[AnyChild]) -> None:
        """Race on the first GPU; when its worker is lost, race again on the next one."""
        for number, child in enumerate(gpus):
            try:
                return self._race(child)
            except WorkerLost:
                if number + 1 == len(gpus):
                    raise

    def _race(self, child: AnyChild) -> None:
        """Race the configurations near the best one."""
        study = self.study
        if self._best is None:
            return
        near = {
            key: found
            for key, found in self._survivors.items()
            if found.median.value <= self.settings.near * self._best
        }
        reference = min(near, key=lambda key: near[key].median.value)
        race = Race(
            GpuTimer(child, self._jobs, self._limit_s),
            self.settings,
            seed=study.seed,
            step=study.control.checkpoint,
            errors=(TrialFault, ChildTimeout, ChildDied),
            failed=lambda key, error: self._failed(self._trial(key), error, child),
        )
        for result in race.run(list(near), reference):
            self._record_race(result, race)

    def _record_race(self, result: RaceResult, race: Race) -> None:
        trial = self._trial(result.name)
        self._record(
            trial,
            result.seconds,
            {
                **trial.measurement,
                "n": result.rounds,
                "stage": "race",
                "slower": result.slower,
                "conditions": race.log[-1] if race.log else {},
            },
        )
        self.study.update(trial)

    def _keep_best(self) -> None:
        """Keep the fastest measured configuration in the ledger."""
        study = self.study
        environment = study.environment
        measured = [trial for trial in study.trials if trial.state == "measured" and trial.seconds and trial.interval]
        if not measured or environment.get("kind") != "measured" or environment["gpu"].endswith(SIMULATED):
            return
        best = min(measured, key=lambda trial: trial.seconds or 0.0)
        assert best.seconds is not None and best.interval is not None, "it is measured"
        launch = study.problem.launch(best.config, empty=True)
        about = best.measurement
        one = measurement_of(
            study.kernel,
            Call(launch.specialization, launch.plan, launch.args, tuple(study.options)),
            kind="measured",
            method=about.get("mode", "events"),
            source="tune",
            gpu=environment["gpu"],
            driver=environment["driver"],
            seconds=best.seconds,
            low=best.interval[0],
            high=best.interval[1],
            runs=about.get("n", 0),
            cubin=best.cubin_hash or "",
            conditions={
                name: [about["conditions"][name]]
                for name in ("clock_hz", "watts", "temperature")
                if name in about.get("conditions", {})
            },
        )
        ledger.record(one)

    def _record(self, trial: Trial, seconds: Median, measurement: dict[str, Any]) -> None:
        trial.state, trial.kind, trial.seconds = "measured", "measured", seconds.value
        trial.interval, trial.measurement = (seconds.low, seconds.high), measurement

    def _failed(self, trial: Trial, error: Exception, child: AnyChild) -> None:
        child.end()  # a fault makes the CUDA context unusable
        trial.state, trial.seconds, trial.kind, trial.interval = "failed", None, None, None
        trial.fault, trial.reason = getattr(error, "fault", "error"), f"on the GPU: {error}"
        trial.measurement = {"limit_s": self.study.limit_s}
        self._survivors.pop(trial.key, None)
        self.study.update(trial)

    def _trial(self, key: str) -> Trial:
        return self.study.table.by_key[key]

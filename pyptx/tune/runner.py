"""The run of a study without a GPU: threads that each assemble, check and model one trial at a time.

`gpu_runner` extends it with measurements.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from pyptx.analysis.gpus import gpu as gpu_of
from pyptx.tune.background import StopRun
from pyptx.tune.build import BuiltConfig, InfeasibleError, build_config
from pyptx.tune.clusters import processes
from pyptx.tune.correctness import SimulatedCheck
from pyptx.tune.dask_cluster import AnyChild, WorkerLost
from pyptx.tune.isolation import ChildError, SweepStopped
from pyptx.tune.job import Job
from pyptx.tune.problem import Problem
from pyptx.tune.trial import Trial

if TYPE_CHECKING:
    from pyptx.tune.study import Study

__all__ = ["Model", "Runner"]


class Model:
    """Client of the performance model, which runs in a child process because counting work runs the kernel.

    Args:
        problem: the kernel with its arguments.
        gpu: a name such as "H200"; None: the usual GPU of the kernel's target.
        options: ptxas options.
        limit_s: time limit in seconds for one configuration.
    Raises:
        ShapeError: there is no such GPU in the table.
    """

    limit_s: float
    options: tuple[str, ...]
    problem: Problem
    gpu: str

    def __init__(
        self, problem: Problem, gpu: str | None = None, *, options: tuple[str, ...] = (), limit_s: float = 120.0
    ):
        self.problem, self.options, self.limit_s = problem, options, limit_s
        self.gpu = gpu_of(gpu or problem.kernel.arch).name

    def setup(self) -> tuple[Any, ...] | None:
        """Return the request that sends the arrays of the problem to a child; None when their values are unknown."""
        if self.problem.runtime.name == "cuda" or not self.problem.given:
            return None
        return "problem", list(self.problem.host_inputs())

    def predict(self, key: str, built: BuiltConfig, child: AnyChild) -> Any:
        """Return the Prediction of a configuration.

        Raises:
            ChildError: the work could not be counted: the kernel faults, never completes, or cannot be simulated.
        """
        job = Job.of(key, built.launch, target=built.compiled.target, options=self.options)
        return child.ask("model", job, self.gpu, limit_s=self.limit_s)


class Runner:
    """Executes the runs of one study."""

    model: Model

    def __init__(self, study: Study):
        self.study = study
        self.model = Model(study.problem, study.gpu, options=study.options)
        self.target: str | None = None  # None: the kernel's own
        self._children: Sequence[AnyChild] = ()
        self._owners: dict[str, Trial] = {}  # identity of a launch -> the first trial with it
        self._lock = threading.Lock()
        self._error: BaseException | None = None
        self._lost: WorkerLost | None = None
        self._more: int | None = None

    def work(self) -> None:
        """Run trials until none is left or the study is stopped; errors that affect all trials propagate."""
        self.in_threads()

    def done(self, trial: Trial) -> bool:
        """Return True when a trial needs no more work."""
        return trial.done

    def workers(self) -> AbstractContextManager[Sequence[AnyChild]]:
        """Child processes that simulate and model."""
        return processes(self.study.machine, self.study.cluster, self.study.workers)

    def in_threads(self, most: int | None = None) -> None:
        """Attempt up to `most` trials (None: all), one at a time in each thread."""
        study = self.study
        self._error, self._lost, self._more = None, None, most
        setup = [request for request in (study.checker and study.checker.setup(), self.model.setup()) if request]
        for trial in study.trials:
            if trial.restored and trial.identity and trial.duplicate_of is None:
                self._owners.setdefault(trial.identity, trial)
        with self.workers() as self._children:
            for child in self._children:
                child.prepare(*setup)
            self._run_threads()
        self._children = ()
        if self._error is not None:
            raise self._error
        if self._lost is not None and any(trial.state == "queued" for trial in study.trials):
            study.control.checkpoint()
            raise WorkerLost(f"no process is left to run trials: {self._lost}")

    def _run_threads(self) -> None:
        """Run a thread for each child; trials of lost workers go to the others, which may already have finished."""
        left = list(self._children)
        while left:
            lost: list[AnyChild] = []
            threads = [threading.Thread(target=self._thread, args=(child, lost), daemon=True) for child in left]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            left = [child for child in left if child not in lost]
            queued = any(trial.state == "queued" for trial in self.study.trials)
            if not lost or not queued or self._error is not None or self.study.control.stopped:
                return

    def interrupt(self) -> None:
        """Kill the work in child processes."""
        for child in list(self._children):
            child.stop()

    def _thread(self, child: AnyChild, lost: list[AnyChild]) -> None:
        control = self.study.control
        try:
            while self._error is None:
                control.checkpoint()
                trial = self._take()
                if trial is None:
                    return
                try:
                    self.attempt(trial, child)
                except WorkerLost as error:  # another worker repeats it
                    with self._lock:
                        lost.append(child)
                        trial.state, self._lost = "queued", error
                        if self._more is not None:
                            self._more += 1
                    return
        except (StopRun, SweepStopped):
            return
        except BaseException as error:
            self._error = self._error or error

    def _take(self) -> Trial | None:
        with self._lock:
            if self._more is not None:
                if not self._more:
                    return None
                self._more -= 1
        return self.study.take()

    def attempt(self, trial: Trial, child: AnyChild) -> None:
        """Assemble, check and model a trial."""
        study = self.study
        study.update(trial)
        built = self.build(trial)
        if built is None:
            return
        study.update(trial)
        study.control.checkpoint()
        if study.checker is not None and not SimulatedCheck(study.checker, limit_s=study.limit_s)(trial, child):
            study.update(trial)
            return
        study.control.checkpoint()
        self.predict(trial, built, child)
        study.update(trial)

    def predict(self, trial: Trial, built: BuiltConfig, child: AnyChild) -> None:
        """Model a trial: its state becomes "modeled", "refused", or "failed" when its work cannot be counted."""
        try:
            prediction = self.model.predict(trial.key, built, child)
        except (SweepStopped, WorkerLost):
            raise
        except ChildError as error:
            trial.state, trial.fault = "failed", error.fault
            trial.reason = f"its work could not be counted: {error}"
            return
        if prediction.seconds == float("inf"):
            trial.state, trial.fault = "refused", "occupancy"
            trial.reason = f"on {prediction.gpu}: {prediction.summary}"
            return
        trial.prediction, trial.seconds, trial.kind, trial.state = prediction, prediction.seconds, "modeled", "modeled"
        trial.interval = prediction.interval

    def build(self, trial: Trial) -> BuiltConfig | None:
        """Assemble a trial: its state becomes "compiled". Return None when it is refused or a duplicate."""
        study = self.study
        try:
            built = build_config(
                study.problem, trial.config, target=self.target, options=study.options, spills=study.spills
            )
        except InfeasibleError as error:
            trial.state, trial.reason, trial.fault = "refused", error.reason, error.fault
            trial.resources = error.resources
            study.update(trial)
            return None
        trial.resources, trial.occupancy = built.resources, built.occupancy.fraction
        trial.shared_bytes = built.resources.shared_bytes + built.launch.plan.smem_bytes
        trial.cubin_hash, trial.compile_seconds = built.cubin_hash, built.seconds
        trial.identity = built.identity
        with self._lock:
            owner = self._owners.setdefault(built.identity, trial)
        if owner is not trial:
            trial.state, trial.duplicate_of = "duplicate", owner.number
            trial.reason = f"same machine code and launch as {owner.label}"
            trial.seconds, trial.kind, trial.interval = owner.seconds, owner.kind, owner.interval
            study.update(trial)
            return None
        trial.state = "compiled"
        return built

"""How a study works through its trials: threads that each assemble, check and model one at a time.

Without a GPU that is all; `measured` goes on from there.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from pyptx.tune.checking import SimulatedCheck
from pyptx.tune.cluster import Lost, connected
from pyptx.tune.compiling import Built, Refusal, build
from pyptx.tune.control import StopRun
from pyptx.tune.isolation import Child, ChildError, Stopped, children
from pyptx.tune.modelling import Model
from pyptx.tune.trial import Trial

if TYPE_CHECKING:
    from pyptx.tune.study import Study

__all__ = ["Run", "cpus"]


def cpus() -> int:
    """CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Run:
    """Works for one study; made with it, used for every one of its runs."""

    def __init__(self, study: Study):
        self.study = study
        self.model = Model(study.problem, study.gpu, options=study.options)
        self.target: str | None = None                  # the kernel's own
        self._children: list[Child] = []
        self._owners: dict[str, Trial] = {}             # identity of what is launched -> the first trial of it
        self._lock = threading.Lock()
        self._error: BaseException | None = None
        self._lost: Lost | None = None
        self._more: int | None = None

    def work(self) -> None:
        """Until nothing is left, or the study is stopped. Raises what makes all trials impossible."""
        self.in_threads()

    def done(self, trial: Trial) -> bool:
        """Whether a trial needs no more work."""
        return trial.done

    def workers(self) -> AbstractContextManager[list[Child]]:
        """The processes that simulate and model."""
        cluster = self.study.cluster
        return children(self.study.workers or cpus()) if cluster is None else connected(cluster)

    def in_threads(self, most: int | None = None) -> None:
        """Take trials, so many at most, and attempt them, one in each thread at a time."""
        study = self.study
        self._error, self._lost, self._more = None, None, most
        setup = [one for one in (study.checker and study.checker.setup(), self.model.setup()) if one]
        for trial in study.trials:
            if trial.restored and trial.identity and trial.twin is None:
                self._owners.setdefault(trial.identity, trial)
        with self.workers() as self._children:
            for child in self._children:
                child.prepare(*setup)
            threads = [threading.Thread(target=self._thread, args=(child,), daemon=True) for child in self._children]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self._children = []
        if self._error is not None:
            raise self._error
        if self._lost is not None and any(trial.state == "queued" for trial in study.trials):
            study.control.step()
            raise RuntimeError(f"no worker is left: {self._lost}")

    def interrupt(self) -> None:
        """End what runs in child processes."""
        for child in list(self._children):
            child.stop()

    def _thread(self, child: Child) -> None:
        control = self.study.control
        try:
            while self._error is None:
                control.step()
                trial = self._take()
                if trial is None:
                    return
                try:
                    self.attempt(trial, child)
                except Lost as error:                   # another worker takes it
                    trial.state, self._lost = "queued", error
                    return
        except (StopRun, Stopped):
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

    def attempt(self, trial: Trial, child: Child) -> None:
        """Take a trial as far as it gets without a GPU."""
        study = self.study
        study.changed(trial)
        built = self.build(trial)
        if built is None:
            return
        study.changed(trial)
        study.control.step()
        if study.checker is not None and not SimulatedCheck(study.checker, limit_s=study.limit_s)(trial, child):
            study.changed(trial)
            return
        study.control.step()
        self.predict(trial, built, child)
        study.changed(trial)

    def predict(self, trial: Trial, built: Built, child: Child) -> None:
        """Ask the model; the trial is "modelled" then, or failed where its work cannot be counted."""
        try:
            said = self.model.predict(trial.key, built, child)
        except (Stopped, Lost):
            raise
        except ChildError as error:
            trial.state, trial.fault = "failed", error.fault
            trial.reason = f"its work could not be counted: {error}"
            return
        if said.seconds == float("inf"):
            trial.state, trial.fault, trial.reason = "refused", "occupancy", f"on {said.gpu}: {said.words}"
            return
        trial.prediction, trial.seconds, trial.kind, trial.state = said, said.seconds, "modelled", "modelled"

    def build(self, trial: Trial) -> Built | None:
        """Assemble; the trial is "compiled" then. None when it is refused or a duplicate, which is told at once."""
        study = self.study
        try:
            built = build(study.problem, trial.config, target=self.target, options=study.options, spills=study.spills)
        except Refusal as refusal:
            trial.state, trial.reason, trial.fault = "refused", refusal.reason, refusal.fault
            trial.resources = refusal.resources
            study.changed(trial)
            return None
        trial.resources, trial.occupancy = built.resources, built.occupancy.fraction
        trial.shared_bytes = built.resources.shared_bytes + built.launch.plan.smem_bytes
        trial.cubin_hash, trial.compile_seconds = built.cubin_hash, built.seconds
        trial.identity = built.identity
        with self._lock:
            owner = self._owners.setdefault(built.identity, trial)
        if owner is not trial:
            trial.state, trial.twin = "duplicate", owner.number
            trial.reason = f"the same machine code, launched alike, as {owner.label}"
            trial.seconds, trial.kind, trial.interval = owner.seconds, owner.kind, owner.interval
            study.changed(trial)
            return None
        trial.state = "compiled"
        return built

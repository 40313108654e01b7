"""The runs of a check: the same launch in each schedule, several at a time on the cores of this machine."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from pyptx.check.determinism import is_decided_by_synchronization, synchronizes_in_one_way
from pyptx.check.runner import Outcome, Runner, Schedule
from pyptx.check.uninitialized_registers import PATTERNS, step_limit
from pyptx.sim.core.parallel import cores
from pyptx.sim.progress import Progress

__all__ = ["Runs", "is_endless", "run_schedules"]

MAX_STEPS_AFTER_ENDLESS = 1 << 26  # of runs that start after an endless one
MOST_BYTES = 1 << 26  # of arrays that several runs may copy at the same time
SHOWN_EACH_S = 0.5


def is_endless(outcome: Outcome) -> bool:
    """Return True if the run ended at the limit of steps."""
    return outcome.error is not None and outcome.error.kind == "steps"


@dataclass(frozen=True, slots=True)
class Runs:
    """The outcomes by schedule, and initial bits of uninitialized registers known to have no effect on them."""

    outcomes: Mapping[Schedule, Outcome]
    tried_patterns: Sequence[int] = ()


def run_schedules(runner: Runner, wanted: Sequence[Schedule], watched: bool, threads: int | None = None) -> Runs:
    """Run a launch in each schedule and return the outcomes in that order; they do not depend on `threads`.

    Args:
        watched: the sanitizer watches every access. Where the first run is proven to have no race and all runs of the kernel
            synchronize alike, the others are known to be equal, and do not run. Otherwise, where the first run shows no race
            and the kernel allows it, the others are not watched but compared with the first: arrays and synchronization.
            They then also start uninitialized registers with other bits.
        threads: runs at a time; None: one per core where the C core runs them, but one for large arrays and for a kernel
            that prints.
    """
    if threads is None:
        together = watched and runner.array_bytes <= MOST_BYTES and not runner.program.calls_host
        threads = cores() if together else 1
    progress = Progress(runner.program.entry.name)
    try:
        if not (watched and len(wanted) > 1 and is_decided_by_synchronization(runner.program)):
            return Runs(_run(runner, wanted, watched, threads, progress))
        progress.say(f"schedule 1 of {len(wanted)}, {wanted[0]}")
        first = runner.run(wanted[0], sanitize=True)
        done = {wanted[0]: first}
        if first.race_free and synchronizes_in_one_way(runner.program, runner.warps) and not runner.is_clustered:
            return Runs(dict.fromkeys(wanted, first))
        if first.error is None and not first.access_findings:
            patterns = dict(zip(wanted[1:], PATTERNS, strict=False)) if runner.program.undefined else {}
            others = _run(runner, wanted[1:], False, threads, progress, first, patterns)
            if all(_is_equal(other, first) for other in others.values()):
                return Runs(done | others, tuple(patterns.values()))
        return Runs(done | _run(runner, wanted[1:], True, threads, progress, first))
    finally:
        progress.end()


def _is_equal(outcome: Outcome, first: Outcome) -> bool:
    return outcome.arrays is first.arrays and outcome.synchronization == first.synchronization


def _run(
    runner: Runner,
    wanted: Sequence[Schedule],
    watched: bool,
    threads: int,
    progress: Progress,
    first: Outcome | None = None,
    patterns: Mapping[Schedule, int] | None = None,
) -> dict[Schedule, Outcome]:
    """Run the schedules; `first` is the outcome of one before them. Outcomes with equal arrays share them.

    Args:
        patterns: initial bits of uninitialized registers in a schedule, instead of zeros.
    """
    endless = first is not None and is_endless(first)
    threads = min(threads, len(wanted))
    if threads > 1:
        return _Concurrent(runner, watched, progress, first, patterns or {}).run(wanted, threads)
    outcomes: dict[Schedule, Outcome] = {}
    before = 0 if first is None else 1
    for number, schedule in enumerate(wanted, 1 + before):
        progress.say(f"schedule {number} of {len(wanted) + before}, {schedule}")
        outcome = runner.run(schedule, sanitize=watched, **_settings(runner, schedule, endless, first, patterns or {}))
        outcomes[schedule] = outcome if first is None else outcome.sharing(first)
        first = first or outcome
        endless = endless or is_endless(outcome)
    return outcomes


def _settings(
    runner: Runner, schedule: Schedule, after_endless: bool, first: Outcome | None, patterns: Mapping[Schedule, int]
) -> dict[str, Any]:
    """Return the limit of steps of a run, and its initial registers."""
    most = runner.settings["max_steps"]
    if schedule in patterns and first is not None:
        registers = dict.fromkeys(runner.program.undefined, patterns[schedule])
        return {"initial_registers": registers, "max_steps": min(most, step_limit(first))}
    return {"max_steps": min(most, MAX_STEPS_AFTER_ENDLESS) if after_endless else None}


class _Concurrent:
    """Runs that share the cores. An error of one, or an interrupt, stops the others."""

    def __init__(
        self,
        runner: Runner,
        watched: bool,
        progress: Progress,
        first: Outcome | None,
        patterns: Mapping[Schedule, int],
    ):
        self.runner, self.watched, self.progress, self.first = runner, watched, progress, first
        self.patterns = patterns
        self.stopped, self.endless = threading.Event(), first is not None and is_endless(first)
        self.before = 0 if first is None else 1

    def run(self, wanted: Sequence[Schedule], threads: int) -> dict[Schedule, Outcome]:
        pool = ThreadPoolExecutor(threads)
        runs = [pool.submit(self._one, schedule) for schedule in wanted]
        try:
            waiting = set(runs)
            while waiting:
                done, waiting = wait(waiting, SHOWN_EACH_S)
                for one in done:
                    one.result()
                done_now = self.before + len(runs) - len(waiting)
                self.progress.say(f"{done_now} of {self.before + len(runs)} schedules done")
        except BaseException as error:
            self.stopped.set()
            pool.shutdown(cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                for note in _notes(runs):
                    error.add_note(note)
            raise
        finally:
            pool.shutdown()
        return dict(zip(wanted, (one.result() for one in runs), strict=True))

    def _one(self, schedule: Schedule) -> Outcome:
        settings = _settings(self.runner, schedule, self.endless, self.first, self.patterns)
        outcome = self.runner.run(schedule, sanitize=self.watched, progress=self._stop_if_asked, **settings)
        self.endless = self.endless or is_endless(outcome)
        return outcome if self.first is None else outcome.sharing(self.first)

    def _stop_if_asked(self, started: int, total: int) -> None:
        if self.stopped.is_set():
            raise KeyboardInterrupt


def _notes(runs: Sequence[Future[Outcome]]) -> list[str]:
    """Return the notes of the first run that was stopped: what its threads did at that moment."""
    for one in runs:
        stopped = None if one.cancelled() else one.exception()
        if isinstance(stopped, KeyboardInterrupt):
            return getattr(stopped, "__notes__", [])
    return []

"""The runs of a check: the same launch in each schedule, several at a time on the cores of this machine."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from pyptx.check.runner import Outcome, Runner, Schedule
from pyptx.sim.core.parallel import cores
from pyptx.sim.progress import Progress

__all__ = ["is_endless", "run_schedules"]

MAX_STEPS_AFTER_ENDLESS = 1 << 26  # of runs that start after an endless one
MOST_BYTES = 1 << 26  # of arrays that several runs may copy at the same time
SHOWN_EACH_S = 0.5


def is_endless(outcome: Outcome) -> bool:
    """Return True if the run ended at the limit of steps."""
    return outcome.error is not None and outcome.error.kind == "steps"


def run_schedules(
    runner: Runner, wanted: Sequence[Schedule], watched: bool, threads: int | None = None
) -> dict[Schedule, Outcome]:
    """Run a launch in each schedule and return the outcomes in that order; they do not depend on `threads`.

    Args:
        watched: the sanitizer watches every access.
        threads: runs at a time; None: one per core where the C core runs them, but one for large arrays and for a kernel
            that prints.
    """
    if threads is None:
        together = watched and runner.array_bytes <= MOST_BYTES and not runner.program.calls_host
        threads = cores() if together else 1
    threads = min(threads, len(wanted))
    progress = Progress(runner.program.entry.name)
    try:
        if threads > 1:
            return _Concurrent(runner, watched, progress).run(wanted, threads)
        outcomes: dict[Schedule, Outcome] = {}
        for number, schedule in enumerate(wanted, 1):
            progress.say(f"schedule {number} of {len(wanted)}, {schedule}")
            outcomes[schedule] = runner.run(
                schedule, sanitize=watched, max_steps=_limit(runner, any(map(is_endless, outcomes.values())))
            )
        return outcomes
    finally:
        progress.end()


def _limit(runner: Runner, after_endless: bool) -> int | None:
    return min(runner.settings["max_steps"], MAX_STEPS_AFTER_ENDLESS) if after_endless else None


class _Concurrent:
    """Runs that share the cores. An error of one, or an interrupt, stops the others."""

    def __init__(self, runner: Runner, watched: bool, progress: Progress):
        self.runner, self.watched, self.progress = runner, watched, progress
        self.stopped, self.endless = threading.Event(), False

    def run(self, wanted: Sequence[Schedule], threads: int) -> dict[Schedule, Outcome]:
        pool = ThreadPoolExecutor(threads)
        runs = [pool.submit(self._one, schedule) for schedule in wanted]
        try:
            waiting = set(runs)
            while waiting:
                done, waiting = wait(waiting, SHOWN_EACH_S)
                for one in done:
                    one.result()
                self.progress.say(f"{len(runs) - len(waiting)} of {len(runs)} schedules done")
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
        limit = _limit(self.runner, self.endless)
        outcome = self.runner.run(schedule, sanitize=self.watched, max_steps=limit, progress=self._stop_if_asked)
        self.endless = self.endless or is_endless(outcome)
        return outcome

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

"""Run a launch on the C core: one thread, or several that share its clusters."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import numpy as np

from pyptx.errors import ArgumentValueError
from pyptx.sim.core.engine import Worker, encoded_program
from pyptx.sim.core.launch_arguments import CoreLaunch, ProfileArrays
from pyptx.sim.counters import Counters
from pyptx.sim.memory.address_space import Segment
from pyptx.sim.plan import UNLIMITED, Plan
from pyptx.sim.program.program import Program
from pyptx.sim.sanitizer import AccessFinding

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["cores", "prepare", "run_launch"]

Progress = Callable[[int, int], None]


def prepare(
    program: Program,
    plan: Plan,
    params: bytes,
    segments: list[Segment],
    threads: int | None,
    profile: ProfileArrays | None = None,
    findings: list[AccessFinding] | None = None,
    uninitialized: Collection[np.ndarray] = (),
    synchronizations: np.ndarray | None = None,
) -> CoreLaunch:
    """Return a launch of the whole grid, for `run_launch`.

    Args:
        threads: OS threads that will share the clusters; None: as `run_launch` chooses.
        profile: run only its clusters, and fill it; `threads` is 1, and `issues` of the result stay 0.
        findings: list that receives the findings of the sanitizer; None: it does not run.
        uninitialized: arrays without contents until the kernel writes them, for the sanitizer.
        synchronizations: as for `sim.launch`.
    Raises:
        LaunchError: several threads for a program whose CTAs may depend on each other.
    """
    if threads is not None and threads > 1:
        if findings is not None:
            raise ArgumentValueError(f"threads={threads}: the sanitizer watches one thread; pass threads=1")
        if program.ordered:
            raise ArgumentValueError(
                f"threads={threads}: {program.entry.name} uses atomics, ordered accesses or printf, whose "
                "order several threads would not keep; pass threads=1"
            )
    return CoreLaunch(
        program,
        encoded_program(program),
        plan,
        params,
        segments,
        profile,
        findings,
        uninitialized=uninitialized,
        synchronizations=synchronizations,
    )


def run_launch(launch: CoreLaunch, threads: int | None = None, progress: Progress | None = None) -> Counters:
    """Run a launch to its end and return the counters.

    Args:
        threads: None: one thread; as many as there are cores from the moment on when the launch turns out to be long, if
            the results and counters do not depend on the order of its clusters.
        progress: called now and then with the clusters started and their total number.
    Raises:
        SimulationError: a fault, a deadlock, or too many steps.
    """
    first, others = Worker(launch), _Others(launch)

    def between_slices(started: int, total: int) -> None:
        if threads is None and _divisible(launch):  # asked here: most launches end within the first slice
            others.start(min(cores() - 1, total - started))
        if progress is not None:
            progress(started, total)

    first.progress = between_slices
    try:
        if threads is not None:
            others.start(min(threads, launch.plan.clusters) - 1)
        first.run()
        workers = [first, *others.join()]
    except BaseException:
        launch.stop = True
        raise
    finally:
        others.close()
    failed = [worker.failed for worker in workers if worker.failed]
    if failed:
        raise min(failed, key=lambda cta_and_error: cta_and_error[0])[1]
    total = first.counters
    for worker in workers[1:]:
        total += worker.counters
    return total


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _divisible(launch: CoreLaunch) -> bool:
    """Return True if threads may share the clusters unasked: results and counters are those of one thread.

    A limit of steps and the sanitizer hold for one thread.
    """
    program = launch.program
    unlimited = launch.findings is None and launch.plan.max_steps == UNLIMITED
    return unlimited and not program.ordered and not program.cancels


class _Others:
    """The threads of a launch besides the first."""

    def __init__(self, launch: CoreLaunch):
        self.launch = launch
        self.pool: ThreadPoolExecutor | None = None
        self.workers: list[Worker] = []
        self.running: list[Future[None]] = []

    def start(self, count: int) -> None:
        """Start this number of threads, once."""
        if self.pool is None and count > 0:
            from concurrent.futures import ThreadPoolExecutor  # late: it loads the logging of Python

            self.pool = ThreadPoolExecutor(count)
            self.workers = [Worker(self.launch) for _ in range(count)]
            self.running = [self.pool.submit(worker.run) for worker in self.workers]

    def join(self) -> list[Worker]:
        """Wait for the threads and return their workers. Raises what a worker raised."""
        for one in self.running:
            one.result()
        return self.workers

    def close(self) -> None:
        """Wait until no thread uses the memory of the launch."""
        if self.pool is not None:
            self.pool.shutdown()

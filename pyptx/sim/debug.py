"""A launch that can be stopped, inspected and restarted, for the debugger.

Stops do not influence scheduling: results are bit-identical to those of the same launch without stops. Stepping
backwards restarts the launch, which is deterministic, and runs it to an earlier step.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stdout

import numpy as np

from pyptx.errors import BackendError
from pyptx.sim.core import library
from pyptx.sim.core.debug import Machine
from pyptx.sim.core.debug_state import Mark, Reason, WatchedRange
from pyptx.sim.memory.address_space import Segment
from pyptx.sim.memory.host_functions import Heap
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program
from pyptx.sim.simulation import memory_of

__all__ = ["DebugLaunch"]


class DebugLaunch:
    """A launch under a debugger. It writes arrays among the arguments in place, and again after a restart.

    Args:
        as for `sim.launch`.
    Attributes:
        machine: the running launch; replaced when `restart` runs from the start.
        began: step at which the last `restart` started to run.
        sanitize: whether every access is checked for races, missing fences and waits.
        marks: bits of Mark for each instruction, kept across restarts.
    Raises:
        LaunchError: an argument or a size is invalid, or the C core of the simulator cannot be loaded.
    """

    plan: Plan
    program: Program
    segments: list[Segment]
    marks: np.ndarray
    sanitize: bool
    began: int
    machine: Machine

    def __init__(
        self,
        program: Program,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[object],
        *,
        cluster: int | Sequence[int] = (1, 1, 1),
        smem_bytes: int = 0,
        reachable: Sequence[np.ndarray] = (),
        max_steps: int | None = None,
        tensor_cores: str = "fast",
        schedule: str = "eager",
        seed: int = 0,
        sanitize: bool = False,
    ):
        problem = library.problem()
        if problem is not None:
            raise BackendError(f"the debugger needs the simulator's C core, which is unavailable: {problem}")
        self.program = program
        self.plan = Plan.of(
            program,
            grid,
            block,
            cluster,
            smem_bytes,
            max_steps,
            tensor_cores=tensor_cores,
            schedule=schedule,
            seed=seed,
        )
        self._params, self.segments = memory_of(program, args, program.symbols.copied_buffers(), reachable)
        self._first = [(s.buffer, s.buffer.bytes.copy()) for s in self.segments if not s.buffer.read_only]
        self.marks = np.zeros(len(program.instructions) + 1, np.uint8)
        self._watched: tuple[WatchedRange, ...] = ()
        self.sanitize, self.began = sanitize, 0
        self.machine = self._opened()

    def _opened(self) -> Machine:
        machine = Machine(self.program, self.plan, self._params, self.segments, self.sanitize)
        machine.marks[:] = self.marks
        return machine

    def run(
        self,
        *,
        until: int | None = None,
        follow: str | None = None,
        warp: tuple[int, int] = (0, 0),
        passing: np.ndarray | None = None,
        findings: bool = False,
    ) -> Reason:
        """Resume, see Machine.run.

        Args:
            passing: for each instruction, whether a followed warp does not stop there.
        """
        self.machine.marks[:] = self.marks
        if passing is not None:
            self.machine.marks[:-1] |= np.where(passing, Mark.PASS, 0).astype(np.uint8)
        return self.machine.run(until=until, follow=follow, warp=warp, findings=findings)

    def restart(self, until: int = 0, *, trail: tuple[int, int] | None = None, earlier: int = 0) -> np.ndarray | None:
        """Run again from a checkpoint or the start up to a step, ignoring marks and suppressing printf.

        Args:
            trail: (CTA, warp) whose steps are recorded.
            earlier: number of checkpoints to go back beyond the last suitable one.
        Returns:
            (step, instruction) rows of that warp since `began`; None without `trail`.
        """
        known = [c for c in self.machine.checkpoints if c.step <= until]
        if len(known) > earlier:
            checkpoint = known[-1 - earlier]
            self.machine.restore(checkpoint)
            self.began = checkpoint.step
        else:
            self.began = 0
            self._restart_launch()
        machine = self.machine
        machine.marks[:] = self.marks & ~np.uint8(Mark.STOP)
        found = None
        if machine.step < until or not machine.stopped:
            with redirect_stdout(io.StringIO()):
                machine.run(until=until, warp=trail or (0, 0), trail=trail is not None)
            found = machine.trail() if trail is not None else None
        elif trail is not None:
            found = machine.trail()[:0]
        machine.set_watched(self._watched)
        return found

    def _restart_launch(self) -> None:
        """Restore memory and start the launch from its beginning, without checkpoints."""
        self.close()
        for buffer, first in self._first:
            buffer.bytes[:] = first
            if isinstance(buffer, Heap):
                buffer.used.clear()
        self.machine = self._opened()

    def watch(self, ranges: Sequence[WatchedRange]) -> None:
        """Stop when bytes change, also after a restart."""
        self._watched = tuple(ranges)
        self.machine.set_watched(ranges)

    def segment_at(self, address: int, size: int = 1) -> Segment | None:
        """Return the global or constant memory that contains these bytes."""
        return next((s for s in self.segments if s.address <= address and address + size <= s.address + s.size), None)

    def close(self) -> None:
        """Release the memory of the running launch."""
        self.machine.close()

"""A launch that can be stopped, looked at and run again from its start: what a debugger needs of the simulator.

Results are those of the same launch without stops, to the bit: stops change nothing that decides what runs when. Going
back is running again from the start, which is deterministic, to an earlier step.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace

import numpy as np

from pyptx._geometry import dim3
from pyptx.errors import LaunchError
from pyptx.sim.core import library
from pyptx.sim.core.debug import Machine
from pyptx.sim.core.stopped import Mark, Reason, Spot
from pyptx.sim.launch import memory_of
from pyptx.sim.memory.host import Heap
from pyptx.sim.memory.spaces import Buffer, Segment
from pyptx.sim.plan import TENSOR_CORES, Plan
from pyptx.sim.program.program import Program

__all__ = ["Debugged"]


class Debugged:
    """A launch under a debugger. Arrays among the arguments are written in place, and again when it starts again.

    Args:
        as of sim.launch.
    Attributes:
        machine: what runs now; another one where `restart` began at the start.
        began: the step at which the newest `restart` began.
        sanitize: whether every access is watched for races, missing fences and waits.
        marks: bits of Mark for each instruction, kept over restarts.
    Raises:
        LaunchError: an argument or a size is wrong, or the C core of the simulator cannot be loaded.
    """

    def __init__(self, program: Program, grid: int | Sequence[int], block: int | Sequence[int], args: Sequence[object],
                 *, cluster: int | Sequence[int] = (1, 1, 1), smem_bytes: int = 0, max_steps: int | None = None,
                 tensor_cores: str = "fast", schedule: str = "eager", seed: int = 0,
                 sanitize: bool = False):
        problem = library.problem()
        if problem is not None:
            raise LaunchError(f"the debugger needs the simulator's C core, which cannot be used: {problem}")
        if tensor_cores not in TENSOR_CORES:
            raise LaunchError(f"tensor_cores {tensor_cores!r}; expected {', '.join(map(repr, TENSOR_CORES))}")
        plan = Plan.of(program, dim3(grid, "grid"), dim3(block, "block"), dim3(cluster, "cluster"), smem_bytes,
                       max_steps, schedule, seed)
        self.program, self.plan = program, replace(plan, tensor_cores=tensor_cores)
        variables = [Buffer(v.buffer.array.copy(), v.buffer.name) for v in program.names.globals]
        self._params, self.segments = memory_of(program, args, variables)
        self._first = [(s.buffer, s.buffer.bytes.copy()) for s in self.segments if not s.buffer.read_only]
        self.marks = np.zeros(len(program.instructions) + 1, np.uint8)
        self._spots: tuple[Spot, ...] = ()
        self.sanitize, self.began = sanitize, 0
        self.machine = self._opened()

    def _opened(self) -> Machine:
        machine = Machine(self.program, self.plan, self._params, self.segments, self.sanitize)
        machine.marks[:] = self.marks
        return machine

    def run(self, *, until: int | None = None, follow: str | None = None, warp: tuple[int, int] = (0, 0),
            passing: np.ndarray | None = None, findings: bool = False) -> Reason:
        """Go on, see Machine.run; `passing` says for each instruction whether a followed warp runs past it."""
        self.machine.marks[:] = self.marks
        if passing is not None:
            self.machine.marks[:-1] |= np.where(passing, Mark.PASS, 0).astype(np.uint8)
        return self.machine.run(until=until, follow=follow, warp=warp, findings=findings)

    def restart(self, until: int = 0, *, trail: tuple[int, int] | None = None, earlier: int = 0) -> np.ndarray | None:
        """Run again, up to the instruction of a number, past all marks; printf prints nothing meanwhile.

        Args:
            trail: (CTA, warp) whose newest steps are wanted.
            earlier: begin so many checkpoints before the last one that would do.
        Returns:
            (step, instruction) rows of that warp since `began`.
        """
        known = [c for c in self.machine.checkpoints if c.step <= until]
        if len(known) > earlier:
            checkpoint = known[-1 - earlier]
            self.machine.restore(checkpoint)
            self.began = checkpoint.step
        else:
            self.began = 0
            self._afresh()
        machine = self.machine
        machine.marks[:] = self.marks & ~np.uint8(Mark.STOP)
        found = None
        if machine.step < until or not machine.stopped:
            with redirect_stdout(io.StringIO()):
                machine.run(until=until, warp=trail or (0, 0), trail=trail is not None)
            found = machine.trail() if trail is not None else None
        elif trail is not None:
            found = machine.trail()[:0]
        machine.set_spots(self._spots)
        return found

    def _afresh(self) -> None:
        """The launch as at its start; its checkpoints go."""
        self.close()
        for buffer, first in self._first:
            buffer.bytes[:] = first
            if isinstance(buffer, Heap):
                buffer.used.clear()
        self.machine = self._opened()

    def watch(self, spots: Sequence[Spot]) -> None:
        """Stop when bytes change, also after going back."""
        self._spots = tuple(spots)
        self.machine.set_spots(spots)

    def segment_at(self, address: int, size: int = 1) -> Segment | None:
        """The global or constant memory that holds these bytes."""
        return next((s for s in self.segments if s.address <= address and address + size <= s.address + s.size), None)

    def close(self) -> None:
        """Give the memory of what runs back."""
        self.machine.close()

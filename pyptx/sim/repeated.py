"""Launches that are made again and again with arrays of the same sizes: what does not change is worked out once."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from pyptx._geometry import Dim3
from pyptx.sim.core import engine as core
from pyptx.sim.core import library
from pyptx.sim.launch import Result, count_products, memory_of
from pyptx.sim.memory.args import scalar_bytes
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program
from pyptx.sim.progress import Progress

__all__ = ["Repeated"]

_NOTHING = np.empty(0, np.uint8)


class Repeated:
    """One launch of a program on the C core, without options, whose arrays and numbers may change.

    Args:
        grid, block, cluster, smem_bytes: as of sim.launch.
    Raises:
        LaunchError: a size is wrong.
    """

    def __init__(self, program: Program, grid: Dim3, block: Dim3, cluster: Dim3, smem_bytes: int):
        self.program = program
        self.plan = Plan.of(program, grid, block, cluster, smem_bytes, None)
        self._first: tuple[core.Job, list[int | None], bytes, Sequence[object]] | None = None

    def run(self, arrays: Sequence[np.ndarray], values: Sequence[object]) -> Result | None:
        """Run over arrays, which are the first parameters; the other parameters are `values`.

        Shapes, types and whether they may be written are those of the first run. None where the launch must be looked
        at anew: nothing ran.

        Raises:
            LaunchError: a number does not fit its parameter.
            SimulationError: as of sim.launch.
        """
        if library.problem() is not None or self.program.allocates:
            return None
        if len({array.__array_interface__["data"][0] for array in arrays}) != len(arrays):
            return None                                         # arrays that are one buffer, or empty
        started, progress = time.perf_counter(), Progress(self.program.entry.name)
        job = self._job(arrays, values)
        try:
            counters = core.finish(job, progress=progress)
        finally:
            progress.end()
        count_products(self.program, counters)
        return Result(counters, time.perf_counter() - started, "core")

    def _job(self, arrays: Sequence[np.ndarray], values: Sequence[object]) -> core.Job:
        program = self.program
        if self._first is None:
            block, segments = memory_of(program, [*arrays, *values], [v.buffer for v in program.names.globals])
            job = core.Job(program, core.encoded(program), self.plan, block, segments)
            by_array = {id(array): k for k, array in enumerate(arrays)}
            places = [by_array.get(id(segment.buffer.array)) for segment in job.ordered]
            kept = job.again([None if k is None else _NOTHING for k in places])         # and no array of the caller
            self._first = kept, places, block, list(values)
            return job
        job, places, block, before = self._first
        params = None
        if any(old is not new for old, new in zip(before, values, strict=True)):
            params = bytearray(block)
            for slot, value in zip(program.names.params[len(arrays):], values, strict=True):
                where = f"argument {slot.name} of {program.entry.name}"
                params[slot.offset:slot.offset + slot.size] = scalar_bytes(where, slot, value)
        return job.again([None if k is None else arrays[k] for k in places], None if params is None else bytes(params))

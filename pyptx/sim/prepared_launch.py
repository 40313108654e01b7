"""Repeated launches with arrays of the same sizes: everything that does not change is prepared once."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from pyptx.launch_config import Dim3
from pyptx.sim.core import library
from pyptx.sim.core.contexts import Repeatable
from pyptx.sim.core.engine import encoded_program
from pyptx.sim.core.launch_arguments import CoreLaunch, address_of
from pyptx.sim.core.parallel import run_launch
from pyptx.sim.memory.arguments import scalar_bytes
from pyptx.sim.memory.pointers import POINTERS
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program
from pyptx.sim.progress import Progress
from pyptx.sim.simulation import Result, count_products, memory_of

__all__ = ["PreparedLaunch"]

_NOTHING = np.empty(0, np.uint8)


class PreparedLaunch:
    """A launch of a program on the C core, without options, whose arrays and numbers may change between runs.

    Args:
        grid, block, cluster, smem_bytes: as for `sim.launch`.
    Raises:
        LaunchError: a size is invalid.
    """

    plan: Plan

    def __init__(self, program: Program, grid: Dim3, block: Dim3, cluster: Dim3, smem_bytes: int):
        self.program = program
        self.plan = Plan.of(program, grid, block, cluster, smem_bytes)
        self._first: tuple[CoreLaunch, list[int | None], bytes, Sequence[object]] | None = None

    def run(self, arrays: Sequence[np.ndarray], values: Sequence[object], apart: int = 0) -> Result | None:
        """Run with arrays for the first parameters and `values` for the others.

        Shapes, types and writability of the arrays must be those of the first run.

        Args:
            apart: number of trailing arrays that must not overlap the others.
        Returns:
            the result; None if the launch cannot be repeated, then nothing ran.
        Raises:
            LaunchError: a number does not fit its parameter.
            SimulationError: as for `sim.launch`.
        """
        if library.problem() is not None or self.program.allocates:
            return None
        hosts = [address_of(array) for array in arrays]
        if len(set(hosts)) != len(arrays):
            return None  # arrays that share a buffer, or are empty
        if apart and _overlap(hosts, arrays, len(arrays) - apart):
            return None
        if POINTERS and any(
            POINTERS.address_of(h, array.nbytes) is not None for h, array in zip(hosts, arrays, strict=True)
        ):
            return None  # their addresses are fixed, those of the first run need not be the same
        started, progress = time.perf_counter(), Progress(self.program.entry.name)
        launch = self._launch(arrays, hosts, values)
        try:
            counters = run_launch(launch, progress=progress)
        finally:
            progress.end()
        count_products(self.program, counters)
        return Result(counters, time.perf_counter() - started, "core")

    def _launch(self, arrays: Sequence[np.ndarray], hosts: Sequence[int], values: Sequence[object]) -> CoreLaunch:
        program = self.program
        if self._first is None:
            block, segments = memory_of(program, [*arrays, *values], program.symbols.global_buffers)
            launch = CoreLaunch(program, encoded_program(program), self.plan, block, segments)
            by_array = {id(array): k for k, array in enumerate(arrays)}
            places = [by_array.get(id(segment.buffer.array)) for segment in launch.segments]
            kept = launch.rebind([None if k is None else _NOTHING for k in places], [0] * len(places))
            kept.segments  # noqa: B018  # now, so that it has no reference to the arrays of the caller
            kept.repeatable = Repeatable(kept.arrays)
            self._first = kept, places, block, list(values)
            return launch
        launch, places, block, before = self._first
        params = None
        if any(old is not new for old, new in zip(before, values, strict=True)):
            params = bytearray(block)
            for slot, value in zip(program.symbols.params[len(arrays) :], values, strict=True):
                where = f"argument {slot.name} of {program.entry.name}"
                params[slot.offset : slot.offset + slot.size] = scalar_bytes(where, slot, value)
        return launch.rebind(
            [None if k is None else arrays[k] for k in places],
            [0 if k is None else hosts[k] for k in places],
            None if params is None or params == block else bytes(params),
        )


def _overlap(hosts: Sequence[int], arrays: Sequence[np.ndarray], first: int) -> bool:
    """Return True if an array from index `first` on shares memory with an earlier one."""
    ends = [(start, start + array.nbytes) for start, array in zip(hosts, arrays, strict=True)]
    return any(ends[k][0] < end and start < ends[k][1] for k in range(first, len(ends)) for start, end in ends[:k])

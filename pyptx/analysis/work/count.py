"""Counted work of a launch: operations by pipe and type, bytes by memory level.

    work = count(gemm, a, b)
    work.flops["wgmma.bf16"], work.bytes["dram_read"], work.exact, work.how

The launch is counted at its real size, so trip counts, guards and addresses are those of the real problem. Small grids
are simulated completely. Of a larger grid a few clusters are simulated: for each axis an inner one and the last one
(which may be partly outside the problem), and one in the middle that the others must predict. Equal clusters are counted
once and multiplied; where work grows linearly along an axis, as under a causal mask, it is interpolated. `exact` is true
when the whole grid was simulated, `uniform` when the prediction for the middle held; `how` is a description.

DRAM bytes are compulsory: each byte of global memory counts once if the launch reads it before writing it, and once if
the launch writes it. They are derived from the touched bytes. Bytes that sampled neighboring clusters share are counted
once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyptx.analysis.work.call import Call, bind_call
from pyptx.analysis.work.instruction_work import LINE, program_work
from pyptx.analysis.work.sample import Sample
from pyptx.analysis.work.sampling import sample_launch
from pyptx.jit import Launchable

__all__ = ["Work", "count", "total_flops", "work_of"]


def total_flops(flops: Mapping[str, int]) -> int:
    """Return the operations of tensor cores and floating-point pipes, without integers and special functions."""
    return sum(number for pipe, number in flops.items() if pipe not in ("core.s32", "core.mufu"))


@dataclass(frozen=True)
class Work:
    """Work of a launch.

    Attributes:
        flops: "wgmma.bf16", "mma.f16", "tcgen05.f8", "core.f32", "core.f16", "core.f64", "core.mufu", "core.s32" ->
            operations; a multiply-add counts as two. Names as in `gpus.Gpu.flops_per_s`.
        bytes: "dram_read", "dram_write" (compulsory), "l2" (requests of SMs to L2: sectors of 32 bytes, bulk and tensor
            copies), "shared" (128 for each pass over shared memory, bank conflicts included, writes of copies, reads of
            tensor cores) and "tmem" -> bytes.
        ctas: number of CTAs.
        exact: the whole grid was simulated.
        uniform: the clusters simulated as a check were as predicted.
        how: description of the sample.
        sample: simulated counts, for the performance model.
    """

    flops: Mapping[str, int]
    bytes: Mapping[str, int]
    ctas: int
    exact: bool
    uniform: bool
    how: str
    sample: Sample = field(repr=False, compare=False)

    @property
    def total_flops(self) -> int:
        """Operations of tensor cores and floating-point pipes, without integers and special functions."""
        return total_flops(self.flops)

    @property
    def dram_bytes(self) -> int:
        """Compulsory DRAM bytes, reads and writes."""
        return self.bytes["dram_read"] + self.bytes["dram_write"]

    def intensity(self, level: str = "dram") -> float:
        """Return operations per byte of "dram", "l2" or "shared"; infinite when no byte is moved."""
        moved = self.dram_bytes if level == "dram" else self.bytes[level]
        return self.total_flops / moved if moved else float("inf")

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "flops": dict(self.flops),
            "bytes": dict(self.bytes),
            "ctas": self.ctas,
            "exact": self.exact,
            "uniform": self.uniform,
            "how": self.how,
        }


def count(kernel: Launchable, *args: Any, **params: Any) -> Work:
    """Count the work of a call.

    Args:
        kernel, args, params: as for `bind_call`: a kernel's input arrays, or with `grid` and `block` all arguments.
    Raises:
        LaunchError: the arguments do not fit the kernel.
        SimulationError: the kernel traps, or waits for clusters that were not simulated.
    """
    return work_of(bind_call(kernel, *args, **params))


def work_of(call: Call) -> Work:
    """Count the work of a bound call."""
    sample = sample_launch(call)
    instruction_work, totals = program_work(sample.program), sample.totals
    flops: dict[str, float] = {}
    for number, item in enumerate(instruction_work):
        if item.pipe:
            done = totals.tensor_flops[number] or item.operations * totals.lanes[number]
            if done:
                flops[item.pipe] = flops.get(item.pipe, 0) + done
    l2 = 32 * totals.global_sectors.sum()
    shared = tmem = 0
    for number, item in enumerate(instruction_work):
        executed = totals.executed[number]
        if item.space == "tma":
            l2 += totals.tma_bytes[number]
            shared += totals.tma_bytes[number]
        elif (
            item.space == "shared" or not item.space or (item.space == "generic" and not totals.global_requests[number])
        ):
            shared += LINE * (item.passes * executed + totals.shared_conflicts[number])
        shared += item.operand_bytes * executed + item.copy_bytes * totals.lanes[number]
        tmem += item.tmem_bytes * executed
    size = {
        "dram_read": sum(sample.read.values()),
        "dram_write": sum(sample.written.values()),
        "l2": l2,
        "shared": shared,
        "tmem": tmem,
    }
    return Work(
        {pipe: round(number) for pipe, number in sorted(flops.items())},
        {level: round(number) for level, number in size.items()},
        sample.ctas,
        sample.exact,
        sample.uniform,
        sample.how,
        sample,
    )

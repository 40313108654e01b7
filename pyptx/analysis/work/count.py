"""Work of a launch, counted: operations by pipe and type, bytes by level of memory.

    work = count(gemm, a, b)
    work.flops["wgmma.bf16"], work.bytes["dram_read"], work.exact, work.how

How it is counted. The launch itself is taken, with its real sizes, so that trip counts, guards and addresses are
those of the real problem; nothing is inferred from a smaller one. Small grids run on the simulator as a whole. Of a
larger grid a few clusters run: for each axis of the grid one inside and the last (which may be partly outside the
problem), and one more in the middle that must be what the others predict. Clusters that are alike are counted once
and multiplied; where work grows evenly along an axis, as under a causal mask, the ends stand for all. `exact` says
that the whole grid ran, `uniform` that the sample showed what was predicted; `how` says it in words.

Bytes of DRAM are compulsory: every byte of global memory counts once that the launch reads before anything else, and
once that it writes. They come from the touched bytes themselves. For sampled clusters, those of the neighbour along
an axis that a cluster touches as well are counted once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyptx.analysis.work.calls import Call, call_of
from pyptx.analysis.work.pipework import LINE, worths_of
from pyptx.analysis.work.sample import Sample, sample_of
from pyptx.kernel import Kernel
from pyptx.program import Entry

__all__ = ["Work", "count", "work_of"]


@dataclass(frozen=True)
class Work:
    """What a launch does, exactly.

    Attributes:
        flops: "wgmma.bf16", "mma.f16", "tcgen05.f8", "core.f32", "core.f16", "core.f64", "core.mufu", "core.s32" ->
            operations of the launch, a multiply-add being two. The words are those of `gpus.Gpu.flops_per_s`.
        bytes: "dram_read", "dram_write" (compulsory), "l2" (all that SMs ask of L2: sectors of 32 bytes, bulk and
            tensor copies), "shared" (128 for each pass over shared memory, conflicts included, what copies write there,
            what tensor cores read there) and "tmem" -> bytes of the launch.
        ctas: of the grid.
        exact: the whole grid was simulated.
        uniform: clusters that were simulated to see whether the others predict them were as predicted.
        how: the same in words.
        sample: what was simulated, for the performance model.
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
        """Of tensor cores and of floats on CUDA cores; integers and special functions left out."""
        return sum(number for pipe, number in self.flops.items() if pipe not in ("core.s32", "core.mufu"))

    @property
    def dram_bytes(self) -> int:
        return self.bytes["dram_read"] + self.bytes["dram_write"]

    def intensity(self, level: str = "dram") -> float:
        """Operations per byte of "dram", "l2" or "shared"; infinite where it moves none."""
        moved = self.dram_bytes if level == "dram" else self.bytes[level]
        return self.total_flops / moved if moved else float("inf")

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"flops": dict(self.flops), "bytes": dict(self.bytes), "ctas": self.ctas, "exact": self.exact,
                "uniform": self.uniform, "how": self.how}


def count(kernel: Kernel | Entry, *args: Any, **params: Any) -> Work:
    """Work of a call.

    Args:
        kernel, args, params: as for `call_of`: a kernel's input arrays, or with `grid` and `block` all arguments.
    Raises:
        LaunchError, TypeError: it could not be called like that.
        SimulationError: it traps, or waits for clusters that were not simulated.
    """
    return work_of(call_of(kernel, *args, **params))


def work_of(call: Call) -> Work:
    """Work of a call that is bound already."""
    sample = sample_of(call)
    worths, totals = worths_of(sample.program), sample.totals
    flops: dict[str, float] = {}
    for number, worth in enumerate(worths):
        if worth.pipe:
            done = totals.tensor_flops[number] or worth.operations * totals.lanes[number]
            if done:
                flops[worth.pipe] = flops.get(worth.pipe, 0) + done
    l2 = 32 * totals.global_sectors.sum()
    shared = tmem = 0
    for number, worth in enumerate(worths):
        executed = totals.executed[number]
        if worth.space == "tma":
            l2 += totals.tma_bytes[number]
            shared += totals.tma_bytes[number]
        elif worth.space == "shared" or not worth.space or (worth.space == "generic"
                                                            and not totals.global_requests[number]):
            shared += LINE * (worth.passes * executed + totals.shared_conflicts[number])
        shared += worth.operand_bytes * executed + worth.copy_bytes * totals.lanes[number]
        tmem += worth.tmem_bytes * executed
    size = {"dram_read": sum(sample.read.values()), "dram_write": sum(sample.written.values()), "l2": l2,
            "shared": shared, "tmem": tmem}
    return Work({pipe: round(number) for pipe, number in sorted(flops.items())},
                {level: round(number) for level, number in size.items()}, sample.ctas, sample.exact, sample.uniform,
                sample.how, sample)

"""Memory system of a GPU during a launch: L1 hits of its reads, and L2 and DRAM as seen by one SM."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from pyptx.analysis.gpus import Gpu
from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.dram_traffic import Traffic, lost_part
from pyptx.analysis.model.operations import TAGS
from pyptx.analysis.model.replay_state import Memory
from pyptx.analysis.model.trip_counts import EntryCode, InstructionStep, Loop, WarpPath
from pyptx.analysis.work.instruction_work import LINE, InstructionWork
from pyptx.analysis.work.sampling import Sample
from pyptx.sim.actions import Atomic

__all__ = ["L1_BYTES", "L1Reads", "MemorySystem", "atomic_cycles", "l1_reads"]

DRIFT = 8  # iterations of a loop by which the warps of a CTA are apart
REMOTE = 0.7  # latency between SMs relative to L2: 180 of 261 cycles on H800 (Luo et al. 2024)
# Cycles of an L2 slice for one sector of an atomic access: 2**30 random bytes into 256 bins take 276 ms on H100 (1.4), and bins of
# CTAs that are added to those of the grid 1.25 on RTX 3080 and 1.3 on GTX 1650. A slice holds 512 consecutive bytes: 1 and 2 KiB
# of bins take part in these with 1.4 and 3.2 sectors per cycle.
ATOMIC_SECTOR_CYCLES = 1.3
# Cycles for each further lane that names the same word: 0.96 and 1.04 lanes per cycle on RTX 3080 and GTX 1650.
ATOMIC_LANE_CYCLES = 1.0
# The same for sums in floating point, each of which needs the result of the one before: 2**26 f32 into one word take 87.4 ms on an RTX
# 4090, whose clock is 2.82 GHz. That is one measurement of one GPU.
ATOMIC_FLOAT_LANE_CYCLES = 3.6
# Fraction of the SM's DRAM queue that a read waits for where CTAs follow others: they load at different times, and DRAM serves a
# burst of one SM faster than its part. Streams by occupancy, interpolated between 0.3, 0.6 and 1, imply 1 or more on A100 40GB
# and H100 PCIe, 0.9 on GH200, 0.7 on A100 80GB, 0.45 on L40 and less than 0.3 on A40. CTAs that all start together load together;
# then a read waits for the whole queue. That they do is derived from norms on B200 and copies in two stages on B300.
BACKLOG = 0.5
L1_BYTES = 28 * 1024  # of an SM that shared memory cannot take


@dataclass(frozen=True, slots=True)
class MemorySystem:
    """L2 and DRAM, shared by the active SMs.

    Attributes:
        gpu, constants: the GPU.
        active: SMs that execute CTAs.
        read, written: bytes that all clusters request from L2.
        traffic: bytes between L2 and DRAM.
        atomics: cycles of the slice of L2 that executes most atomic operations.
        part: bytes that the busiest SM requests over those of an average one; with as many more requests under way it gets
            as much more of L2 and DRAM.
        together: all CTAs of the launch run at the same time.
    """

    gpu: Gpu
    constants: Constants
    active: int
    read: float
    written: float
    traffic: Traffic
    atomics: float = 0.0
    part: float = 1.0
    together: bool = False

    @property
    def dram_rate(self) -> float:
        """Reached DRAM bandwidth in bytes per second.

        Alternating reads and writes cost a part of it; where ECC makes writes slower, their times add up.
        """
        rate = self.gpu.dram_reached_bytes_per_s or self.constants.dram_share * self.gpu.dram_bytes_per_s
        reads = self.traffic.read / max(1.0, self.traffic.read + self.traffic.written)
        if self.gpu.dram_written_bytes_per_s:
            return 1 / (reads / rate + (1 - reads) / self.gpu.dram_written_bytes_per_s)
        return rate * (1 - self.constants.turnaround * 4 * reads * (1 - reads))

    @property
    def dram_seconds(self) -> float:
        """Time of the DRAM traffic alone."""
        return (self.traffic.read + self.traffic.written) / self.dram_rate

    def read_wait(self, seconds: float) -> float:
        """Return the cycles that a read waits for DRAM to write, in a launch of some seconds.

        DRAM writes in batches; a read that finds one under way waits for its end.
        """
        share = self.traffic.written / (self.traffic.read + self.traffic.written or 1.0)
        return self.constants.write_wait_cycles * min(1.0, self.dram_seconds / seconds) * share

    def l2_seconds(self, clock: float) -> float:
        """Return the time of the L2 traffic alone at a clock in Hz."""
        return (self.read + self.written) / (self.gpu.l2_bytes_per_clock * clock)

    def atomic_seconds(self, clock: float) -> float:
        """Return the time of the atomic operations in one slice of L2 at a clock in Hz."""
        return self.atomics / clock

    def seen_by_sm(self, clock: float, wait: float = 0.0) -> Memory:
        """Return the memory as the busiest SM sees it; L2 scales with the clock, DRAM does not: it takes fewer cycles of a lower one.

        Args:
            clock: in Hz.
            wait: cycles that reads of DRAM wait for writes, at the clock of the measured latencies.
        """
        on = self.gpu
        from_dram = min(1.0, self.traffic.read / max(1.0, self.read))
        waiting = min(1.0, self.traffic.waiting * self.traffic.read / max(1.0, self.read))
        to_dram = min(1.0, self.traffic.written / max(1.0, self.written))
        near = on.latency_cycles.get("l2", 260)
        l2 = (near + on.latency_cycles.get("l2_far", near)) / 2
        dram = on.latency_cycles.get("dram", 600) + wait
        if on.latency_clock_hz:
            dram = l2 + (dram - l2) * clock / on.latency_clock_hz
        return Memory(
            min(self.constants.port_bytes, self.part * on.l2_bytes_per_clock / self.active),
            self.part * self.dram_rate / clock / self.active,
            from_dram,
            to_dram,
            l2 + waiting * (dram - l2),
            (dram if from_dram > 0.01 else l2) + self.constants.copy_cycles,
            REMOTE * near,
            near / 2,
            1.0 if self.together else BACKLOG,
            max(0.0, waiting - from_dram) * (dram - l2),
        )


def atomic_cycles(sample: Sample, code: EntryCode) -> float:
    """Return the cycles of the slice of L2 that executes most of the launch's atomic operations.

    A slice executes the sectors of its accesses one after the other, and the lanes that name the same word, unless ptxas adds up
    their values before: it does where it knows that all lanes have one address.
    """
    elected = {owner for owner, line in zip(code.owners, code.lines, strict=True) if line.opcode.startswith("VOTE")}
    types = [
        action.type
        for k, action in enumerate(sample.program.actions)
        if isinstance(action, Atomic) and sample.totals.global_requests[k] and k not in elected
    ]
    lane = max((ATOMIC_FLOAT_LANE_CYCLES if "f" in one else ATOMIC_LANE_CYCLES for one in types), default=0.0)
    sectors, further = sample.atomic_turns.T.astype(float)
    return float((ATOMIC_SECTOR_CYCLES * sectors + lane * further).max())


@dataclass(frozen=True, slots=True)
class L1Reads:
    """Reads of global memory in L1, by PTX instruction.

    Attributes:
        misses: fraction of the bytes that come from L2.
        waits: fraction of the loads that wait for L2 or DRAM: those of sectors that are new to the warp, and of those that L1 has
            lost. Other warps that read the same sectors at that time wait with it.
        pending: lookups of a load whose sectors are new to the warp, and that other warps have requested.
    """

    misses: np.ndarray
    waits: np.ndarray
    pending: np.ndarray


def l1_reads(
    sample: Sample,
    work: Sequence[InstructionWork],
    code: EntryCode,
    paths: Sequence[WarpPath],
    room: float,
) -> L1Reads:
    """Return the reads that miss L1: rereads by a cluster hit as far as L1 holds the data.

    A single loop that reads everything moves over its data: its warps reread what they read a few iterations ago,
    and L1 needs to hold only that part. What a warp has read shortly before hits as far as L1 holds the lines that the warps of
    all resident clusters read in the meantime, counted as if each load had lines of its own.

    Args:
        sample: the simulated clusters.
        work: work of each PTX instruction.
        code, paths: the machine code, and the paths of the slices.
        room: bytes of L1 for a cluster.
    """
    reads = [k for k, item in enumerate(work) if item.space in ("global", "generic") and not item.writes]
    sectors, all_miss = sample.cluster.global_sectors, np.ones(len(work))
    requested = 32 * float(sectors[reads].sum())
    unique = sum(footprint.own.sectors for footprint in sample.footprints if not footprint.writes)
    copied = sum(sample.cluster.tma_bytes[k] for k, item in enumerate(work) if not item.writes)
    if not requested or copied:
        return L1Reads(all_miss, all_miss, np.zeros(len(work)))
    recent = unique * min(1.0, DRIFT / _turns_of_reads(sample, code, paths, set(reads), 0.95 * requested))
    held = min(1.0, room / max(1, recent))
    rate = min(1.0, max(unique / requested, 1 - held * (1 - unique / requested)))
    fresh_loads, fresh_sectors, known, since = sample.fresh_loads
    observed = sample.line_access[0] > 0
    fresh = np.where(observed, np.minimum(1.0, fresh_loads), 1.0)
    new_part = np.where(
        observed, np.minimum(1.0, fresh_sectors * sample.cluster.executed / np.maximum(1.0, sectors)), 1.0
    )
    between = LINE * len(sample.issues) * since / np.maximum(known, 1e-9)
    kept = np.array([max(held, 1 - lost_part(size, room)) for size in between])
    rate = max(
        unique / requested, min(rate, 32 * float((sectors * (1 - kept * (1 - new_part)))[reads].sum()) / requested)
    )
    waits = 1 - kept * (1 - fresh)
    waiting = 32 * float((sectors * waits)[reads].sum())
    new = 32 * float((fresh_sectors * sample.cluster.executed)[reads].sum())
    shared = 1 - min(1.0, rate * requested / max(1.0, new))
    lookups = np.maximum(1.0, sample.line_access[0] / TAGS)
    return L1Reads(np.minimum(1.0, waits * rate * requested / max(1.0, waiting)), waits, shared * new_part * lookups)


def _turns_of_reads(sample: Sample, code: EntryCode, paths: Sequence[WarpPath], reads: Set[int], most: float) -> float:
    """Return the iterations of the outermost loop that reads more than `most` bytes of global memory; 1 without one."""
    for path in paths:
        for part in path:
            if isinstance(part, Loop):
                own = {code.owners[step.row] for step in part.body if isinstance(step, InstructionStep)}
                if sum(32 * sample.cluster.global_sectors[k] for k in own & reads) > most:
                    return part.trips
    return 1.0

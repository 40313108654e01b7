"""Memory system of a GPU during a launch: L2 and DRAM as seen by one SM."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx.analysis.gpus import Gpu
from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.dram_traffic import Traffic
from pyptx.analysis.model.replay_state import Memory
from pyptx.analysis.model.trip_counts import EntryCode
from pyptx.analysis.work.sample import Sample
from pyptx.sim.actions import Atomic

__all__ = ["MemorySystem", "atomic_cycles"]

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
    types = [
        action.type
        for k, action in enumerate(sample.program.actions)
        if isinstance(action, Atomic) and sample.totals.global_requests[k] and k not in code.elected
    ]
    lane = max((ATOMIC_FLOAT_LANE_CYCLES if "f" in one else ATOMIC_LANE_CYCLES for one in types), default=0.0)
    sectors, further = sample.atomic_turns.T.astype(float)
    return float((ATOMIC_SECTOR_CYCLES * sectors + lane * further).max())

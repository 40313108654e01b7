"""DRAM traffic: data shared by a wave of CTAs is read once; data that L2 evicts before the next wave is read again.

L2 exchanges units of one or two 32-byte sectors with DRAM. CTAs of a wave fill each other's units. A unit that they
write in part is read before it is written, where DRAM has error correction: on the GPUs whose units are two sectors.

CTAs start in the order of their numbers, x first. A wave is a box of the grid; its footprint follows from that of one
cluster and from the part that is new relative to its neighbors (`sampling.Footprint`). Of the data that a wave reads and
an earlier one has read, L2 has lost a part that follows from the reuse distance: all data that the clusters between the
two reads touch (`reuse_distances`, `lost_part`). That the clusters of a wave share a read assumes that they progress
together, as those that compute do. Clusters that wait for DRAM drift apart: for them the distance follows from their order
alone. Clusters that read their own data twice, as when a row is too long for registers, find the data of the first pass in
L2 as far as it holds the rows of all resident clusters. That is true of data which they have written, too: what L2 has lost
before it is read back is read from DRAM and, when it is written again, written to DRAM twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, prod

from pyptx.analysis.gpus import Gpu
from pyptx.analysis.model.rereads import Reads, rereads_of
from pyptx.analysis.work.count import Work
from pyptx.analysis.work.footprint import SECTOR, Footprint
from pyptx.isa import targets

__all__ = ["Traffic", "estimate_traffic", "kept_traffic", "lost_part", "reuse_distances"]

# Reuse distance over the size of L2 at which half is lost: 1.06 on L40. Where L2 has two halves, each may have a copy of a line: 0.82
# on A100, 0.76 to 0.94 on H100 (RRZE-HPC gpu-benches, gpu-l2-cache).
KEPT, KEPT_IN_HALVES = 1.06, 0.85
HALVES = frozenset((80, 90, 100))  # targets
WAYS = 16  # lines of a set of L2 (Jia et al. 2018 for V100; A for later GPUs)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes of a launch between L2 and DRAM.

    Attributes:
        read, written: all of them.
        again: repeated reads.
        waiting: bytes that CTAs request from L2 at the same time for each byte that is read from DRAM; all of them wait for it.
    """

    read: float
    written: float
    again: float
    waiting: float = 1.0


def estimate_traffic(
    work: Work,
    gpu: Gpu,
    resident: int,
    reads: Mapping[str, Reads],
    unit: int = SECTOR,
    together: bool = True,
    stored: float = 0.0,
) -> Traffic:
    """Estimate the DRAM traffic of a launch.

    Args:
        work: counted work of the launch.
        gpu: the GPU.
        resident: CTAs resident on the GPU.
        reads: what a cluster requests of each buffer from L2.
        unit: bytes that L2 exchanges with DRAM at least, 32 or 64.
        together: the clusters of a wave progress together. Those of a single one do.
        stored: bytes that all CTAs together write to L2.
    """
    sample = work.sample
    cluster = prod(sample.plan.cluster)
    extent = sample.busy
    wave = max(1, min(sample.clusters, resident // cluster))
    waves = sample.clusters / wave
    holds = _held(gpu)
    touched = _Touched(sample.footprints, sample.read, sample.written, extent, unit)
    once = written = filled = per_wave = stores = again = returned = missed = waiting = 0.0
    for footprint in sample.footprints:
        size, units = footprint.wave(extent, wave, unit)
        total = touched.size(footprint)
        moved = total * units / size if size else total
        if footprint.writes:
            stores, written = stores + units, written + moved
            if unit > SECTOR and size:
                partial, missing = footprint.partial_wave(extent, wave), units - footprint.wave(extent, wave)[1]
                filled += total * max(partial * unit / SECTOR, partial + missing) / size
            continue
        units, own = min(units, moved), footprint.returned
        per_wave, once = per_wave + (1 - own) * units, once + (1 - own) * moved
        returned += own * moved
        if together or waves <= 1:
            lost = 0.0
            if units * waves > moved:
                apart = reuse_distances(footprint, extent, wave, total)
                lost = sum(part * lost_part(touched.by(clusters), holds) for clusters, part in apart)
                lost *= units * waves - moved
            again += lost
            missed += moved + lost
            waiting += (moved + lost) * max(1.0, wave * footprint.own.sectors / max(1.0, units))
        else:
            again += touched.again(footprint, moved, holds)
    if per_wave + stores <= 0:
        return Traffic(once, written, 0.0)
    # between two reads of a byte, a cluster touches all it reads and, writing during the second pass, half of what it writes
    evicted = lost_part(per_wave + stores / 2, holds)
    repeated = rereads_of([one for one in sample.footprints if not one.writes], extent, reads, sample.read)
    warps = wave * len(sample.issues)
    again += sample.clusters * (repeated.size - repeated.recent) * evicted
    again += sample.clusters * repeated.recent * min(evicted, lost_part(warps * repeated.between, holds))
    again += returned * evicted
    written += min(returned, max(0.0, stored - written)) * evicted  # what was evicted before it was written again
    return Traffic(once + again + filled, written, again, waiting / missed if missed else 1.0)


def kept_traffic(traffic: Traffic, work: Work, gpu: Gpu, unit: int = SECTOR) -> Traffic:
    """Return the traffic of a launch that follows one on the same data, of which L2 has kept a part.

    Between the uses of a byte by two launches, all bytes of a launch pass through L2. Data that is written and not lost is
    overwritten in L2.

    Args:
        traffic, work, gpu, unit: of the launch, as of `estimate_traffic`.
    """
    sample = work.sample
    extent = sample.busy
    touched = _Touched(sample.footprints, sample.read, sample.written, extent, unit)
    lost = lost_part(touched.by(sample.clusters), _held(gpu))
    read = traffic.again + (traffic.read - traffic.again) * lost
    return replace(traffic, read=read, written=traffic.written * lost)


@dataclass(frozen=True)
class _Touched:
    """Bytes that consecutive clusters touch; those of units of a size."""

    footprints: Sequence[Footprint]
    read: Mapping[str, int]
    written: Mapping[str, int]
    extent: Sequence[int]
    unit: int

    def size(self, footprint: Footprint) -> int:
        """Return the bytes of a buffer that all clusters touch."""
        return (self.written if footprint.writes else self.read).get(footprint.buffer, 0)

    def by(self, clusters: int) -> float:
        """Return the bytes of the units of all buffers that consecutive clusters touch."""
        found = 0.0
        for footprint in self.footprints:
            size, units = footprint.wave(self.extent, clusters, self.unit)
            found += units * min(1.0, self.size(footprint) / size) if size else 0.0
        return found

    def again(self, footprint: Footprint, moved: float, holds: float) -> float:
        """Return the bytes of a buffer that clusters which drift apart read again from DRAM.

        Args:
            footprint: of the buffer.
            moved: bytes of its units that all clusters touch.
            holds: as of `lost_part`.
        """
        own = float(footprint.own.unit(self.unit))
        left, apart, found = prod(self.extent) * own, 1, 0.0
        for count, new in footprint.axes(self.extent):
            if count > 1 and left > moved and new.unit(self.unit) < own:
                part = min(left - moved, left * (1 - new.unit(self.unit) / own) * (count - 1) / count)
                found, left = found + part * lost_part(self.by(apart), holds), left - part
            apart *= count
        distance = self.by(round(self.size(footprint) / max(1, footprint.bytes)))
        return found + max(0.0, left - moved) * lost_part(distance, holds)


def _held(gpu: Gpu) -> float:
    """Return the reuse distance at which L2 has lost half."""
    if gpu.l2_fast_bytes:
        return gpu.l2_fast_bytes
    halves = targets.parse(gpu.target).number in HALVES
    return (KEPT_IN_HALVES if halves else KEPT) * gpu.l2_bytes


def lost_part(distance: float, holds: float) -> float:
    """Return the fraction of data that L2 has lost after other data has passed through it.

    A hash of the address selects the set of a line. The lines between two uses are distributed over the sets by chance, and
    a line is lost when its set received as many as it has ways: a Poisson distribution. It is as steep as the rates of reads
    by the size of the data on A100, GH200 and L40 (RRZE-HPC gpu-benches, gpu-l2-cache).

    Args:
        distance: bytes of the data between two uses.
        holds: distance at which half is lost.
    """
    lines = WAYS * distance / holds
    if lines > 4 * WAYS:
        return 1.0
    term, kept = exp(-lines), 0.0
    for count in range(WAYS):
        kept, term = kept + term, term * lines / (count + 1)
    return 1 - kept


def reuse_distances(footprint: Footprint, extent: Sequence[int], wave: int, size: int) -> list[tuple[int, float]]:
    """Return the consecutive clusters between two reads of the same bytes of a buffer, a wave at least, with the part of the bytes.

    Clusters that are neighbors along an axis and share bytes are apart by the clusters along the axes before it. Without
    such an axis, later clusters return to the data of the first ones when all has been read.

    Args:
        footprint: of the buffer.
        extent: clusters along each axis.
        wave: clusters that run at the same time; what they share is read once.
        size: bytes of the buffer that all clusters touch.
    """
    apart, left, found = 1, 1.0, []
    for count, new in footprint.axes(extent):
        if apart * count > wave and count > 1 and new.bytes < footprint.bytes:
            part = left * (1 - new.bytes / footprint.bytes)
            left -= part
            found.append((max(wave, apart), part))
        apart *= count
    if not found:
        return [(max(wave, round(size / max(1, footprint.bytes))), 1.0)]
    return [(distance, part / (1 - left)) for distance, part in found]

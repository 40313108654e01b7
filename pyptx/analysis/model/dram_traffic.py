"""DRAM traffic: data shared by a wave of CTAs is read once; data that L2 evicts before the next wave is read again.

L2 exchanges units of one or two 32-byte sectors with DRAM. CTAs of a wave fill each other's units. A sector that they
write in part is read before it is written, where DRAM has error correction: on the GPUs whose units are two sectors.

CTAs start in the order of their numbers, x first. A wave is a box of the grid; its footprint follows from that of one
cluster and from the part that is new relative to its neighbors (`sampling.Footprint`). L2 keeps what fits from one wave
to the next, and from one pass of a cluster over its own data to the next, as when a row that is too long for registers
is read twice: all resident clusters read theirs in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from pyptx.analysis.gpus import Gpu
from pyptx.analysis.work.count import Work
from pyptx.analysis.work.footprint import SECTOR, Footprint

__all__ = ["Traffic", "estimate_traffic", "reread_bytes"]

PASSES = 4  # maximum number of passes of a cluster over its own data; further reads are of shared data
KEPT = 0.7  # fraction of L2 up to which a working set keeps its rate (gpu-benches, A100, H100)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes of a launch between L2 and DRAM; `again`: repeated reads among them."""

    read: float
    written: float
    again: float


def estimate_traffic(work: Work, gpu: Gpu, resident: int, requested: float, unit: int = SECTOR) -> Traffic:
    """Estimate the DRAM traffic of a launch.

    Args:
        work: counted work of the launch.
        gpu: the GPU.
        resident: CTAs resident on the GPU.
        requested: bytes that all CTAs together read from L2.
        unit: bytes that L2 exchanges with DRAM at least, 32 or 64.
    """
    sample = work.sample
    cluster = prod(sample.plan.cluster)
    extent = tuple(g // c for g, c in zip(sample.plan.grid, sample.plan.cluster, strict=True))
    wave = max(1, min(sample.clusters, resident // cluster))
    waves = sample.clusters / wave
    holds = gpu.l2_fast_bytes or KEPT * gpu.l2_bytes
    once = written = filled = per_wave = stores = 0.0
    for footprint in sample.footprints:
        size, units = footprint.wave(extent, wave, unit)
        total = (sample.written if footprint.writes else sample.read).get(footprint.buffer, 0)
        moved = total * units / size if size else total
        if footprint.writes:
            stores, written = stores + units, written + moved
            if unit > SECTOR and size:
                filled += total * footprint.partial_wave(extent, wave) * unit / SECTOR / size
        else:
            per_wave, once = per_wave + units, once + moved
    reads = [footprint for footprint in sample.footprints if not footprint.writes]
    if per_wave + stores <= 0:
        return Traffic(once, written, 0.0)
    lost = max(0.0, 1 - holds / (per_wave + stores))  # fraction of shared data that L2 evicts before the next wave
    again = max(0.0, per_wave * waves - once) * lost if waves > 1 else 0.0
    # between two reads of a byte, a cluster touches all it reads and, writing during the second pass, half of what it writes
    evicted = max(0.0, 1 - holds / (per_wave + stores / 2))
    again += sample.clusters * reread_bytes(reads, extent, requested / sample.clusters, sample.read) * evicted
    return Traffic(once + again + filled, written, again)


def reread_bytes(
    reads: Sequence[Footprint], extent: Sequence[int], requested: float, touched: Mapping[str, int]
) -> float:
    """Return the bytes of a cluster's private data that it reads repeatedly.

    Args:
        reads: footprints of its reads.
        extent: clusters along each axis.
        requested: bytes that one cluster reads from L2.
        touched: buffer -> bytes that all clusters read from it.
    """
    own = sum(
        footprint.own.sectors
        for footprint in reads
        if all(
            new_bytes == footprint.bytes
            for new_bytes, count in zip(footprint.new_bytes, extent, strict=True)
            if count > 1
        )
        and footprint.bytes * prod(extent) <= 1.01 * touched[footprint.buffer]
    )
    more = requested - sum(footprint.own.sectors for footprint in reads)
    return max(0.0, more) if more < PASSES * own else 0.0

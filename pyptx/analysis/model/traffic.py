"""Bytes between L2 and DRAM: what a wave of CTAs shares is read once, what L2 cannot hold until the next wave again.

CTAs start in the order of their numbers, x first. A wave is a box of the grid, its footprint follows from what a
cluster touches and from how much of that is new to its neighbours (sample.Footprint). From one wave to the next L2
keeps what fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from pyptx.analysis.gpus import Gpu
from pyptx.analysis.work.count import Work
from pyptx.analysis.work.sample import Footprint

__all__ = ["Traffic", "traffic_of", "wave_bytes"]

KEPT = 0.7                      # of L2, that a working set may have before its rate falls (gpu-benches, A100, H100)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes of a launch between L2 and DRAM; `again`: the part that is read once more."""

    read: float
    written: float
    again: float


def traffic_of(work: Work, gpu: Gpu, resident: int) -> Traffic:
    """Args:
        resident: CTAs that the GPU holds at a time.
    """
    sample = work.sample
    cluster = prod(sample.plan.cluster)
    extent = tuple(g // c for g, c in zip(sample.plan.grid, sample.plan.cluster, strict=True))
    wave = max(1, min(sample.clusters, resident // cluster))
    waves = sample.clusters / wave
    once = sum(size * _waste(sample.footprints, buffer, False) for buffer, size in sample.read.items())
    written = sum(size * _waste(sample.footprints, buffer, True) for buffer, size in sample.written.items())
    holds = gpu.l2_fast_bytes or KEPT * gpu.l2_bytes
    reads = [footprint for footprint in sample.footprints if not footprint.writes]
    per_wave = sum(wave_bytes(footprint, extent, wave) for footprint in reads)
    stores = sum(wave_bytes(footprint, extent, wave) for footprint in sample.footprints if footprint.writes)
    if waves <= 1 or per_wave + stores <= 0:
        return Traffic(once, written, 0.0)
    lost = max(0.0, 1 - holds / (per_wave + stores))    # of what the next wave reads again
    again = max(0.0, per_wave * waves - once) * lost
    return Traffic(once + again, written, again)


def _waste(footprints: tuple[Footprint, ...], buffer: str, writes: bool) -> float:
    """Bytes of sectors over bytes of a buffer that are used."""
    own = [one for one in footprints if one.buffer == buffer and one.writes == writes and one.bytes]
    return sum(one.sectors for one in own) / sum(one.bytes for one in own) if own else 1.0


def wave_bytes(footprint: Footprint, extent: tuple[int, int, int], clusters: int) -> float:
    """Bytes of the sectors of a buffer that so many clusters, numbered in a row, touch together."""
    if not footprint.bytes:
        return 0.0
    left, size = clusters, float(footprint.sectors)
    for count, fresh in zip(extent, footprint.fresh, strict=True):
        here = min(left, count)
        size *= 1 + (here - 1) * fresh / footprint.bytes
        left = -(-left // count)
    return size

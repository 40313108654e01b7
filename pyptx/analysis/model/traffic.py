"""Bytes between L2 and DRAM: what a wave of CTAs shares is read once, what L2 cannot hold until the next wave again.

CTAs start in the order of their numbers, x first. A wave is a box of the grid, its footprint follows from what a
cluster touches and from how much of that is new to its neighbours (sample.Footprint). From one wave to the next L2
keeps what fits; so it does from the first time that a cluster reads what is its own to the next, as when a row that is
too long for registers is read in two passes: in between, all that run have read theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from pyptx.analysis.gpus import Gpu
from pyptx.analysis.work.count import Work
from pyptx.analysis.work.sample import Footprint

__all__ = ["Traffic", "passes_of", "traffic_of", "wave_bytes"]

PASSES = 4                      # over what is a cluster's own; where more is read, that is of what clusters share
KEPT = 0.7                      # of L2, that a working set may have before its rate falls (gpu-benches, A100, H100)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes of a launch between L2 and DRAM; `again`: the part that is read once more."""

    read: float
    written: float
    again: float


def traffic_of(work: Work, gpu: Gpu, resident: int, asked: float) -> Traffic:
    """Args:
        resident: CTAs that the GPU holds at a time.
        asked: bytes that all CTAs together read from L2.
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
    if per_wave + stores <= 0:
        return Traffic(once, written, 0.0)
    lost = max(0.0, 1 - holds / (per_wave + stores))    # of what the next wave reads again, or the next pass
    again = max(0.0, per_wave * waves - once) * lost if waves > 1 else 0.0
    again += sample.clusters * passes_of(reads, extent, asked / sample.clusters, sample.read) * lost
    return Traffic(once + again, written, again)


def passes_of(reads: Sequence[Footprint], extent: tuple[int, int, int], asked: float,
              touched: Mapping[str, int]) -> float:
    """Bytes that a cluster reads more than once of what no other cluster reads.

    Args:
        extent: clusters along each axis.
        asked: bytes that a cluster reads from L2.
        touched: buffer -> bytes of it that all clusters read.
    """
    own = sum(footprint.sectors for footprint in reads
              if all(fresh == footprint.bytes for fresh, count in zip(footprint.fresh, extent, strict=True)
                     if count > 1) and footprint.bytes * prod(extent) <= 1.01 * touched[footprint.buffer])
    more = asked - sum(footprint.sectors for footprint in reads)
    return max(0.0, more) if more < PASSES * own else 0.0


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

"""Reads of global memory that hit L1."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from pyptx.analysis.model.dram_traffic import lost_part
from pyptx.analysis.model.operations import TAGS
from pyptx.analysis.model.trip_counts import EntryCode, InstructionStep, Loop, WarpPath
from pyptx.analysis.work.instruction_work import LINE, InstructionWork
from pyptx.analysis.work.sample import Sample

__all__ = ["L1_BYTES", "L1Reads", "l1_reads"]

DRIFT = 4  # iterations of a loop by which the warps of a CTA are apart
L1_BYTES = 28 * 1024  # of an SM that shared memory cannot take


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
    resident: int,
    following: float,
) -> L1Reads:
    """Return the reads that miss L1: rereads by a cluster hit as far as L1 holds the data.

    Clusters that follow each other on an SM are in different passes over their data: between two reads of a byte, as much passes
    through the part of L1 of a cluster as it reads and, as stores have lines of L1, too, half of what it writes (`dram_traffic` counts
    the same for L2). What is lost of it has the distribution of L2 (`lost_part`). Softmax and RMS norms by CTAs on RTX 3060, whose
    rows of all resident CTAs nearly fill L1, read all of it again, and so do gradients of norms on RTX 3060 Laptop.

    What all clusters read, such as the weights of a norm, is in L1 as far as it holds what the cluster before has read of it.

    A single loop that reads everything moves over its data: its warps reread what they read a few iterations ago,
    and L1 needs to hold only that part. What a warp has read shortly before hits as far as L1 holds the lines that the warps of
    all resident clusters read in the meantime, counted as if each load had lines of its own.

    Args:
        sample: the simulated clusters.
        work: work of each PTX instruction.
        code, paths: the machine code, and the paths of the slices.
        room: bytes of L1 for a cluster.
        resident: clusters that run on an SM at the same time.
        following: all clusters of an SM.
    """
    reads = [k for k, item in enumerate(work) if item.space in ("global", "generic") and not item.writes]
    sectors, all_miss = sample.cluster.global_sectors, np.ones(len(work))
    requested = 32 * float(sectors[reads].sum())
    copied = sum(sample.cluster.tma_bytes[k] for k, item in enumerate(work) if not item.writes)
    if not requested or copied:
        return L1Reads(all_miss, all_miss, np.zeros(len(work)))
    turns = _turns_of_reads(sample, code, paths, set(reads), 0.95 * requested)
    common = _common(sample)
    passing = _passing(sample, common, resident)
    held, found = 1 - lost_part(passing * min(1.0, DRIFT / turns), room), 1 - lost_part(passing, room)
    unique = sum(
        one.own.sectors * (1 - found * (1 - 1 / following) * (one.buffer in common))
        for one in sample.footprints
        if not one.writes
    )
    rate = min(1.0, max(unique / requested, 1 - held * (1 - unique / requested)))
    fresh_loads, fresh_sectors, known, since = sample.fresh_loads
    observed = sample.line_access[0] > 0
    fresh = np.where(observed, np.minimum(1.0, fresh_loads), 1.0)
    new_part = np.where(
        observed, np.minimum(1.0, fresh_sectors * sample.cluster.executed / np.maximum(1.0, sectors)), 1.0
    )
    known_before = np.array([found * bool(names) * (names <= common) for names in sample.buffers])
    fresh = fresh * (1 - known_before * (1 - min(1.0, resident / following)))
    new_part = new_part * (1 - known_before * (1 - 1 / following))
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


def _common(sample: Sample) -> frozenset[str]:
    """Return the names of the buffers of which all clusters read the same."""
    return frozenset(
        one.buffer
        for one in sample.footprints
        if not one.writes and not any(new.bytes for count, new in one.axes(sample.busy) if count > 1)
    )


def _passing(sample: Sample, common: Set[str], resident: int) -> float:
    """Return the bytes that pass through the part of L1 of a cluster between two reads of a byte; the clusters share what all read."""
    return sum(
        one.own.sectors / (2.0 if one.writes else resident if one.buffer in common else 1.0)
        for one in sample.footprints
    )


def _turns_of_reads(sample: Sample, code: EntryCode, paths: Sequence[WarpPath], reads: Set[int], most: float) -> float:
    """Return the iterations of the outermost loop that reads more than `most` bytes of global memory; 1 without one."""
    for path in paths:
        for part in path:
            if isinstance(part, Loop):
                own = {code.owners[step.row] for step in part.body if isinstance(step, InstructionStep)}
                if sum(32 * sample.cluster.global_sectors[k] for k in own & reads) > most:
                    return part.trips
    return 1.0

"""Counters of machine instructions in Nsight Compute's reports, with their spellings in the versions of the tool.

Source: Nsight Compute, "Kernel Profiling Guide", metrics reference; the titles are those of the source page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["COUNTERS", "STALL_REASONS", "Counter", "counter_of", "stall_of"]


@dataclass(frozen=True, slots=True)
class Counter:
    """A number of each machine instruction.

    Attributes:
        label: short title of a column.
        meaning: one phrase.
        titles: titles in the source page, newest first.
        metric: name in `ncu_report`; "" if it is derived there.
        ideal: metric to subtract: `metric` counts all, the counter only the excess.
    """

    label: str
    meaning: str
    titles: tuple[str, ...]
    metric: str = ""
    ideal: str = ""


COUNTERS: Mapping[str, Counter] = {
    "samples": Counter(
        "smpl",
        "warp samples at the instruction, as a share of all",
        ("Warp Stall Sampling (All Samples)", "Warp Stall Sampling (All Cycles)", "# Samples", "Samples"),
    ),
    "executed": Counter("exec", "warp instructions executed", ("Instructions Executed",), "inst_executed"),
    "threads": Counter(
        "thrds",
        "thread instructions executed with a true predicate",
        ("Predicated-On Thread Instructions Executed",),
        "thread_inst_executed_true",
    ),
    "sectors": Counter(
        "sect",
        "32-byte sectors of global memory",
        ("L2 Theoretical Sectors Global", "L2 Sectors"),
        "memory_l2_theoretical_sectors_global",
    ),
    "sectors_excess": Counter(
        "uncoal",
        "sectors above those of coalesced accesses",
        ("L2 Theoretical Sectors Global Excessive",),
        "memory_l2_theoretical_sectors_global",
        "memory_l2_theoretical_sectors_global_ideal",
    ),
    "wavefronts": Counter(
        "wavef", "passes over shared memory", ("L1 Wavefronts Shared",), "memory_l1_wavefronts_shared"
    ),
    "conflicts": Counter(
        "bank",
        "passes over shared memory above those without bank conflicts",
        ("L1 Wavefronts Shared Excessive",),
        "memory_l1_wavefronts_shared",
        "memory_l1_wavefronts_shared_ideal",
    ),
    "divergent": Counter("div", "divergent branches", ("Divergent Branches",)),
}

# Reasons of the source page -> (name in metrics smsp__pcsamp_warps_issue_stalled_*, reason of the performance model).
STALL_REASONS: Mapping[str, tuple[str, str]] = {
    "barrier": ("barrier", "barrier"),
    "branch_resolving": ("branch_resolving", "stall count"),
    "dispatch": ("dispatch_stall", "dispatch"),
    "drain": ("drain", "outstanding work"),
    "gmma": ("gmma", "wgmma"),
    "imc": ("imc_miss", ""),
    "lg": ("lg_throttle", "MIO"),
    "long_sb": ("long_scoreboard", "scoreboard"),
    "math": ("math_pipe_throttle", "pipe busy"),
    "membar": ("membar", ""),
    "mio": ("mio_throttle", "MIO"),
    "misc": ("misc", ""),
    "no_inst": ("no_instructions", ""),
    "not_selected": ("not_selected", "dispatch"),
    "selected": ("selected", "issue"),
    "short_sb": ("short_scoreboard", "scoreboard"),
    "sleep": ("sleeping", ""),
    "tex": ("tex_throttle", "MIO"),
    "wait": ("wait", "stall count"),
}

_TITLES = {title: (name, rank) for name, one in COUNTERS.items() for rank, title in enumerate(one.titles)}
_STALLS = {metric: reason for reason, (metric, _) in STALL_REASONS.items()} | {"no_instruction": "no_inst"}
_SAMPLED = "smsp__pcsamp_warps_issue_stalled_"


def counter_of(title: str) -> tuple[str, int] | None:
    """Return the counter of a column of the source page, and the rank of the spelling; None for other columns."""
    return _TITLES.get(title)


def stall_of(title: str) -> str | None:
    """Return the stall reason of a column "stall_long_sb" or a metric smsp__pcsamp_...; None for others.

    Samples without an issue, "(Not Issued)", are a part of all samples and not counted again.
    """
    if title.startswith("stall_") and not title.endswith(" (Not Issued)"):
        return {"sleeping": "sleep"}.get(title[6:], title[6:])
    if title.startswith(_SAMPLED) and not title.endswith("_not_issued"):
        name = title[len(_SAMPLED) :]
        return _STALLS.get(name, name)
    return None

"""Reasons for low confidence in a prediction."""

from __future__ import annotations

from collections.abc import Mapping

from pyptx.analysis.model.demand import Demand
from pyptx.analysis.work.count import Work
from pyptx.analysis.work.sample import Sample
from pyptx.sim.actions import Load, Store

__all__ = ["UNIT_NAMES", "busy_notes", "sample_notes", "scatter_notes", "unfamiliar_notes"]

UNFAMILIAR = 0.005  # fraction of the issued instructions from which on their unknown cost matters
SECTOR = 32  # bytes
SCATTERED = 0.3  # fraction of the sectors from which on scattered accesses matter
BUSY = 0.6  # utilization from which on two units that share issue slots and registers may delay each other
UNIT_NAMES: Mapping[str, str] = {
    "issue": "issue slots",
    "fma": "FMA pipe",
    "alu": "ALU pipe",
    "mufu": "special functions",
    "fp64": "f64 pipe",
    "shared": "shared memory",
    "tensor": "tensor pipe",
    "tma": "copy engine",
    "tmem": "tensor memory",
    "l2": "L2",
    "dram": "DRAM",
    "atomics": "atomic operations in one slice of L2",
    "ctas": "start of CTAs",
    "latency": "latency",
    "launch": "launch",
}
_ARITHMETIC = ("issue", "fma", "alu", "mufu", "fp64")


def sample_notes(work: Work) -> tuple[str, ...]:
    """Describe a sample whose clusters do not predict the others."""
    return () if work.uniform else (f"the counted work is an estimate: {work.how}",)


def unfamiliar_notes(demand: Demand) -> tuple[str, ...]:
    """Name the machine instructions whose cost the model does not know, if they are executed often."""
    issued = demand.cycles.get("issue", 0.0)
    words = sorted(word for word, cycles in demand.unfamiliar.items() if cycles > UNFAMILIAR * issued)
    return (f"the cost of {', '.join(words)} is not known",) if words else ()


def scatter_notes(sample: Sample) -> tuple[str, ...]:
    """Describe loads and stores whose lanes each access a sector of their own in part: DRAM moves more than the sectors."""
    sectors, lanes = sample.totals.global_sectors, sample.totals.lanes
    scattered = sum(
        float(sectors[k])
        for k, action in enumerate(sample.program.actions)
        if isinstance(action, Load | Store) and action.size * action.count < SECTOR and sectors[k] >= lanes[k] > 0
    )
    share = scattered / max(1.0, float(sectors.sum()))
    if share < SCATTERED:
        return ()
    return (
        f"{share:.0%} of the sectors are accessed by one lane each: DRAM may move more than modeled".replace("%", " %"),
    )


def busy_notes(terms: Mapping[str, float], seconds: float) -> tuple[str, ...]:
    """Describe tensor cores and arithmetic that are busy at the same time.

    They share issue slots, register reads and power.
    """
    share = {name: terms.get(name, 0.0) / seconds for name in ("tensor", *_ARITHMETIC)}
    most = max(_ARITHMETIC, key=lambda name: share[name])
    if min(share["tensor"], share[most]) < BUSY:
        return ()
    tensor, other = (f"{share[name]:.0%}".replace("%", " %") for name in ("tensor", most))
    return (f"tensor pipe {tensor} and {UNIT_NAMES[most]} {other} busy: their overlap is uncertain",)

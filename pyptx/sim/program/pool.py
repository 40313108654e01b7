"""How many registers a thread starts with, where setmaxnreg moves registers between warpgroups."""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from pyptx.ir.nodes import Function
from pyptx.isa import targets

__all__ = ["registers_at_entry"]

UNIT = 8                                            # registers a thread are a multiple of this


def registers_at_entry(entry: Function, target: str, wanted: Collection[int]) -> int:
    """Registers a thread of a kernel is given at launch, 0: not known.

    `.maxnreg` says it. Without, ptxas gives what the registers of a multiprocessor come to for a thread, when all
    threads of `.reqntid` or `.maxntid` run on it `.minnctapersm` times, and no more than the kernel ever asks for
    (ptxas -v).

    Args:
        wanted: what its setmaxnreg ask for; empty: it has none.
    """
    told = {d.name: prod(map(int, d.values)) for d in entry.directives
            if d.name in ("maxnreg", "reqntid", "maxntid", "minnctapersm")}
    threads = told.get("reqntid", told.get("maxntid"))
    if "maxnreg" in told or not wanted or not threads:
        return told.get("maxnreg", 0)
    fits = targets.parse(target).limits.regs_per_sm // (threads * told.get("minnctapersm", 1))
    return min(fits // UNIT * UNIT, max(wanted))

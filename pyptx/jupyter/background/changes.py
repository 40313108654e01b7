"""The difference of a kernel from its last run, in one line."""

from __future__ import annotations

from collections import Counter
from math import prod

from pyptx.analysis import occupancy
from pyptx.errors import PtxError
from pyptx.jupyter.kernel_runs import CompiledKernel

__all__ = ["change_text"]

_MOST_OPCODES = 3


def change_text(
    before: CompiledKernel | None, after: CompiledKernel, times: tuple[float | None, float | None] = (None, None)
) -> str:
    """Return "+3 IMAD, −2 registers, occupancy 50 → 62 %, modeled 489 us → 450 us"; without a run before, the numbers.

    Args:
        times: modeled seconds of both, where known.
    """
    from pyptx.tune.trial import format_time  # late: pyptx.tune takes time to load

    used = _used(after)
    if before is None:
        parts = [f"{used['registers']} registers", f"{len(after.compiled.sass)} instructions"]
        parts += [f"{used['spills']} B of spills"] if used["spills"] else []
        if used["occupancy"] is not None:
            parts.append(f"occupancy {used['occupancy']} %")
        if times[1] is not None:
            parts.append(f"modeled {format_time(times[1])}")
        return ", ".join(parts)
    old = _used(before)
    parts = _opcodes(before, after)
    for name, unit in (("registers", "registers"), ("spills", "B of spills"), ("shared", "B of shared memory")):
        if used[name] != old[name]:
            parts.append(f"{_signed((used[name] or 0) - (old[name] or 0))} {unit}")
    if used["occupancy"] != old["occupancy"] and None not in (used["occupancy"], old["occupancy"]):
        parts.append(f"occupancy {old['occupancy']} → {used['occupancy']} %")
    if before.compiled.target != after.compiled.target:
        parts.append(f"{before.compiled.target} → {after.compiled.target}")
    old_time, new_time = times
    if old_time is not None and new_time is not None and format_time(old_time) != format_time(new_time):
        parts.append(f"modeled {format_time(old_time)} → {format_time(new_time)}")
    return ", ".join(parts) or "same machine code as in the last run"


def _opcodes(before: CompiledKernel, after: CompiledKernel) -> list[str]:
    """Return the opcodes whose number changed most, such as "+3 IMAD"."""
    old, new = (Counter(line.opcode.split(".")[0] for line in one.compiled.sass) for one in (before, after))
    changed = {opcode: new[opcode] - old[opcode] for opcode in old | new if new[opcode] != old[opcode]}
    first = sorted(changed, key=lambda opcode: (-abs(changed[opcode]), opcode))
    parts = [f"{_signed(changed[opcode])} {opcode}" for opcode in first[:_MOST_OPCODES]]
    rest = len(first) - _MOST_OPCODES
    if rest > 0:
        parts.append(f"{rest} more opcodes")
    if not changed and [line.text for line in before.compiled.sass] != [line.text for line in after.compiled.sass]:
        parts.append("the same opcodes with other operands or in another order")
    return parts


def _used(one: CompiledKernel) -> dict[str, int | None]:
    resources = one.compiled.resources.get(one.compiled.name) or next(iter(one.compiled.resources.values()))
    percent = None
    if one.block is not None:
        try:
            fits = occupancy(
                one.compiled.target,
                threads=prod(one.block),
                registers=resources.registers,
                shared_bytes=resources.shared_bytes,
                dynamic_shared_bytes=one.dynamic_shared_bytes,
            )
            percent = round(100 * fits.fraction)
        except PtxError:  # no occupancy for this block size or target
            percent = None
    return {
        "registers": resources.registers,
        "spills": resources.spill_stores + resources.spill_loads,
        "shared": resources.shared_bytes + one.dynamic_shared_bytes,
        "occupancy": percent,
    }


def _signed(number: int) -> str:
    return f"+{number}" if number > 0 else f"−{-number}"

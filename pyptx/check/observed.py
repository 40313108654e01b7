"""What the sanitizer saw, as findings: one for each pair of lines, those of one cause together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyptx.check.accesses import Explained, explain, explain_registers
from pyptx.check.causes import stronger_waits
from pyptx.check.finding import Finding, Location
from pyptx.check.loads import tcgen05_fences
from pyptx.check.places import Places
from pyptx.check.registers import register_uses
from pyptx.check.rules import NOTES
from pyptx.sim import Program
from pyptx.sim.memory.spaces import SHARED_START
from pyptx.sim.watch import Side, Sighting

__all__ = ["finding_of", "observed"]

MOST_PLACES = 6                 # of one finding
MOST_WAITS = 8                  # that are tried whether they are too weak
_CONSEQUENCES = frozenset(("unawaited-operation", "uninitialised-memory", "peer-exited", "dead-store"))


@dataclass
class _Pair:
    """One pair of lines: what was seen there first, in which schedules, how often."""

    seen: Sighting
    explained: Explained
    schedules: dict[str, None] = field(default_factory=dict)
    count: int = 0


def observed(program: Program, runs: Mapping[str, Iterable[Sighting]], places: Places,
             again: Callable[[Program], Iterable[Sighting]]) -> list[Finding]:
    """Findings of all runs, and of the registers of the program.

    Args:
        again: what a run of a changed program shows, to try whether a wait is too weak.
    """
    pairs: dict[tuple, _Pair] = {}
    for schedule, found in runs.items():
        for seen in found:
            if seen.after is None or not _held(seen, program):
                continue
            explained = explain(seen)
            key = _key(seen, places)
            pair = pairs.setdefault(key, _Pair(seen, explained))
            if _as_written(seen) and not _as_written(pair.seen):
                pair.seen, pair.explained = seen, explained
            pair.schedules[schedule] = None
            pair.count += seen.count
    pairs = _without_consequences(pairs)
    findings = []
    for group in _causes(pairs):
        weak = [places.of(i, "waits for too little") for i in _weak(program, group[0], places, again)]
        findings.append(_finding(program, group, places, weak))
    return findings + _unwritten(program, runs) + _of_registers(program, places)


def finding_of(program: Program, seen: Sighting, places: Places) -> Finding | None:
    """One sighting by itself, as a finding; None where it is none."""
    if seen.after is None or not _held(seen, program):
        return None
    return _finding(program, [_Pair(seen, explain(seen), {}, seen.count)], places, [])


def _unwritten(program: Program, runs: Mapping[str, Iterable[Sighting]]) -> list[Finding]:
    """Results that are not written as a whole."""
    shown: dict[Any, tuple[Sighting, list[str]]] = {}
    for schedule, found in runs.items():
        for seen in found:
            if seen.after is None:
                shown.setdefault(seen.buffer.buffer.name, (seen, []))[1].append(schedule)
    return [_unwritten_result(program, seen, tuple(schedules)) for seen, schedules in shown.values()]


def _unwritten_result(program: Program, seen: Sighting, schedules: tuple[str, ...]) -> Finding:
    where, name, index = _where(program, seen)
    size, item = seen.buffer.size, seen.buffer.buffer.array.itemsize
    if seen.count == size:
        message = f"The kernel declares {name} as a result and writes no byte of it."
        fix = "write it, take it out of out_specs, or pass the array as out= where it stays as it is on purpose"
    else:
        message = (f"The kernel does not write {where} and what follows of its result: {-(-seen.count // item):,} of "
                   f"{size // item:,} elements are left as they were, which is nothing certain for a new array.")
        fix = ("write every element: look at the grid, the bounds of the last tile and the index; where the rest is to "
               "stay, pass the array as out=, where it is zero, Tile(..., zeroed=True)")
    return Finding("unwritten-result", "error", message, fix, (), name, index, schedules)


def _key(seen: Sighting, places: Places) -> tuple:
    """What is the same thing again: the lines, in whichever order they ran."""
    if seen.rule in ("limit", "more"):
        return (seen.rule,)
    return (seen.rule, *sorted({places.line(side.instruction) for side in _sides(seen)}))


def _without_consequences(pairs: dict[tuple, _Pair]) -> dict[tuple, _Pair]:
    """Less what follows from something else that was found at the same line."""
    lines = {line for rule, *rest in pairs for line in rest if rule == "race"}
    return {key: pair for key, pair in pairs.items()
            if pair.explained.rule not in _CONSEQUENCES or not lines & set(key[1:])}


def _weak(program: Program, pair: _Pair, places: Places, again: Callable[[Program], Iterable[Sighting]]) -> list[int]:
    """Waits that leave groups under way, and without which the pair is not seen when they leave none."""
    if pair.explained.rule not in ("missing-wait", "stage-reuse", "unawaited-operation"):
        return []
    key = _key(pair.seen, places)
    tried = list(stronger_waits(program))[:MOST_WAITS]
    return [i for i, stronger in tried if all(_key(seen, places) != key for seen in again(stronger))]


def _of_registers(program: Program, places: Places) -> list[Finding]:
    found: dict[tuple, Finding] = {}
    for use in register_uses(program):
        text = explain_registers(use)
        key = use.rule, places.line(use.instruction if use.product is None else use.product)
        sides = ([] if use.product is None else [use.product]) + [use.instruction]
        at = tuple(places.of(i, role) for i, role in zip(sides, text.roles, strict=True))
        found.setdefault(key, Finding(text.rule, "error", text.message, text.fix, at))
    return list(found.values())


def _as_written(seen: Sighting) -> bool:
    """Whether the accesses ran in the order in which they are written: that tells best what is missing."""
    return seen.before is None or seen.before.instruction <= seen.after.instruction


def _sides(seen: Sighting) -> tuple[Side, ...]:
    return (seen.after,) if seen.before is None else (seen.before, seen.after)


def _causes(pairs: dict[tuple, _Pair]) -> list[list[_Pair]]:
    """Pairs of one rule that share a line have one cause; the pair seen most often first."""
    groups: list[tuple[str, set, list[_Pair]]] = []
    for (_, *lines), pair in pairs.items():
        rule = pair.explained.rule
        touching = [g for g in groups if g[0] == rule and g[1] & set(lines)]
        merged = (rule, set(lines).union(*(g[1] for g in touching)), [p for g in touching for p in g[2]] + [pair])
        groups = [g for g in groups if g not in touching] + [merged]
    return [sorted(group, key=lambda pair: -pair.count) for _, _, group in groups]


def _finding(program: Program, group: list[_Pair], places: Places, weak: list[Location]) -> Finding:
    first = group[0]
    seen, text = first.seen, first.explained
    where, tensor, index = _where(program, seen)
    message = text.message.format(where=where, before=_who(seen.before, seen), after=_who(seen.after, seen))
    if len(group) > 1:
        message += f" {len(group) - 1} more pair{'s' if len(group) > 2 else ''} of lines, likely for the same reason."
    at: dict[tuple, Location] = {}
    for pair in group:
        roles = pair.explained.roles
        for side, role in zip(_sides(pair.seen), roles, strict=True):
            at.setdefault((places.line(side.instruction), role), places.of(side.instruction, role))
    schedules = {name: None for pair in group for name in pair.schedules}
    return Finding(text.rule, _severity(text.rule, program), message, text.fix,
                   (*tuple(at.values())[:MOST_PLACES], *weak), tensor, index, tuple(schedules))


def _held(seen: Sighting, program: Program) -> bool:
    """Whether a missing tcgen05.fence is told: loads and stores that were waited for are fenced in kernels that follow
    the manual, with fences on both sides, but not in those of compilers."""
    loads = seen.before is not None and seen.before.kind in ("tcgen05.ld", "tcgen05.st")
    return seen.rule != "fence-after" or not loads or tcgen05_fences(program) == {"before", "after"}


def _severity(rule: str, program: Program) -> str:
    """A kernel without any tcgen05.fence is like those of compilers, which wait for an mbarrier and leave it there."""
    if rule in NOTES:
        return "note"
    return "note" if rule == "missing-tcgen05-fence" and "after" not in tcgen05_fences(program) else "error"


def _who(side: Side | None, seen: Sighting) -> str:
    if side is None:
        return ""
    cta = f", CTA {side.rank} of the cluster" if side.rank or seen.rank else ""
    return f"warp {side.warp}, lane {side.lane}{cta}"


def _where(program: Program, seen: Sighting) -> tuple[str, str | None, tuple[int, ...] | None]:
    """The memory in words; the array and the index, of shared memory the variable and the byte."""
    if seen.space == "tensor":
        lane, column = seen.lane_and_column
        return f"lanes {lane} to {lane + 15}, column {column} of tensor memory", None, None
    if seen.space == "global":
        buffer = seen.buffer.buffer
        name = (buffer.name or "buffer").removesuffix("_tma_desc")
        index: tuple[int, ...] = ()
        array: Any = buffer.array
        if array.shape:
            index = tuple(map(int, np.unravel_index(seen.offset // array.itemsize, array.shape)))
        return f"{name}[{', '.join(map(str, index))}]", name, index
    name, byte = _variable(program, seen.address)
    if name is None:
        return f"shared memory at 0x{seen.address:x}", None, None
    return f"byte {byte} of {name} (shared memory, 0x{seen.address:x})", name, (byte,)


def _variable(program: Program, address: int) -> tuple[str | None, int]:
    """The shared variable at an address, and the byte in it; dynamic memory is the variable without a size."""
    best = None
    for variable in program.shared_variables:
        inside = variable.address <= address and (address < variable.address + variable.size or not variable.size)
        if inside and (best is None or variable.address >= best.address):
            best = variable
    return (None, address - SHARED_START) if best is None else (best.name, address - best.address)

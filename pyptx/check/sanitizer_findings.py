"""Findings of the sanitizer: one for each group of line pairs with the same cause, over all schedules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from pyptx._loc import StoredCode
from pyptx.check.causes import stronger_waits
from pyptx.check.explanations import Explanation, explain_access, explain_register_use
from pyptx.check.finding import Finding, Location
from pyptx.check.locations import Locations
from pyptx.check.rules import NOTES
from pyptx.check.tmem_loads import tcgen05_fences
from pyptx.check.wgmma_registers import register_uses
from pyptx.sim import Program
from pyptx.sim.memory.address_space import SHARED_START
from pyptx.sim.sanitizer import Access, AccessFinding

__all__ = ["finding_of", "sanitizer_findings"]

MOST_PLACES = 6  # of one finding
MOST_WAITS = 8  # that are tested for being too weak
_CONSEQUENCES = frozenset(("unawaited-operation", "uninitialized-memory", "peer-exited", "dead-store"))


@dataclass
class _LinePair:
    """A pair of lines: its first access finding, the schedules that show it, and how often it occurred."""

    seen: AccessFinding
    explanation: Explanation
    schedules: dict[str, None] = field(default_factory=dict)
    count: int = 0


def sanitizer_findings(
    program: Program,
    runs: Mapping[str, Iterable[AccessFinding]],
    locations: Locations,
    rerun: Callable[[Program], Iterable[AccessFinding]],
) -> list[Finding]:
    """Return the findings of all runs, and of the wgmma registers of the program.

    Args:
        runs: access findings by schedule.
        rerun: returns the access findings of a changed program, to test whether a wait is too weak.
    """
    pairs: dict[tuple, _LinePair] = {}
    for schedule, found in runs.items():
        for seen in found:
            if seen.after is None or not _is_reported(seen, program):
                continue
            explanation = explain_access(seen)
            pair = pairs.setdefault(_key(seen, locations), _LinePair(seen, explanation))
            if _in_program_order(seen) and not _in_program_order(pair.seen):
                pair.seen, pair.explanation = seen, explanation
            pair.schedules[schedule] = None
            pair.count += seen.count
    pairs = _without_consequences(pairs)
    findings = []
    for group in _grouped_by_cause(pairs):
        weak = [locations.of(i, "waits for too few groups") for i in _weak_waits(program, group[0], locations, rerun)]
        findings.append(_finding(program, group, locations, weak))
    return findings + _unwritten_results(program, runs) + _register_findings(program, locations)


def finding_of(program: Program, seen: AccessFinding, locations: Locations) -> Finding | None:
    """Return a single access finding as a finding; None if it is not reported."""
    if seen.after is None or not _is_reported(seen, program):
        return None
    return _finding(program, [_LinePair(seen, explain_access(seen), {}, seen.count)], locations, [])


def _unwritten_results(program: Program, runs: Mapping[str, Iterable[AccessFinding]]) -> list[Finding]:
    """Return one finding for each result that is not written completely."""
    first: dict[str | None, tuple[AccessFinding, list[str]]] = {}
    for schedule, found in runs.items():
        for seen in found:
            if seen.after is None and seen.buffer is not None:
                first.setdefault(seen.buffer.buffer.name, (seen, []))[1].append(schedule)
    return [_unwritten_result(program, seen, tuple(schedules)) for seen, schedules in first.values()]


def _unwritten_result(program: Program, seen: AccessFinding, schedules: tuple[str, ...]) -> Finding:
    assert seen.buffer is not None, "unwritten bytes belong to a buffer"
    where, name, index = _memory_text(program, seen)
    size, item = seen.buffer.size, seen.buffer.buffer.array.itemsize
    if seen.count == size:
        message = f"The kernel declares {name} as a result and writes no byte of it."
        fix = (
            f"write it, as in `{name}[i] = value` (`{name} = value` only names a value), remove it from out_specs, or pass the array as "
            "out= if it stays unchanged on purpose"
        )
    else:
        message = (
            f"The kernel does not write {where} and following elements of its result: {-(-seen.count // item):,} of "
            f"{size // item:,} elements are left unchanged, which means uninitialized in a new array."
        )
        fix = (
            "write every element: check the grid, the bounds of the last tile, and the index; if the rest is to stay "
            "unchanged, pass the array as out=; if it is to be zero, Tile(..., zeroed=True)"
        )
    return Finding("unwritten-result", "error", message, fix, (), name, index, schedules)


def _key(seen: AccessFinding, locations: Locations) -> tuple:
    """Return a key that is equal for the same pair of lines, in either order."""
    if seen.rule in ("limit", "more"):
        return (seen.rule,)
    return (seen.rule, *sorted({locations.line(access.instruction) for access in _accesses(seen)}))


def _without_consequences(pairs: dict[tuple, _LinePair]) -> dict[tuple, _LinePair]:
    """Remove pairs that are consequences of a race at the same line."""
    lines = {line for rule, *rest in pairs for line in rest if rule == "race"}
    return {
        key: pair
        for key, pair in pairs.items()
        if pair.explanation.rule not in _CONSEQUENCES or not lines & set(key[1:])
    }


def _weak_waits(
    program: Program, pair: _LinePair, locations: Locations, rerun: Callable[[Program], Iterable[AccessFinding]]
) -> list[int]:
    """Return waits for which the pair disappears when they wait for all groups."""
    if pair.explanation.rule not in ("missing-wait", "stage-reuse", "unawaited-operation"):
        return []
    key = _key(pair.seen, locations)
    tried = list(stronger_waits(program))[:MOST_WAITS]
    return [i for i, stronger in tried if all(_key(seen, locations) != key for seen in rerun(stronger))]


def _register_findings(program: Program, locations: Locations) -> list[Finding]:
    found: dict[tuple, Finding] = {}
    for use in register_uses(program):
        text = explain_register_use(use)
        key = use.rule, locations.line(use.instruction if use.product is None else use.product)
        involved = ([] if use.product is None else [use.product]) + [use.instruction]
        at = tuple(locations.of(i, role) for i, role in zip(involved, text.roles, strict=True))
        found.setdefault(key, Finding(text.rule, "error", text.message, text.fix, at))
    return list(found.values())


def _in_program_order(seen: AccessFinding) -> bool:
    """Return whether the accesses ran in program order, which shows best what is missing."""
    return seen.before is None or seen.after is None or seen.before.instruction <= seen.after.instruction


def _accesses(seen: AccessFinding) -> tuple[Access, ...]:
    return tuple(access for access in (seen.before, seen.after) if access is not None)


def _grouped_by_cause(pairs: dict[tuple, _LinePair]) -> list[list[_LinePair]]:
    """Group pairs of one rule that share a line, as they have one cause; the most frequent pair comes first."""
    groups: list[tuple[str, set, list[_LinePair]]] = []
    for (_, *lines), pair in pairs.items():
        rule = pair.explanation.rule
        touching = [g for g in groups if g[0] == rule and g[1] & set(lines)]
        merged = (rule, set(lines).union(*(g[1] for g in touching)), [p for g in touching for p in g[2]] + [pair])
        groups = [g for g in groups if g not in touching] + [merged]
    return [sorted(group, key=lambda pair: -pair.count) for _, _, group in groups]


def _finding(program: Program, group: list[_LinePair], locations: Locations, weak: list[Location]) -> Finding:
    first = group[0]
    seen, text = first.seen, first.explanation
    where, tensor, index = _memory_text(program, seen)
    message = text.message.format(where=where, before=_who(seen.before, seen), after=_who(seen.after, seen))
    if len(group) > 1:
        message += f" {len(group) - 1} more pair{'s' if len(group) > 2 else ''} of lines, probably for the same reason."
    at: dict[tuple, Location] = {}
    for pair in group:
        for access, role in zip(_accesses(pair.seen), pair.explanation.roles, strict=True):
            at.setdefault((locations.line(access.instruction), role), locations.of(access.instruction, role))
    schedules = {name: None for pair in group for name in pair.schedules}
    return Finding(
        text.rule,
        _severity(text.rule, program),
        message,
        text.fix,
        (*tuple(at.values())[:MOST_PLACES], *weak),
        tensor,
        index,
        tuple(schedules),
    )


def _is_reported(seen: AccessFinding, program: Program) -> bool:
    """Return whether a finding is reported.

    After loads and stores of tensor memory that were waited for, a missing tcgen05.fence is reported only in kernels that
    have fences on both sides, as the PTX ISA requires; compilers omit them.
    """
    loads = seen.before is not None and seen.before.kind in ("tcgen05.ld", "tcgen05.st")
    return seen.rule != "fence-after" or not loads or tcgen05_fences(program) == {"before", "after"}


def _severity(rule: str, program: Program) -> str:
    """Return the severity of a rule.

    A missing tcgen05.fence is a note in loaded PTX without any such fence, because compilers emit none.
    """
    if rule in NOTES:
        return "note"
    loaded = all(node.place is None or isinstance(node.place.code, StoredCode) for node in program.instructions)
    compiled = loaded and not tcgen05_fences(program)
    return "note" if rule == "missing-tcgen05-fence" and compiled else "error"


def _who(access: Access | None, seen: AccessFinding) -> str:
    if access is None:
        return ""
    cta = f", CTA {access.rank} of the cluster" if access.rank or seen.rank else ""
    ctas = {found.cta for found in _accesses(seen)}
    if seen.space == "global" and len(ctas) > 1:
        flat = all(y == z == 0 for _, y, z in ctas)
        cta = f", CTA {access.cta[0] if flat else access.cta}"
    return f"warp {access.warp}, lane {access.lane}{cta}"


def _memory_text(program: Program, seen: AccessFinding) -> tuple[str, str | None, tuple[int, ...] | None]:
    """Return the memory as text, with the array and index, or the shared variable and byte, if known."""
    if seen.space == "tensor":
        lane, column = seen.lane_and_column
        return f"lanes {lane} to {lane + 15}, column {column} of tensor memory", None, None
    if seen.buffer is not None:
        buffer = seen.buffer.buffer
        name = (buffer.name or "buffer").removesuffix("_tma_desc")
        index: tuple[int, ...] = ()
        array = buffer.array
        if array.shape:
            index = tuple(map(int, np.unravel_index(seen.offset // array.itemsize, array.shape)))
        return f"{name}[{', '.join(map(str, index))}]", name, index
    name, byte = _variable(program, seen.address)
    if name is None:
        return f"shared memory at 0x{seen.address:x}", None, None
    return f"byte {byte} of {name} (shared memory, 0x{seen.address:x})", name, (byte,)


def _variable(program: Program, address: int) -> tuple[str | None, int]:
    """Return the shared variable at an address, and the byte in it; dynamic shared memory has no size."""
    best: tuple[int, str] | None = None
    for variable in program.shared_variables:
        start = variable.address
        if start is None or start > address or (variable.size and address >= start + variable.size):
            continue
        if best is None or start >= best[0]:
            best = start, variable.name
    return (None, address - SHARED_START) if best is None else (best[1], address - best[0])

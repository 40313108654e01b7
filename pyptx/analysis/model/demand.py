"""Demand of a cluster: the work on the modeled paths, and its comparison with the work that the simulator counted.

ptxas merges, duplicates and removes instructions. Where the trip counts do not account for that, the modeled work is not
that of the launch, and the prediction says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pyptx.analysis.model.operations import OperationBuilder, OpKind
from pyptx.analysis.model.pipes import has_known_cost
from pyptx.analysis.model.trip_counts import Loop, WarpPath, WarpSlice
from pyptx.analysis.work.instruction_work import LINE

__all__ = ["Demand", "conservation_notes", "demand_of"]

TOLERANCE = 0.02  # relative difference of modeled and simulated work beyond which the confidence is low

# Opcodes whose executions, or bytes, must be those the simulator counted, and the PTX instructions they come from.
_CONSERVED = {
    "FFMA": "FFMA",
    "HGMMA": "HGMMA",
    "IGMMA": "HGMMA",
    "QGMMA": "HGMMA",
    "LDG": "LDG",
    "LDS": "LDS",
    "UTMALDG": "TMA",
    "UBLKCP": "TMA",
}
_SIMULATED = {
    "FFMA": r"fma\.rn(\.ftz)?(\.sat)?\.f32$",
    "HGMMA": r"wgmma\.mma_async",
    "LDG": r"ld(\.\w+)*\.global",
    "LDS": r"ld(\.\w+)*\.shared",
    "TMA": r"cp\.async\.bulk\..*shared::\w+\.global",
}
_STORES = frozenset((OpKind.STORE, OpKind.BULK_STORE))


@dataclass(slots=True)
class Demand:
    """Demand of one cluster, or of one of its slices.

    Attributes:
        cycles: cycles by unit.
        idle: those that take no energy, by unit.
        read, written: bytes.
        masked: written bytes that only occupy L2: those of lines that a store writes in part. They take no energy.
        executions: (group of opcodes, PTX instruction) -> executions on the paths.
        unfamiliar: opcode without a known cost -> issue slot cycles.
    """

    cycles: dict[str, float] = field(default_factory=dict)
    idle: dict[str, float] = field(default_factory=dict)
    read: float = 0.0
    written: float = 0.0
    masked: float = 0.0
    executions: dict[tuple[str, int], float] = field(default_factory=dict)
    unfamiliar: dict[str, float] = field(default_factory=dict)

    def add(self, other: Demand) -> None:
        """Add the demand of another slice."""
        for unit, value in other.cycles.items():
            self.cycles[unit] = self.cycles.get(unit, 0.0) + value
        for unit, value in other.idle.items():
            self.idle[unit] = self.idle.get(unit, 0.0) + value
        self.read, self.written = self.read + other.read, self.written + other.written
        self.masked += other.masked
        for name, value in other.executions.items():
            self.executions[name] = self.executions.get(name, 0.0) + value
        for word, value in other.unfamiliar.items():
            self.unfamiliar[word] = self.unfamiliar.get(word, 0.0) + value


def demand_of(builder: OperationBuilder, slices: Sequence[WarpSlice], paths: Sequence[WarpPath]) -> Demand:
    """Return the demand of all slices of a cluster over their whole paths."""
    known: dict[tuple, Demand] = {}
    total = Demand()
    for warp_slice, path in zip(slices, paths, strict=True):
        key = warp_slice.key
        if key not in known:
            known[key] = Demand()
            _walk(builder, path, warp_slice, 1.0, known[key])
        total.add(known[key])
    return total


def _walk(builder: OperationBuilder, path: WarpPath, warp_slice: WarpSlice, times: float, found: Demand) -> None:
    """Add the demand of a path that is executed a number of times."""
    cycles, executions = found.cycles, found.executions
    for part in path:
        if isinstance(part, Loop):
            _walk(builder, part.body, warp_slice, times * part.trips, found)
            continue
        op, runs = builder.one(part, warp_slice), times * part.weight
        owner = builder.code.owners[part.row]
        opcode = builder.code.lines[part.row].opcode
        group = _CONSERVED.get(opcode.partition(".")[0])
        if group == "HGMMA":  # line information of wgmma names other instructions
            executions[group, -1] = executions.get((group, -1), 0.0) + runs * op.width
        elif group is not None and owner >= 0:
            key = group, owner
            merged = _merged(builder, part.row, owner) if group == "LDS" else 1.0
            executions[key] = executions.get(key, 0.0) + runs * op.width * merged / part.copies
        cycles["issue"] = cycles.get("issue", 0.0) + runs * op.issue
        if not has_known_cost(opcode):
            word = opcode.partition(".")[0]
            found.unfamiliar[word] = found.unfamiliar.get(word, 0.0) + runs * op.issue
        if op.unit:
            everywhere = op.sms if op.unit == "tensor" else 1
            cycles[op.unit] = cycles.get(op.unit, 0.0) + runs * op.cycles * everywhere
        if op.idle:
            found.idle[op.unit] = found.idle.get(op.unit, 0.0) + runs * op.idle
        if op.shared:
            cycles["shared"] = cycles.get("shared", 0.0) + runs * op.shared * op.sms
        if op.bytes and op.kind in _STORES:
            found.written += runs * op.bytes
            if op.kind == OpKind.STORE and owner >= 0:
                found.masked += runs * 32 * builder.masked(owner, part.copies) * op.width
        elif op.bytes:
            found.read += runs * op.bytes


def _merged(builder: OperationBuilder, row: int, owner: int) -> float:
    """Return the loads from shared memory that ptxas merged into one: the ratio of their widths."""
    wide = re.search(r"\.(64|128)\b", builder.code.lines[row].opcode)
    found = re.search(r"(?:\.v(\d))?\.[a-z]+(\d+)$", builder.program.instructions[owner].mnemonic)
    if wide is None or found is None:
        return 1.0
    return max(1.0, int(wide[1]) / (int(found[1] or 1) * int(found[2])))


def conservation_notes(demand: Demand, builder: OperationBuilder, slices: Sequence[WarpSlice]) -> tuple[str, ...]:
    """Compare the executions on the paths with those the simulator counted; describe each difference."""
    simulated: dict[str, float] = {}
    modeled: dict[str, float] = {"HGMMA": demand.executions.get(("HGMMA", -1), 0.0)}
    for owner, instruction in enumerate(builder.program.instructions):
        group = next((g for g, kind in _SIMULATED.items() if re.match(kind, instruction.mnemonic)), None)
        if group is None:
            continue
        worth = _bytes_of(builder, group, owner)
        executed = sum(float(s.counts[owner] * s.width[owner]) for s in slices)
        simulated[group] = simulated.get(group, 0.0) + worth * executed
        modeled[group] = modeled.get(group, 0.0) + worth * demand.executions.get((group, owner), 0.0)
    return tuple(
        f"{group}: the path through the machine code has {modeled[group] / total:.0%} of the simulated {unit}"
        for group, total in simulated.items()
        if total and abs(modeled[group] / total - 1) > TOLERANCE
        for unit in ("executions" if group in ("FFMA", "HGMMA") else "bytes",)
    )


def _bytes_of(builder: OperationBuilder, group: str, owner: int) -> float:
    """Return the bytes that one execution of a PTX instruction moves; 1 for arithmetic."""
    if group in ("FFMA", "HGMMA"):
        return 1.0
    sampled = builder.work
    executed = float(sampled.executed[owner])
    if not executed:
        return 0.0
    if group == "LDS":
        return LINE * (builder.instruction_work[owner].passes + float(sampled.shared_conflicts[owner]) / executed)
    column = sampled.tma_bytes if group == "TMA" else 32 * sampled.global_sectors
    return float(column[owner]) / executed

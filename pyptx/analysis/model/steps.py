"""The way of a team of warps through machine code as a list of operations for the replay.

Long loops are shortened: the same number of turns is left out of all loops that run alike, so that producers and
consumers stay in step, and what a turn lasts in the end is taken for those left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pyptx.analysis.gpus import Gpu
from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.rings import Ring
from pyptx.analysis.model.trips import Code, Loop, Path, Step, Team
from pyptx.analysis.model.units import product_of, use_of
from pyptx.analysis.work.pipework import LINE, Worth
from pyptx.analysis.work.sample import Totals
from pyptx.sim import Program
from pyptx.sim.actions.asynchronous import AsyncGroup
from pyptx.sim.actions.basic import BarrierOp, Const

__all__ = ["Kind", "Operation", "Writer", "one_after_another", "shortened"]


class Kind:
    """What an operation is to the replay."""

    (PLAIN, LOAD, STORE, COPY, COPY_BULK, STORE_BULK, COMMIT, WAIT, PRODUCT, PRODUCT_WAIT, PRODUCT_TENSOR, ARRIVE,
     ARRIVE_AFTER_TENSOR, ARRIVE_AFTER_COPIES, RING_WAIT, BARRIER, TURN, LEAVE, NEXT) = range(19)


class Operation(NamedTuple):
    """Attributes:
        kind: of `Kind`.            stall: cycles to the team's next instruction.
        mask: scoreboards waited for.        write, read: scoreboard set until the result is there, the operands read.
        issue: cycles of the schedulers.     unit, cycles: what it occupies, of the SM.        latency: to its result.
        bytes: of memory; `shared`: cycles of shared memory besides.         about: ring, barrier, loop or group count.
        width: warps that execute it, 0..4.
        sms: of the cluster, whose shared memory it writes or whose tensor cores it uses.
        everywhere: what it completes, it completes for all CTAs of the cluster.
    """

    kind: int
    stall: int
    mask: tuple[int, ...]
    write: int
    read: int
    issue: float
    unit: str = ""
    cycles: float = 0.0
    latency: float = 0.0
    bytes: float = 0.0
    shared: float = 0.0
    about: object = None
    width: float = 4.0
    sms: int = 1
    everywhere: bool = False


def shortened(paths: Sequence[Path], budget: int, least: int) -> dict[float, int]:
    """Turns left out of loops of so many trips, the same for trips that differ by two at most.

    Args:
        budget: operations that all paths together may have.
        least: turns that are left in at least.
    """
    loops: list[tuple[float, int]] = []

    def look(path: Path, times: int) -> int:
        size = 0
        for part in path:
            if isinstance(part, Step):
                size += 1
            else:
                inner = look(part.body, times)
                loops.append((part.trips, inner))
                size += inner
        return size
    base = sum(look(path, 1) for path in paths)
    turn = sum(size for _, size in loops) or 1
    keep = max(least, int((budget - base) / turn))
    skips: dict[float, int] = {}
    for trips in sorted({trips for trips, _ in loops}, reverse=True):
        near = next((other for other in skips if 0 <= other - trips <= 2), None)
        skips[trips] = skips[near] if near is not None else max(0, int(trips) - keep)
    return skips


@dataclass
class Writer:
    """Writes a path out for one team.

    Attributes:
        work: counts of a cluster by PTX instruction, for bytes and bank conflicts.
        rings: PTX instruction -> team -> the ring of mbarriers it works on.
    """

    gpu: Gpu
    constants: Constants
    code: Code
    program: Program
    worths: Sequence[Worth]
    work: Totals
    rings: Mapping[int, Mapping[tuple[int, ...], Ring]]
    skips: Mapping[float, int]
    missing: float                                      # share of global reads that L1 does not have
    cluster: int                                        # CTAs of one
    operations: list[Operation] = field(default_factory=list)
    kept: dict[int, float] = field(default_factory=dict)
    _loops: int = 0

    def write(self, path: Path, team: Team) -> list[Operation]:
        """The operations of a team."""
        self.operations = []
        self._path(path, team, 0)
        return self.operations

    def _path(self, path: Path, team: Team, turn: int) -> None:
        for part in path:
            if isinstance(part, Loop):
                self._loop(part, team)
            elif int((turn + 1) * part.weight + 1e-9) > int(turn * part.weight + 1e-9):
                self.operations.append(self.one(part, team))

    def _loop(self, loop: Loop, team: Team) -> None:
        number, left_out = self._loops, self.skips.get(loop.trips, 0)
        self._loops += 1
        turns = max(1, round(loop.trips) - left_out)
        steady = turns - max(1, turns // 4)             # what the loop before left under way is over by then
        for turn in range(turns):
            self._path(loop.body, team, turn)
            if left_out and (turn + 1 == turns or turn + 1 == steady):
                self.operations.append(_mark(Kind.TURN, (number, turn + 1)))
        if left_out:
            self.operations.append(_mark(Kind.LEAVE, (number, turns - steady, loop.trips - turns)))

    def one(self, step: Step, team: Team) -> Operation:
        """One machine instruction as the replay sees it."""
        line, owner = self.code.lines[step.row], self.code.owners[step.row]
        width = float(team.width[owner]) if owner >= 0 and team.counts[owner] else _width(team)
        control, word = line.control, line.opcode.partition(".")[0]
        common = {"stall": max(1, control.stall), "mask": tuple(k for k in range(6) if control.wait_mask >> k & 1),
                  "write": -1 if control.write_barrier is None else control.write_barrier,
                  "read": -1 if control.read_barrier is None else control.read_barrier, "issue": width / 4,
                  "width": width}
        special = self._memory(word, line.opcode, owner, step.copies, width)
        if special is None:
            special = self._asynchronous(word, line.opcode, line.operands, owner, step.copies, width, team)
        if special is None:
            use = use_of(line.opcode, self.gpu, self.constants)
            special = {"kind": Kind.PLAIN, "unit": use.unit, "cycles": use.cycles * width, "latency": use.latency}
        return Operation(**common, **special)

    def _each(self, column: str, owner: int, copies: float) -> float:
        """A count of the PTX instruction for one execution of one of its machine instructions by a warp."""
        if owner < 0 or not self.work.executed[owner]:
            return 0.0
        return float(getattr(self.work, column)[owner] / self.work.executed[owner] / copies)

    def _passes(self, owner: int, copies: float) -> float:
        """Cycles of shared memory."""
        return self.worths[owner].passes / copies + self._each("shared_conflicts", owner, copies) if owner >= 0 else 1.0

    def _memory(self, word: str, opcode: str, owner: int, copies: float, width: float) -> dict | None:
        """Loads and stores."""
        constants = self.constants
        if word in ("LDS", "LDSM", "ATOMS", "STS", "STSM", "STAS", "REDAS"):
            cycles = max(1.0, self._passes(owner, copies)) * width
            return {"kind": Kind.PLAIN, "unit": "shared", "cycles": cycles, "latency": constants.shared_cycles}
        if word in ("LDTM", "STTM"):
            moved = self.worths[owner].tmem_bytes / copies if owner >= 0 else LINE
            return {"kind": Kind.PLAIN, "unit": "tmem", "cycles": width * moved / (4 * LINE),
                    "latency": constants.shared_cycles}
        if word in ("LDL", "STL"):                      # spills hit L1
            return {"kind": Kind.PLAIN, "unit": "shared", "cycles": width,
                    "latency": self.gpu.latency_cycles.get("l1", 33)}
        if word in ("LDG", "LD", "LDGSTS", "STG", "ST", "ATOMG", "ATOM", "RED", "REDG"):
            moved = 32 * self._each("global_sectors", owner, copies) * width
            if not moved and word in ("LD", "ST", "ATOM"):          # a generic address, in shared memory
                return {"kind": Kind.PLAIN, "unit": "shared", "cycles": max(1.0, self._passes(owner, copies)) * width,
                        "latency": constants.shared_cycles}
            reads = word in ("LDG", "LD", "LDGSTS")
            kind = Kind.COPY if word == "LDGSTS" else Kind.LOAD if reads or word in ("ATOMG", "ATOM") else Kind.STORE
            lines = width if kind == Kind.COPY else max(moved / LINE, width)        # of data, through L1's own path
            return {"kind": kind, "unit": "shared", "cycles": lines, "bytes": moved * (self.missing if reads else 1.0),
                    "shared": self._passes(owner, copies) * width if word == "LDGSTS" else 0.0}
        return None

    def _asynchronous(self, word: str, opcode: str, operands: tuple[str, ...], owner: int, copies: float, width: float,
                      team: Team) -> dict | None:
        """What completes on mbarriers or by groups, and the waits for it."""
        ring = self.rings.get(owner, {}).get(team.warps)
        bulk = self._each("tma_bytes", owner, copies) * width
        match word:
            case "UTMALDG" | "UBLKCP" | "UTMASTG" | "UTMAREDG" | "UBLKRED" | "UTMAPF" | "UBLKPF":
                stores = owner >= 0 and self.worths[owner].writes
                return {"kind": Kind.STORE_BULK if stores else Kind.COPY_BULK, "unit": "tma", "bytes": bulk,
                        "cycles": self.constants.copy_request_cycles, "shared": bulk / LINE, "about": ring,
                        "sms": self.cluster if "MULTICAST" in opcode else 1,
                        "everywhere": "MULTICAST" in opcode or "2CTA" in opcode}
            case "SYNCS" if "PHASECHK" in opcode:
                return {"kind": Kind.RING_WAIT, "latency": self.constants.special_cycles, "about": ring}
            case "SYNCS" if "ARRIVE" in opcode:
                return {"kind": Kind.ARRIVE, "about": ring, "everywhere": self.cluster > 1 and ".RED" in opcode}
            case "ARRIVES":
                return {"kind": Kind.ARRIVE_AFTER_COPIES, "about": ring}
            case "UTCBAR":
                return {"kind": Kind.ARRIVE_AFTER_TENSOR, "about": ring, "everywhere": "MULTICAST" in opcode}
            case "LDGDEPBAR" | "UTMACMDFLUSH":
                return {"kind": Kind.COMMIT}
            case "DEPBAR":
                action = self.program.actions[owner] if owner >= 0 else None
                written = isinstance(action, AsyncGroup) and action.track == "bulk" and action.what != "read"
                return {"kind": Kind.WAIT, "about": _number(operands),
                        "latency": self.constants.copy_cycles if written else 0.0}
            case "WARPGROUP" if "DEPBAR" in opcode:
                return {"kind": Kind.PRODUCT_WAIT, "about": _number(operands), "latency": self.constants.product_cycles}
            case "BAR" if "SYNC" in opcode or "RED" in opcode or "ARV" in opcode:
                named = self._barrier(owner, team)
                return {"kind": Kind.PLAIN} if named is None else {"kind": Kind.BARRIER,
                                                                   "about": (*named, "ARV" in opcode)}
            case "UTCHMMA" | "UTCIMMA" | "UTCQMMA" | "UTCOMMA":
                worth = self.worths[owner] if owner >= 0 else None
                kind = worth.pipe.partition(".")[2] if worth and worth.pipe else "f16"
                rate = self.gpu.flops_per_clock("tcgen05", kind) or 8192
                sms = 2 if "2CTA" in opcode else 1      # a pair's product runs on the tensor cores of both
                return {"kind": Kind.PRODUCT_TENSOR, "unit": "tensor", "sms": sms,
                        "cycles": self._each("tensor_flops", owner, copies) / rate / sms}
        if word.endswith("GMMA") and (product := product_of(opcode)) is not None:
            kind, operations = product
            rate = self.gpu.flops_per_clock("wgmma", kind) or 4096
            m, n, k = map(int, re.search(r"(\d+)x(\d+)x(\d+)", opcode).groups())
            size = {"f16": 2, "tf32": 4}.get(kind, 1)
            own = "" if operands[1:2] and operands[1].startswith("R") else "A"
            shared = ((m * k if own else 0) + n * k) * size / LINE
            return {"kind": Kind.PRODUCT, "unit": "tensor", "cycles": operations * 4 / rate, "shared": shared,
                    "about": "gsb0" in operands}
        return None

    def _barrier(self, owner: int, team: Team) -> tuple[object, int] | None:
        """What tells a barrier of the CTA from others, and how many warps it waits for; 0: all of the CTA. None where
        the team's guard never let it come."""
        action = self.program.actions[owner] if owner >= 0 else None
        if not isinstance(action, BarrierOp):
            return "added", 0
        count = action.count.bits if isinstance(action.count, Const) else 0
        bits = int(team.named[owner])
        if not bits:
            return None
        return bits.bit_length() - 1 if bits & bits - 1 == 0 else ("several", owner), -(-count // 32)


def one_after_another(operations: Sequence[Operation], ctas: int, written: int, last: bool) -> list[Operation]:
    """What a team's place on the SM sees: so many CTAs, each from when all teams of the one before it are done.

    Args:
        written: how many of them are written out, at least two of more; what the second half of those lasts stands for
            those left out.
        last: one more follows in the end.
    """
    end = [Operation(Kind.BARRIER, 0, (), -1, -1, 0.0, about=("the end of the CTA", 0, False)), _mark(Kind.NEXT, None)]
    half, left_out, found = written // 2, ctas - written, []
    for number in range(1, written + 1):
        found += operations
        if left_out and number == half:
            found.append(_mark(Kind.TURN, ("CTAs", half)))
        if left_out and number == written:
            found.append(_mark(Kind.LEAVE, ("CTAs", written - half, left_out)))
        if number < written or last:
            found += end
    return found + list(operations) * last


def _mark(kind: int, about: object) -> Operation:
    return Operation(kind, 0, (), -1, -1, 0.0, about=about)


def _width(team: Team) -> float:
    executed = team.width[np.flatnonzero(team.counts)]
    return float(np.median(executed)) if len(executed) else 4.0


def _number(operands: tuple[str, ...]) -> int:
    """The count at the end of `gsb0, 0x1`."""
    found = [word for word in operands if re.fullmatch(r"(0x[0-9a-f]+|\d+)", word)]
    return int(found[-1], 0) if found else 0

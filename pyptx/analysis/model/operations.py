"""Operations of a warp slice for the replay: what each machine instruction occupies and waits for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from pyptx.analysis.gpus import Gpu
from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.mbarrier_rings import Ring
from pyptx.analysis.model.pipes import access_lanes, matrix_product, pass_cycles, pipe_use
from pyptx.analysis.model.trip_counts import EntryCode, InstructionStep, WarpSlice
from pyptx.analysis.work.instruction_work import LINE, InstructionWork
from pyptx.analysis.work.sample import InstructionTotals
from pyptx.sim import Program
from pyptx.sim.actions import Address, AsyncGroup, Const, CtaBarrier, Load, Tcgen05Mma

__all__ = ["TAGS", "OpKind", "Operation", "OperationBuilder"]

# Cycles of shared memory for each lane of an atomic operation whose word other lanes of the warp name: it is read and written
# for one lane after the other. `ATOMS.POPC.INC` counts such lanes instead. 2.6 per lane are published for GTX 1650, latencies
# included (histograms by CTAs of 256 to 1024 threads).
ATOMIC_PASS = 2
TAGS, TAG_CYCLES = 4, 0.75  # lines that L1 looks up in a cycle, and further cycles of a load; see `_load_passes`
ROWS, ROW_BYTES = 128, 32  # of tcgen05.mma: rows of A and D of an SM; bytes of a row of A or B
SUB_CORES = 4
_DIVIDED = frozenset(
    ("fma", "alu", "mufu", "shared")
)  # units of which each sub-core has a part; of shared memory that for addresses
_DISPATCHED = frozenset(("fma", "alu"))  # pipes that take their operands from the read stage, without a queue
_BITS = {"f16": 16, "tf32": 32, "mxf4": 4, "mxf4nvf4": 4}  # of an element, by kind of tcgen05.mma; others: 8
_WIDE = re.compile(r"(?:LDS|STS)(?:\.\w+)*\.(64|128)")


class OpKind:
    """Kinds of operations; those from ITERATION on are marks, not instructions."""

    (
        PLAIN,
        LOAD,
        STORE,
        ASYNC_COPY,
        BULK_LOAD,
        BULK_STORE,
        COMMIT,
        GROUP_WAIT,
        WGMMA,
        WGMMA_WAIT,
        TCGEN05_MMA,
        ARRIVE,
        ARRIVE_AFTER_TENSOR,
        ARRIVE_AFTER_COPIES,
        MBARRIER_WAIT,
        BARRIER,
        ITERATION,
        SKIP,
        NEXT_CTA,
    ) = range(19)


class Operation(NamedTuple):
    """One machine instruction of a warp slice, or a mark.

    Attributes:
        kind: of `OpKind`.
        stall: cycles until the slice's next instruction.
        mask: scoreboards it waits for.
        write, read: scoreboards released with the result, and after reading the operands; -1: none.
        issue: issue slot cycles.
        reads: cycles of the register read stage.
        dispatch: cycles in which a pipe without a queue takes the operands: two for a pipe with 16 lanes in a sub-core.
        unit, cycles: unit of the SM it occupies, and for how long.
        latency: cycles until the result.
        bytes: bytes of global memory.
        shared: additional cycles of shared memory.
        idle: cycles of `unit` that take no energy: bank conflicts, in which no data move, and pauses of tensor cores that a
            product limits to half of their rate.
        detail: ring, barrier, loop, group count or, of a load, the fraction that waits for L2 or DRAM, by kind.
        width: warps that execute it, 0..4.
        sms: SMs of the cluster whose shared memory it writes or whose tensor cores it uses.
        everywhere: it arrives at the mbarriers of all CTAs of the cluster.
        row: index of the instruction in the code of the entry; -1 for marks and the end of a CTA.
        pending: lookups in L1 of sectors that it waits for because another warp has requested them.
        apart: cycles from its start to that of the slice's next operation of the same unit, where the slice has no warp in some of the
            sub-cores, whose parts of the unit are idle; 0 elsewhere.
    """

    kind: int
    stall: int
    mask: tuple[int, ...]
    write: int
    read: int
    issue: float
    reads: float = 0.0
    dispatch: float = 0.0
    unit: str = ""
    cycles: float = 0.0
    latency: float = 0.0
    bytes: float = 0.0
    shared: float = 0.0
    idle: float = 0.0
    detail: Any = None
    width: float = 4.0
    sms: int = 1
    everywhere: bool = False
    row: int = -1
    pending: float = 0.0
    apart: float = 0.0


@dataclass
class OperationBuilder:
    """Translates the steps of paths into operations.

    Attributes:
        work: counts of a cluster by PTX instruction, for bytes and bank conflicts.
        rings: PTX instruction -> warps of a slice -> its mbarrier ring.
        l1_misses, l1_waits: of each PTX instruction, the fraction of the bytes it reads from global memory that miss L1, and of
            its loads that wait for L2 or DRAM.
        l1_pending: lookups of one of its loads, of sectors that are new to the warp and that other warps have requested.
        cluster: CTAs of a cluster.
        line_access, wide_passes, masked_sectors, atomic_passes: as in `Sample`.
    """

    gpu: Gpu
    constants: Constants
    code: EntryCode
    program: Program
    instruction_work: Sequence[InstructionWork]
    work: InstructionTotals
    rings: Mapping[int, Mapping[tuple[int, ...], Ring]]
    l1_misses: np.ndarray
    l1_waits: np.ndarray
    l1_pending: np.ndarray
    cluster: int
    line_access: np.ndarray
    wide_passes: np.ndarray
    masked_sectors: np.ndarray
    atomic_passes: np.ndarray
    _known: dict[tuple[InstructionStep, tuple[int, ...], int], Operation] = field(default_factory=dict)
    _block_widths: dict[tuple[int, tuple[int, ...], int], float] = field(default_factory=dict)

    def one(self, step: InstructionStep, warp_slice: WarpSlice) -> Operation:
        """Return the operation of one machine instruction."""
        key = step, warp_slice.warps, warp_slice.rank
        if key not in self._known:
            self._known[key] = self._operation(step, warp_slice)
        return self._known[key]

    def _operation(self, step: InstructionStep, warp_slice: WarpSlice) -> Operation:
        line, owner = self.code.lines[step.row], self.code.owners[step.row]
        width = float(warp_slice.width[owner]) if owner >= 0 and warp_slice.counts[owner] else _width(warp_slice)
        control, word = line.control, line.opcode.partition(".")[0]
        common = {
            "stall": max(1, control.stall),
            "mask": tuple(k for k in range(6) if control.wait_mask >> k & 1),
            "write": -1 if control.write_barrier is None else control.write_barrier,
            "read": -1 if control.read_barrier is None else control.read_barrier,
            "issue": width / 4,
            "reads": self.code.reads[step.row] * width / 4,
            "width": width,
            "row": step.row,
        }
        if line.predicate == "!PT":  # never executed: padding of ptxas, such as LDS RZ before barriers
            return Operation(OpKind.PLAIN, **common)
        running = self._running(step.row, warp_slice, width) if line.predicate else width
        common["issue"] = running / 4
        if step.inactive:
            cycles, common["width"] = self._inactive_cycles(running), 0.0
            latency = self.constants.shared_cycles
            return Operation(OpKind.PLAIN, **common, unit="shared", cycles=cycles, idle=cycles, latency=latency)
        special = self._memory(word, line.opcode, owner, step.copies, width)
        if special is None:
            special = self._asynchronous(word, line.opcode, line.operands, owner, step.copies, width, warp_slice)
        if special is None:
            use = pipe_use(line.opcode, self.gpu, self.constants)
            cycles = use.cycles * width
            special = {"kind": OpKind.PLAIN, "unit": use.unit, "cycles": cycles, "latency": use.latency}
            special["idle"] = cycles * use.idle
            special["dispatch"] = cycles if use.unit in _DISPATCHED else 0.0
        elif running > width and special.get("unit") == "shared":  # warps without an active lane take their turn, too
            cycles = self._inactive_cycles(running - width)
            special["cycles"] += cycles
            special["idle"] = special.get("idle", 0.0) + cycles
        return Operation(
            **common, **special, apart=self._apart(special.get("unit", ""), special.get("cycles", 0.0) / width, width)
        )

    def _apart(self, unit: str, cycles: float, width: float) -> float:
        """Return `Operation.apart` of an operation of a unit that takes some cycles of the SM for each warp."""
        if width % SUB_CORES == 0 or unit not in _DIVIDED:
            return 0.0
        each = 32 / access_lanes(self.gpu) if unit == "shared" else cycles
        return SUB_CORES * each * ceil(width / SUB_CORES)

    def _inactive_cycles(self, warps: float) -> float:
        """Return the shared memory cycles of an access by warps without an active lane: they take their turn like others."""
        return warps * 32 / access_lanes(self.gpu)

    def _running(self, row: int, warp_slice: WarpSlice, width: float) -> float:
        """Return the warps of a slice that execute the block of a predicated instruction, at least its active ones."""
        owners = self.code.block_owners[row]
        key = id(owners), warp_slice.warps, warp_slice.rank
        if key not in self._block_widths:
            own = list(owners)
            active = warp_slice.width[own][warp_slice.counts[own] > 0]
            self._block_widths[key] = float(active.max()) if active.size else 0.0
        return max(width, self._block_widths[key])

    def _each(self, column: str, owner: int, copies: float) -> float:
        """Return a count of a PTX instruction per warp-wide execution of one of its machine instructions."""
        if owner < 0 or not self.work.executed[owner]:
            return 0.0
        return float(getattr(self.work, column)[owner] / self.work.executed[owner] / copies)

    def _passes(self, owner: int, copies: float) -> float:
        """Return the shared memory cycles of one execution."""
        return (
            self.instruction_work[owner].passes / copies + self._each("shared_conflicts", owner, copies)
            if owner >= 0
            else 1.0
        )

    def _access_passes(self, opcode: str, owner: int, copies: float) -> tuple[float, float]:
        """Return the shared memory cycles of one load or store, and those without bank conflicts.

        ptxas may have merged several accesses of the program, or made several of one.
        """
        each = pass_cycles(self.gpu)
        wide = _WIDE.fullmatch(opcode)
        if wide is not None and owner >= 0:
            passes = float(self.wide_passes[int(wide[1] == "128"), owner]) / copies
            if passes:
                return each * passes, each * 32 * int(wide[1]) / 8 / LINE
        without = self.instruction_work[owner].passes / copies if owner >= 0 else 1.0
        return each * self._passes(owner, copies), each * without

    def _memory(self, word: str, opcode: str, owner: int, copies: float, width: float) -> dict | None:
        """Return the fields of a load or store; None for other instructions."""
        constants = self.constants
        least = width * 32 / access_lanes(self.gpu)
        if word in ("LDS", "LDSM", "ATOMS", "STS", "STSM", "STAS", "REDAS"):
            cycles, moved = (max(least, n * width) for n in self._access_passes(opcode, owner, copies))
            if word == "ATOMS" and "POPC" not in opcode and owner >= 0 and owner not in self.code.elected:
                cycles += ATOMIC_PASS * max(0.0, self.atomic_passes[owner] / copies - cycles / width) * width
            return {
                "kind": OpKind.PLAIN,
                "unit": "shared",
                "cycles": cycles,
                "idle": max(0.0, cycles - moved),
                "latency": constants.shared_cycles,
            }
        if word in ("LDTM", "STTM"):
            moved = self.instruction_work[owner].tmem_bytes / copies if owner >= 0 else LINE
            return {
                "kind": OpKind.PLAIN,
                "unit": "tmem",
                "cycles": width * moved / (4 * LINE),
                "latency": constants.shared_cycles,
            }
        if word in ("LDL", "STL"):  # they hit L1, a line for each register
            return {
                "kind": OpKind.PLAIN,
                "unit": "shared",
                "cycles": max(least, width * _registers(opcode) * pass_cycles(self.gpu)),
                "latency": self.gpu.latency_cycles.get("l1", 33),
            }
        if word in ("LDG", "LD", "LDGSTS", "STG", "ST", "ATOMG", "ATOM", "RED", "REDG"):
            moved = 32 * self._each("global_sectors", owner, copies) * width
            if not moved and word in ("LD", "ST", "ATOM"):  # a generic access to shared memory
                return {
                    "kind": OpKind.PLAIN,
                    "unit": "shared",
                    "cycles": max(least, self._passes(owner, copies) * width),
                    "latency": constants.shared_cycles,
                }
            reads = word in ("LDG", "LD", "LDGSTS")
            kind = (
                OpKind.ASYNC_COPY
                if word == "LDGSTS"
                else OpKind.LOAD
                if reads or word in ("ATOMG", "ATOM")
                else OpKind.STORE
            )
            lines = least if kind == OpKind.ASYNC_COPY else max(moved / LINE, least)  # data lines through L1
            if kind == OpKind.LOAD and reads and owner >= 0:
                lines = max(least, self._load_passes(owner, copies, moved / width) * width)
            elif moved >= 32 * self._each("lanes", owner, copies) * width:  # each lane has a sector and, mostly, a line
                lines = max(lines, moved / 32)
            if kind == OpKind.STORE and word in ("STG", "ST") and owner >= 0:
                moved += 32 * self.masked(owner, copies) * width
            return {
                "kind": kind,
                "unit": "shared",
                "cycles": lines,
                "bytes": moved * (float(self.l1_misses[owner]) if reads and owner >= 0 else 1.0),
                "pending": float(self.l1_pending[owner]) / copies * width
                if kind == OpKind.LOAD and reads and owner >= 0
                else 0.0,
                "detail": float(self.l1_waits[owner]) if kind == OpKind.LOAD and reads and owner >= 0 else None,
                "shared": self._passes(owner, copies) * width if word == "LDGSTS" else 0.0,
            }
        return None

    def masked(self, owner: int, copies: float) -> float:
        """Return the sectors that one store occupies L2 with and does not write.

        A line with a sector that is written in part takes as long as a whole line, as if it were sent with a mask of its
        bytes. Published times imply 103 bytes a line on GTX 1650 and RTX 3080 (sums whose lanes write 8 bytes of rows), 150 on
        H100 (naive transpose), 132 on B200 (strided writes, two sectors of a line).
        """
        return float(self.masked_sectors[owner]) / copies

    def _load_passes(self, owner: int, copies: float, moved: float) -> float:
        """Return the cycles that L1 takes for one load from global memory.

        It looks up four lines per cycle and reads each bank once: strided loads that hit L1 on H200 (RRZE-HPC gpu-benches,
        gpu-strides) take 1.01, 1.63, 2.32, 3.0 and 4.6 cycles for 1, 3, 6, 9 and 15 lines without bank conflicts, and as
        many as there are conflicts at strides of 2, 4, 8 words.

        Args:
            owner: the PTX instruction.
            copies: machine instructions that it became.
            moved: bytes of its sectors.
        """
        action, (lines, conflicts) = self.program.actions[owner], self.line_access[:, owner]
        used = self._each("lanes", owner, copies) * action.size * action.count if isinstance(action, Load) else moved
        tags = lines / copies / TAGS + TAG_CYCLES
        return pass_cycles(self.gpu) * max(min(used, moved) / LINE + conflicts / copies, tags)

    def _asynchronous(
        self,
        word: str,
        opcode: str,
        operands: tuple[str, ...],
        owner: int,
        copies: float,
        width: float,
        warp_slice: WarpSlice,
    ) -> dict | None:
        """Return the fields of an asynchronous operation, an arrival or a wait; None for other instructions."""
        ring = self.rings.get(owner, {}).get(warp_slice.warps)
        bulk = self._each("tma_bytes", owner, copies) * width
        match word:
            case "UTMALDG" | "UBLKCP" | "UTMASTG" | "UTMAREDG" | "UBLKRED" | "UTMAPF" | "UBLKPF":
                stores = owner >= 0 and self.instruction_work[owner].writes
                return {
                    "kind": OpKind.BULK_STORE if stores else OpKind.BULK_LOAD,
                    "unit": "tma",
                    "bytes": bulk,
                    "cycles": self.constants.copy_request_cycles,
                    "shared": bulk / LINE,
                    "detail": ring,
                    "sms": self.cluster if "MULTICAST" in opcode else 1,
                    "everywhere": "MULTICAST" in opcode or "2CTA" in opcode,
                }
            case "SYNCS" if "PHASECHK" in opcode:
                return {"kind": OpKind.MBARRIER_WAIT, "latency": self.constants.special_cycles, "detail": ring}
            case "SYNCS" if "ARRIVE" in opcode:
                return {"kind": OpKind.ARRIVE, "detail": ring, "everywhere": self.cluster > 1 and ".RED" in opcode}
            case "ARRIVES":
                return {"kind": OpKind.ARRIVE_AFTER_COPIES, "detail": ring}
            case "UTCBAR":
                return {"kind": OpKind.ARRIVE_AFTER_TENSOR, "detail": ring, "everywhere": "MULTICAST" in opcode}
            case "LDGDEPBAR" | "UTMACMDFLUSH":
                return {"kind": OpKind.COMMIT}
            case "DEPBAR":
                action = self.program.actions[owner] if owner >= 0 else None
                written = isinstance(action, AsyncGroup) and action.track == "bulk" and action.operation != "read"
                return {
                    "kind": OpKind.GROUP_WAIT,
                    "detail": _number(operands),
                    "latency": self.constants.copy_cycles if written else 0.0,
                }
            case "WARPGROUP" if "DEPBAR" in opcode:
                return {
                    "kind": OpKind.WGMMA_WAIT,
                    "detail": _number(operands),
                    "latency": self.constants.product_cycles,
                }
            case "BAR" if "SYNC" in opcode or "RED" in opcode or "ARV" in opcode:
                barrier_bits = self._barrier(owner, warp_slice)
                return (
                    {"kind": OpKind.PLAIN}
                    if barrier_bits is None
                    else {"kind": OpKind.BARRIER, "detail": (*barrier_bits, "ARV" in opcode)}
                )
            case "UTCHMMA" | "UTCIMMA" | "UTCQMMA" | "UTCOMMA":
                item = self.instruction_work[owner] if owner >= 0 else None
                kind = item.pipe.partition(".")[2] if item and item.pipe else "f16"
                rate = self.gpu.flops_per_clock("tcgen05", kind) or 8192
                sms = 2 if "2CTA" in opcode else 1  # a CTA pair's product runs on the tensor cores of both SMs
                return {
                    "kind": OpKind.TCGEN05_MMA,
                    "unit": "tensor",
                    "sms": sms,
                    "cycles": self._each("tensor_flops", owner, copies) / rate / sms,
                    "shared": self._operand_passes(owner, copies, sms),
                }
        if word.endswith("GMMA") and (product := matrix_product(opcode)) is not None:
            kind, operations = product
            rate = self.gpu.flops_per_clock("wgmma", kind) or 4096
            m, n, k = (int(size) for size in re.findall(r"\d+x\d+x\d+", opcode)[0].split("x"))
            size = {"f16": 2, "tf32": 4}.get(kind, 1)
            own = "" if operands[1:2] and operands[1].startswith("R") else "A"
            shared = ((m * k if own else 0) + n * k) * size / LINE
            return {
                "kind": OpKind.WGMMA,
                "unit": "tensor",
                "cycles": operations * 4 / rate,
                "shared": shared,
                "detail": "gsb0" in operands,
            }
        return None

    def _operand_passes(self, owner: int, copies: float, sms: int) -> float:
        """Return the shared memory cycles in which each SM reads its part of the operands of a tcgen05 product.

        The columns of a product follow from its operations; an SM has 128 of its rows.
        """
        action = self.program.actions[owner] if owner >= 0 else None
        if not isinstance(action, Tcgen05Mma):
            return 0.0
        depth = 8 * ROW_BYTES / _BITS.get(action.kind, 8)  # columns of A
        columns = self._each("tensor_flops", owner, copies) / (2 * depth * ROWS * sms)
        rows = columns / sms + (0 if isinstance(action.a, Address) else ROWS)
        return rows * ROW_BYTES / LINE

    def _barrier(self, owner: int, warp_slice: WarpSlice) -> tuple[object, int] | None:
        """Return a barrier's identity and the number of warps it waits for (0: all of the CTA).

        None when the slice's guard is never true.
        """
        action = self.program.actions[owner] if owner >= 0 else None
        if not isinstance(action, CtaBarrier):
            return "added", 0
        count = action.count.bits if isinstance(action.count, Const) else 0
        bits = int(warp_slice.barrier_bits[owner])
        if not bits:
            return None
        return bits.bit_length() - 1 if bits & bits - 1 == 0 else ("several", owner), -(-count // 32)


def _registers(opcode: str) -> int:
    """Return the registers of a lane that an access to local memory reads or writes."""
    found = re.search(r"\.(64|128)\b", opcode)
    return int(found[1]) // 32 if found else 1


def _width(warp_slice: WarpSlice) -> float:
    executed = warp_slice.width[np.flatnonzero(warp_slice.counts)]
    return float(np.median(executed)) if len(executed) else 4.0


def _number(operands: tuple[str, ...]) -> int:
    """Return the count at the end of `gsb0, 0x1`."""
    found = [word for word in operands if re.fullmatch(r"(0x[0-9a-f]+|\d+)", word)]
    return int(found[-1], 0) if found else 0

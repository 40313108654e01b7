"""A program as operations of the core: where its registers lie, and one or more fixed-width operations for each
instruction. Which operations there are is asked of the library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from struct import Struct

import numpy as np

from pyptx.sim.actions.basic import Const, Reg, Special, Value
from pyptx.sim.core.library import operations
from pyptx.sim.memory.spaces import shared_offset
from pyptx.sim.program.program import Program
from pyptx.sim.special import CTA_ROWS

__all__ = ["NONE", "OP", "Encoded", "Encoder", "Flags", "places"]

NONE = 0xFFFFFFFF
OP = np.dtype([("fn", "<u8"), *((n, "<u4") for n in ("d", "a", "b", "c", "e", "guard", "flip", "instr")),
               ("code", "<u2"),
               ("flags", "<u2"), ("mod", "<u4"), ("imm", "<u8"), ("aux", "<u4"), ("aux2", "<u4")])
_ROW = Struct("<Q8I2HIQ2I")                                     # the same
REGISTERS, CONSTANTS, PER_CTA, PER_PLACE = range(4)             # segments, the low two bits of an operand
ROW = 128
TEMPORARY_PREDICATES = 32


class Flags:
    """Op.flags, as core.h has them."""

    FULL, COUNT, BRANCH, EXIT, SYNC, BARRIER, TRAP, TABLE, GUARDED, CALL, RETURN, HOST, WAIT, PROMPT = (
        1 << k for k in range(14))


def places(program: Program) -> tuple[dict[int, int], int, int]:
    """Where the registers of a program lie in those of a warp, by their index; where temporary predicates begin; the
    end.
    """
    registers = program.names.registers
    predicates = [r.index for r in registers if r.width == 1]
    offsets = {index: 4 * k for k, index in enumerate(predicates)}
    temporary_predicates = end = 4 * len(predicates)
    end = -(-(end + 4 * TEMPORARY_PREDICATES) // ROW) * ROW
    for register in registers:
        width = register.width
        if width > 1:
            offsets[register.index] = end
            end += ROW if width <= 32 else width * (ROW // 32)
    return offsets, temporary_predicates, end


@dataclass(eq=False)
class Encoded:
    """What the core runs.

    Attributes:
        ops: array of OP.                   pool: operand lists and jump tables.
        constants: segment 1 as bytes.      reg_bytes: size of segment 0.
        zeros: (offset, bytes) pairs of registers that start as zero.
        place_rows: special registers of segment 3, in order.
        param_rows: rows that hold a parameter: (place in the constants, offset in the parameters, size, signed, bytes).
        shared_addresses: of shared variables, in rows of segment 2 behind the special registers of a CTA.
    """

    ops: np.ndarray
    pool: np.ndarray
    constants: np.ndarray
    reg_bytes: int
    zeros: np.ndarray
    place_rows: tuple[str, ...]
    param_rows: tuple[tuple[int, int, int, bool, int], ...]
    shared_addresses: tuple[int, ...] = ()


@dataclass(eq=False)
class Encoder:
    """Collects operations; `begin` opens an instruction, `emit` adds one operation to it."""

    program: Program
    rows: list[tuple] = field(default_factory=list)
    pool: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)             # first operation of each instruction
    patches: list[tuple[int, int, int | None]] = field(default_factory=list)     # operation, target, meeting point
    tables: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)      # place in the pool, targets
    starts: dict[int, int] = field(default_factory=dict)        # first instruction of a function -> its first operation
    calls: list[tuple[int, int]] = field(default_factory=list)  # operation of a call, first instruction of the function
    functions: list[int] = field(default_factory=list)          # places in the pool of tables of all functions

    def __post_init__(self):
        self.codes = operations()
        self.linked: dict[object, tuple] = {}                    # recordings (recorded.py), for this program
        self.tables_at: dict[tuple, int] = {}
        self.constants: dict[tuple[int, int], int] = {}
        self.constant_bytes = bytearray(ROW)
        self.constant_bytes[0:4] = b"\xff\xff\xff\xff"
        self.true, self.false = 0 | CONSTANTS, 4 | CONSTANTS
        self.place_rows: dict[str, int] = {}
        self.parameters: dict[tuple[int, int, bool, int], int] = {}
        self.shared_addresses: dict[int, int] = {}
        self._place_registers()
        self.guard, self.flip, self.instr, self.fresh = self.true, 0, 0, True

    def _place_registers(self) -> None:
        self.offsets, self.temporary_predicates, end = places(self.program)
        self.temporaries = self.highest = self.top = end
        self.predicates_used = 0

    def begin_function(self, index: int) -> None:
        """Open what a function does before its first instruction, which is `index`."""
        self.guard, self.flip, self.instr, self.fresh = self.true, 0, index, False
        self.top, self.predicates_used = self.temporaries, 0
        self.starts[index] = len(self.rows)

    def begin(self, index: int) -> None:
        guard = self.program.guards[index]
        self.guard, self.flip = (self.true, 0) if guard is None else (self.register(guard[0]), NONE if guard[1] else 0)
        self.instr, self.fresh = index, True
        self.top, self.predicates_used = self.temporaries, 0
        self.firsts.append(len(self.rows))

    def emit(self, name: str, d: int = NONE, a: int = 0, b: int = 0, c: int = 0, e: int = NONE, *, mod: int = 0,
             imm: int = 0,
             aux: int = 0, aux2: int = NONE, full: bool = False, flags: int = 0) -> int:
        """Add an operation; its number."""
        flags |= (Flags.FULL if full else 0) | (Flags.COUNT if self.fresh else 0) | (0 if self.guard == self.true
            else Flags.GUARDED)
        self.fresh = False
        self.rows.append((0, d, a, b, c, e, self.guard, self.flip, self.instr, self.codes[name], flags, mod,
                          imm & 0xFFFFFFFF_FFFFFFFF, aux, aux2))
        return len(self.rows) - 1

    def operand_list(self, operands) -> int:
        """Operands in the pool; the place of the first."""
        self.pool.extend(operands)
        return len(self.pool) - len(operands)

    def table(self, key: tuple, build: Callable) -> int:
        """A table of numbers in the pool, once for each key; its place."""
        if key not in self.tables_at:
            self.tables_at[key] = self.operand_list([int(v) for v in np.asarray(build()).reshape(-1)])
        return self.tables_at[key]

    # operands

    def register(self, register: Reg) -> int:
        return self.offsets[register.index] | REGISTERS

    def temporary(self, width: int) -> int:
        """A scratch place of a width: 1, 32 or 64."""
        if width == 1:
            self.predicates_used += 1
            assert self.predicates_used <= TEMPORARY_PREDICATES
            return self.temporary_predicates + 4 * (self.predicates_used - 1)
        place, self.top = self.top, self.top + (ROW if width <= 32 else 2 * ROW)
        self.highest = max(self.highest, self.top)
        return place

    def is_register(self, place: int) -> bool:
        """Whether a place is that of a register of the program."""
        return place in self.offsets.values()

    def constant(self, bits: int, width: int) -> int:
        if width == 1:
            return self.true if bits & 1 else self.false
        key = bits, 32 if width <= 32 else width
        if key not in self.constants:
            self.constants[key] = len(self.constant_bytes) | CONSTANTS
            for part in range(0, width, 64):                # 128 bits are two rows
                word = bits >> part & 0xFFFFFFFF_FFFFFFFF
                self.constant_bytes += word.to_bytes(4 if width <= 32 else 8, "little") * 32
        return self.constants[key]

    def value(self, value: Value) -> int:
        """Where a value lies, in its own width."""
        match value:
            case Reg():
                return self.register(value)
            case Const(bits, width):
                return self.constant(bits, width)
            case Special(name):
                return self.special(name)

    def parameter(self, offset: int, size: int, signed: bool, width: int) -> int:
        """A row that holds a parameter, extended to a register of a width; filled at launch."""
        key = offset, size, signed, width
        if key not in self.parameters:
            self.parameters[key] = len(self.constant_bytes) | CONSTANTS
            self.constant_bytes += bytes(ROW if width <= 32 else 2 * ROW)
        return self.parameters[key]

    def has_parameter(self, offset: int, bytes_: int) -> bool:
        """Whether so many bytes at an offset of the parameters are aligned and within them."""
        params = self.program.names.params
        return (offset >= 0 and offset % bytes_ == 0 and bool(params)
                and offset + bytes_ <= params[-1].offset + params[-1].size)

    def special(self, name: str) -> int:
        if name in CTA_ROWS:
            return CTA_ROWS.index(name) * ROW | PER_CTA
        offset = shared_offset(name)
        if offset is not None:
            return (16 + self.shared_addresses.setdefault(offset, len(self.shared_addresses))) * ROW | PER_CTA
        return self.place_rows.setdefault(name, len(self.place_rows)) * ROW | PER_PLACE

    # the end

    def finish(self) -> Encoded:
        """An implicit exit behind the last instruction, targets filled in, everything as arrays."""
        end = len(self.rows)
        self.guard, self.flip, self.fresh = self.true, 0, False
        self.emit("nop", flags=Flags.EXIT)
        starts = [*self.firsts, end]
        ops = np.frombuffer(bytearray(b"".join([_ROW.pack(*row) for row in self.rows])), OP)
        for op, target, meet in self.patches:
            if target is not None:
                ops[op]["aux"] = starts[target]
            ops[op]["aux2"] = NONE if meet is None else starts[meet]
        for place, targets in self.tables:
            self.pool[place:place + len(targets)] = [starts[t] for t in targets]
        for op, target in self.calls:
            ops[op]["imm"] = self.starts[target]
        bodies = self.program.names.bodies
        for place in self.functions:
            numbered = [NONE if n is None else self.starts[bodies[n].start]
                        for n in self.program.names.function_starts()]
            self.pool[place:place + len(numbered)] = numbered
        zeros = []
        for index in sorted(self.program.undefined):
            width = self.program.names.registers[index].width
            zeros += [self.offsets[index], 4 if width == 1 else ROW * max(1, width // 32)]
        return Encoded(ops, np.array(self.pool or [0], np.uint32), np.frombuffer(bytes(self.constant_bytes), np.uint8),
                       self.highest, np.array(zeros or [0], np.uint32), tuple(self.place_rows),
                       tuple((place & ~3, offset, size, signed, width // 8) for (offset, size, signed, width), place
                             in self.parameters.items()), tuple(self.shared_addresses))

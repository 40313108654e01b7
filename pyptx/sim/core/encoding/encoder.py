"""The encoder: assigns registers to rows and collects the operations of a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from struct import Struct
from typing import TypedDict

import numpy as np

from pyptx.sim import abi, abi_structures
from pyptx.sim.abi import CONSTANTS, CTA_SPECIALS, PER_CTA, PER_WARP, REGISTERS, STATE_SPACES, AccessFlag, OpFlag
from pyptx.sim.actions import Address, Const, Reg, Special, Sum, Value
from pyptx.sim.core.library import operations
from pyptx.sim.memory.address_space import shared_offset
from pyptx.sim.program.program import Program

__all__ = ["NONE", "OP", "AddressFields", "Encoded", "Encoder", "address_fields", "register_offsets"]

NONE = abi.Limit.NONE
OP = np.dtype(abi_structures.Op)
_OP = Struct("<Q8I2HIQ2I")  # the same layout, for packing one operation
ROW = 128  # bytes of a row: 32 lanes of 32 bits
TEMPORARY_PREDICATES = 32


def register_offsets(program: Program) -> tuple[dict[int, int], int, int]:
    """Offset of each register in those of a warp, by its index; the offset of temporary predicates; the end."""
    registers = program.symbols.registers
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
    """A program as the core runs it.

    Attributes:
        ops: array of OP.
        pool: operand lists and jump tables.
        constants: segment CONSTANTS as bytes.
        reg_bytes: size of segment REGISTERS.
        initial: (offset, bytes) pairs of registers that may be read before they are written.
        warp_specials: special registers of segment PER_WARP, in order.
        param_rows: rows that hold a parameter: (place in the constants, offset in the parameters, size, signed, bytes).
        shared_addresses: addresses of shared variables, in rows of segment PER_CTA after the special registers.
    """

    ops: np.ndarray
    pool: np.ndarray
    constants: np.ndarray
    reg_bytes: int
    initial: np.ndarray
    warp_specials: tuple[str, ...]
    param_rows: tuple[tuple[int, int, int, bool, int], ...]
    shared_addresses: tuple[int, ...] = ()


@dataclass(eq=False)
class Encoder:
    """Collects the operations of a program: `begin` starts an instruction, `emit` adds an operation to it."""

    program: Program
    rows: list[tuple] = field(default_factory=list)
    pool: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)  # first operation of each instruction
    patches: list[tuple[int, int | None, int | None]] = field(default_factory=list)  # operation, target, reconvergence
    tables: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)  # place in the pool, targets
    starts: dict[int, int] = field(default_factory=dict)  # first instruction of a function -> its first operation
    calls: list[tuple[int, int]] = field(default_factory=list)  # operation of a call, first instruction of the function
    functions: list[int] = field(default_factory=list)  # places in the pool of tables of all functions

    def __post_init__(self):
        self.codes = operations()
        self.linked: dict[object, tuple] = {}  # templates, linked for this program
        self.tables_at: dict[tuple, int] = {}
        self.constants: dict[tuple[int, int], int] = {}
        self.constant_bytes = bytearray(ROW)
        self.constant_bytes[0:4] = b"\xff\xff\xff\xff"
        self.true, self.false = 0 | CONSTANTS, 4 | CONSTANTS
        self.warp_specials: dict[str, int] = {}
        self.parameters: dict[tuple[int, int, bool, int], int] = {}
        self.shared_addresses: dict[int, int] = {}
        self._assign_registers()
        self.guard, self.flip, self.instr, self.uncounted = self.true, 0, 0, True

    def _assign_registers(self) -> None:
        self.offsets, self.temporary_predicates, end = register_offsets(self.program)
        self.temporaries = self.highest = self.top = end
        self.predicates_used = 0

    def begin_function(self, index: int) -> None:
        """Start the operations that a function executes before its first instruction, `index`."""
        self.guard, self.flip, self.instr, self.uncounted = self.true, 0, index, False
        self.top, self.predicates_used = self.temporaries, 0
        self.starts[index] = len(self.rows)

    def begin(self, index: int) -> None:
        guard = self.program.guards[index]
        self.guard, self.flip = (self.true, 0) if guard is None else (self.register(guard[0]), NONE if guard[1] else 0)
        self.instr, self.uncounted = index, True
        self.top, self.predicates_used = self.temporaries, 0
        self.firsts.append(len(self.rows))

    def emit(
        self,
        name: str,
        d: int = NONE,
        a: int = 0,
        b: int = 0,
        c: int = 0,
        e: int = NONE,
        *,
        mod: int = 0,
        imm: int = 0,
        aux: int = 0,
        aux2: int = NONE,
        full: bool = False,
        flags: int = 0,
    ) -> int:
        """Add an operation and return its number."""
        flags |= (
            (OpFlag.FULL if full else 0)
            | (OpFlag.COUNT if self.uncounted else 0)
            | (0 if self.guard == self.true else OpFlag.GUARDED)
        )
        self.uncounted = False
        self.rows.append(
            (
                0,
                d,
                a,
                b,
                c,
                e,
                self.guard,
                self.flip,
                self.instr,
                self.codes[name],
                flags,
                mod,
                imm & 0xFFFFFFFF_FFFFFFFF,
                aux,
                aux2,
            )
        )
        return len(self.rows) - 1

    def operand_list(self, operands) -> int:
        """Add operands to the pool and return the index of the first."""
        self.pool.extend(operands)
        return len(self.pool) - len(operands)

    def table(self, key: tuple, build: Callable) -> int:
        """Add a table of numbers to the pool, once for each key, and return its index."""
        if key not in self.tables_at:
            self.tables_at[key] = self.operand_list([int(v) for v in np.asarray(build()).reshape(-1)])
        return self.tables_at[key]

    # operands

    def register(self, register: Reg) -> int:
        return self.offsets[register.index] | REGISTERS

    def temporary(self, width: int) -> int:
        """A temporary of 1, 32 or 64 bits."""
        if width == 1:
            self.predicates_used += 1
            assert self.predicates_used <= TEMPORARY_PREDICATES
            return self.temporary_predicates + 4 * (self.predicates_used - 1)
        place, self.top = self.top, self.top + (ROW if width <= 32 else 2 * ROW)
        self.highest = max(self.highest, self.top)
        return place

    def is_register(self, place: int) -> bool:
        """Test whether an operand is a register of the program."""
        return place in self.offsets.values()

    def constant(self, bits: int, width: int) -> int:
        if width == 1:
            return self.true if bits & 1 else self.false
        key = bits, 32 if width <= 32 else width
        if key not in self.constants:
            self.constants[key] = len(self.constant_bytes) | CONSTANTS
            for part in range(0, width, 64):  # 128 bits are two rows
                word = bits >> part & 0xFFFFFFFF_FFFFFFFF
                self.constant_bytes += word.to_bytes(4 if width <= 32 else 8, "little") * 32
        return self.constants[key]

    def value(self, value: Value) -> int:
        """The operand that holds a value, in its own width."""
        match value:
            case Reg():
                return self.register(value)
            case Const(bits, width):
                return self.constant(bits, width)
            case Special(name):
                return self.special(name)
            case Sum(register, constant, result):
                place, width = self.register(result), max(register.width, 32)
                self.emit(f"add_{width}", place, self.register(register), self.constant(constant, width))
                if register.width < 32:
                    self.emit(f"zx{register.width}_32", place, place)
                return place

    def parameter(self, offset: int, size: int, signed: bool, width: int) -> int:
        """A row that holds a parameter, extended to the width of a register; filled at launch."""
        key = offset, size, signed, width
        if key not in self.parameters:
            self.parameters[key] = len(self.constant_bytes) | CONSTANTS
            self.constant_bytes += bytes(ROW if width <= 32 else 2 * ROW)
        return self.parameters[key]

    def has_parameter(self, offset: int, bytes_: int) -> bool:
        """Test whether `bytes_` bytes at an offset of the parameters are aligned and in bounds."""
        params = self.program.symbols.params
        return (
            offset >= 0
            and offset % bytes_ == 0
            and bool(params)
            and offset + bytes_ <= params[-1].offset + params[-1].size
        )

    def special(self, name: str) -> int:
        if name in CTA_SPECIALS:
            return CTA_SPECIALS.index(name) * ROW | PER_CTA
        offset = shared_offset(name)
        if offset is not None:
            return (
                abi.Limit.CTA_SPECIAL_ROWS + self.shared_addresses.setdefault(offset, len(self.shared_addresses))
            ) * ROW | PER_CTA
        return self.warp_specials.setdefault(name, len(self.warp_specials)) * ROW | PER_WARP

    # the end

    def finish(self) -> Encoded:
        """Append the implicit exit, resolve targets and return everything as arrays."""
        end = len(self.rows)
        self.guard, self.flip, self.uncounted = self.true, 0, False
        self.emit("nop", flags=OpFlag.EXIT)
        starts = [*self.firsts, end]
        ops = np.frombuffer(bytearray(b"".join([_OP.pack(*row) for row in self.rows])), OP)
        for op, target, reconvergence in self.patches:
            if target is not None:
                ops[op]["aux"] = starts[target]
            ops[op]["aux2"] = NONE if reconvergence is None else starts[reconvergence]
        for place, targets in self.tables:
            self.pool[place : place + len(targets)] = [starts[t] for t in targets]
        for op, target in self.calls:
            ops[op]["imm"] = self.starts[target]
        bodies = self.program.symbols.bodies
        for place in self.functions:
            numbered = [
                NONE if n is None else self.starts[bodies[n].start] for n in self.program.symbols.function_starts()
            ]
            self.pool[place : place + len(numbered)] = numbered
        initial = []
        for index in sorted(self.program.undefined):
            width = self.program.symbols.registers[index].width
            initial += [self.offsets[index], 4 if width == 1 else ROW * max(1, width // 32)]
        return Encoded(
            ops,
            np.array(self.pool or [0], np.uint32),
            np.frombuffer(bytes(self.constant_bytes), np.uint8),
            self.highest,
            np.array(initial or [0], np.uint32),
            tuple(self.warp_specials),
            tuple(
                (place & ~3, offset, size, signed, width // 8)
                for (offset, size, signed, width), place in self.parameters.items()
            ),
            tuple(self.shared_addresses),
        )


class AddressFields(TypedDict):
    """The fields of an operation that hold its address."""

    a: int
    mod: int
    imm: int


def address_fields(e: Encoder, address: Address, mod: int, *, space: str | None = None) -> AddressFields:
    """The fields `a`, `mod` and `imm` of an operation with this address.

    Args:
        mod: the other bits of `mod`.
        space: overrides the state space of the address.
    """
    mod |= STATE_SPACES.index(space or address.space) << 12
    base = address.base
    if base is None:
        return {"a": 0, "mod": mod | AccessFlag.ABSOLUTE, "imm": address.offset}
    return {"a": e.register(base), "mod": mod | (AccessFlag.WIDE if base.width == 64 else 0), "imm": address.offset}

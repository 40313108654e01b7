"""What a stopped launch holds for one warp: registers by their names, memory, special registers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.looking import names as meanings
from pyptx.debug.looking.names import Names
from pyptx.debug.looking.values import bits_of, decoded, typed
from pyptx.sim.actions.basic import Reg
from pyptx.sim.core.stopped import Resident
from pyptx.sim.debug import Debugged
from pyptx.sim.memory.spaces import CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_START, SHARED_WINDOW
from pyptx.sim.special import CTA_ROWS
from pyptx.sim.special import value as special_value
from pyptx.sim.symbols.scope import Scope, Variable

__all__ = ["Place", "State"]

RANK_SHIFT = 24                                         # of a CTA's rank in an address of shared memory
_WINDOW = 1 << 32


class Place:
    """Named bytes of a memory space, as elements of a type: what an expression sees of an allocation or an argument."""

    def __init__(self, state: State, name: str, space: str, address: int, type_name: str, shape: tuple[int, ...],
                 swizzle: str | None = None):
        self.name, self.space, self.address, self.type, self.shape = name, space, address, type_name, shape
        self.swizzle, self._state = swizzle, state

    def __repr__(self) -> str:
        return f"{self.type} {' x '.join(map(str, self.shape))} at 0x{self.address:x} of {self.space} memory"

    @property
    def number(self) -> int:
        """Where it starts."""
        return self.address

    def element(self, index: Any) -> Any:
        """Elements by index, row-major, without a swizzle."""
        kind = "u64" if self.type == "mbarrier" else self.type
        size = decoded(np.zeros(16, np.uint8), kind).size
        count = int(np.prod(self.shape)) if self.shape else 1
        raw = self._state.read(self.space, self.address, count * 16 // size)
        return decoded(raw.copy(), kind).reshape(self.shape)[index]         # the memory goes when the launch goes on

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 1


class State:
    """One warp of a CTA at a stop; valid until the launch goes on.

    Attributes:
        instruction: the one its lanes are at (the next one, while it waits that it waits at).
        lanes: the lanes that are there.
    """

    def __init__(self, run: Debugged, names: Names | None, arguments: dict[str, Any], resident: Resident, warp: int,
                 instruction: int, lanes: int):
        self.run, self.names, self.arguments, self.resident = run, names, arguments, resident
        self.warp, self.instruction, self.lanes = warp, instruction, lanes
        self._registers = resident.registers(warp)
        instructions = run.program.names.instructions
        self.scope: Scope = instructions[min(instruction, len(instructions) - 1)][1]

    # registers --------------------------------------------------------------------------------------------------------

    def register(self, name: str) -> tuple[Reg, str]:
        """A register in scope here, and its declared type.

        Raises:
            DebugError: there is none.
        """
        found = self.scope.register(name)
        if found is None or found[0].index not in self.run.machine.offsets:
            near = [r.name for r in self.run.program.names.registers if r.name.startswith(name[:3])][:6]
            raise DebugError(f"no register {name} here" + (f"; there are {', '.join(near)}" if near else ""))
        return found

    def in_scope(self) -> dict[str, tuple[Reg, str]]:
        """Registers that can be named here and that instructions name somewhere, by name, in order."""
        found: dict[str, tuple[Reg, str]] = {}
        scope: Scope | None = self.scope
        while scope is not None:
            for name, entry in scope.registers.items():
                found.setdefault(name, entry)
            scope = scope.parent
        return dict(sorted(found.items(), key=lambda item: item[1][0].index))

    def bits(self, register: Reg) -> np.ndarray:
        """Its bits in each lane."""
        return bits_of(self.run.machine.offsets, self._registers, register)

    def value(self, name: str, type_name: str | None = None) -> np.ndarray:
        """A register as its type, or another one, says: one number for each lane."""
        register, declared = self.register(name)
        return typed(self.bits(register), type_name or declared)

    def special(self, name: str) -> np.ndarray | None:
        """A special register in each lane; None where it is none."""
        plan = self.run.plan
        if name in CTA_ROWS:
            return np.full(32, self.resident.special(CTA_ROWS.index(name)), np.int64)
        found = special_value(name, plan, self.warp)
        return None if found is None else found.astype(np.int64)

    # memory -----------------------------------------------------------------------------------------------------------

    def shared(self, address: int, size: int, rank: int | None = None) -> np.ndarray:
        """Bytes of shared memory at an address as `mov` gives it; of a CTA of the cluster.

        Raises:
            DebugError: there are none.
        """
        offset = address & (1 << RANK_SHIFT) - 1
        resident = self.resident
        if rank is not None and rank != resident.rank:
            resident = next((r for r in self.run.machine.residents() if r.cluster == resident.cluster
                             and r.rank == rank), None)
        memory = resident.shared if resident is not None else np.zeros(0, np.uint8)
        if not SHARED_START <= offset <= offset + size <= SHARED_START + memory.size:
            raise DebugError(f"shared memory of a CTA is 0x{SHARED_START:x} to 0x{SHARED_START + memory.size:x}; "
                             f"0x{offset:x} and {size} bytes are not in it")
        return memory[offset - SHARED_START:offset - SHARED_START + size]

    def read(self, space: str, address: int, size: int, lane: int = 0) -> np.ndarray:
        """Bytes of "shared", "global", "local", "const", "param" or "generic" memory.

        Raises:
            DebugError: there are none.
        """
        if space == "generic":
            space, address = _space_of(address)
        if space == "shared":
            return self.shared(address, size, address >> RANK_SHIFT if address >> RANK_SHIFT else None)
        if space == "local":
            memory = self.resident.local(self.warp)[lane]
            return _within(memory, address, size, "local memory of a thread")
        if space == "param":
            return _within(self.run.machine.job.arrays["param"], address, size, "the parameters")
        segment = self.run.segment_at(address + (CONST_WINDOW if space == "const" else 0), size)
        if segment is None:
            buffers = ", ".join(f"{s.buffer.name} at 0x{s.address:x} ({s.size} bytes)" for s in self.run.segments)
            raise DebugError(f"no buffer holds {size} bytes at 0x{address:x}; there are {buffers or 'none'}")
        start = address + (CONST_WINDOW if space == "const" else 0) - segment.address
        return segment.buffer.bytes[start:start + size]

    # names ------------------------------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Any:
        """What a name of an expression stands for here.

        The author's own names come first; then lane, tid, warp, cta, step, arguments, registers, variables, and the
        functions shared(type, address), globals(type, address) and load(type, address), one value for each lane.

        Raises:
            DebugError: nothing is called so.
        """
        if name.startswith("%"):
            special = self.special(name)
            return special if special is not None else self.value(name)
        own = self.names.at(self.instruction) if self.names is not None else {}
        if name in own:
            return self.meant(name, own[name])
        common = {"lane": lambda: np.arange(32), "tid": lambda: self.warp * 32 + np.arange(32),
                  "warp": lambda: self.warp, "cta": lambda: self.resident.id, "step": lambda: self.run.machine.step,
                  "shared": lambda: self._loader("shared"), "globals": lambda: self._loader("global"),
                  "load": lambda: self._loader("generic")}
        if name in common:
            return common[name]()
        if name in self.arguments:
            return self.arguments[name]
        if self.scope.register(name) is not None:
            return self.value(name)
        variable = self.scope.find("variables", name)
        if variable is not None and variable.address is not None:
            return self.variable(variable)
        raise DebugError(f"{name!r} stands for nothing here; {self._known(own)}")

    def _known(self, own: dict[str, Any]) -> str:
        known = [*own, *self.arguments]
        if self.names is not None and self.names.problem:
            return self.names.problem
        return f"names here: {', '.join(sorted(known))}" if known else "registers are written %r1"

    def _loader(self, space: str):
        def load(type_name: str, address: Any) -> np.ndarray:
            size = 16 // decoded(np.zeros(16, np.uint8), type_name).size
            places = np.broadcast_to(np.asarray(getattr(address, "number", address)), 32)
            live = self.lanes or 0xFFFFFFFF
            found = [decoded(self.read(space, int(places[k]), size, k), type_name)[0] if live >> k & 1 else 0
                     for k in range(32)]
            return np.array(found)
        return load

    def variable(self, variable: Variable) -> Place:
        """A variable that PTX declares."""
        space = {"shared": "shared", "global": "global", "const": "const"}.get(variable.space, "local")
        size = variable.size or (self.run.plan.shared_end - variable.address if space == "shared" else 0)
        return Place(self, variable.name, space, variable.address, "u8", (size,))

    def meant(self, name: str, meaning: Any) -> Any:
        """The value of what a name of the kernel author stands for."""
        match meaning:
            case meanings.Register():
                register, declared = self.register(meaning.name)
                fits = typed(self.bits(register), meaning.type if _fits(meaning.type, register) else declared)
                return np.logical_not(fits) if meaning.negated else fits
            case meanings.Memory():
                return Place(self, name, "shared", self.address_of(meaning), meaning.type, meaning.shape,
                             meaning.swizzle)
            case meanings.Ring():
                return Place(self, name, "shared", self.ring_address(meaning), "mbarrier", (meaning.count,))
            case meanings.Parts():
                return {part: self.meant(f"{name}.{part}", value) for part, value in meaning.attributes.items()}
            case tuple():
                return tuple(self.meant(f"{name}[{k}]", part) for k, part in enumerate(meaning))
        return meaning

    def ring_address(self, ring: meanings.Ring) -> int:
        """Where mbarriers lie whose address is in a register, as the first of the lanes here has it."""
        if isinstance(ring.base, str):
            symbol, _, offset = ring.base.partition("+")
            return self.address_of(meanings.Memory(symbol, int(offset or 0) + ring.offset, "mbarrier", (ring.count,)))
        first = (self.lanes & -self.lanes).bit_length() - 1 if self.lanes else 0
        return int(self.meant("", ring.base)[first]) + ring.offset

    def address_of(self, memory: meanings.Memory) -> int:
        """Where shared memory that Python allocated lies."""
        variable = self.scope.find("variables", memory.symbol)
        if variable is None or variable.address is None:
            raise DebugError(f"no shared variable {memory.symbol} here")
        return variable.address + memory.offset


def _fits(type_name: str, register: Reg) -> bool:
    bits = {"pred": 1, "b128": 128}.get(type_name)
    if bits is None:
        bits = max(8, 16 // decoded(np.zeros(16, np.uint8), type_name).size * 8) if type_name[-2:] != "x2" else 32
    return bits == register.width


def _space_of(address: int) -> tuple[str, int]:
    for space, window in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW), ("const", CONST_WINDOW),
                          ("param", PARAM_WINDOW)):
        if window <= address < window + _WINDOW:
            return space, address - window
    return "global", address


def _within(memory: np.ndarray, start: int, size: int, what: str) -> np.ndarray:
    if not 0 <= start <= start + size <= memory.size:
        raise DebugError(f"{what}: {memory.size} bytes; {size} at {start} are not in it")
    return memory[start:start + size]

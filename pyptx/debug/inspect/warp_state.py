"""State of one warp at a stop: registers by name, memory, special registers, and the names of expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.inspect import python_names
from pyptx.debug.inspect.c_types import Array, Located, Pointer, Scalar, Structure, size_of
from pyptx.debug.inspect.python_names import Binding, PythonNames
from pyptx.debug.inspect.source_variables import SourceVariables
from pyptx.debug.inspect.values import bits_of, decoded, element_bytes, typed
from pyptx.nvrtc.mangling import local_names
from pyptx.sim.abi import CTA_SPECIALS
from pyptx.sim.actions import Reg
from pyptx.sim.core.debug_state import ResidentCta
from pyptx.sim.debug import DebugLaunch
from pyptx.sim.memory.address_space import CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_START, SHARED_WINDOW
from pyptx.sim.special_registers import value as special_value
from pyptx.sim.symbols.scopes import Scope, Variable

__all__ = ["MemoryView", "PointerView", "WarpState"]

_CUDA_NAMES = {"threadIdx": "tid", "blockIdx": "ctaid", "blockDim": "ntid", "gridDim": "nctaid"}
_MOST_ELEMENTS = 64  # of an array that is shown by element
RANK_SHIFT = 24  # position of the CTA rank in a shared memory address
_WINDOW_BYTES = 1 << 32


class MemoryView:
    """Named memory as elements of a type: what an allocation or a variable evaluates to in an expression."""

    address: int
    name: str
    shape: tuple[int, ...]
    space: str
    type: str
    swizzle: str | None

    def __init__(
        self,
        state: WarpState,
        name: str,
        space: str,
        address: int,
        type_name: str,
        shape: tuple[int, ...],
        swizzle: str | None = None,
    ):
        self.name, self.space, self.address, self.type, self.shape = name, space, address, type_name, shape
        self.swizzle, self._state = swizzle, state

    def __repr__(self) -> str:
        return f"{self.type} {' x '.join(map(str, self.shape))} at 0x{self.address:x} in {self.space} memory"

    def element(self, index: Any) -> Any:
        """Return elements by index, row-major, without swizzle."""
        kind = "u64" if self.type == "mbarrier" else self.type
        count = int(np.prod(self.shape)) if self.shape else 1
        raw = self._state.read(self.space, self.address, count * element_bytes(kind))
        return decoded(raw.copy(), kind).reshape(self.shape)[index]  # a copy, as the launch reuses the memory

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 1


class PointerView:
    """A pointer of C++ in each lane; elements are read from memory."""

    def __init__(self, state: WarpState, kind: Pointer, address: np.ndarray):
        self.type, self.address, self._state = kind, address, state

    def __repr__(self) -> str:
        first = (self._state.lanes & -self._state.lanes).bit_length() - 1 if self._state.lanes else 0
        own = int(self.address[first])
        segment = self._state.run.segment_at(own, 1)
        name = f" in {segment.buffer.name}" if segment is not None and not segment.buffer.name.startswith("_Z") else ""
        return f"{self.type} 0x{own:x}{name}" + (
            "" if (self.address == own).all() else f" (lane {first}, others differ)"
        )

    def element(self, index: Any) -> Any:
        """Return the element at an index, or at one index for each lane, in each lane."""
        kind = self.type.target
        if not isinstance(kind, Scalar):
            raise DebugError(f"the elements of {self.type} are not numbers", hint="load(type, address) reads memory")
        step = np.asarray(index).astype(np.int64) * size_of(kind)
        return self._state.load("generic", kind.type, self.address.astype(np.int64) + step)


class WarpState:
    """One warp of a CTA at a stop; valid until the launch runs on.

    Attributes:
        instruction: the next instruction of its lanes, or the one they wait at.
        lanes: mask of the lanes that are at this instruction.
    """

    arguments: dict[str, Any]
    names: PythonNames | SourceVariables | None
    resident: ResidentCta
    run: DebugLaunch
    instruction: int
    lanes: int
    warp: int

    def __init__(
        self,
        run: DebugLaunch,
        names: PythonNames | SourceVariables | None,
        arguments: dict[str, Any],
        resident: ResidentCta,
        warp: int,
        instruction: int,
        lanes: int,
        shared_types: Mapping[str, tuple[str, tuple[int, ...]]] | None = None,
    ):
        self._shared_types = shared_types or {}
        self.run, self.names, self.arguments, self.resident = run, names, arguments, resident
        self.warp, self.instruction, self.lanes = warp, instruction, lanes
        self._registers = resident.registers(warp)
        instructions = run.program.symbols.instructions
        self.scope: Scope = instructions[min(instruction, len(instructions) - 1)][1]

    # registers --------------------------------------------------------------------------------------------------------

    def register(self, name: str) -> tuple[Reg, str]:
        """Return a register in scope and its declared type.

        Raises:
            DebugError: there is no such register.
        """
        found = self.scope.register(name)
        if found is None or found[0].index not in self.run.machine.register_offsets:
            near = [r.name for r in self.run.program.symbols.registers if r.name.startswith(name[:3])][:6]
            raise DebugError(f"no register {name} here" + (f"; there are {', '.join(near)}" if near else ""))
        return found

    def in_scope(self) -> dict[str, tuple[Reg, str]]:
        """Return the registers in scope that some instruction names, by name, in order."""
        found: dict[str, tuple[Reg, str]] = {}
        scope: Scope | None = self.scope
        while scope is not None:
            for name, entry in scope.registers.items():
                found.setdefault(name, entry)
            scope = scope.parent
        return dict(sorted(found.items(), key=lambda item: item[1][0].index))

    def bits(self, register: Reg) -> np.ndarray:
        """Return the bits of a register in each lane."""
        return bits_of(self.run.machine.register_offsets, self._registers, register)

    def value(self, name: str, type_name: str | None = None) -> np.ndarray:
        """Return a register's value in each lane, as its declared type or another one."""
        register, declared = self.register(name)
        return typed(self.bits(register), type_name or declared)

    def special(self, name: str) -> np.ndarray | None:
        """Return a special register in each lane, or None if the name is not one."""
        if name in CTA_SPECIALS:
            return np.full(32, self.resident.special(CTA_SPECIALS.index(name)), np.int64)
        found = special_value(name, self.run.plan, self.warp)
        return None if found is None else found.astype(np.int64)

    # memory -----------------------------------------------------------------------------------------------------------

    def shared(self, address: int, size: int, rank: int | None = None) -> np.ndarray:
        """Return bytes of shared memory, of this CTA or of the CTA with a rank in the cluster.

        Args:
            address: as `mov` returns it for a variable.
        Raises:
            DebugError: the range is outside of shared memory.
        """
        offset = address & (1 << RANK_SHIFT) - 1
        resident: ResidentCta | None = self.resident
        if rank is not None and rank != self.resident.rank:
            peers = (r for r in self.run.machine.residents() if r.cluster == self.resident.cluster)
            resident = next((r for r in peers if r.rank == rank), None)
        memory = resident.shared if resident is not None else np.zeros(0, np.uint8)
        if not SHARED_START <= offset <= offset + size <= SHARED_START + memory.size:
            raise DebugError(
                f"{size} bytes at 0x{offset:x} are outside of the CTA's shared memory, 0x{SHARED_START:x} to "
                f"0x{SHARED_START + memory.size:x}"
            )
        return memory[offset - SHARED_START : offset - SHARED_START + size]

    def read(self, space: str, address: int, size: int, lane: int = 0) -> np.ndarray:
        """Return bytes of "shared", "global", "local", "const", "param", or "generic" memory.

        Raises:
            DebugError: no memory has this address.
        """
        if space == "generic":
            space, address = _resolve_generic(address)
        if space == "shared":
            return self.shared(address, size, address >> RANK_SHIFT if address >> RANK_SHIFT else None)
        if space == "local":
            return _slice(self.resident.local(self.warp)[lane], address, size, "local memory of a thread")
        if space == "param":
            return _slice(self.run.machine.launch.arrays["param"], address, size, "parameter memory")
        window = CONST_WINDOW if space == "const" else 0
        segment = self.run.segment_at(address + window, size)
        if segment is None:
            buffers = ", ".join(f"{s.buffer.name} at 0x{s.address:x} ({s.size} bytes)" for s in self.run.segments)
            raise DebugError(f"no buffer contains {size} bytes at 0x{address:x}; buffers: {buffers or 'none'}")
        start = address + window - segment.address
        return segment.buffer.bytes[start : start + size]

    # names ------------------------------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Any:
        """Return the value of a name in an expression.

        The kernel's Python names take precedence; then lane, tid, warp, cta, step, the arguments, registers, variables,
        and the functions shared(type, address), globals(type, address), and load(type, address), one value per lane.

        Raises:
            DebugError: the name is not defined here.
        """
        if name.startswith("%"):
            special = self.special(name)
            return special if special is not None else self.value(name)
        own = self.names.at(self.instruction) if self.names is not None else {}
        if name in own:
            return self.bound_value(name, own[name])
        if self.names is not None and (reason := self.names.absent(self.instruction, name)):
            raise DebugError(reason)
        common: dict[str, Callable[[], Any]] = {
            "lane": lambda: np.arange(32),
            "tid": lambda: self.warp * 32 + np.arange(32),
            "warp": lambda: self.warp,
            "cta": lambda: self.resident.id,
            "step": lambda: self.run.machine.step,
            "shared": lambda: self._loader("shared"),
            "globals": lambda: self._loader("global"),
            "load": lambda: self._loader("generic"),
            **{cuda: partial(self._special_parts, ptx) for cuda, ptx in _CUDA_NAMES.items()},
        }
        if name in common:
            return common[name]()
        if name in self.arguments:
            return self.arguments[name]
        if self.scope.register(name) is not None:
            return self.value(name)
        variable = self.scope.variable(name)
        if isinstance(variable, Variable) and variable.address is not None:
            return self._variable(variable, variable.address)
        if (shared := self._local_shared(name)) is not None:
            return shared
        raise DebugError(f"{name!r} is not defined here; {self._defined_text(own)}")

    def _special_parts(self, name: str) -> dict[str, np.ndarray]:
        """Return a special register of three parts, as CUDA C++ names it."""
        found = {part: self.special(f"%{name}.{part}") for part in "xyz"}
        return {part: value for part, value in found.items() if value is not None}

    def _local_shared(self, name: str) -> MemoryView | None:
        """Return the shared variable of a C++ function by its name in the source."""
        for variable in self.run.program.shared_variables:
            if local_names(variable.name) == name and variable.address is not None:
                return self._variable(variable, variable.address)
        return None

    def _defined_text(self, own: Mapping[str, object]) -> str:
        if self.names is not None and self.names.problem:
            return self.names.problem
        defined = [*own, *self.arguments]
        return f"names here: {', '.join(sorted(defined))}" if defined else "registers are written as %r1"

    def _loader(self, space: str) -> Callable[[str, Any], np.ndarray]:
        def load(type_name: str, address: Any) -> np.ndarray:
            size = element_bytes(type_name)
            addresses = np.broadcast_to(address.address if isinstance(address, MemoryView) else np.asarray(address), 32)
            live = self.lanes or 0xFFFFFFFF
            found = [
                decoded(self.read(space, int(addresses[k]), size, k), type_name)[0] if live >> k & 1 else 0
                for k in range(32)
            ]
            return np.array(found)

        return load

    def load(self, space: str, type_name: str, addresses: np.ndarray) -> np.ndarray:
        """Return one element for each lane."""
        return self._loader(space)(type_name, addresses)

    def _variable(self, variable: Variable, address: int) -> MemoryView:
        space = {"shared": "shared", "global": "global", "const": "const"}.get(variable.space, "local")
        size = variable.size or (self.run.plan.shared_end - address if space == "shared" else 0)
        kind, shape = self._shared_types.get(variable.name, ("u8", (size,)))
        return MemoryView(self, variable.name, space, address, kind, shape)

    def bound_value(self, name: str, binding: Binding | None) -> Any:
        """Return the current value of what a name is bound to."""
        match binding:
            case python_names.Register():
                register, declared = self.register(binding.name)
                value = typed(self.bits(register), binding.type if _fits(binding.type, register) else declared)
                return np.logical_not(value) if binding.negated else value
            case Located():
                return self._located_value(name, binding)
            case python_names.Memory():
                return MemoryView(
                    self, name, "shared", self.address_of(binding), binding.type, binding.shape, binding.swizzle
                )
            case python_names.Ring():
                return MemoryView(self, name, "shared", self.ring_address(binding), "mbarrier", (binding.count,))
            case python_names.Parts():
                return {part: self.bound_value(f"{name}.{part}", value) for part, value in binding.attributes.items()}
            case tuple():
                return tuple(self.bound_value(f"{name}[{k}]", part) for k, part in enumerate(binding))
        return binding

    def _located_value(self, name: str, found: Located) -> Any:
        """Return the value of a variable of C++: numbers by lane, structures by member, arrays as memory or by element."""
        kind = found.type
        if isinstance(kind, Structure):
            return {
                member: self._located_value(f"{name}.{member}", replace(found, type=part, offset=found.offset + offset))
                for member, offset, part in kind.members
                if found.register is None
            }
        if isinstance(kind, Array):
            if isinstance(kind.element, Scalar) and found.space in ("shared", "global", "const"):
                address = self._symbol_addresses(found)
                return MemoryView(self, name, found.space, int(address[0]), kind.element.type, (kind.count,))
            step = size_of(kind.element)
            return tuple(
                self._located_value(f"{name}[{k}]", replace(found, type=kind.element, offset=found.offset + k * step))
                for k in range(min(kind.count, _MOST_ELEMENTS))
            )
        type_name = kind.type if isinstance(kind, Scalar) else "u64"
        if found.register is not None:
            register, declared = self.register(found.register)
            bits = self.bits(register)
            value = _narrowed(bits, type_name) if type_name[1:] in ("8", "16") else None
            if value is None:
                value = typed(bits, type_name if _fits(type_name, register) else declared)
        else:
            value = self._loader(found.space)(type_name, self._symbol_addresses(found))
        return PointerView(self, kind, value) if isinstance(kind, Pointer) else value

    def _symbol_addresses(self, found: Located) -> np.ndarray:
        """Return the address of a variable in each lane."""
        variable = self.scope.variable(found.symbol)
        if not isinstance(variable, Variable) or variable.address is None:
            raise DebugError(f"no variable {found.symbol} here")
        start = np.zeros(32, np.int64) if variable.stack is None else self.bits(variable.stack).astype(np.int64)
        return start + variable.address + found.offset

    def ring_address(self, ring: python_names.Ring) -> int:
        """Return the address of a ring of mbarriers; a base in a register is read from the first active lane."""
        if isinstance(ring.base, str):
            symbol, _, offset = ring.base.partition("+")
            return self.address_of(
                python_names.Memory(symbol, int(offset or 0) + ring.offset, "mbarrier", (ring.count,))
            )
        first = (self.lanes & -self.lanes).bit_length() - 1 if self.lanes else 0
        return int(self.bound_value("", ring.base)[first]) + ring.offset

    def address_of(self, memory: python_names.Memory) -> int:
        """Return the address of shared memory that was allocated in Python."""
        variable = self.scope.variable(memory.symbol)
        if not isinstance(variable, Variable) or variable.address is None:
            raise DebugError(f"no shared variable {memory.symbol} here")
        return variable.address + memory.offset


def _narrowed(bits: np.ndarray, type_name: str) -> np.ndarray:
    """Return the low bits of a register as a type of 8 or 16 bits, which a wider register may hold."""
    mask = (1 << int(type_name[1:])) - 1
    words = (bits.astype(np.uint64) & mask).astype({"8": np.uint8, "16": np.uint16}[type_name[1:]])
    return decoded(words.view(np.uint8), type_name)


def _fits(type_name: str, register: Reg) -> bool:
    """Return whether a register has the width of a type."""
    bits = {"pred": 1, "b128": 128}.get(type_name)
    if bits is None:
        bits = max(8, 8 * element_bytes(type_name)) if type_name[-2:] != "x2" else 32
    return bits == register.width


def _resolve_generic(address: int) -> tuple[str, int]:
    """Return the state space of a generic address, and the address in it."""
    for space, window in (
        ("shared", SHARED_WINDOW),
        ("local", LOCAL_WINDOW),
        ("const", CONST_WINDOW),
        ("param", PARAM_WINDOW),
    ):
        if window <= address < window + _WINDOW_BYTES:
            return space, address - window
    return "global", address


def _slice(memory: np.ndarray, start: int, size: int, what: str) -> np.ndarray:
    if not 0 <= start <= start + size <= memory.size:
        raise DebugError(f"{size} bytes at {start} are outside of {what}, which has {memory.size} bytes")
    return memory[start : start + size]

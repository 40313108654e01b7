"""Watchpoints: the bytes that a location names, and the description of their changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.inspect.c_types import Located, Pointer, Scalar
from pyptx.debug.inspect.launch import StoppedLaunch
from pyptx.debug.inspect.python_names import Binding, Register
from pyptx.debug.inspect.values import decoded, element_bytes, number_text, typed
from pyptx.debug.inspect.warp_state import MemoryView, WarpState
from pyptx.sim.actions import Reg
from pyptx.sim.core.debug_state import EventKind, Space, WatchedRange
from pyptx.sim.faults.mbarriers import is_mbarrier, mbarrier_text
from pyptx.sim.memory.address_space import SHARED_START

__all__ = ["Watchpoint", "change_source", "watchpoint_at"]

_ADDRESS = re.compile(r"(shared|global|tmem):(0[xX][0-9a-fA-F]+|\d+)(?::(\d+))?")
_ELEMENT = re.compile(r"(.+?)\[([^\]]+)\]")


@dataclass(frozen=True, eq=False)
class Watchpoint:
    """The watched bytes of a location.

    Attributes:
        text: the location in canonical form.
        describe: text for a change of spot k, from its bytes before and after.
    """

    spots: tuple[WatchedRange, ...]
    text: str
    describe: Callable[[int, np.ndarray, np.ndarray], str]


def watchpoint_at(launch: StoppedLaunch, location: str) -> Watchpoint:
    """Return the bytes that a location names in the focused warp.

    Raises:
        DebugError: the location names neither memory nor registers.
    """
    state, text = launch.warp_state(), location.strip()
    address = _ADDRESS.fullmatch(text)
    if address is not None:
        return _address(state, text, address[1], int(address[2], 0), int(address[3] or 4))
    registers = _registers(state, text)
    if registers:
        return _register_watchpoint(launch, state, text, registers)
    element = _ELEMENT.fullmatch(text)
    if element is not None:
        head = state.lookup(element[1])
        indices = tuple(int(part, 0) for part in element[2].split(","))
        if isinstance(head, np.ndarray) and element[1] in state.arguments:
            return _array_watchpoint(text, head, indices)
        if isinstance(head, MemoryView):
            return _memory_watchpoint(state, text, head, indices)
    else:
        value = state.lookup(text)
        if isinstance(value, np.ndarray) and text in state.arguments:
            return _array_watchpoint(text, value, None)
        if isinstance(value, MemoryView):
            return _memory_watchpoint(state, text, value, None)
    raise DebugError(
        f"{text!r} cannot be watched; expected a register or its name (%r3, acc[2]), shared:0x440, "
        "shared:0x440:16, global:0x7000...:4, an argument or an element of one (out[3, 4]), or an "
        "allocation in shared memory"
    )


def change_source(launch: StoppedLaunch) -> str:
    """Return a line of text that names what changed the bytes: the last completed operation, or the last instruction."""
    machine, lines = launch.machine, launch.lines
    events, _ = machine.events()
    recent = events[events["step"] + 1 >= machine.step]
    landed = recent[recent["kind"] == EventKind.LANDED]
    newest = machine.last_instruction
    if len(landed):
        cta, warp, instruction = (int(landed[-1][name]) for name in ("cta", "warp", "instr"))
        how = "by the completion of an asynchronous operation, issued by"
    elif newest is not None:
        cta, warp, instruction, how = newest.cta, newest.warp, newest.instruction, "by"
    else:
        return ""
    where = f"warp {warp} of CTA {launch.cta_text(cta)} at {lines.location_text(instruction)}"
    return f"\n{how} {where}: {lines.text(instruction)}"


def _address(state: WarpState, text: str, space: str, address: int, size: int) -> Watchpoint:
    cta = state.resident.id
    if space == "shared":
        state.shared(address, size)
        spot = WatchedRange(Space.SHARED, cta, 0, address - SHARED_START, size)
    elif space == "tmem":
        lane, column = address >> 16, address & 0xFFFF
        if lane > 127 or column + -(-size // 4) > 512:
            raise DebugError(f"{text}: a tensor memory address is lane << 16 | column, with 128 lanes and 512 columns")
        spot = WatchedRange(Space.TENSOR, cta, 0, 4 * (512 * lane + column), size)
    else:
        memory = state.read("global", address, size)
        spot = WatchedRange(Space.GLOBAL, 0, 0, memory.__array_interface__["data"][0], size)

    def describe(k: int, before: np.ndarray, after: np.ndarray) -> str:
        return f"{text}: {_bytes_text(before)} became {_bytes_text(after)}"

    return Watchpoint((spot,), text if space == "global" else f"{text} of CTA {cta}", describe)


# registers ------------------------------------------------------------------------------------------------------------


def _registers(state: WarpState, text: str) -> list[tuple[str, Reg, str]]:
    """Return name, register, and type of each register that a location names."""
    if text.startswith("%"):
        register, declared = state.register(text)
        return [(text, register, declared)]
    own = state.names.at(state.instruction) if state.names is not None else {}
    head, *indices = text.replace("]", "").split("[")
    if head not in own:
        found = state.scope.register(text)
        return [(text, *found)] if found is not None else []
    binding: Binding | None = own[head]
    for index in indices:
        if not isinstance(binding, tuple) or not index.strip().isdigit() or int(index) >= len(binding):
            return []
        binding = binding[int(index)]
    return list(_flat(state, text, binding))


def _flat(state: WarpState, path: str, binding: Binding | None) -> Iterator[tuple[str, Reg, str]]:
    if isinstance(binding, Register):
        register, declared = state.register(binding.name)
        yield path, register, binding.type or declared
    elif isinstance(binding, Located) and binding.register is not None and isinstance(binding.type, Scalar | Pointer):
        register, declared = state.register(binding.register)
        yield path, register, binding.type.type if isinstance(binding.type, Scalar) else declared
    elif isinstance(binding, tuple):
        for k, part in enumerate(binding):
            yield from _flat(state, f"{path}[{k}]", part)


def _register_watchpoint(
    launch: StoppedLaunch, state: WarpState, text: str, registers: list[tuple[str, Reg, str]]
) -> Watchpoint:
    offsets, cta, warp = state.run.machine.register_offsets, state.resident.id, state.warp
    spots = tuple(
        WatchedRange(Space.REGISTERS, cta, warp, offsets[r.index], 4 if r.width == 1 else 4 * max(32, r.width))
        for _, r, _ in registers
    )

    def describe(k: int, before: np.ndarray, after: np.ndarray) -> str:
        name, register, kind = registers[k]
        old, new = (_typed(raw, register, kind) for raw in (before, after))
        lanes = [lane for lane in range(32) if _bits(before, register, lane) != _bits(after, register, lane)]
        focus = launch.focus.lane
        lane = focus if focus in lanes else lanes[0] if lanes else 0
        more = f" and {len(lanes) - 1} more" if len(lanes) > 1 else ""
        return f"{name} of warp {warp}: {number_text(old[lane])} became {number_text(new[lane])} in lane {lane}{more}"

    return Watchpoint(spots, f"{text} of warp {warp}, CTA {launch.cta_text(cta)}", describe)


def _bits(raw: np.ndarray, register: Reg, lane: int) -> int | tuple[int, ...]:
    """Return the bits of one lane, from the bytes of a register."""
    if register.width == 1:
        return int(raw.view(np.uint32)[0]) >> lane & 1
    if register.width <= 32:
        return int(raw.view(np.uint32)[lane])
    return tuple(raw.view(np.uint64).reshape(-1, 32)[:, lane].tolist())


def _typed(raw: np.ndarray, register: Reg, kind: str) -> np.ndarray:
    """Return the lanes of a register as a type, from its bytes."""
    if register.width == 1:
        return (int(raw.view(np.uint32)[0]) >> np.arange(32) & 1).astype(np.int32)
    bits = raw.view(np.uint32 if register.width <= 32 else np.uint64)
    found = typed(bits if register.width <= 64 else bits.reshape(-1, 32), kind)
    return found.T if found.ndim == 2 else found


# memory ---------------------------------------------------------------------------------------------------------------


def _array_watchpoint(text: str, array: np.ndarray, indices: tuple[int, ...] | None) -> Watchpoint:
    start = array.__array_interface__["data"][0]
    if indices is not None:
        if len(indices) != array.ndim:
            raise DebugError(f"{text}: expected {array.ndim} indices")
        _ = array[indices]  # raises if out of range
        at = tuple(i % n for i, n in zip(indices, array.shape, strict=True))
        start += int(np.ravel_multi_index(at, array.shape)) * array.itemsize
    size = array.nbytes if indices is None else array.itemsize

    def describe(k: int, before: np.ndarray, after: np.ndarray) -> str:
        old, new = before.view(array.dtype), after.view(array.dtype)
        differing = np.flatnonzero((before != after).reshape(-1, array.itemsize).any(axis=1))
        first, where = int(differing[0]), text
        if indices is None:
            where = f"{text}[{', '.join(str(int(i)) for i in np.unravel_index(first, array.shape))}]"
        more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
        return f"{where}: {number_text(old[first])} became {number_text(new[first])}{more}"

    return Watchpoint((WatchedRange(Space.GLOBAL, 0, 0, start, size),), text, describe)


def _memory_watchpoint(state: WarpState, text: str, view: MemoryView, indices: tuple[int, ...] | None) -> Watchpoint:
    if view.space != "shared":
        raise DebugError(
            f"{text} is in {view.space} memory, which cannot be watched by name",
            hint="watch an argument, a register, or shared memory",
        )
    kind = "u64" if view.type == "mbarrier" else view.type
    item = element_bytes(kind)
    start, size = view.address, int(np.prod(view.shape)) * item
    if indices is not None:
        inside = view.shape[len(indices) :]
        size = int(np.prod(inside)) * item if inside else item
        start += int(np.ravel_multi_index((*indices, *(0 for _ in inside)), view.shape)) * item
    by_address = _address(state, text, "shared", start, size)

    def describe(k: int, before: np.ndarray, after: np.ndarray) -> str:
        if view.type == "mbarrier" and size == item:
            return by_address.describe(k, before, after)
        if size > 256 or size % item:
            first = int(np.flatnonzero(before != after)[0])
            return f"{text}: {int((before != after).sum())} bytes changed, the first at 0x{start + first:x}"
        old, new = decoded(before, kind), decoded(after, kind)
        first = int(np.flatnonzero((before != after).reshape(-1, item).any(axis=1))[0])
        if size == item:
            return f"{text}: {number_text(old[0])} became {number_text(new[0])}"
        return (
            f"{text}: element {first}: {number_text(old[first], base='x')} became {number_text(new[first], base='x')}"
        )

    return Watchpoint(by_address.spots, f"{text} of CTA {state.resident.id}", describe)


def _bytes_text(raw: np.ndarray) -> str:
    """Return bytes in hexadecimal; the state of an mbarrier as text."""
    word = int.from_bytes(raw.tobytes(), "little")
    if raw.size == 8 and is_mbarrier(word):
        return f"({mbarrier_text(word)})"
    return "0x" + raw.tobytes()[::-1].hex() if raw.size <= 16 else f"{raw.size} bytes"

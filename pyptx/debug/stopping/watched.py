"""What a watchpoint is on: the bytes that a written place means now, and how their change reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.looking import names as meanings
from pyptx.debug.looking.state import Place, State
from pyptx.debug.looking.values import decoded, shown, typed
from pyptx.sim.actions.basic import Reg
from pyptx.sim.core.stopped import Happened, Space, Spot
from pyptx.sim.faults.waits import is_mbarrier, mbarrier_text
from pyptx.sim.memory.spaces import SHARED_START

__all__ = ["changed_by", "watched"]

_ADDRESS = re.compile(r"(shared|global|tmem):(0[xX][0-9a-fA-F]+|\d+)(?::(\d+))?")
_ELEMENT = re.compile(r"(.+?)\[([^\]]+)\]")

Watched = tuple[Sequence[Spot], str, Callable[[int, np.ndarray, np.ndarray], str]]


def watched(session: Any, place: str) -> Watched:
    """Spots, a name, and what to say of a change of spot k.

    Raises:
        DebugError: the place means nothing that lies in memory or registers.
    """
    state, text = session.state(), place.strip()
    address = _ADDRESS.fullmatch(text)
    if address is not None:
        return _address(state, text, address[1], int(address[2], 0), int(address[3] or 4))
    registers = _registers(state, text)
    if registers:
        return _of_registers(session, state, text, registers)
    element = _ELEMENT.fullmatch(text)
    if element is not None:
        head = state.lookup(element[1])
        indices = tuple(int(part, 0) for part in element[2].split(","))
        if isinstance(head, np.ndarray) and element[1] in state.arguments:
            return _of_array(text, head, indices)
        if isinstance(head, Place):
            return _of_place(state, text, head, indices)
    else:
        value = state.lookup(text)
        if isinstance(value, np.ndarray) and text in state.arguments:
            return _of_array(text, value, None)
        if isinstance(value, Place):
            return _of_place(state, text, value, None)
    raise DebugError(f"{text!r} cannot be watched; expected a register or its name (%r3, acc[2]), shared:0x440, "
                     "shared:0x440:16, global:0x7000...:4, an argument or an element of one (out[3, 4]), or an "
                     "allocation in shared memory")


def changed_by(session: Any) -> str:
    """Who changed the bytes, in words: what landed last, or else the newest instruction."""
    machine, lines = session.run.machine, session.lines
    events, _ = machine.events()
    recent = events[events["step"] + 1 >= machine.step]
    landed = recent[recent["kind"] == Happened.LANDED]
    newest = machine.newest
    if len(landed):
        cta, warp, instruction = (int(landed[-1][name]) for name in ("cta", "warp", "instr"))
        how = "when this operation landed, started by"
    elif newest is not None:
        cta, warp, instruction, how = newest.cta, newest.warp, newest.instruction, "by"
    else:
        return ""
    return (f"\n{how} warp {warp} of CTA {session.cta_text(cta)} at {lines.told(instruction)}: "
            f"{lines.text(instruction)}")


def _address(state: State, text: str, space: str, address: int, size: int) -> Watched:
    cta = state.resident.id
    if space == "shared":
        state.shared(address, size)
        spot = Spot(Space.SHARED, cta, 0, address - SHARED_START, size)
    elif space == "tmem":
        lane, column = address >> 16, address & 0xFFFF
        if lane > 127 or column + -(-size // 4) > 512:
            raise DebugError(f"{text}: an address of tensor memory is lane << 16 | column, 128 lanes and 512 columns")
        spot = Spot(Space.TENSOR, cta, 0, 4 * (512 * lane + column), size)
    else:
        memory = state.read("global", address, size)
        spot = Spot(Space.GLOBAL, 0, 0, memory.__array_interface__["data"][0], size)

    def describe(k: int, before: np.ndarray, after: np.ndarray) -> str:
        return f"{text}: {_word(before)} became {_word(after)}"
    return [spot], text if space == "global" else f"{text} of CTA {cta}", describe


def _registers(state: State, text: str) -> list[tuple[str, Reg, str]]:
    """Name, register and type of each register that a text means."""
    if text.startswith("%"):
        register, declared = state.register(text)
        return [(text, register, declared)]
    own = state.names.at(state.instruction) if state.names is not None else {}
    head, *indices = text.replace("]", "").split("[")
    if head not in own:
        found = state.scope.register(text)
        return [(text, *found)] if found is not None else []
    meaning = own[head]
    for index in indices:
        if not isinstance(meaning, tuple) or not index.strip().isdigit() or int(index) >= len(meaning):
            return []
        meaning = meaning[int(index)]
    return list(_flat(state, text, meaning))


def _flat(state: State, path: str, meaning: Any):
    if isinstance(meaning, meanings.Register):
        register, declared = state.register(meaning.name)
        yield path, register, meaning.type or declared
    elif isinstance(meaning, tuple):
        for k, part in enumerate(meaning):
            yield from _flat(state, f"{path}[{k}]", part)


def _of_registers(session: Any, state: State, text: str, registers: list[tuple[str, Reg, str]]) -> Watched:
    offsets, cta, warp = state.run.machine.offsets, state.resident.id, state.warp
    spots = [Spot(Space.REGISTERS, cta, warp, offsets[r.index], 4 if r.width == 1 else 4 * max(32, r.width))
             for _, r, _ in registers]

    def describe(k: int, before: np.ndarray, after: np.ndarray) -> str:
        name, register, kind = registers[k]
        old, new = (_typed(raw, register, kind) for raw in (before, after))
        lanes = [lane for lane in range(32) if _bits(before, register, lane) != _bits(after, register, lane)]
        lane = session.focus.lane if session.focus.lane in lanes else lanes[0] if lanes else 0
        many = f" and {len(lanes) - 1} more" if len(lanes) > 1 else ""
        return f"{name} of warp {warp}: {shown(old[lane])} became {shown(new[lane])} in lane {lane}{many}"
    return spots, f"{text} of warp {warp}, CTA {session.cta_text(cta)}", describe


def _bits(raw: np.ndarray, register: Reg, lane: int) -> int | tuple[int, ...]:
    """The bits of one lane among those of a register."""
    if register.width == 1:
        return int(raw.view(np.uint32)[0]) >> lane & 1
    if register.width <= 32:
        return int(raw.view(np.uint32)[lane])
    return tuple(raw.view(np.uint64).reshape(-1, 32)[:, lane].tolist())


def _typed(raw: np.ndarray, register: Reg, kind: str) -> np.ndarray:
    if register.width == 1:
        return (int(raw.view(np.uint32)[0]) >> np.arange(32) & 1).astype(np.int32)
    bits = raw.view(np.uint32 if register.width <= 32 else np.uint64)
    found = typed(bits if register.width <= 64 else bits.reshape(-1, 32), kind)
    return found.T if found.ndim == 2 else found


def _of_array(text: str, array: np.ndarray, indices: tuple[int, ...] | None) -> Watched:
    part = array if indices is None else array[indices]
    part = np.asarray(part)
    start = array.__array_interface__["data"][0]
    if indices is not None:
        if len(indices) != array.ndim:
            raise DebugError(f"{text}: {array.ndim} indices expected")
        start += int(np.ravel_multi_index(tuple(i % n for i, n in zip(indices, array.shape, strict=True)),
                                          array.shape)) * array.itemsize
    size = array.nbytes if indices is None else array.itemsize

    def describe(k: int, before: np.ndarray, after: np.ndarray) -> str:
        old, new = before.view(array.dtype), after.view(array.dtype)
        first = int(np.flatnonzero((before != after).reshape(-1, array.itemsize).any(axis=1))[0])
        where = text if indices is not None else \
            f"{text}[{', '.join(str(int(i)) for i in np.unravel_index(first, array.shape))}]"
        more = int((before != after).reshape(-1, array.itemsize).any(axis=1).sum()) - 1
        return f"{where}: {shown(old[first])} became {shown(new[first])}" + (f" and {more} more" if more else "")
    return [Spot(Space.GLOBAL, 0, 0, start, size)], text, describe


def _of_place(state: State, text: str, place: Place, indices: tuple[int, ...] | None) -> Watched:
    if place.space != "shared":
        raise DebugError(f"{text} lies in {place.space} memory; watch an argument, a register or shared memory")
    kind = "u64" if place.type == "mbarrier" else place.type
    item = 16 // decoded(np.zeros(16, np.uint8), kind).size
    count = int(np.prod(place.shape))
    start, size = place.address, count * item
    if indices is not None:
        inside = place.shape[len(indices):]
        size = int(np.prod(inside)) * item if inside else item
        start += int(np.ravel_multi_index((*indices, *(0 for _ in inside)), place.shape)) * item
    spots, _, plain = _address(state, text, "shared", start, size)

    def describe(k: int, before: np.ndarray, after: np.ndarray) -> str:
        if place.type == "mbarrier" and size == item:
            return plain(k, before, after)
        if size > 256 or size % item:
            first = int(np.flatnonzero(before != after)[0])
            return f"{text}: {int((before != after).sum())} bytes changed, the first at 0x{start + first:x}"
        old, new = decoded(before, kind), decoded(after, kind)
        first = int(np.flatnonzero((before != after).reshape(-1, item).any(axis=1))[0])
        return f"{text}: element {first} was {shown(old[first], base='x')} and is {shown(new[first], base='x')}" \
            if size > item else f"{text}: {shown(old[0])} became {shown(new[0])}"
    return spots, f"{text} of CTA {state.resident.id}", describe


def _word(raw: np.ndarray) -> str:
    """Bytes in hexadecimal; the state of an mbarrier in words."""
    word = int.from_bytes(raw.tobytes(), "little")
    return f"({mbarrier_text(word)})" if raw.size == 8 and is_mbarrier(word) else _hex(raw)


def _hex(raw: np.ndarray) -> str:
    return "0x" + raw.tobytes()[::-1].hex() if raw.size <= 16 else f"{raw.size} bytes"

"""Tensor copies between global and shared memory, row by row (core/src/tensor_copy_rows.c).

`host(address, bytes, writes)` gives global memory as an array of bytes and raises TensorProblem where there is none;
`shared` is the memory of a CTA, whose first byte has the address `first`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pyptx.sim import actions as act
from pyptx.sim.abi import TensorCopyProblem
from pyptx.sim.memory.address_space import SHARED_START
from pyptx.sim.memory.tensor_maps import OOB_NAN
from pyptx.sim.reference.access import apply_atomic
from pyptx.sim.reference.tensor_map import Geometry, Map, Request, TensorProblem, rows, swizzled
from pyptx.sim.value_types import width
from pyptx.tensor_map import ELEMENTS

__all__ = ["check", "load", "poison", "reduce", "store"]

Host = Callable[[int, int, bool], np.ndarray]


def check(m: Map, request: Request, g: Geometry, address: int, shared: bytearray) -> None:
    """Check the address in shared memory and all coordinates.

    Raises:
        TensorProblem: misaligned, outside the CTA's memory, or a start that is not allowed.
    """
    if request.direction != "prefetch":
        if address % 128:
            raise TensorProblem(TensorCopyProblem.SHARED_ALIGNMENT, address)
        if address < SHARED_START or address - SHARED_START + g.footprint > len(shared):
            raise TensorProblem(TensorCopyProblem.SHARED_BOUNDS, address, g.footprint)
    for _ in rows(m, request, g):
        pass


def load(m: Map, request: Request, g: Geometry, host: Host, shared: bytearray, address: int) -> None:
    """Copy global to shared memory; elements outside the tensor are filled, padding is not written.

    Raises:
        TensorProblem: an element inside the tensor lies outside every buffer.
    """
    fill = np.full(g.global_unit * g.units // 2 + 1, OOB_NAN, np.uint16).view(np.uint8) if m.fill else None
    for number, at in rows(m, request, g):
        row = np.zeros(g.units * g.global_unit, np.uint8)
        if fill is not None:
            row[:] = fill[: len(row)]
        inside = np.zeros(g.units, bool)
        for unit, place in _units(m, g, at):
            row[unit * g.global_unit : (unit + 1) * g.global_unit] = host(place, g.global_unit, False)
            inside[unit] = True
        _convert(m, g, row, inside)
        for unit in range(g.units):
            data = row[unit * g.global_unit : (unit + 1) * g.global_unit]
            _put(m, shared, address + number * g.pitch + unit * g.shared_unit, data)


def store(m: Map, request: Request, g: Geometry, host: Host, shared: bytearray, address: int) -> None:
    """Copy shared to global memory; elements outside the tensor are dropped.

    Raises:
        TensorProblem: an element inside the tensor lies outside every buffer, or in read-only memory.
    """
    for number, at in rows(m, request, g):
        if request.inside and not _inside(m, at):
            return
        for unit, place in _units(m, g, at):
            data = _get(m, shared, address + number * g.pitch + unit * g.shared_unit, g.shared_unit)
            if g.shared_unit == 16 and g.global_unit == 12:  # b6p2x16: the low six bits of each byte
                bits = np.unpackbits(data[:, None], axis=1, bitorder="little")[:, :6]
                data = np.packbits(bits.reshape(-1), bitorder="little")
            host(place, g.global_unit, True)[:] = data


def reduce(m: Map, request: Request, g: Geometry, host: Host, shared: bytearray, address: int) -> None:
    """Combine shared memory with global memory, element by element; f32.ftz flushes subnormals, f32 keeps them.

    Raises:
        TensorProblem: as for store.
    """
    name = ELEMENTS[m.element].name
    type_name = name.removesuffix(".ftz")
    size = width(type_name) // 8
    action = act.Atomic(act.Address("global", None, 0), request.operation, type_name, False, size, 1, (), ())
    for number, at in rows(m, request, g):
        if request.inside and not _inside(m, at):
            return
        for unit, place in _units(m, g, at):
            data = _get(m, shared, address + number * g.pitch + unit * g.shared_unit, g.shared_unit).tobytes()
            memory = host(place, g.global_unit, True)
            for k in range(0, g.global_unit, size):
                old, value = (int.from_bytes(bytes(b[k : k + size]), "little") for b in (memory, data))
                new = apply_atomic(action, old, value, 0, ftz=name == "f32.ftz")
                memory[k : k + size] = np.frombuffer(new.to_bytes(size, "little"), np.uint8)


def poison(g: Geometry, shared: bytearray, address: int) -> None:
    """Fill the destination of a load, so that early reads are visible."""
    shared[address - SHARED_START : address - SHARED_START + g.footprint] = b"\xff" * g.footprint


# rows and bytes -------------------------------------------------------------------------------------------------------


def _inside(m: Map, at: tuple[int, ...]) -> bool:
    return all(0 <= c < n for c, n in zip(at[1:], m.sizes[1:], strict=True))


def _units(m: Map, g: Geometry, at: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield number and address of the units of a row that are inside the tensor."""
    if not _inside(m, at):
        return
    start = m.address + sum(c * s for c, s in zip(at[1:], m.strides, strict=True))
    first = at[0] // g.per_unit
    for unit in range(g.units):
        place = first + unit * g.step
        if 0 <= place < g.size:
            yield unit, start + place * g.global_unit


def _convert(m: Map, g: Geometry, row: np.ndarray, inside: np.ndarray) -> None:
    """Loads of tf32 round to it, to nearest even, and have one NaN; the types with .ftz flush subnormals. Fill is left
    alone.
    """
    name = ELEMENTS[m.element].name
    if name not in ("tf32", "tf32.ftz", "f32.ftz"):
        return
    words = row.view(np.uint32)
    changed = words.copy()
    if name.endswith(".ftz"):
        changed = np.where(changed & 0x7F800000, changed, changed & np.uint32(0x80000000))
    if name.startswith("tf32"):
        rounded = changed + np.uint32(0xFFF) + (changed >> np.uint32(13) & np.uint32(1)) & np.uint32(0xFFFFE000)
        changed = np.where(changed & 0x7F800000 == 0x7F800000, changed, rounded)
        changed = np.where(changed & 0x7FFFFFFF > 0x7F800000, np.uint32(0x7FFFE000), changed)
    words[:] = np.where(np.repeat(inside, g.global_unit // 4), changed, words)


def _put(m: Map, shared: bytearray, address: int, data: np.ndarray) -> None:
    for k, (start, n) in _pieces(m, address, len(data)):
        shared[start - SHARED_START : start - SHARED_START + n] = data[k : k + n].tobytes()


def _get(m: Map, shared: bytearray, address: int, bytes_: int) -> np.ndarray:
    out = np.zeros(bytes_, np.uint8)
    for k, (start, n) in _pieces(m, address, bytes_):
        out[k : k + n] = np.frombuffer(shared[start - SHARED_START : start - SHARED_START + n], np.uint8)
    return out


def _pieces(m: Map, address: int, bytes_: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield source and destination of pieces: 16 bytes, or 8 if halves are flipped."""
    atom, k = 8 if m.atomicity == 2 else 16, 0
    while k < bytes_:
        n = min(bytes_ - k, atom - (address + k) % atom)
        yield k, (swizzled(m, address + k), n)
        k += n

"""suld, sust, sured: bytes, or formatted elements, of a surface (core/src/surface.c)."""

from __future__ import annotations

import numpy as np

from pyptx.sim.abi import TextureProblem
from pyptx.sim.actions import Address, Atomic, SurfaceLoad, SurfaceReduce, SurfaceStore
from pyptx.sim.reference import lane_values
from pyptx.sim.reference._registry import handles
from pyptx.sim.reference.access import apply_atomic
from pyptx.sim.reference.state import Runner, lanes_of
from pyptx.sim.reference.texture_objects import Objects, Record, f16_bits, float_of

__all__: list[str] = []

Access = SurfaceLoad | SurfaceStore | SurfaceReduce


def _signed(bits: int) -> int:
    return (bits & 0xFFFFFFFF) - ((bits & 0x80000000) << 1)


def _place(
    objects: Objects, action: Access, bytes_: int, at: list[int], index: int | None
) -> tuple[Record, int | None]:
    """Resolve the coordinates of a lane to a surface and an address; None if they are outside, with .zero.

    Raises:
        Fault: outside, with .trap; misaligned; another geometry.
    """
    formatted, r = getattr(action, "formatted", False), objects.of("surface")
    wanted = "a2d" if r.geometry.cube else r.geometry.name  # faces are layers
    if action.geometry != wanted:
        raise objects.fail(TextureProblem.GEOMETRY)
    _, width, height, depth, *_ = r.level(0)
    most = [
        width - 1 if formatted else width * r.bytes - bytes_,
        height - 1,
        depth - 1,
        r.layers - 1 if r.geometry.layered or r.geometry.cube else 0,
    ]
    found = [0, 0, 0, 0]
    asked = [(d, v & 0xFFFFFFFF) for d, v in enumerate(at)] + ([] if index is None else [(3, index & 0xFFFFFFFF)])
    for d, bits in asked:
        found[d] = _signed(bits) if d < 3 else bits
        if d == 0 and not formatted and bits & (bytes_ - 1):
            raise objects.fail(TextureProblem.ALIGNMENT, 0, bits)
        if 0 <= found[d] <= most[d]:
            continue
        if action.outside == "zero":
            return r, None
        if action.outside == "trap" or most[d] < 0:
            raise objects.fail(TextureProblem.BOUNDS, d, bits)
        found[d] = 0 if found[d] < 0 else most[d]
    x, y, z, layer = found
    return r, r.address(0, 0, y, z, layer, 0) + x * (r.bytes if formatted else 1)


def _lanes(runner: Runner, action: Access, mask: int):
    """Yield lane, handle, coordinates and layer of each lane."""
    objects = Objects(runner)
    columns = [lane_values.read(runner, value, mask) for value in action.coordinates]
    index = getattr(action, "index", None)
    layers = [None] * mask.bit_count() if index is None else lane_values.read(runner, index, mask)
    found = objects.handles(action.handle, mask)
    for k, lane in enumerate(lanes_of(mask)):
        objects.lane, objects.handle = lane, found[k]
        yield objects, k, [column[k] for column in columns], layers[k]
    objects.account()


@handles(SurfaceLoad)
def _load(runner: Runner, action: SurfaceLoad, mask: int) -> None:
    size, count, results = action.size, len(action.data), []
    for objects, _, at, layer in _lanes(runner, action, mask):
        _, address = _place(objects, action, size * count, at, layer)
        data = bytes(size * count) if address is None else objects.memory(address, size * count).tobytes()
        results.append([int.from_bytes(data[k * size : (k + 1) * size], "little") for k in range(count)])
    for k, register in enumerate(action.data):
        lane_values.write(runner, register, mask, [values[k] for values in results])


def _formatted(objects: Objects, r: Record, values: list[int]) -> bytes:
    """Encode 32-bit values as an element, as sust.p stores it."""
    if len(values) < r.channels:
        raise objects.fail(TextureProblem.CHANNELS)
    data, bits = b"", r.format.bits
    for value in values[: r.channels]:
        value &= 0xFFFFFFFF
        if r.format.name == "f16":
            value = f16_bits(float_of(value))
        elif bits < 32:
            signed = _signed(value) if r.format.signed else value
            low = -(1 << bits - 1) if r.format.signed else 0
            if not low <= signed < low + (1 << bits):
                raise objects.fail(TextureProblem.FITS, 0, value)
        data += (value & (1 << bits) - 1).to_bytes(bits // 8, "little")
    return data


@handles(SurfaceStore)
def _store(runner: Runner, action: SurfaceStore, mask: int) -> None:
    columns = [lane_values.read(runner, value, mask) for value in action.source]
    cut = (1 << 8 * action.size) - 1
    for objects, k, at, layer in _lanes(runner, action, mask):
        r, address = _place(objects, action, action.size * len(action.source), at, layer)
        values = [column[k] for column in columns]
        data = (
            _formatted(objects, r, values)
            if action.formatted
            else b"".join((v & cut).to_bytes(action.size, "little") for v in values)
        )
        if address is not None:
            objects.memory(address, len(data), writes=True)[:] = np.frombuffer(data, np.uint8)


@handles(SurfaceReduce)
def _reduce(runner: Runner, action: SurfaceReduce, mask: int) -> None:
    values, size = lane_values.read(runner, action.source, mask), action.size
    for objects, k, at, layer in _lanes(runner, action, mask):
        r, address = _place(objects, action, size, at, layer)
        type_name = action.type.replace("b", "u")
        if action.formatted:
            if r.format.name not in ("u32", "s32") or r.channels != 1:
                raise objects.fail(TextureProblem.FORMAT)
            type_name = r.format.name
        if address is None:
            continue
        memory = objects.memory(address, size, writes=True)
        atomic = Atomic(Address("global", None, 0), action.reduction, type_name, False, size, 1, (), ())
        old = int.from_bytes(memory.tobytes(), "little")
        new = apply_atomic(atomic, old, values[k] & (1 << 8 * size) - 1, 0, ftz=False)
        memory[:] = np.frombuffer((new & (1 << 8 * size) - 1).to_bytes(size, "little"), np.uint8)

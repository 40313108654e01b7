"""Textures and surfaces: records, their memory and attributes (core/src/texture_objects.c)."""

from __future__ import annotations

import numpy as np

from pyptx.sim.abi import LEVEL_WORDS, OBJECT_KINDS, ObjectFlag, ObjectWord, TextureProblem
from pyptx.sim.actions import Address, Handle, IsType, Query
from pyptx.sim.memory.address_space import OBJECT_STRIDE, OBJECT_WINDOW
from pyptx.sim.memory.texture_objects import (
    ObjectTable,
)
from pyptx.sim.reference import lane_values
from pyptx.sim.reference._registry import handles
from pyptx.sim.reference.access import segment_at
from pyptx.sim.reference.state import Fault, Runner, lanes_of
from pyptx.texture import FORMATS, GEOMETRIES

__all__ = ["Objects", "Record", "f16_bits", "f32_bits", "float_of"]


def float_of(bits: int) -> float:
    """Return the value of f32 bits."""
    return float(np.array(bits, np.uint32).view(np.float32))


def f32_bits(value: float) -> int:
    """Round to the nearest f32, with a canonical NaN."""
    if value != value:
        return 0x7FFFFFFF
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32))


def f16_bits(value: float) -> int:
    """Round to the nearest f16, with a canonical NaN."""
    if value != value:
        return 0x7FFF
    with np.errstate(over="ignore"):
        return int(np.float64(value).astype(np.float16).view(np.uint16))


class Record:
    """Record of a texture or surface, with its words as attributes."""

    def __init__(self, words: np.ndarray):
        w = self.words = [int(v) for v in words[: ObjectWord.LEVEL + LEVEL_WORDS * 20]]
        self.kind, self.channels, self.format = OBJECT_KINDS[w[0]], w[2], FORMATS[w[3]]
        self.geometry = next(g for g in GEOMETRIES.values() if g.code == w[1])
        self.flags, self.linear, self.mip_linear, self.modes = w[4], bool(w[5]), bool(w[6]), w[7]
        self.border = w[8:12]
        self.bias, self.least, self.most = (float_of(v) for v in w[12:15])
        self.levels, self.layers, self.samples, self.bytes, self.step = w[15:20]
        self.colour, self.plain = (
            words[ObjectWord.COLOR : ObjectWord.PLAIN].view(np.uint32),
            words[ObjectWord.PLAIN :].view(np.uint32),
        )

    @property
    def floats(self) -> bool:
        return self.format.floating or bool(self.flags & ObjectFlag.NORMALIZED_FLOAT)

    def level(self, number: int) -> list[int]:
        """Return address, width, height, depth and pitches of a level."""
        return self.words[ObjectWord.LEVEL + LEVEL_WORDS * number :][:LEVEL_WORDS]

    def address(self, level: int, x: int, y: int, z: int, layer: int, sample: int) -> int:
        base, _, _, _, row, plane, of_layer, of_sample = self.level(level)
        return (base + x * self.step + y * row + z * plane + layer * of_layer + sample * of_sample) & (1 << 64) - 1

    def channel(self, data: bytes, c: int) -> int:
        """Read a channel of an element: bits of an f32, or a 32-bit integer."""
        size = self.format.bits // 8
        value = int.from_bytes(data[c * size : (c + 1) * size], "little", signed=self.format.signed)
        if self.format.name == "f16":
            return f32_bits(float(np.array(value, np.uint16).view(np.float16)))
        if not self.flags & ObjectFlag.NORMALIZED_FLOAT:
            return value & 0xFFFFFFFF
        if size == 1:
            return int((self.colour if c < 3 else self.plain)[value & 255])
        return f32_bits(max(value / ((1 << self.format.bits - self.format.signed) - 1), -1.0))


class Objects:
    """Textures and surfaces that an instruction accesses; counts the sectors it touches."""

    def __init__(self, runner: Runner):
        self.runner, self.sectors = runner, set()
        self.lane = self.handle = 0

    def fail(self, problem: TextureProblem, axis: int = 0, value: int = 0) -> Fault:
        return Fault("texture", self.lane, self.handle, problem | axis << 8 | (value & 0xFFFFFFFF) << 32)

    def at(self, handle: int) -> Record | None:
        """Return the record that a handle points to."""
        segments = self.runner.run.segments
        table = segments[-1].buffer if segments else None
        number, inside = divmod(handle - OBJECT_WINDOW, OBJECT_STRIDE)
        if not isinstance(table, ObjectTable) or inside or not 0 < number <= len(table.names):
            return None
        known = table.__dict__.setdefault("records", {})
        if number not in known:
            known[number] = Record(table.array[number])
        return known[number]

    def of(self, kind: str, geometry: str | None = None) -> Record:
        """Return the record of the running lane.

        Raises:
            Fault: it is none, of the other kind, or of another geometry.
        """
        record = self.at(self.handle)
        if record is None:
            raise self.fail(TextureProblem.HANDLE)
        if record.kind != kind:
            raise self.fail(TextureProblem.KIND)
        if geometry is not None and record.geometry.name != geometry:
            raise self.fail(TextureProblem.GEOMETRY)
        return record

    def memory(self, address: int, bytes_: int, *, writes: bool = False) -> np.ndarray:
        """Return a view of memory and count the access."""
        segment = segment_at(self.runner, address, bytes_)
        if segment is None or (writes and segment.buffer.read_only):
            raise self.fail(TextureProblem.MEMORY)
        self.sectors.add(address >> 5)
        offset = address - segment.address
        return segment.buffer.bytes[offset : offset + bytes_]

    def account(self) -> None:
        counters, pc = self.runner.run.counters, self.runner.pc
        counters.global_requests[pc] += 1
        counters.global_sectors[pc] += len(self.sectors)

    def handles(self, handle: Handle, mask: int) -> list[int]:
        if isinstance(handle, Address):
            block = self.runner.run.params
            return [int.from_bytes(block[handle.offset : handle.offset + 8], "little")] * mask.bit_count()
        return lane_values.read(self.runner, handle, mask)


# attributes ---------------------------------------------------------------------------------------------------------

_TYPES = (0x10DA, 0x10D7, 0x10DB, 0x10D8, 0x10DC, 0x10D9, 0x10DD, 0x10DE)
_NORMALIZED_TYPES = (0x10D2, 0x10D0, 0x10D3, 0x10D1)
_ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}


def _attribute(r: Record, name: str, level: int) -> int:
    """Return an attribute; type and order numbers are those of the PTX ISA for OpenCL."""
    _, width, height, depth, *_ = r.level(level)
    dims, normalized = r.geometry.dims, r.flags & ObjectFlag.NORMALIZED_FLOAT
    return {
        "width": width,
        "height": height if dims > 1 else 0,
        "depth": depth if dims > 2 else 0,
        "channel_data_type": (_NORMALIZED_TYPES if normalized else _TYPES)[r.format.code],
        "channel_order": _ORDERS[r.channels],
        "normalized_coords": int(bool(r.flags & ObjectFlag.NORMALIZED)),
        "array_size": (r.layers // (6 if r.geometry.cube else 1)) if r.geometry.layered else 0,
        "num_mipmap_levels": r.levels,
        "num_samples": r.samples,
        "memory_layout": int(bool(r.flags & ObjectFlag.LINEAR)),
    }[name]


@handles(Query)
def _query(runner: Runner, action: Query, mask: int) -> None:
    objects, results = Objects(runner), []
    levels = [0] * mask.bit_count() if action.level is None else lane_values.read(runner, action.level, mask)
    for lane, handle, level in zip(lanes_of(mask), objects.handles(action.handle, mask), levels, strict=True):
        objects.lane, objects.handle = lane, handle
        record = objects.of(action.kind)
        if level >= record.levels:
            raise objects.fail(TextureProblem.LEVEL, 0, level)
        results.append(_attribute(record, action.attribute, level))
    lane_values.write(runner, action.data, mask, results)


@handles(IsType)
def _is_type(runner: Runner, action: IsType, mask: int) -> None:
    objects = Objects(runner)
    records = [objects.at(handle) for handle in objects.handles(action.handle, mask)]
    lane_values.write(runner, action.data, mask, [int(r is not None and r.kind == action.kind) for r in records])

"""Textures and surfaces as the reference has them: records, memory behind them, their attributes (core/object.c)."""

from __future__ import annotations

import numpy as np

from pyptx.sim.actions.basic import Address
from pyptx.sim.actions.textures import Handle, IsType, Query
from pyptx.sim.faults.textures import Problem
from pyptx.sim.memory.objects import (
    COLOUR,
    FLAG_LINEAR,
    FLAG_NORMALIZED,
    FLAG_NORMALIZED_FLOAT,
    KINDS,
    LEVEL,
    LEVEL_WORDS,
    PLAIN,
    ObjectTable,
)
from pyptx.sim.memory.spaces import OBJECT_STRIDE, OBJECT_WINDOW
from pyptx.sim.reference import lanevalues
from pyptx.sim.reference.access import segment_at
from pyptx.sim.reference.handlers import handles
from pyptx.sim.reference.state import Fault, lanes_of
from pyptx.texture import FORMATS, GEOMETRIES

__all__ = ["Objects", "Record", "f16_bits", "f32_bits", "float_of"]


def float_of(bits: int) -> float:
    """A float of 32 bits."""
    return float(np.array(bits, np.uint32).view(np.float32))


def f32_bits(value: float) -> int:
    """The nearest f32; one NaN."""
    if value != value:
        return 0x7FFFFFFF
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32))


def f16_bits(value: float) -> int:
    """The nearest f16; one NaN."""
    if value != value:
        return 0x7FFF
    with np.errstate(over="ignore"):
        return int(np.float64(value).astype(np.float16).view(np.uint16))


class Record:
    """What a texture or surface is; the words as attributes."""

    def __init__(self, words: np.ndarray):
        w = self.words = [int(v) for v in words[:LEVEL + LEVEL_WORDS * 20]]
        self.kind, self.channels, self.format = KINDS[w[0]], w[2], FORMATS[w[3]]
        self.geometry = next(g for g in GEOMETRIES.values() if g.code == w[1])
        self.flags, self.linear, self.mip_linear, self.modes = w[4], bool(w[5]), bool(w[6]), w[7]
        self.border = w[8:12]
        self.bias, self.least, self.most = (float_of(v) for v in w[12:15])
        self.levels, self.layers, self.samples, self.bytes, self.step = w[15:20]
        self.colour, self.plain = words[COLOUR:PLAIN].view(np.uint32), words[PLAIN:].view(np.uint32)

    @property
    def floats(self) -> bool:
        return self.format.floating or bool(self.flags & FLAG_NORMALIZED_FLOAT)

    def level(self, number: int) -> list[int]:
        """Address, width, height, depth, and the pitches of a level."""
        return self.words[LEVEL + LEVEL_WORDS * number:][:LEVEL_WORDS]

    def address(self, level: int, x: int, y: int, z: int, layer: int, sample: int) -> int:
        base, _, _, _, row, plane, of_layer, of_sample = self.level(level)
        return (base + x * self.step + y * row + z * plane + layer * of_layer + sample * of_sample) & (1 << 64) - 1

    def channel(self, data: bytes, c: int) -> int:
        """One channel of an element: bits of an f32, or an integer in 32 bits."""
        size = self.format.bits // 8
        value = int.from_bytes(data[c * size:(c + 1) * size], "little", signed=self.format.signed)
        if self.format.name == "f16":
            return f32_bits(float(np.array(value, np.uint16).view(np.float16)))
        if not self.flags & FLAG_NORMALIZED_FLOAT:
            return value & 0xFFFFFFFF
        if size == 1:
            return int((self.colour if c < 3 else self.plain)[value & 255])
        return f32_bits(max(value / ((1 << self.format.bits - self.format.signed) - 1), -1.0))


class Objects:
    """Textures and surfaces as one instruction accesses them; counts the sectors it touches."""

    def __init__(self, runner):
        self.runner, self.sectors = runner, set()
        self.lane = self.handle = 0

    def fail(self, problem: Problem, axis: int = 0, value: int = 0) -> Fault:
        return Fault("texture", self.lane, self.handle, problem | axis << 8 | (value & 0xFFFFFFFF) << 32)

    def at(self, handle: int) -> Record | None:
        """The record a handle points to."""
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
        """The record of the lane that runs.

        Raises:
            Fault: it is none, of the other kind, or of another geometry.
        """
        record = self.at(self.handle)
        if record is None:
            raise self.fail(Problem.HANDLE)
        if record.kind != kind:
            raise self.fail(Problem.KIND)
        if geometry is not None and record.geometry.name != geometry:
            raise self.fail(Problem.GEOMETRY)
        return record

    def memory(self, address: int, bytes_: int, *, writes: bool = False) -> np.ndarray:
        """A view of memory, counted."""
        segment = segment_at(self.runner, address, bytes_)
        if segment is None or (writes and segment.buffer.read_only):
            raise self.fail(Problem.MEMORY)
        self.sectors.add(address >> 5)
        offset = address - segment.address
        return segment.buffer.bytes[offset:offset + bytes_]

    def account(self) -> None:
        counters, pc = self.runner.run.counters, self.runner.pc
        counters.global_requests[pc] += 1
        counters.global_sectors[pc] += len(self.sectors)

    def handles(self, handle: Handle, mask: int) -> list[int]:
        if isinstance(handle, Address):
            block = self.runner.run.params
            return [int.from_bytes(block[handle.offset:handle.offset + 8], "little")] * mask.bit_count()
        return lanevalues.read(self.runner, handle, mask)


# attributes ---------------------------------------------------------------------------------------------------------

_TYPES = (0x10DA, 0x10D7, 0x10DB, 0x10D8, 0x10DC, 0x10D9, 0x10DD, 0x10DE)
_NORMALIZED_TYPES = (0x10D2, 0x10D0, 0x10D3, 0x10D1)
_ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}


def _attribute(r: Record, name: str, level: int) -> int:
    """Numbers of types and orders are those PTX ISA gives for OpenCL."""
    _, width, height, depth, *_ = r.level(level)
    dims, normalized = r.geometry.dims, r.flags & FLAG_NORMALIZED_FLOAT
    return {"width": width, "height": height if dims > 1 else 0, "depth": depth if dims > 2 else 0,
            "channel_data_type": (_NORMALIZED_TYPES if normalized else _TYPES)[r.format.code],
            "channel_order": _ORDERS[r.channels], "normalized_coords": int(bool(r.flags & FLAG_NORMALIZED)),
            "array_size": (r.layers // (6 if r.geometry.cube else 1)) if r.geometry.layered else 0,
            "num_mipmap_levels": r.levels, "num_samples": r.samples,
            "memory_layout": int(bool(r.flags & FLAG_LINEAR))}[name]


@handles(Query)
def _query(runner, action: Query, mask: int) -> None:
    objects, results = Objects(runner), []
    levels = [0] * mask.bit_count() if action.level is None else lanevalues.read(runner, action.level, mask)
    for lane, handle, level in zip(lanes_of(mask), objects.handles(action.handle, mask), levels, strict=True):
        objects.lane, objects.handle = lane, handle
        record = objects.of(action.kind)
        if level >= record.levels:
            raise objects.fail(Problem.LEVEL, 0, level)
        results.append(_attribute(record, action.attribute, level))
    lanevalues.write(runner, action.data, mask, results)


@handles(IsType)
def _is_type(runner, action: IsType, mask: int) -> None:
    objects = Objects(runner)
    records = [objects.at(handle) for handle in objects.handles(action.handle, mask)]
    lanevalues.write(runner, action.data, mask, [int(r is not None and r.kind == action.kind) for r in records])

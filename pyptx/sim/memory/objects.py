"""Textures and surfaces among the arguments of a launch: records of what they are, which handles point to.

A record is 512 words of 64 bits, laid out alike in core/texture.h:

    0 kind (1 texture, 2 surface)   1 geometry    2 channels    3 format    4 flags     5 filter, 6 mip filter
    7 address modes, 4 bits each    8-11 border, bits of f32     12 lod bias, 13 least, 14 most lod (bits of f32)
    15 levels   16 layers   17 samples   18 bytes of an element
    24 + 8 * level: address, width, height, depth, bytes from row to row, slice to slice,
        layer to layer, sample to sample
    256-383: what each byte of a channel reads as, f32, two a word; 384-511 the same of the fourth channel

The first record of a launch is none: its word 0 is how many there are. Records lie in no segment of simulated memory,
so that a kernel that takes a handle for a pointer is found.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np

from pyptx.errors import LaunchError
from pyptx.sim.memory.maps import memory_behind
from pyptx.sim.memory.spaces import OBJECT_STRIDE, OBJECT_WINDOW, Buffer, Segment
from pyptx.texture import Surface, Texture
from pyptx.texture._texture import ADDRESS_MODES, FILTERS

__all__ = ["FLAG_LINEAR", "FLAG_NORMALIZED", "FLAG_NORMALIZED_FLOAT", "KINDS", "ObjectArgument",
           "ObjectTable", "WORDS", "object_table", "REFERENCES", "references_end"]

WORDS = OBJECT_STRIDE // 8
LEVEL, LEVEL_WORDS, COLOUR, PLAIN, MOST_LEVELS = 24, 8, 256, 384, 20
KINDS = ("none", "texture", "surface")
REFERENCES = ("texref", "samplerref", "surfref")                # types of variables that nothing is bound to any more
FLAG_NORMALIZED, FLAG_NORMALIZED_FLOAT, FLAG_LINEAR = 1, 2, 8


class ObjectArgument:
    """A texture or surface passed to a parameter: its arrays as buffers.

    Raises:
        LaunchError: an array is on a GPU, a view of no contiguous array, or a read-only one of a surface.
    """

    def __init__(self, value: Texture | Surface, name: str):
        self.value, self.name = value, name
        self.places: list[tuple[Buffer, int]] = []
        for level in value.levels.whole:
            if level.source.address is not None:
                raise LaunchError(f"parameter {name}: the {_kind(value)}'s array is on a GPU; the simulator takes "
                                  "NumPy arrays")
            self.places.append(memory_behind(level.source.array, name, _kind(value)))
        if isinstance(value, Surface) and self.places[0][0].read_only:
            raise LaunchError(f"parameter {name}: the surface's array is read-only")

    @property
    def buffers(self) -> list[Buffer]:
        return [buffer for buffer, _ in self.places]

    def record(self, placed: Mapping[int, Segment]) -> np.ndarray:
        """The record, for arrays that lie so."""
        value, levels = self.value, self.value.levels
        words = np.zeros(WORDS, np.uint64)
        words[:4] = (KINDS.index(_kind(value)), levels.geometry.code, levels.channels, levels.format.code)
        words[15:19] = (len(levels.whole), value.extents.layers, value.extents.samples, levels.element_bytes)
        if isinstance(value, Texture):
            flags = ((FLAG_NORMALIZED if value.normalized else 0)
                     | (FLAG_NORMALIZED_FLOAT if value.read == "normalized_float" else 0)
                     | (FLAG_LINEAR if value.memory == "linear" else 0))
            words[4:8] = (flags, FILTERS.index(value.filter), FILTERS.index(value.mip_filter),
                          sum(ADDRESS_MODES.index(m) << 4 * k for k, m in enumerate(value.address)))
            words[8:12] = [_bits(v) for v in value.border]
            words[12:15] = [_bits(v) for v in (value.lod_bias, *value.lod_clamp)]
            if value.read == "normalized_float" and value.format.bits == 8:
                plain = _fractions(value.format.signed)
                words[COLOUR:PLAIN] = (_from_srgb() if value.srgb else plain).view(np.uint64)
                words[PLAIN:] = plain.view(np.uint64)
        for number, ((buffer, offset), level) in enumerate(zip(self.places, levels.whole, strict=True)):
            at = LEVEL + LEVEL_WORDS * number
            e, strides = level.extents, dict(zip(levels.geometry.axes, level.source.strides, strict=False))
            element = levels.element_bytes
            row = strides.get("height", 0)
            layer = strides.get("faces", strides.get("layers", 0))
            words[at:at + 8] = np.array([placed[id(buffer)].address + offset, e.width, e.height, e.depth, row,
                                         strides.get("depth", 0), layer, strides.get("samples", 0)],
                                        np.int64).view(np.uint64)
            words[19] = strides["width"] if e.width > 1 else element
        return words


def _kind(value: Texture | Surface) -> str:
    return "texture" if isinstance(value, Texture) else "surface"


def _bits(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def _fractions(signed: bool) -> np.ndarray:
    """What each byte reads as: 0 to 1, or -1 to 1."""
    if not signed:
        return (np.arange(256) / 255).astype(np.float32)
    return np.maximum(np.arange(256).astype(np.uint8).view(np.int8) / 127, -1).astype(np.float32)


def _from_srgb() -> np.ndarray:
    """What each byte of an sRGB channel reads as. Source: IEC 61966-2-1."""
    stored = np.arange(256) / 255
    return np.where(stored <= 0.04045, stored / 12.92, ((stored + 0.055) / 1.055) ** 2.4).astype(np.float32)


class ObjectTable(Buffer):
    """The records of a launch; `names` of the arguments."""

    def __init__(self, names: Sequence[str], records: Sequence[np.ndarray]):
        head = np.zeros(WORDS, np.uint64)
        head[0] = len(records)
        super().__init__(np.stack([head, *records]), "textures and surfaces", read_only=True)
        self.names = tuple(names)

    def name_of(self, handle: int) -> str | None:
        """The argument a handle is of."""
        number, inside = divmod(handle - OBJECT_WINDOW, OBJECT_STRIDE)
        return self.names[number - 1] if not inside and 0 < number <= len(self.names) else None


def object_table(arguments: Sequence[ObjectArgument], placed: Mapping[int, Segment]) -> Segment | None:
    """The records of all arguments as a segment that no access finds; None where there are none."""
    if not arguments:
        return None
    table = ObjectTable([a.name for a in arguments], [a.record(placed) for a in arguments])
    segment = Segment(OBJECT_WINDOW, table, "object")
    segment.size = 0
    return segment


def references_end(kind: str, name: str) -> str:
    """Why a variable that is a texture, sampler or surface is refused, and what to do."""
    value = "Surface" if kind == "surfref" else "Texture"
    return (f"nothing is bound to a .{kind} by name, which CUDA has given up: take the handle as a parameter .u64, "
            f"pass a pyptx.{value} for it, and write [%handle, {{...}}] for [{name}, {{...}}]")

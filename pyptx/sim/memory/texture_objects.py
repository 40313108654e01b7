"""Textures and surfaces as arguments of a launch: the records that their handles point to.

A record has 512 words of 64 bits (`abi.ObjectWord`):

    0 kind (1 texture, 2 surface)   1 geometry    2 channels    3 format    4 flags     5 filter, 6 mip filter
    7 address modes, 4 bits each    8-11 border, bits of f32     12 lod bias, 13 minimum, 14 maximum lod (bits of f32)
    15 levels   16 layers   17 samples   18 bytes per element
    24 + 8 * level: address, width, height, depth, strides in bytes of rows, slices,
        layers and samples
    256-383: value of each byte of a channel as f32, two per word; 384-511 the same for the fourth channel

Word 0 of the first entry is the number of records that follow. Records are not mapped in the address space, so that a
kernel that uses a handle as a pointer faults.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np

from pyptx.errors import ArgumentValueError
from pyptx.sim.abi import LEVEL_WORDS, OBJECT_KINDS, ObjectFlag, ObjectWord
from pyptx.sim.memory.address_space import OBJECT_STRIDE, OBJECT_WINDOW, Buffer, Segment
from pyptx.sim.memory.tensor_maps import memory_behind
from pyptx.texture import Surface, Texture
from pyptx.texture._texture import ADDRESS_MODES, FILTERS

__all__ = [
    "ObjectArgument",
    "ObjectTable",
    "WORDS",
    "object_table",
    "REFERENCES",
    "explain_reference",
]

WORDS = OBJECT_STRIDE // 8
REFERENCES = ("texref", "samplerref", "surfref")  # types of variables that CUDA no longer binds


class ObjectArgument:
    """A texture or surface passed to a parameter: its arrays as buffers.

    Raises:
        LaunchError: an array is on a GPU, a view whose base is not contiguous, or read-only for a surface.
    """

    name: str
    value: Texture | Surface

    def __init__(self, value: Texture | Surface, name: str):
        self.value, self.name = value, name
        self.places: list[tuple[Buffer, int]] = []
        for level in value.levels.whole:
            if level.source.address is not None:
                raise ArgumentValueError(
                    f"parameter {name}: the {_kind(value)}'s array is on a GPU; the simulator takes NumPy arrays"
                )
            self.places.append(memory_behind(level.source.array, name, _kind(value)))
        if isinstance(value, Surface) and self.places[0][0].read_only:
            raise ArgumentValueError(f"parameter {name}: the surface's array is read-only")

    @property
    def buffers(self) -> list[Buffer]:
        """Buffers of its levels."""
        return [buffer for buffer, _ in self.places]

    def record(self, placed: Mapping[int, Segment]) -> np.ndarray:
        """Return the record, for buffers placed in these segments."""
        value, levels = self.value, self.value.levels
        words = np.zeros(WORDS, np.uint64)
        words[:4] = (OBJECT_KINDS.index(_kind(value)), levels.geometry.code, levels.channels, levels.format.code)
        words[15:19] = (len(levels.whole), value.extents.layers, value.extents.samples, levels.element_bytes)
        if isinstance(value, Texture):
            flags = (
                (ObjectFlag.NORMALIZED if value.normalized else 0)
                | (ObjectFlag.NORMALIZED_FLOAT if value.read == "normalized_float" else 0)
                | (ObjectFlag.LINEAR if value.memory == "linear" else 0)
            )
            words[4:8] = (
                flags,
                FILTERS.index(value.filter),
                FILTERS.index(value.mip_filter),
                sum(ADDRESS_MODES.index(m) << 4 * k for k, m in enumerate(value.address)),
            )
            words[8:12] = [_bits(v) for v in value.border]
            words[12:15] = [_bits(v) for v in (value.lod_bias, *value.lod_clamp)]
            if value.read == "normalized_float" and value.format.bits == 8:
                plain = _fractions(value.format.signed)
                words[ObjectWord.COLOR : ObjectWord.PLAIN] = (_from_srgb() if value.srgb else plain).view(np.uint64)
                words[ObjectWord.PLAIN :] = plain.view(np.uint64)
        for number, ((buffer, offset), level) in enumerate(zip(self.places, levels.whole, strict=True)):
            at = ObjectWord.LEVEL + LEVEL_WORDS * number
            e, strides = (
                level.extents,
                dict(zip(levels.geometry.axes, level.source.strides or (), strict=False)),
            )
            element = levels.element_bytes
            row = strides.get("height", 0)
            layer = strides.get("faces", strides.get("layers", 0))
            words[at : at + 8] = np.array(
                [
                    placed[id(buffer)].address + offset,
                    e.width,
                    e.height,
                    e.depth,
                    row,
                    strides.get("depth", 0),
                    layer,
                    strides.get("samples", 0),
                ],
                np.int64,
            ).view(np.uint64)
            words[19] = strides["width"] if e.width > 1 else element
        return words


def _kind(value: Texture | Surface) -> str:
    return "texture" if isinstance(value, Texture) else "surface"


def _bits(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def _fractions(signed: bool) -> np.ndarray:
    """Values of the 256 bytes of a normalized channel: 0 to 1, or -1 to 1."""
    if not signed:
        return (np.arange(256) / 255).astype(np.float32)
    return np.maximum(np.arange(256).astype(np.uint8).view(np.int8) / 127, -1).astype(np.float32)


def _from_srgb() -> np.ndarray:
    """Values of the 256 bytes of an sRGB channel. Source: IEC 61966-2-1."""
    stored = np.arange(256) / 255
    return np.where(stored <= 0.04045, stored / 12.92, ((stored + 0.055) / 1.055) ** 2.4).astype(np.float32)


class ObjectTable(Buffer):
    """Records of a launch, with the names of the arguments."""

    names: tuple[str, ...]

    def __init__(self, names: Sequence[str], records: Sequence[np.ndarray]):
        head = np.zeros(WORDS, np.uint64)
        head[0] = len(records)
        super().__init__(np.stack([head, *records]), "textures and surfaces", read_only=True)
        self.names = tuple(names)

    def name_of(self, handle: int) -> str | None:
        """Return the name of the argument that a handle belongs to."""
        number, inside = divmod(handle - OBJECT_WINDOW, OBJECT_STRIDE)
        return self.names[number - 1] if not inside and 0 < number <= len(self.names) else None


def object_table(arguments: Sequence[ObjectArgument], placed: Mapping[int, Segment]) -> Segment | None:
    """Return the records of all arguments, as a segment that no access can reach; None without arguments."""
    if not arguments:
        return None
    table = ObjectTable([a.name for a in arguments], [a.record(placed) for a in arguments])
    segment = Segment(OBJECT_WINDOW, table, "object")
    segment.size = 0
    return segment


def explain_reference(kind: str, name: str) -> str:
    """Explain why a texture, sampler or surface variable is refused, and what to use instead."""
    value = "Surface" if kind == "surfref" else "Texture"
    return (
        f"CUDA no longer binds a .{kind} by name: take the handle as a .u64 parameter, "
        f"pass a pyptx.{value} for it, and write [%handle, {{...}}] for [{name}, {{...}}]"
    )

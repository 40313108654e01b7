"""Messages for invalid accesses of textures and surfaces, see `abi.TextureProblem`."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.sim.abi import OBJECT_KINDS, ObjectFlag, TextureProblem
from pyptx.sim.memory.address_space import OBJECT_STRIDE, OBJECT_WINDOW, Segment
from pyptx.sim.memory.texture_objects import ObjectTable
from pyptx.texture import FORMATS, GEOMETRIES

__all__ = ["explain"]


_AXES = ("x", "y", "z", "the layer")


def explain(extra: int, handle: int, segments: Sequence[Segment]) -> tuple[str, str | None]:
    """Return a description and a hint; `extra` is the problem | axis << 8 | value << 32."""
    problem, axis, value = TextureProblem(extra & 255), extra >> 8 & 255, extra >> 32
    signed = value - (value >> 31 << 32)
    table = next((s.buffer for s in segments if isinstance(s.buffer, ObjectTable)), None)
    if problem == TextureProblem.HANDLE or table is None:
        return (
            f"uses 0x{handle:x}, which is not the handle of a texture or surface",
            "pass a pyptx.Texture or pyptx.Surface for a .u64 parameter, and use its value unchanged",
        )
    name = table.name_of(handle)
    record = table.array[(handle - OBJECT_WINDOW) // OBJECT_STRIDE]
    kind = OBJECT_KINDS[int(record[0])]
    geometry = next(g for g in GEOMETRIES.values() if g.code == int(record[1]))
    format_, channels = FORMATS[int(record[3])].name, int(record[2])
    what = f"{kind} {name} ({geometry.name}, {channels} channel{'s' * (channels > 1)} of {format_})"
    width, height, depth, layers = int(record[25]), int(record[26]), int(record[27]), int(record[16])
    match problem:
        case TextureProblem.KIND:
            other = "surface" if kind == "texture" else "texture"
            return f"uses {what} where a {other} is expected", f"pass a pyptx.{other.capitalize()} of the same array"
        case TextureProblem.GEOMETRY:
            return f"accesses {what} with another geometry", f"the geometry in the mnemonic must be that of the {kind}"
        case TextureProblem.TYPE:
            floats = FORMATS[int(record[3])].floating or int(record[4]) & ObjectFlag.NORMALIZED_FLOAT
            read = "f32 or .f16" if floats else "u32 or .s32"
            return (
                f"reads {what} as another type; the results are undefined",
                f"this texture reads as .{read}" + ("" if floats else "; read='normalized_float' gives .f32"),
            )
        case TextureProblem.LAYER:
            count = layers // 6 if geometry.name == "acube" else layers
            return f"reads layer {value} of {what}, which has {count}", "the result on a GPU is not documented"
        case TextureProblem.SAMPLE:
            return f"reads sample {value} of {what}, which has {int(record[17])}", None
        case TextureProblem.BOUNDS:
            size = (f"{width} elements, {width * int(record[18])} bytes", height, depth, layers)[axis]
            return (
                f"accesses {what} at {_AXES[axis]} = {signed}, outside its {size}",
                "x counts bytes in .b instructions, elements in .p ones" if axis == 0 else None,
            )
        case TextureProblem.ALIGNMENT:
            return (
                f"accesses {what} at byte {signed} of a row, which is not a multiple of the bytes it accesses",
                "x counts bytes: multiply the column by the size of an element",
            )
        case TextureProblem.LINEAR:
            return (
                f"reads {what} in linear memory with floating-point coordinates",
                "memory='linear' supports integer coordinates (.s32); memory='array' supports both",
            )
        case TextureProblem.CHANNELS:
            return (
                f"stores fewer values than {what} has channels; the others are undefined",
                f"use sust.p with {channels} values",
            )
        case TextureProblem.FITS:
            return (
                f"stores {signed} to {what}, which cannot represent it",
                "the value that a GPU stores is not documented; clamp it before",
            )
        case TextureProblem.FORMAT:
            return f"reduces into {what}", "sured.p supports surfaces with one channel of uint32 or int32"
        case TextureProblem.LEVEL:
            return f"queries level {signed} of {what}, which has {int(record[15])}", None
        case TextureProblem.OFFSET:
            return f"reads {what} with an offset of {signed}; the range is -8..7", None
    return f"accesses {what}, whose memory is not mapped", None

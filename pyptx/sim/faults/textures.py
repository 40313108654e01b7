"""What can be wrong with an access of a texture or surface, numbered alike in core/texture.h, and in words."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from pyptx.sim.memory.objects import FLAG_NORMALIZED_FLOAT, KINDS, ObjectTable
from pyptx.sim.memory.spaces import OBJECT_STRIDE, OBJECT_WINDOW, Segment
from pyptx.texture import FORMATS, GEOMETRIES

__all__ = ["Problem", "explain"]


class Problem(IntEnum):
    """Found where an access is made; 0 is none."""

    NONE = 0
    HANDLE = 1
    KIND = 2
    GEOMETRY = 3
    TYPE = 4
    LAYER = 5
    SAMPLE = 6
    BOUNDS = 7
    ALIGNMENT = 8
    LINEAR = 9
    CHANNELS = 10
    FITS = 11
    FORMAT = 12
    LEVEL = 13
    OFFSET = 14
    MEMORY = 15


_AXES = ("x", "y", "z", "the layer")


def explain(extra: int, handle: int, segments: Sequence[Segment]) -> tuple[str, str | None]:
    """What happened, and a hint; `extra` holds the problem, an axis << 8, a value << 32."""
    problem, axis, value = Problem(extra & 255), extra >> 8 & 255, extra >> 32
    signed = value - (value >> 31 << 32)
    table = next((s.buffer for s in segments if isinstance(s.buffer, ObjectTable)), None)
    name = table.name_of(handle) if table is not None else None
    if problem == Problem.HANDLE:
        return (f"uses 0x{handle:x}, which is the handle of no texture and no surface",
                "pass a pyptx.Texture or pyptx.Surface for a .u64 parameter, and use its value as it is")
    record = table.array[(handle - OBJECT_WINDOW) // OBJECT_STRIDE]
    kind = KINDS[int(record[0])]
    geometry = next(g for g in GEOMETRIES.values() if g.code == int(record[1]))
    format_, channels = FORMATS[int(record[3])].name, int(record[2])
    what = f"{kind} {name} ({geometry.name}, {channels} channel{'s' * (channels > 1)} of {format_})"
    width, height, depth, layers = int(record[25]), int(record[26]), int(record[27]), int(record[16])
    match problem:
        case Problem.KIND:
            other = "surface" if kind == "texture" else "texture"
            return f"uses {what} where a {other} is needed", f"pass a pyptx.{other.capitalize()} over the same array"
        case Problem.GEOMETRY:
            return f"accesses {what} as another geometry", f"the geometry of the mnemonic is the {kind}'s"
        case Problem.TYPE:
            floats = FORMATS[int(record[3])].floating or int(record[4]) & FLAG_NORMALIZED_FLOAT
            read = "f32 or .f16" if floats else "u32 or .s32"
            return (f"reads {what} as another type than it has; the results would be undefined",
                    f"this texture reads as .{read}" + ("" if floats else "; read='normalized_float' gives .f32"))
        case Problem.LAYER:
            count = layers // 6 if geometry.name == "acube" else layers
            return f"reads layer {value} of {what}, which has {count}", "what a GPU reads there is not documented"
        case Problem.SAMPLE:
            return f"reads sample {value} of {what}, which has {int(record[17])}", None
        case Problem.BOUNDS:
            size = (f"{width} elements, {width * int(record[18])} bytes", height, depth, layers)[axis]
            return (f"accesses {what} at {_AXES[axis]} = {signed}, outside of its {size}",
                    "x counts bytes in .b instructions, elements in .p ones" if axis == 0 else None)
        case Problem.ALIGNMENT:
            return (f"accesses {what} at byte {signed} of a row, which is no multiple of the bytes it accesses",
                    "x counts bytes: multiply the column by the bytes of an element")
        case Problem.LINEAR:
            return (f"reads {what} in linear memory by floating-point coordinates",
                    "memory='linear' takes whole numbers (.s32); memory='array' takes both")
        case Problem.CHANNELS:
            return (f"stores fewer values than the channels of {what}; the others would hold anything",
                    f"sust.p of {channels} values")
        case Problem.FITS:
            return (f"stores {signed} to {what}, which does not hold it",
                    "what a GPU stores then is not documented; bring it into range before")
        case Problem.FORMAT:
            return f"reduces into {what}", "sured.p takes surfaces of one channel of uint32 or int32"
        case Problem.LEVEL:
            return f"asks for level {signed} of {what}, which has {int(record[15])}", None
        case Problem.OFFSET:
            return f"reads {what} with an offset of {signed}; -8 to 7", None
    return f"accesses {what}, whose memory is not there", None

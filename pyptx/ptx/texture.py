"""Textures and surfaces: `tex`, `tld4`, `suld`, `sust`, `sured`.

    image = ptx.param(u64, "image")                             # a pyptx.Texture or Surface is passed for it
    r, g, b, a = ptx.tex("2d", image, (x, y))

Coordinates are x first; the padding that PTX requires is added. The layer of an array is a separate argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ptx._checked import check_option, emit_checked, one_of, type_name, type_or_none
from pyptx.ptx.memory import addr
from pyptx.reg import NegPred, Reg
from pyptx.types import PtxType, b8, b16, b32, f32, from_name, s32

if TYPE_CHECKING:
    from pyptx.texture import Geometry

__all__ = ["suld", "sured", "sust", "tex", "tld4"]

Guard = Reg | NegPred | None
Value = Reg | int | float
Coordinates = Sequence[Value] | Value

_OUTSIDE = ("trap", "clamp", "zero")
_HELD = {b8: b16}  # 8-bit registers cannot be computed with


def tex(
    geometry: str,
    texture: Reg,
    coordinates: Coordinates,
    *,
    layer: Reg | int | None = None,
    sample: Reg | int | None = None,
    level: Value | None = None,
    gradients: tuple[Sequence[Value], Sequence[Value]] | None = None,
    offset: Sequence[int | Reg] | None = None,
    dtype: PtxType | str = f32,
    pred: Guard = None,
) -> tuple[Reg, Reg, Reg, Reg]:
    """Sample a texture; return the four channels in new registers.

    Args:
        geometry: "1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms" or "a2dms".
        texture: 64-bit handle of the texture.
        coordinates: x, (x, y) or (x, y, z); floats, or integers to address an element directly.
        layer: layer of a1d and a2d, cube of acube.
        sample: sample of 2dms and a2dms.
        level: level of detail.
        gradients: derivatives along x and y that select the level of detail.
        offset: element offsets, -8 to 7 along each dimension.
        dtype: f32 or f16 for textures that read as floating point, else u32 or s32.
    Raises:
        ShapeError: a wrong number of coordinates, or an argument the geometry does not have.
        PtxValidationError: no such form.
    """
    place, kind = _place(geometry, coordinates, layer, sample)
    result = _channels(dtype)
    mode = "level." if level is not None else "grad." if gradients is not None else ""
    if level is not None and gradients is not None:
        raise ShapeError("tex takes level= or gradients=, not both", at=user_place())
    more: list[object] = [] if level is None else [_number(level, kind)]
    dims = _geometries()[geometry].dims
    if gradients is not None:
        more += [_padded([_register(v, f32) for v in g], dims) for g in gradients]
    if offset is not None:
        more.append(_padded([_register(v, s32) for v in offset], dims))
    emit_checked(
        "tex",
        f"{mode}{geometry}.v4.{type_name(dtype)}.{kind.name}",
        list(result),
        addr(texture, place),
        *more,
        pred=pred,
    )
    return result


def tld4(
    component: str,
    geometry: str,
    texture: Reg,
    coordinates: Coordinates,
    *,
    layer: Reg | int | None = None,
    offset: Sequence[int | Reg] | None = None,
    dtype: PtxType | str = f32,
    pred: Guard = None,
) -> tuple[Reg, Reg, Reg, Reg]:
    """Gather one component of the four elements around a point, counterclockwise from the lower left.

    Args:
        component: "r", "g", "b" or "a".
        geometry: "2d", "a2d", "cube" or "acube".
        texture, coordinates, layer, offset, dtype: as for `tex`.
    """
    check_option(component, ("r", "g", "b", "a"), "component")
    place, _ = _place(geometry, coordinates, layer, None)
    result = _channels(dtype)
    more = [] if offset is None else [[_register(v, s32) for v in offset]]
    emit_checked(
        "tld4",
        f"{component}.{geometry}.v4.{type_name(dtype)}.f32",
        list(result),
        addr(texture, place),
        *more,
        pred=pred,
    )
    return result


def suld(
    geometry: str,
    surface: Reg,
    coordinates: Coordinates,
    *,
    layer: Reg | int | None = None,
    count: int = 1,
    dtype: PtxType = b32,
    outside: str = "trap",
    pred: Guard = None,
) -> Reg | tuple[Reg, ...]:
    """Load from a surface: a new register, or `count` (2 or 4) of them.

    Args:
        coordinates: x in bytes, then y and z.              layer: of a1d and a2d; 6 times the cube and the face.
        dtype: b8, b16, b32 or b64.                         outside: "trap", "clamp" (the nearest) or "zero".
    """
    check_option(outside, _OUTSIDE, "outside")
    place, _ = _place(geometry, coordinates, layer, None, whole=True)
    result = tuple(reg.scalar(_HELD.get(dtype, dtype)) for _ in range(count))
    emit_checked(
        "suld",
        f"b.{geometry}{_vector(count)}.{dtype.name}.{outside}",
        result[0] if count == 1 else list(result),
        addr(surface, place),
        pred=pred,
    )
    return result[0] if count == 1 else result


def sust(
    geometry: str,
    surface: Reg,
    coordinates: Coordinates,
    values: Sequence[Value] | Value,
    *,
    layer: Reg | int | None = None,
    dtype: PtxType = b32,
    formatted: bool = False,
    outside: str = "trap",
    pred: Guard = None,
) -> None:
    """Store 1, 2 or 4 values to a surface.

    Args:
        coordinates: x in bytes, then y and z; with `formatted`, x in elements.
        values: registers or numbers.
        dtype: b8, b16, b32 or b64.
        formatted: convert 32-bit values to the surface's channels (sust.p).
        outside: out-of-bounds mode: "trap", "clamp" (to the nearest element) or "zero" (the store is dropped).
    """
    check_option(outside, _OUTSIDE, "outside")
    place, _ = _place(geometry, coordinates, layer, None, whole=True)
    several = list(values) if isinstance(values, Sequence) else [values]
    emit_checked(
        "sust",
        f"{'p' if formatted else 'b'}.{geometry}{_vector(len(several))}.{dtype.name}.{outside}",
        addr(surface, place),
        several if len(several) > 1 else several[0],
        pred=pred,
    )


def sured(
    operation: str,
    geometry: str,
    surface: Reg,
    coordinates: Coordinates,
    value: Value,
    *,
    dtype: PtxType | str = "u32",
    formatted: bool = False,
    outside: str = "trap",
    pred: Guard = None,
) -> None:
    """Combine a value into an element of a surface, atomically.

    Args:
        operation: "add", "min", "max", "and" or "or".
        coordinates: x in bytes, then y and z; with `formatted`, x in elements.
        dtype: u32, s32, u64, s64; b32 for "and", "or" and with `formatted`, which uses the surface's type.
    """
    check_option(outside, _OUTSIDE, "outside")
    place, _ = _place(geometry, coordinates, None, None, whole=True)
    emit_checked(
        "sured",
        f"{'p' if formatted else 'b'}.{operation}.{geometry}.{type_name(dtype)}.{outside}",
        addr(surface, place),
        value,
        pred=pred,
    )


# operands -----------------------------------------------------------------------------------------------------------


def _geometries() -> Mapping[str, Geometry]:
    from pyptx.texture import GEOMETRIES  # late: few kernels have textures

    return GEOMETRIES


def _channels(dtype: PtxType | str) -> tuple[Reg, Reg, Reg, Reg]:
    """Declare the registers of the four channels."""
    type_ = from_name(type_name(dtype))
    return reg.scalar(type_), reg.scalar(type_), reg.scalar(type_), reg.scalar(type_)


def _place(
    geometry: str, coordinates: Coordinates, layer: Reg | int | None, sample: Reg | int | None, *, whole: bool = False
) -> tuple[list[Reg], PtxType]:
    """Return the coordinates in PTX order, padded, and their type."""
    one_of(geometry, tuple(_geometries()), "geometry")
    g = _geometries()[geometry]
    values = list(coordinates) if isinstance(coordinates, Sequence) else [coordinates]
    dims = 3 if g.cube and not whole else g.dims
    if len(values) != dims:
        raise ShapeError(f"geometry {geometry!r} takes {dims} coordinates, x first; got {len(values)}", at=user_place())
    if (layer is not None) != g.layered:
        raise ShapeError(f"geometry {geometry!r} {'needs' if g.layered else 'has no'} layer=", at=user_place())
    if (sample is not None) != g.multisampled:
        raise ShapeError(f"geometry {geometry!r} {'needs' if g.multisampled else 'has no'} sample=", at=user_place())
    floats = not whole and any(isinstance(v, float) or getattr(type_or_none(v), "is_float", False) for v in values)
    kind = f32 if floats else s32
    found = [_register(v, kind) for v in values]
    front = [_register(v, s32) for v in (layer, sample) if v is not None]
    return _padded([*front, *found], len(front) + len(found)), kind


def _padded(values: Sequence[Reg], count: int) -> list[Reg]:
    """Pad three or more coordinates to four; the last one is ignored."""
    count = 4 if count > 2 else count
    return [*values, *[values[-1]] * (count - len(values))]


def _register(value: Value, kind: PtxType) -> Reg:
    return value if isinstance(value, Reg) else reg.scalar(kind, value)


def _number(value: Value, kind: PtxType) -> Value:
    return float(value) if kind is f32 and not isinstance(value, Reg) else _register(value, kind)


def _vector(count: int) -> str:
    if count not in (1, 2, 4):
        raise ShapeError(f"{count} values; expected 1, 2 or 4", at=user_place())
    return "" if count == 1 else f".v{count}"

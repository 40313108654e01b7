"""What instructions on textures and surfaces do, decoded (the closed set of basic.py goes on here)."""

from __future__ import annotations

from pyptx._value import value
from pyptx.sim.actions.basic import Address, Handled, Reg, Value

__all__ = ["QUERIES", "Fetch", "Handle", "IsType", "Query", "SurfaceLoad", "SurfaceReduce", "SurfaceStore"]

Handle = Value | Address                        # a register, or the parameter that holds it
QUERIES = ("width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "array_size",
           "num_mipmap_levels", "num_samples", "memory_layout")


@value
class Fetch(Handled):
    """tex and tld4: read a texture at coordinates.

    Attributes:
        mode: "", base, level, grad, gather.            coordinates: x first, without padding.
        integer: they are .s32, else .f32.              index: of the layer, or cube.
        level: of detail, .s32 or .f32 as they are.     dx, dy: gradients.
        offset: in elements.                            component: that a gather takes of each of four elements.
        type: u32, s32, f32, f16, f16x2.                inside: gets 1, as all of a texture is resident.
    """

    geometry: str
    mode: str
    handle: Handle
    coordinates: tuple[Value, ...]
    integer: bool
    type: str
    data: tuple[Reg | None, ...]
    index: Value | None = None
    sample: Value | None = None
    level: Value | None = None
    dx: tuple[Value, ...] = ()
    dy: tuple[Value, ...] = ()
    offset: tuple[Value, ...] = ()
    component: int = 0
    inside: Reg | None = None


@value
class Query(Handled):
    """txq and suq: an attribute of QUERIES of a texture or surface (`kind`), at a level of detail."""

    kind: str
    attribute: str
    handle: Handle
    data: Reg
    level: Value | None = None


@value
class IsType(Handled):
    """istypep: whether a number is the handle of a texture or surface; of a sampler it never is."""

    kind: str
    handle: Handle
    data: Reg


@value
class SurfaceLoad(Handled):
    """suld.b: bytes of a surface at coordinates, of which x counts bytes; `outside`: trap, clamp, zero."""

    geometry: str
    handle: Handle
    coordinates: tuple[Value, ...]
    index: Value | None
    size: int
    outside: str
    data: tuple[Reg | None, ...]


@value
class SurfaceStore(Handled):
    """sust.b, and sust.p where `formatted`: channels of an element, of which x counts elements."""

    geometry: str
    handle: Handle
    coordinates: tuple[Value, ...]
    index: Value | None
    size: int
    outside: str
    formatted: bool
    source: tuple[Value, ...]


@value
class SurfaceReduce(Handled):
    """sured.b of `type`, and sured.p, whose type is the surface's, where `formatted`."""

    geometry: str
    handle: Handle
    coordinates: tuple[Value, ...]
    size: int
    outside: str
    formatted: bool
    reduction: str
    type: str
    source: Value

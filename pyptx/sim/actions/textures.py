"""Actions on textures and surfaces."""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.sim.actions.operands import Address, Handled, Reg, Value

__all__ = ["Fetch", "Handle", "IsType", "Query", "SurfaceLoad", "SurfaceReduce", "SurfaceStore"]

Handle = Value | Address  # register, or parameter that holds the handle


@frozen
class Fetch(Handled):
    """tex and tld4: read a texture at coordinates.

    Attributes:
        mode: "", base, level, grad, gather.
        coordinates: x first, without padding.
        integer: coordinates are .s32, else .f32.
        type: u32, s32, f32, f16, f16x2.
        index: layer, or cube.
        level: level of detail, of the type of the coordinates.
        dx, dy: gradients.
        offset: offset in elements.
        component: component that a gather takes from each of four elements.
        inside: receives 1, as all of a texture is resident.
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


@frozen
class Query(Handled):
    """txq and suq: query an attribute (of abi.OBJECT_QUERIES) of a texture or surface, at a level of detail."""

    kind: str
    attribute: str
    handle: Handle
    data: Reg
    level: Value | None = None


@frozen
class IsType(Handled):
    """istypep: test whether a value is the handle of a texture or surface; it never is the handle of a sampler."""

    kind: str
    handle: Handle
    data: Reg


@frozen
class SurfaceLoad(Handled):
    """suld.b: load bytes of a surface; x counts bytes. `outside` is the clamp mode: trap, clamp, zero."""

    geometry: str
    handle: Handle
    coordinates: tuple[Value, ...]
    index: Value | None
    size: int
    outside: str
    data: tuple[Reg | None, ...]


@frozen
class SurfaceStore(Handled):
    """sust.b, or sust.p if `formatted`: then x counts elements."""

    geometry: str
    handle: Handle
    coordinates: tuple[Value, ...]
    index: Value | None
    size: int
    outside: str
    formatted: bool
    source: tuple[Value, ...]


@frozen
class SurfaceReduce(Handled):
    """sured.b of `type`, or sured.p if `formatted`: then the type is that of the surface."""

    geometry: str
    handle: Handle
    coordinates: tuple[Value, ...]
    size: int
    outside: str
    formatted: bool
    reduction: str
    type: str
    source: Value

"""Textures and surfaces: tex, tld4, txq, istypep; suld, sust, sured, suq."""

from __future__ import annotations

from pyptx.ir.nodes import AddressOperand, LabelOperand, RegisterOperand
from pyptx.sim.actions import (
    Action,
    Address,
    Compute,
    Const,
    Fetch,
    Handle,
    IsType,
    Leaf,
    Query,
    SurfaceLoad,
    SurfaceReduce,
    SurfaceStore,
    Value,
)
from pyptx.sim.decode._registry import decodes, type_words
from pyptx.sim.memory.arguments import size_of
from pyptx.sim.symbols.operands import Operands
from pyptx.texture import GEOMETRIES

_MODES = {".base": "base", ".level": "level", ".grad": "grad"}


def _geometry(o: Operands) -> str:
    return next(m[1:] for m in o.instruction.modifiers if m[1:] in GEOMETRIES)


def _handle(o: Operands, name: str) -> Handle:
    """Read the operand that selects a texture or surface: a register, a parameter or a variable."""
    operand = o.operand(name)
    if not isinstance(operand, (AddressOperand, RegisterOperand, LabelOperand)):
        raise o.refuse(f"operand {name} does not name a texture or surface")
    base = operand.base if isinstance(operand, AddressOperand) else operand.name
    register = o.scope.register(base)
    if register is not None:
        return register[0]
    variable = o.scope.variable(base)
    if variable is None:
        raise o.refuse(f"{base} is not declared")
    if variable.space == "param":
        return Address("param", None, o.address_of(variable))
    return Const(o.address_of(variable), 64)


def _coordinates(o: Operands, name: str, geometry: str) -> tuple[tuple[Value, ...], Value | None, Value | None]:
    """Return the coordinates without padding, the layer and the sample."""
    dims = GEOMETRIES[geometry].dims
    if "i" in o:
        return tuple(o.value(axis) for axis in "xyz"[: 3 if geometry == "acube" else dims]), o.value("i"), None
    values = o.values(name)
    if geometry == "2dms":
        return values[1:3], None, values[0]
    if geometry == "a2dms":
        return values[2:4], values[0], values[1]
    return values[: 3 if geometry == "cube" else dims], None, None


@decodes("tex", "tld4")
def fetch(o: Operands) -> Action | None:
    modifiers, geometry = o.instruction.modifiers, _geometry(o)
    gathers = o.instruction.opcode == "tld4"
    mode = "gather" if gathers else next((_MODES[m] for m in modifiers if m in _MODES), "")
    if "smp" in o or "f" in o or (mode == "grad" and GEOMETRIES[geometry].cube):
        return None  # refusals.py has the reason
    types = [m[1:] for m in modifiers if m in (".u32", ".s32", ".f32", ".f16", ".f16x2")]
    coordinates, index, sample = _coordinates(o, "c", geometry)
    dims = GEOMETRIES[geometry].dims
    return Fetch(
        geometry,
        mode,
        _handle(o, "t"),
        coordinates,
        types[-1] == "s32",
        types[0],
        o.targets("d"),
        index,
        sample,
        o.value("lod") if "lod" in o else None,
        o.values("dx")[:dims] if "dx" in o else (),
        o.values("dy")[:dims] if "dy" in o else (),
        o.values("e")[:dims] if "e" in o else (),
        "rgba".index(o.choice("comp")) if gathers else 0,
        o.target("p"),
    )


@decodes("txq", "suq")
def query(o: Operands) -> Action | None:
    if "smp" in o:
        return None
    surface = o.instruction.opcode == "suq"
    handle, data = _handle(o, "s" if surface else "t"), o.target("d")
    if data is None:
        return None
    return Query(
        "surface" if surface else "texture", o.choice("query"), handle, data, o.value("l") if "l" in o else None
    )


@decodes("istypep")
def is_type(o: Operands) -> Action | None:
    handle, target = _handle(o, "a"), o.target("p")
    kind = {"texref": "texture", "surfref": "surface"}.get(o.choice("type"))
    if target is None:
        return None
    if kind is None:
        return Compute(((target, Leaf(Const(0, 1), "pred")),))
    return IsType(kind, handle, target)


def _location(o: Operands) -> tuple[str, Handle, tuple[Value, ...], Value | None]:
    """Return geometry, handle, coordinates and layer of a surface access."""
    geometry = _geometry(o)
    coordinates, index, _ = _coordinates(o, "x", geometry)
    return geometry, _handle(o, "s"), coordinates, index


def _clamp_mode(o: Operands) -> str:
    return o.choice("clampmode")


@decodes("suld")
def surface_load(o: Operands) -> Action | None:
    geometry, handle, coordinates, index = _location(o)
    size = size_of(type_words(o.instruction.modifiers)[-1])
    return SurfaceLoad(geometry, handle, coordinates, index, size, _clamp_mode(o), o.targets("d"))


@decodes("sust")
def surface_store(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    geometry, handle, coordinates, index = _location(o)
    size, formatted = size_of(type_words(modifiers)[-1]), ".p" in modifiers
    return SurfaceStore(geometry, handle, coordinates, index, size, _clamp_mode(o), formatted, o.values("c"))


@decodes("sured")
def surface_reduce(o: Operands) -> Action | None:
    modifiers, type_name = o.instruction.modifiers, type_words(o.instruction.modifiers)[-1]
    operation = next(m[1:] for m in modifiers if m in (".add", ".min", ".max", ".and", ".or"))
    geometry, handle, coordinates, _ = _location(o)
    return SurfaceReduce(
        geometry,
        handle,
        coordinates,
        size_of(type_name),
        _clamp_mode(o),
        ".p" in modifiers,
        operation,
        type_name,
        o.value("c"),
    )

"""Tensor copies: cp.async.bulk.tensor with its reductions and prefetches, tensormap.replace, tensormap.cp_fenceproxy."""

from __future__ import annotations

from pyptx.sim.abi import TENSOR_MAP_FIELDS
from pyptx.sim.actions import (
    Action,
    Address,
    Const,
    TensorCopy,
    TensormapCopy,
    TensormapFence,
    TensormapReplace,
)
from pyptx.sim.decode._registry import decodes
from pyptx.sim.memory.address_space import space_window
from pyptx.sim.symbols.operands import Operands

_MODES = {
    ".tile": "tile",
    ".tile::gather4": "gather4",
    ".tile::scatter4": "scatter4",
    ".im2col": "im2col",
    ".im2col_no_offs": "im2col",
    ".im2col::w": "w",
    ".im2col_no_offs::w": "w",
    ".im2col::w::128": "w128",
}
_OPERATIONS = frozenset((".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor"))
_OVERRIDES = frozenset((".override::global_dim", ".override::global_dim_stride"))


@decodes("cp")
def tensor_copy(o: Operands) -> Action | None:
    words = o.instruction.modifiers
    if ".tensor" not in words or ".bulk" not in words or not _OVERRIDES.isdisjoint(words):
        return None
    mode = next((m for w, m in _MODES.items() if w in words), "tile")
    rank = int(next(w for w in words if w[1:-1].isdigit() and w[-1] == "d")[1:-1])
    reduction = next((w[1:] for w in words if w in _OPERATIONS), None)
    source = {
        "map": _generic(o, "tm"),
        "coordinates": o.values("c"),
        "offsets": o.values("o") if "o" in o else (),
        "base": o.value("ga") if "ga" in o else None,
    }
    if ".prefetch" in words:
        return TensorCopy("prefetch", mode, rank, **source)
    if ".bulk_group" in words:
        return TensorCopy(
            "reduce" if reduction else "store",
            mode,
            rank,
            shared=o.address("a", "shared"),
            reduction=reduction,
            inside=".im2col_no_offs::w" in words,
            **source,
        )
    return TensorCopy(
        "load",
        mode,
        rank,
        shared=o.address("d", "shared"),
        barrier=o.address("mb", "shared"),
        mask=o.value("mask") if "mask" in o else None,
        pair=".cta_group::2" in words,
        **source,
    )


@decodes("tensormap")
def tensormap(o: Operands) -> Action | None:
    words = o.instruction.modifiers
    if ".cp_fenceproxy" in words:
        return TensormapCopy(o.address("d", "global"), o.address("a", "shared"))
    if ".replace" not in words:
        return None
    space = "shared" if ".shared::cta" in words else "global" if ".global" in words else ""
    field = next(w[1:] for w in words if w[1:] in TENSOR_MAP_FIELDS)
    value = o.value("v") if o.type("v") else Const(o.number("v"), 32)
    return TensormapReplace(
        _generic(o, "tm") if not space else o.address("tm", space), field, o.number("o") if "o" in o else 0, value
    )


def map_fence(o: Operands) -> Action:
    """Decode fence.proxy.tensormap::generic.acquire."""
    return TensormapFence(_generic(o, "a"))


def _generic(o: Operands, name: str) -> Address:
    """Read an address as generic; addresses of parameters and constants are in their windows."""
    address = o.address(name, "")
    if address.space in ("generic", "global"):
        return Address("generic", address.base, address.offset)
    if address.base is not None:
        raise o.refuse(f"operand {name} is in {address.space} memory; a generic or global address is expected")
    return Address("generic", None, address.offset + space_window(address.space))

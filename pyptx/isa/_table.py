"""The rows of all families, merged by opcode."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from pyptx.isa._families_of import FAMILIES_OF, MODIFIERS_OF
from pyptx.isa._schema import Op, merged

__all__ = ["FAMILIES", "all_ops", "families_of", "op_of", "ops_with"]

FAMILIES = ("integer", "extended", "float", "half", "mixed", "compare", "logic", "move", "convert", "convert_small",
            "load", "store", "cache", "atomic", "reduction", "multimem", "warp", "barrier",
            "mbarrier", "async_copy", "bulk_reduce", "tensor_copy",
            "mma", "mma_sparse", "wmma", "wgmma", "tcgen05", "tcgen05_mma", "control", "fabric", "texture",
            "surface", "video")


def op_of(opcode: str) -> Op | None:
    """Return the op of an opcode, for which only the families that have it are imported; None for an unknown one."""
    families = FAMILIES_OF.get(opcode)
    return None if families is None else _op(opcode, families)


def ops_with(opcode: str, modifiers: tuple[str, ...]) -> list[Op]:
    """Return the ops that have the forms of an opcode with these modifiers, one for each family; others are not imported."""
    families, known = FAMILIES_OF.get(opcode, ()), MODIFIERS_OF.get(opcode)
    if known is not None:
        families = [family for family in families if all(f" {word} " in known[family] for word in modifiers)]
    return [_op(opcode, (family,)) for family in families]


@cache
def all_ops() -> dict[str, Op]:
    """Return all ops by opcode, in the order of the families."""
    return {opcode: _op(opcode, families) for opcode, families in families_of().items()}


def families_of() -> dict[str, tuple[str, ...]]:
    """Return the families of each opcode by their rows, which `pyptx.isa.generate` writes as `FAMILIES_OF`."""
    found: dict[str, dict[str, None]] = {}
    for family in FAMILIES:
        for row in _rows(family):
            found.setdefault(row.opcode, {})[family] = None
    return {opcode: tuple(families) for opcode, families in found.items()}


@cache
def _op(opcode: str, families: tuple[str, ...]) -> Op:
    return merged([row for family in families for row in _rows(family) if row.opcode == opcode])


def _rows(family: str) -> list[Op]:
    return list(import_module(f"pyptx.isa.{family}").op.ops.values())

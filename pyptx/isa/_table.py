"""The rows of all families, merged by opcode."""

from __future__ import annotations

from importlib import import_module

from pyptx.isa import FAMILIES
from pyptx.isa._schema import Op, merged

__all__ = ["OPS"]


def _collect() -> dict[str, Op]:
    rows: dict[str, list[Op]] = {}
    for family in FAMILIES:
        for row in import_module(f"pyptx.isa.{family}").op.ops.values():
            rows.setdefault(row.opcode, []).append(row)
    return {opcode: merged(found) for opcode, found in rows.items()}


OPS: dict[str, Op] = _collect()

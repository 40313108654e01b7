"""ldmatrix, stmatrix, movmatrix."""

from __future__ import annotations

from pyptx.sim.actions.basic import Action
from pyptx.sim.actions.products import LoadMatrix, MoveMatrix, StoreMatrix
from pyptx.sim.decode import decodes
from pyptx.sim.decode.memory import space_of
from pyptx.sim.symbols.operands import Operands

_FORMATS = {".b6x16_p32": "b6", ".b4x16_p64": "b4", ".s4": "s4", ".b16": "b16", ".b8": "b8"}


def _shape(o: Operands) -> tuple[str, int, bool]:
    modifiers = o.instruction.modifiers
    return (next(m[1:] for m in modifiers if m in (".m8n8", ".m16n16", ".m8n16", ".m16n8")),
            int(next(m[2:] for m in modifiers if m in (".x1", ".x2", ".x4"))), ".trans" in modifiers)


@decodes("ldmatrix")
def load_matrix(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    kind = next(_FORMATS[m] for m in _FORMATS if m in modifiers)
    return LoadMatrix(o.address("p", space_of(modifiers)), *_shape(o), kind, o.targets("r"))


@decodes("stmatrix")
def store_matrix(o: Operands) -> Action | None:
    return StoreMatrix(o.address("p", space_of(o.instruction.modifiers)), *_shape(o), o.values("r"))


@decodes("movmatrix")
def move_matrix(o: Operands) -> Action | None:
    data = o.target("d")
    return MoveMatrix(data, o.value("a")) if data is not None else None

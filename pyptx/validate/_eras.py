"""What only some versions of PTX have, besides instructions: constant banks, `.tex`, opaque types, inlined lines."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.ir.nodes import Label, Loc, Section, VarDecl
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace
from pyptx.validate._problem import too_early

__all__ = ["OPAQUE", "era_problems"]

OPAQUE = {ScalarType.TEXREF, ScalarType.SAMPLERREF, ScalarType.SURFREF}

Version = tuple[int, int]


def era_problems(node: object, version: Version) -> Iterator[str]:
    """What is too new or too old for a version."""
    match node:
        case VarDecl(bank=int(bank)):
            yield from _bank(node, bank, version)
        case VarDecl(state_space=StateSpace.TEX) if version >= (1, 5):
            yield ".tex is gone since PTX ISA 1.5; declare a .global .texref"
        case VarDecl(type=type_) if type_ in OPAQUE and version < (1, 5):
            yield too_early(f".{type_.value}", (1, 5), version)
        case Loc(intermediate=True) if version < (9, 4):
            yield too_early(".loc_intermediate", (9, 4), version)
        case Loc(function_name=str()) if version < (7, 0):
            yield too_early("function_name", (7, 0), version)
        case Section(body=body) if version < (7, 0) and any(isinstance(part, Label) for part in body):
            yield too_early("labels in .section", (7, 0), version)


def _bank(node: VarDecl, bank: int, version: Version) -> Iterator[str]:
    """Bank 0 is all of PTX before 1.5; the others hold external arrays whose size is not known."""
    open_array = node.linking is LinkingDirective.EXTERN and node.dimensions[:1] == (0,)
    if version >= (2, 2):
        yield f".const[{bank}] is gone since PTX ISA 2.2; write .const"
    elif bank and version < (1, 5):
        yield too_early(f".const[{bank}]", (1, 5), version)
    elif bank and not open_array:
        yield f".const[{bank}] holds external arrays without a size only; declare {node.symbol} in .const"
    elif open_array and not bank:
        yield f"an external array without a size lies in .const[1] to .const[10], not in .const[{bank}]"

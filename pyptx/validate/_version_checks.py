"""Features that only some versions of PTX or ptxas support: constant banks, `.tex`, opaque types, 32-bit addresses."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.ir.nodes import AddressSize, Label, Loc, Section, VarDecl
from pyptx.ir.operands import LabelOperand, SubscriptOperand
from pyptx.ir.types import OPAQUE_TYPES, LinkingDirective, StateSpace
from pyptx.isa import _types
from pyptx.validate._bind import Bound
from pyptx.validate._messages import requires_version
from pyptx.validate._name_resolution import symbol_of
from pyptx.validate._symbols import Scope

__all__ = ["address_size_problem", "addressing_problems", "version_problems"]

Version = tuple[int, int]


def version_problems(node: object, version: Version) -> Iterator[str]:
    """Yield the uses of features that are newer or older than a version."""
    match node:
        case VarDecl(bank=int(bank)):
            yield from _bank(node, bank, version)
        case VarDecl(state_space=StateSpace.TEX) if version >= (1, 5):
            yield ".tex was removed in PTX ISA 1.5; declare a .global .texref"
        case VarDecl(type=type_) if type_ in OPAQUE_TYPES and version < (1, 5):
            yield requires_version(f".{type_.value}", (1, 5), version)
        case Loc(intermediate=True) if version < (9, 4):
            yield requires_version(".loc_intermediate", (9, 4), version)
        case Loc(function_name=str()) if version < (7, 0):
            yield requires_version("function_name", (7, 0), version)
        case Section(body=body) if version < (7, 0) and any(isinstance(part, Label) for part in body):
            yield requires_version("labels in .section", (7, 0), version)


def _bank(node: VarDecl, bank: int, version: Version) -> Iterator[str]:
    """Check a constant bank: bank 0 is all constant memory before 1.5, the others hold unsized external arrays."""
    open_array = node.linking is LinkingDirective.EXTERN and node.dimensions[:1] == (0,)
    if version >= (2, 2):
        yield f".const[{bank}] was removed in PTX ISA 2.2; write .const"
    elif bank and version < (1, 5):
        yield requires_version(f".const[{bank}]", (1, 5), version)
    elif bank and not open_array:
        yield f".const[{bank}] holds only unsized external arrays; declare {node.symbol} in .const"
    elif open_array and not bank:
        yield f"an unsized external array belongs in .const[1] to .const[10], not in .const[{bank}]"


# 32-bit addresses -----------------------------------------------------------------------------------------------------

_REMOVED = "ptxas no longer supports 32-bit addresses"


def address_size_problem(size: AddressSize) -> str | None:
    """Return the error of `.address_size 32`; None for 64."""
    return f".address_size 32: {_REMOVED}; write .address_size 64" if size.size == 32 and size.written else None


def addressing_problems(bound: Bound, scope: Scope) -> Iterator[tuple[str, str | None]]:
    """Yield the errors of an instruction that computes a 32-bit address outside shared memory: message and hint."""
    opcode, choices = bound.form.op.opcode, bound.choices
    if opcode == "cvta" and choices.get("type") == "u32":
        yield _REMOVED, f"write .u64 for .u32: {bound.form.syntax}"
    elif opcode == "mov" and isinstance(source := bound.operands.get("a"), (LabelOperand, SubscriptOperand)):
        symbol = symbol_of(source)
        if symbol is None or not (isinstance(source, SubscriptOperand) or source.name == symbol):
            return
        variable = scope.find(symbol) if scope.type_of(symbol) is None else None
        if (
            isinstance(variable, VarDecl)
            and variable.state_space is StateSpace.GLOBAL
            and _types.WIDTHS.get(choices.get("type") or "") == 32
        ):
            yield (
                f"{symbol} is in .global, where an address has 64 bits",
                f"write mov.u64 with a .u64 register for {symbol}",
            )

"""Addresses of 32 bits: ptxas reads them, and has not assembled them since CUDA 12, but in shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.ir.nodes import AddressSize, VarDecl
from pyptx.ir.operands import LabelOperand, SubscriptOperand
from pyptx.isa import _types
from pyptx.validate._bind import Bound
from pyptx.validate._names import symbol_of
from pyptx.validate._scope import Scope

__all__ = ["addressing_problems", "size_problem"]

_GONE = "ptxas no longer assembles addresses of 32 bits"


def size_problem(size: AddressSize) -> str | None:
    """What is wrong with `.address_size`."""
    return f".address_size 32: {_GONE}; write .address_size 64" if size.size == 32 and size.written else None


def addressing_problems(bound: Bound, scope: Scope) -> Iterator[tuple[str, str | None]]:
    """What is wrong with the width of an address an instruction computes: message and hint."""
    opcode, choices = bound.form.op.opcode, bound.choices
    if opcode == "cvta" and choices.get("type") == "u32":
        yield _GONE, f"write .u64 for .u32: {bound.form.syntax}"
    elif opcode == "mov" and isinstance(source := bound.operands.get("a"), (LabelOperand, SubscriptOperand)):
        symbol = symbol_of(source)
        whole = symbol and (isinstance(source, SubscriptOperand) or source.name == symbol)
        variable = scope.find(symbol) if whole and scope.type_of(symbol) is None else None
        if isinstance(variable, VarDecl) and variable.state_space.value == "global" and \
                _types.WIDTHS.get(choices.get("type")) == 32:
            yield f"{symbol} is in .global, where an address has 64 bits", \
                f"write mov.u64 with a .u64 register for {symbol}"

"""Loads and stores at shared addresses."""

from __future__ import annotations

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements.values import in_memory
from pyptx.errors import OperandError, TraceError
from pyptx.ir.nodes import AddressOperand
from pyptx.reg import Reg
from pyptx.tracing.operand import address
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import PtxType, u32

__all__ = ["base", "load", "store"]


def base(name: str | None = None) -> Reg:
    """Return the shared address of a variable in a new u32 register.

    Args:
        name: the variable; default: the kernel's extern array, or `smem`.
    Raises:
        TraceError: no such variable is declared.
    """
    ctx = get_ctx()
    symbol = name or ctx.extern_smem_name or "smem"
    if symbol not in ctx.variables and symbol != ctx.extern_smem_name:
        raise TraceError(
            f"shared variable {symbol!r} is not declared",
            at=user_place(),
            hint="decorate with @kernel(extern_smem=True), or allocate with smem.alloc(..., name=...)",
        )
    start = reg.scalar(u32)
    emit("mov", "u32", start, symbol)
    return start


def load(dtype: PtxType, address_: object) -> Reg:
    """Load one element into a new register.

    Args:
        dtype: type of the element.
        address_: shared address: a register, an allocation, a slice, or `ptx.addr(...)`.
    """
    result = reg.scalar(dtype)
    emit("ld", f"shared.{in_memory(dtype)}", result, _location(address_, "load"))
    return result


def store(dtype: PtxType, address_: object, value: Reg) -> None:
    """Store a register.

    Args:
        dtype: type of the element.
        address_: shared address: a register, an allocation, a slice, or `ptx.addr(...)`.
        value: the register.
    Raises:
        TypeError: `value` is not a register.
    """
    if not isinstance(value, Reg):
        raise OperandError(
            f"smem.store takes a register, not {value!r}; load a number into one with reg.scalar(dtype, init)"
        )
    emit("st", f"shared.{in_memory(dtype)}", _location(address_, "store"), value)


def _location(value: object, function: str) -> AddressOperand:
    """Convert the address of `load` and `store`.

    Raises:
        TypeError: the value of an element is passed for its address.
    """
    if isinstance(value, Reg) and (value.dtype.is_float or value.dtype.bits not in (32, 64)):
        fix = "value = tile[row, col]" if function == "load" else "tile[row, col] = value"
        raise OperandError(
            f"{value!r} is a value, and smem.{function} expects an address",
            at=user_place(),
            hint=f"tile[row, col] already loads the element; write `{fix}`, or give its location: "
            f"tile.pointer(row, col)",
        )
    return address(value)

"""Addresses, kernel parameters and variables."""

from __future__ import annotations

from typing import overload

from pyptx import reg
from pyptx.ir.nodes import AddressOperand
from pyptx.ir.types import LinkingDirective, StateSpace
from pyptx.reg import Reg
from pyptx.tracing.operand import address
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import PtxType, b64

__all__ = ["addr", "cvta", "global_ptrs", "param", "var"]


def addr(base: object, offset: object = None) -> AddressOperand:
    """Return the address `[base+offset]`.

    Args:
        base: register, name, tensor, allocation, mbarrier, or another address.
        offset: bytes (an int), a register, or text. A list `[c0, c1]` gives the coordinates of a tensor or texture,
            `[base, {c0, c1}]`; a tuple `(x,)` gives operands without braces, `[base, x]`.
    Raises:
        TypeError: a value that cannot be a base or an offset.
    Examples:
        >>> @kernel(raw_params=[("u64", "data")])
        ... def pair():
        ...     data, value = ptx.param(u64, "data"), reg.scalar(f32)
        ...     ptx.inst.ld.global_.f32(value, ptx.addr(data, 4))
        ...     ptx.inst.st.global_.f32(ptx.addr(data), value)
        >>> print(pair.ptx())
        .version 8.5
        ...
            ld.param.u64 %rd0, [data];
            ld.global.f32 %f0, [%rd0+4];
            st.global.f32 [%rd0], %f0;
        }
    """
    return address(base, offset)


def param(dtype: PtxType, name: str, dst: Reg | None = None) -> Reg:
    """Load a kernel parameter into a register.

    Args:
        dtype: type of the register.
        name: of the parameter; for an array parameter its address is loaded.
        dst: register to write; default: a new one.
    """
    result = dst if dst is not None else reg.scalar(dtype)
    if ".array" in get_ctx().raw_param_types.get(name, ""):
        emit("mov", dtype.register, result, name)
    else:
        emit("ld", f"param.{dtype.register}", result, AddressOperand(name))
    return result


@overload
def global_ptrs(a: object, /) -> tuple[Reg]: ...
@overload
def global_ptrs(a: object, b: object, /) -> tuple[Reg, Reg]: ...
@overload
def global_ptrs(a: object, b: object, c: object, /) -> tuple[Reg, Reg, Reg]: ...
@overload
def global_ptrs(a: object, b: object, c: object, d: object, /) -> tuple[Reg, Reg, Reg, Reg]: ...
@overload
def global_ptrs(*tensors: object) -> tuple[Reg, ...]: ...
def global_ptrs(*tensors: object) -> tuple[Reg, ...]:
    """Return the global address of each tensor's first element in a new 64-bit register.

    Examples:
        >>> @kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), block=32)
        ... def pointers(x, y):
        ...     print(ptx.global_ptrs(x, y))
        >>> text = pointers.ptx()
        (Reg(%rd0, b64), Reg(%rd1, b64))
    """
    return tuple(_global_ptr(tensor) for tensor in tensors)


def _global_ptr(tensor: object) -> Reg:
    result = reg.scalar(b64)
    emit("ld", "param.u64", result, address(tensor))
    emit("cvta", "to.global.u64", result, result)
    return result


class cvta:
    """Address conversion: `cvta.to_global(src)`, `cvta.param(src)`."""

    @staticmethod
    def param(src: object, dst: Reg | None = None) -> Reg:
        """Return the generic address for the address of a kernel parameter."""
        return _converted("param.u64", src, dst)

    @staticmethod
    def to_global(src: object, dst: Reg | None = None) -> Reg:
        """Return the global address for a generic one."""
        return _converted("to.global.u64", src, dst)


def _converted(modifiers: str, src: object, dst: Reg | None) -> Reg:
    result = dst if dst is not None else reg.scalar(b64)
    emit("cvta", modifiers, result, src)
    return result


def var(
    space: str,
    dtype: PtxType,
    name: str,
    *,
    size: int | None = None,
    align: int | None = None,
    linking: str | None = None,
) -> str:
    """Declare a variable in the kernel's body, or in the innermost `ptx.scope()`, and return its name.

    Args:
        space: "shared", "local", "global" or "const"; `__` may be written for `::`, as in "shared__cta".
        dtype: type of the elements.
        name: of the variable.
        size: elements of an array; default: a scalar.
        align: alignment in bytes; default: that of the type.
        linking: "visible", "extern", "weak" or "common".
    """
    get_ctx().declare_variable(
        StateSpace.from_ptx(space.replace("__", "::")),
        dtype,
        name,
        size=size,
        align=align,
        linking=LinkingDirective.from_ptx(linking) if linking else None,
        local=True,
    )
    return name

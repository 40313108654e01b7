"""Addresses, kernel parameters, variables and special registers."""

from __future__ import annotations

from pyptx import reg
from pyptx.ir.nodes import AddressOperand
from pyptx.ir.types import LinkingDirective, StateSpace
from pyptx.reg import Reg
from pyptx.tracing.operand import address
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import PtxType, b64

__all__ = ["addr", "cvta", "global_ptrs", "param", "var"]


def addr(base: object, offset: object = None) -> AddressOperand:
    """The address `[base+offset]`.

    Args:
        base: register, name, tensor, allocation, mbarrier, or another address.
        offset: bytes as int, a register, or text; a list `[c0, c1]`, or text `", {c0, c1}"`, is the coordinates of a
            tensor or texture, a tuple `(x,)` what stands there without braces, `[base, x]`.
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
    """The kernel parameter `name` in a register; of an array parameter its address."""
    result = dst if dst is not None else reg.scalar(dtype)
    if ".array" in get_ctx().raw_param_types.get(name, ""):
        emit("mov", dtype.register, result, name)
    else:
        emit("ld", f"param.{dtype.register}", result, AddressOperand(name))
    return result


def global_ptrs(*tensors: object) -> tuple[Reg, ...]:
    """The global address of every tensor's first element, each in a new 64-bit register.

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
    """Generic addresses: `cvta.to_global(src)`, `cvta.param(src)`."""

    @staticmethod
    def param(src: object, dst: Reg | None = None) -> Reg:
        """A generic address from a kernel parameter's address."""
        return _converted("param.u64", src, dst)

    @staticmethod
    def to_global(src: object, dst: Reg | None = None) -> Reg:
        """A global address from a generic one."""
        return _converted("to.global.u64", src, dst)


def _converted(modifiers: str, src: object, dst: Reg | None) -> Reg:
    result = dst if dst is not None else reg.scalar(b64)
    emit("cvta", modifiers, result, src)
    return result


def var(space: str, dtype: PtxType, name: str, *, size: int | None = None, align: int | None = None,
        linking: str | None = None) -> str:
    """Declare a variable in the kernel's body, or in the `ptx.scope()` that is open, and return its name.

    Args:
        space: "shared", "local", "global", "const", or with `__` for `::`, "shared__cta".
        size: elements of an array; None declares a scalar.
        align: bytes.
        linking: "visible", "extern", "weak" or "common".
    """
    get_ctx().declare_variable(StateSpace.from_ptx(space.replace("__", "::")), dtype, name, size=size, align=align,
                               linking=LinkingDirective.from_ptx(linking) if linking else None, local=True)
    return name

"""Addresses of elements: 64-bit in global memory, 32-bit in shared memory."""

from __future__ import annotations

from pyptx import reg
from pyptx.elements.indices import Offset, flattened
from pyptx.ir.nodes import AddressOperand
from pyptx.reg import Reg
from pyptx.tracing.operand import shifted
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, s32, s64, u32, u64

__all__ = ["in_global", "in_shared", "register_of"]

_ADDRESS_OFFSET = 1 << 31  # bound of the constant in an address operand, bytes


def in_global(base: Reg, offset: Offset, element_bytes: int, elements: int) -> AddressOperand:
    """Emit the address of an element; return it with the constant part folded into the operand.

    One `mad.wide` for one register. Several are first combined in 32 bits (`mad.lo`), if every offset of the array fits;
    otherwise each is a `mad.wide` of its own.

    Args:
        base: 64-bit address of the first element; not changed.
        offset: of the element.
        element_bytes: size of an element.
        elements: number of elements of the array.
    """
    terms, at = offset.terms, base
    if len(terms) > 1 and all(register.dtype.bits == 32 for register, _ in terms):
        signed = any(register.dtype.is_signed for register, _ in terms)
        if elements <= 1 << (31 if signed else 32):
            terms = ((flattened(terms, s32 if signed else u32), 1),)
    for register, stride in terms:
        at = _moved(at, register, stride * element_bytes)
    constant = offset.constant * element_bytes
    if not -_ADDRESS_OFFSET <= constant < _ADDRESS_OFFSET:
        far = reg.scalar(u64)
        emit("add", "s64", far, at, constant)
        return AddressOperand(far.name)
    return shifted(AddressOperand(at.name), constant)


def _moved(base: Reg, index: Reg, scale: int) -> Reg:
    """Emit base + index * scale; return its register."""
    result, signed = reg.scalar(u64), index.dtype.is_signed
    kind = "s" if signed else "u"
    if index.dtype.bits == 32:
        if scale < 1 << (31 if signed else 32):
            emit("mad", f"wide.{kind}32", result, index, scale, base)
            return result
        wide = reg.scalar(s64 if signed else u64)
        emit("cvt", f"{kind}64.{kind}32", wide, index)
        index = wide
    emit("mad", f"lo.{kind}64", result, index, scale, base)
    return result


def in_shared(base: Reg | str, offset: Offset, element_bytes: int, start_bytes: int = 0) -> AddressOperand:
    """Emit the address of an element of shared memory; return it with the constant part folded into the operand.

    Args:
        base: 32-bit address, or name of a variable.
        offset: of the element.
        element_bytes: size of an element.
        start_bytes: distance of the first element from the base.
    """
    constant, dtype = offset.constant * element_bytes + start_bytes, _integer(offset)
    if not offset.terms:
        return shifted(AddressOperand(base if isinstance(base, str) else base.name), constant)
    if isinstance(base, str):
        start = reg.scalar(u32)
        emit("mov", "u32", start, base)
        base = start
    terms = [(_narrow(register), stride * element_bytes) for register, stride in offset.terms]
    return shifted(AddressOperand(flattened([*terms, (base, 1)], dtype).name), constant)


def _integer(offset: Offset) -> PtxType:
    return s32 if any(register.dtype.is_signed for register, _ in offset.terms) else u32


def _narrow(index: Reg) -> Reg:
    """Return the low 32 bits of an index: an offset in shared memory has no more."""
    if index.dtype.bits == 32:
        return index
    low = reg.scalar(u32)
    emit("cvt", "u32.u64", low, index)
    return low


def register_of(address: AddressOperand, dtype: PtxType) -> Reg:
    """Emit a copy of an address; return the new register of type `dtype`, u32 or u64."""
    result = reg.scalar(dtype)
    if not address.base.startswith("%"):
        emit("mov", dtype.name, result, address.base)
        if address.offset is not None:
            emit("add", dtype.name, result, result, int(address.offset))
        return result
    source = Reg(address.base, dtype)
    if address.offset is None:
        emit("mov", dtype.name, result, source)
    else:
        emit("add", f"s{dtype.bits}", result, source, int(address.offset))
    return result

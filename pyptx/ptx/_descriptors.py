"""Matrix descriptors of wgmma in a 64-bit register: what the tensor cores need to know of a tile in shared memory.

Bits 0-13 address/16, 16-29 leading byte offset/16, 32-45 stride byte offset/16, 49-51 base offset, 62-63 swizzle.
Source: PTX ISA, "Matrix Descriptor Format" of wgmma.
"""

from __future__ import annotations

import warnings

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ptx._typed import register_address
from pyptx.reg import Reg
from pyptx.smem import SharedSlice
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, b32, u32, u64
from pyptx.wgmma_layout import Major, pick_gmma_layout

__all__ = ["ADDRESS_MASK", "MASKED_DESC_B128", "auto_descriptor", "field", "make_descriptor", "masked_descriptor"]

MASKED_DESC_B128 = 0x4000004000010000           # 128-byte swizzle, stride 1024, leading 16
ADDRESS_MASK = 0x3FFF0                          # bits of a shared address that a descriptor holds


def field(value: int, shift: int, bits: int, what: str, unit: int = 1) -> int:
    """`value / unit` at bit `shift`.

    Raises:
        ShapeError: it is no multiple of the unit, or does not fit.
    """
    if value % unit or not 0 <= value // unit < 1 << bits:
        step = f"a multiple of {unit} " if unit > 1 else ""
        raise ShapeError(f"{what}={value}; expected {step}from 0 to {((1 << bits) - 1) * unit}", at=user_place())
    return value // unit << shift


def constant_bits(leading_byte_offset: int, stride_byte_offset: int, swizzle: int = 0, base_offset: int = 0) -> int:
    """The bits of a descriptor that do not depend on the address."""
    return (field(leading_byte_offset, 16, 14, "leading_byte_offset", 16)
            | field(stride_byte_offset, 32, 14, "stride_byte_offset", 16)
            | field(base_offset, 49, 3, "base_offset") | field(swizzle, 62, 2, "swizzle"))


def make_descriptor(smem_base: object, *, leading_byte_offset: int, stride_byte_offset: int, swizzle: int = 0,
                    base_offset: int = 0, addr_byte_offset: int = 0) -> Reg:
    """A wgmma descriptor in a new u64 register.

    Args:
        smem_base: a handle of `smem`, the name of a shared variable, or a shared address (u32 or u64).
        leading_byte_offset, stride_byte_offset: multiples of 16.
        swizzle: SWIZZLE_NONE, SWIZZLE_128B, SWIZZLE_64B or SWIZZLE_32B.
        addr_byte_offset: bytes added to the start, for instance of a step along K.
    """
    constant = constant_bits(leading_byte_offset, stride_byte_offset, swizzle, base_offset)
    start = _address_64(smem_base)
    if addr_byte_offset:
        moved = reg.scalar(u64)
        emit("add", "s64", moved, start, addr_byte_offset)
        start = moved
    descriptor, bits = reg.scalar(u64), reg.scalar(u64)
    emit("shr", "u64", descriptor, start, 4)
    emit("and", "b64", descriptor, descriptor, 16383)
    emit("mov", "b64", bits, constant)
    emit("or", "b64", descriptor, descriptor, bits)
    return descriptor


def _address_64(value: object) -> Reg:
    """A shared address in a 64-bit register."""
    if isinstance(value, SharedSlice) and isinstance(value.stage, Reg):
        value = value.address_register()
    if isinstance(value, Reg):
        if value.dtype.bits == 64:
            return value
        wide = reg.scalar(u64)
        emit("cvt", "u64.u32", wide, value)
        return wide
    start = reg.scalar(u64)
    if isinstance(value, str):
        emit("mov", "u64", start, value)
        return start
    symbol, offset = getattr(value, "symbol_and_offset", (None, 0))
    if symbol is None:
        return _address_64(register_address(value))
    emit("mov", "u64", start, symbol)
    if offset:
        distance = reg.scalar(u64)
        emit("mov", "b64", distance, offset)
        emit("add", "s64", start, start, distance)
    return start


def auto_descriptor(smem_base: object, *, dtype: PtxType, shape: tuple[int, int], major: str) -> Reg:
    """A wgmma descriptor of a tile whose layout follows from its shape.

    Args:
        shape: (M or N, K) elements with major "K", (K, M or N) with major "MN".
    """
    if major not in ("K", "MN"):
        raise ShapeError(f"major {major!r}; expected 'K' or 'MN'", at=user_place())
    m_or_n, k = shape if major == "K" else shape[::-1]
    layout = pick_gmma_layout(elem_bytes=dtype.bits // 8, m_or_n=m_or_n, k=k, major=Major[major])
    return make_descriptor(smem_base, leading_byte_offset=layout.leading_byte_offset,
                           stride_byte_offset=layout.stride_byte_offset, swizzle=layout.swizzle_code)


def masked_descriptor(smem_addr: object, *, byte_offset: int = 0, mask: int = 0x3FF80,
                      const_bits: int = MASKED_DESC_B128) -> Reg:
    """A descriptor from a 32-bit shared address: `(addr + byte_offset & mask) >> 4 | const_bits`, a u64 register.

    Args:
        mask: what counts of the address. 0x3FF80 is for places that 128 divides; a step of 32 or 64 bytes along K wants
            ADDRESS_MASK, all that a descriptor holds. Of an offset whose bits are dropped there is a warning.
    """
    if byte_offset & ADDRESS_MASK & ~mask:
        warnings.warn(f"masked_descriptor(byte_offset={byte_offset}): mask={mask:#x} drops bits of the offset, so the "
                      f"descriptor is that of another place; pass mask={ADDRESS_MASK:#x}", stacklevel=2)
    start = register_address(smem_addr)
    if byte_offset:
        moved = reg.scalar(u32)
        emit("add", "u32", moved, start, byte_offset)
        start = moved
    masked, index, descriptor = reg.scalar(b32), reg.scalar(u32), reg.scalar(u64)
    emit("and", "b32", masked, start, mask)
    emit("shr", "u32", index, masked, 4)
    emit("cvt", "u64.u32", descriptor, index)
    emit("or", "b64", descriptor, descriptor, const_bits)
    return descriptor

"""Matrix descriptors of wgmma: location and layout of a shared-memory tile in a 64-bit register.

Bits 0-13 address/16, 16-29 leading byte offset/16, 32-45 stride byte offset/16, 49-51 base offset, 62-63 swizzle.
Source: PTX ISA, "Matrix Descriptor Format" of wgmma.
"""

from __future__ import annotations

import warnings
from typing import Any, Protocol

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ptx._checked import register_address
from pyptx.reg import Reg
from pyptx.smem import SharedSlice
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, b32, u32, u64
from pyptx.wgmma_layout import Major, pick_gmma_layout

__all__ = [
    "ADDRESS_MASK",
    "MASKED_DESC_B128",
    "OperandTile",
    "TileDescriptor",
    "auto_descriptor",
    "field",
    "make_descriptor",
    "masked_descriptor",
]

MASKED_DESC_B128 = 0x4000004000010000  # 128-byte swizzle, stride 1024, leading 16


class OperandTile(Protocol):
    """A tile that a matrix descriptor describes.

    Attributes:
        rows, columns: sizes in elements; columns are contiguous.
        dtype: type of the elements.
        major: "K" if the columns are along K, else "MN".
    """

    rows: int
    columns: int
    dtype: PtxType
    major: str


class TileDescriptor(Reg):
    """A matrix descriptor in a register that knows its tile, also after additions, so that a product can be checked against it."""

    __slots__ = ("tile",)

    tile: OperandTile | None

    def __init__(self, name: str, dtype: PtxType, tile: OperandTile | None = None):
        super().__init__(name, dtype)
        self.tile = tile

    def __add__(self, other: Any) -> TileDescriptor:
        total = Reg(self.name, self.dtype) + other
        return TileDescriptor(total.name, total.dtype, self.tile)


ADDRESS_MASK = 0x3FFF0  # bits of a shared address that a descriptor holds


def field(value: int, shift: int, bits: int, what: str, unit: int = 1) -> int:
    """Return `value / unit` shifted to bit `shift`.

    Args:
        value: the number.
        shift: lowest bit of the field.
        bits: width of the field.
        what: name of the argument, for the error.
        unit: granularity of the field.
    Raises:
        ShapeError: `value` is not a multiple of `unit`, or does not fit.
    """
    if value % unit or not 0 <= value // unit < 1 << bits:
        step = f"a multiple of {unit} " if unit > 1 else ""
        raise ShapeError(f"{what}={value}; expected {step}from 0 to {((1 << bits) - 1) * unit}", at=user_place())
    return value // unit << shift


def constant_bits(leading_byte_offset: int, stride_byte_offset: int, swizzle: int = 0, base_offset: int = 0) -> int:
    """Return the bits of a descriptor that do not depend on the address."""
    return (
        field(leading_byte_offset, 16, 14, "leading_byte_offset", 16)
        | field(stride_byte_offset, 32, 14, "stride_byte_offset", 16)
        | field(base_offset, 49, 3, "base_offset")
        | field(swizzle, 62, 2, "swizzle")
    )


def make_descriptor(
    smem_base: object,
    *,
    leading_byte_offset: int,
    stride_byte_offset: int,
    swizzle: int = 0,
    base_offset: int = 0,
    addr_byte_offset: int = 0,
) -> Reg:
    """Emit a wgmma matrix descriptor; return its u64 register.

    Args:
        smem_base: an allocation of `smem`, the name of a shared variable, or a shared address (u32 or u64).
        leading_byte_offset, stride_byte_offset: multiples of 16, in bytes.
        swizzle: SWIZZLE_NONE, SWIZZLE_128B, SWIZZLE_64B or SWIZZLE_32B.
        base_offset: base offset field, 0..7.
        addr_byte_offset: bytes added to the address, for example for a step along K.
    Raises:
        ShapeError: a field is out of range.
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
    """Return a shared address in a 64-bit register."""
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
    """Emit the wgmma descriptor of a tile in its canonical layout; return its u64 register.

    Args:
        smem_base: an allocation of `smem`, the name of a shared variable, or a shared address.
        dtype: type of the elements.
        shape: (M or N, K) elements with major "K", (K, M or N) with major "MN".
        major: contiguous dimension, "K" or "MN".
    Raises:
        ShapeError: an unknown major, or a shape without a canonical layout.
    """
    if major not in ("K", "MN"):
        raise ShapeError(f"major {major!r}; expected 'K' or 'MN'", at=user_place())
    m_or_n, k = shape if major == "K" else shape[::-1]
    layout = pick_gmma_layout(elem_bytes=dtype.bits // 8, m_or_n=m_or_n, k=k, major=Major[major])
    return make_descriptor(
        smem_base,
        leading_byte_offset=layout.leading_byte_offset,
        stride_byte_offset=layout.stride_byte_offset,
        swizzle=layout.swizzle_code,
    )


def masked_descriptor(
    smem_addr: object, *, byte_offset: int = 0, mask: int = 0x3FF80, const_bits: int = MASKED_DESC_B128
) -> Reg:
    """Emit a descriptor `(addr + byte_offset & mask) >> 4 | const_bits`; return its u64 register.

    Args:
        smem_addr: a 32-bit shared address or an allocation of `smem`.
        byte_offset: bytes added to the address. A warning is issued if `mask` drops bits of it.
        mask: bits of the address to keep. The default suits addresses that are multiples of 128; a step of 32 or 64
            bytes along K needs ADDRESS_MASK, all bits a descriptor holds.
        const_bits: the other fields of the descriptor.
    """
    if byte_offset & ADDRESS_MASK & ~mask:
        warnings.warn(
            f"masked_descriptor(byte_offset={byte_offset}): mask={mask:#x} drops bits of the offset, so the "
            f"descriptor has a wrong address; pass mask={ADDRESS_MASK:#x}",
            stacklevel=2,
        )
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

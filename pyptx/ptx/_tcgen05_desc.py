"""Descriptors of tcgen05: of an instruction (a number) and of a matrix in shared memory (a 64-bit register).

Source: PTX ISA, "Instruction descriptor" and "Shared memory descriptor" of tcgen05.
"""

from __future__ import annotations

from pyptx import reg
from pyptx.ptx._descriptors import ADDRESS_MASK, field
from pyptx.ptx._descriptors import masked_descriptor as wgmma_masked_descriptor
from pyptx.ptx._typed import one_of
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import b64

__all__ = ["BLACKWELL_MASKED_DESC_B128", "descriptor", "make_instr_desc_f16bf16_f32", "masked_descriptor"]

BLACKWELL_MASKED_DESC_B128 = 0x4000404000010000         # 128-byte swizzle, version 1, stride 1024, leading 16

_AB_FORMAT = {"f16": 0, "bf16": 1, "tf32": 2}
_MAJOR = {"K": 0, "MN": 1}
_LAYOUT = {"NONE": 0, "128B_BASE32B": 1, "128B": 2, "64B": 4, "32B": 6}


def make_instr_desc_f16bf16_f32(*, m: int = 128, n: int = 256, ab_dtype: str = "bf16", a_major: str = "K",
                                b_major: str = "K", scale_a: int = 1, scale_b: int = 1, saturate: bool = False,
                                sparse: bool = False, max_shift: int = 0) -> int:
    """The instruction descriptor of kind::f16 and kind::tf32 with an f32 accumulator.

    Args:
        m, n: tile size; m is 64, 128 or 256, n a multiple of 8 up to 256.
        ab_dtype: "f16", "bf16" or "tf32".
        a_major, b_major: "K" or "MN".
        scale_a, scale_b: 1, or -1 to negate.
        max_shift: 0..3, of the weight-stationary forms.
    """
    ab_dtype = getattr(ab_dtype, "name", ab_dtype)
    one_of(m, (64, 128, 256), "m")
    one_of(n, tuple(range(8, 257, 8)), "n")
    one_of(ab_dtype, tuple(_AB_FORMAT), "ab_dtype")
    for value, what in ((a_major, "a_major"), (b_major, "b_major")):
        one_of(value, tuple(_MAJOR), what)
    for value, what in ((scale_a, "scale_a"), (scale_b, "scale_b")):
        one_of(value, (1, -1), what)
    number = _AB_FORMAT[ab_dtype]
    return (int(sparse) << 2 | int(saturate) << 3 | 1 << 4 | number << 7 | number << 10 | int(scale_a < 0) << 13
            | int(scale_b < 0) << 14 | _MAJOR[a_major] << 15 | _MAJOR[b_major] << 16 | n >> 3 << 17 | m >> 4 << 24
            | field(max_shift, 30, 2, "max_shift"))


def descriptor(smem_addr: object, *, byte_offset: int = 0, stride_bytes: int, leading_bytes: int = 16,
               swizzle: str = "128B", version: int = 1, base_offset: int = 0, lbo_mode: int = 0) -> Reg:
    """The descriptor of a matrix in shared memory, a b64 register.

    Args:
        smem_addr: shared address (u32 register) or a handle of `smem`.
        byte_offset, stride_bytes, leading_bytes: multiples of 16.
        swizzle: "NONE", "32B", "64B", "128B" or "128B_BASE32B".
    """
    one_of(swizzle, tuple(_LAYOUT), "swizzle")
    field(byte_offset, 0, 14, "byte_offset", 16)
    constant = (field(leading_bytes, 16, 14, "leading_bytes", 16) | field(stride_bytes, 32, 14, "stride_bytes", 16)
                | field(version, 46, 2, "version") | field(base_offset, 49, 3, "base_offset")
                | field(lbo_mode, 52, 1, "lbo_mode") | _LAYOUT[swizzle] << 61)
    raw = wgmma_masked_descriptor(smem_addr, byte_offset=byte_offset, mask=ADDRESS_MASK, const_bits=constant)
    return _as_b64(raw)


def masked_descriptor(smem_addr: object, *, byte_offset: int = 0, mask: int = ADDRESS_MASK,
                      const_bits: int = BLACKWELL_MASKED_DESC_B128) -> Reg:
    """`(addr + byte_offset & mask) >> 4 | const_bits`, a b64 register."""
    return _as_b64(wgmma_masked_descriptor(smem_addr, byte_offset=byte_offset, mask=mask, const_bits=const_bits))


def _as_b64(raw: Reg) -> Reg:
    result = reg.scalar(b64)
    emit("mov", "b64", result, raw)
    return result

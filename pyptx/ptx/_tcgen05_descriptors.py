"""Descriptors of tcgen05: instruction descriptors (ints) and shared-memory matrix descriptors (64-bit registers).

Bits of an instruction descriptor: 0-1 sparsity selector, 2 sparse, 3 saturate (i8), 4-5 type of D, or the scale id of B,
7-9 and 10-12 types of A and B, 13-14 negate them, 15-16 MN-major, 17-22 N/8, 23 scale type, 24-28 M/16, 29-30 the scale
id of A, or 30-31 shift.
Source: PTX ISA, "Instruction descriptor" and "Shared memory descriptor" of tcgen05.
"""

from __future__ import annotations

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ptx._checked import one_of
from pyptx.ptx._wgmma_descriptors import ADDRESS_MASK, field
from pyptx.ptx._wgmma_descriptors import masked_descriptor as wgmma_masked_descriptor
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, b64

__all__ = [
    "BLACKWELL_MASKED_DESC_B128",
    "descriptor",
    "make_instr_desc",
    "make_instr_desc_f16bf16_f32",
    "masked_descriptor",
]

BLACKWELL_MASKED_DESC_B128 = 0x4000404000010000  # 128-byte swizzle, version 1, stride 1024, leading 16

_AB_FORMAT = {"f16": 0, "bf16": 1, "tf32": 2}
_MAJOR = {"K": 0, "MN": 1}
_LAYOUT = {"NONE": 0, "128B_BASE32B": 1, "128B": 2, "64B": 4, "32B": 6}


def make_instr_desc_f16bf16_f32(
    *,
    m: int = 128,
    n: int = 256,
    ab_dtype: str | PtxType = "bf16",
    a_major: str = "K",
    b_major: str = "K",
    scale_a: int = 1,
    scale_b: int = 1,
    saturate: bool = False,
    sparse: bool = False,
    max_shift: int = 0,
) -> int:
    """Return the instruction descriptor of kind::f16 or kind::tf32 with an f32 accumulator.

    Args:
        m, n: tile size; m is 64, 128 or 256, n a multiple of 8 up to 256.
        ab_dtype: f16, bf16 or tf32, a type of `pyptx.types` or its name.
        a_major, b_major: "K" or "MN".
        scale_a, scale_b: 1, or -1 to negate.
        max_shift: 0..3, of the weight-stationary forms.
    """
    ab_dtype = ab_dtype.name if isinstance(ab_dtype, PtxType) else ab_dtype
    one_of(m, (64, 128, 256), "m")
    one_of(n, tuple(range(8, 257, 8)), "n")
    one_of(ab_dtype, tuple(_AB_FORMAT), "ab_dtype")
    for value, what in ((a_major, "a_major"), (b_major, "b_major")):
        one_of(value, tuple(_MAJOR), what)
    for value, what in ((scale_a, "scale_a"), (scale_b, "scale_b")):
        one_of(value, (1, -1), what)
    number = _AB_FORMAT[ab_dtype]
    return (
        int(sparse) << 2
        | int(saturate) << 3
        | 1 << 4
        | number << 7
        | number << 10
        | int(scale_a < 0) << 13
        | int(scale_b < 0) << 14
        | _MAJOR[a_major] << 15
        | _MAJOR[b_major] << 16
        | n >> 3 << 17
        | m >> 4 << 24
        | field(max_shift, 30, 2, "max_shift")
    )


def descriptor(
    smem_addr: object,
    *,
    byte_offset: int = 0,
    stride_bytes: int,
    leading_bytes: int = 16,
    swizzle: str = "128B",
    version: int = 1,
    base_offset: int = 0,
    lbo_mode: int = 0,
) -> Reg:
    """Emit the descriptor of a matrix in shared memory; return its b64 register.

    Args:
        smem_addr: shared address (u32 register) or an allocation of `smem`.
        byte_offset: bytes added to the address, a multiple of 16.
        stride_bytes, leading_bytes: strides of the matrix in bytes, multiples of 16.
        swizzle: "NONE", "32B", "64B", "128B" or "128B_BASE32B".
        version: descriptor version; 1 for sm_100.
        base_offset: base offset field, 0..7.
        lbo_mode: leading-dimension mode, 0 or 1.
    Raises:
        ShapeError: a field is out of range.
    """
    one_of(swizzle, tuple(_LAYOUT), "swizzle")
    field(byte_offset, 0, 14, "byte_offset", 16)
    constant = (
        field(leading_bytes, 16, 14, "leading_bytes", 16)
        | field(stride_bytes, 32, 14, "stride_bytes", 16)
        | field(version, 46, 2, "version")
        | field(base_offset, 49, 3, "base_offset")
        | field(lbo_mode, 52, 1, "lbo_mode")
        | _LAYOUT[swizzle] << 61
    )
    raw = wgmma_masked_descriptor(smem_addr, byte_offset=byte_offset, mask=ADDRESS_MASK, const_bits=constant)
    return _as_b64(raw)


def masked_descriptor(
    smem_addr: object, *, byte_offset: int = 0, mask: int = ADDRESS_MASK, const_bits: int = BLACKWELL_MASKED_DESC_B128
) -> Reg:
    """Emit a descriptor `(addr + byte_offset & mask) >> 4 | const_bits`; return its b64 register."""
    return _as_b64(wgmma_masked_descriptor(smem_addr, byte_offset=byte_offset, mask=mask, const_bits=const_bits))


def _as_b64(raw: Reg) -> Reg:
    result = reg.scalar(b64)
    emit("mov", "b64", result, raw)
    return result


_NARROW = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
_TYPES = {
    "f16": {"f16": 0, "bf16": 1},
    "tf32": {"tf32": 2},
    "i8": {"u8": 0, "s8": 1},
    "f8f6f4": _NARROW,
    "mxf8f6f4": _NARROW,
    "mxf4": {"e2m1": 1},
    "mxf4nvf4": {"e2m1": 1},
}
_SUMS = {"f16": {"f32": 1, "f16": 0}, "tf32": {"f32": 1}, "i8": {"s32": 2}, "f8f6f4": {"f32": 1, "f16": 0}}
_SCALES = {"mxf8f6f4": ("ue8m0",), "mxf4": ("ue8m0",), "mxf4nvf4": ("ue4m3", "ue8m0")}
_BYTES = ("e4m3", "e5m2", "u8", "s8")


def make_instr_desc(
    kind: str,
    *,
    m: int,
    n: int,
    a: PtxType | str,
    b: PtxType | str,
    d: PtxType | str | None = None,
    a_major: str = "K",
    b_major: str = "K",
    negate_a: bool = False,
    negate_b: bool = False,
    saturate: bool = False,
    sparse: bool = False,
    selector: int = 0,
    scale: PtxType | str | None = None,
    scale_a_id: int = 0,
    scale_b_id: int = 0,
    max_shift: int = 0,
) -> int:
    """Return the instruction descriptor of a kind of tcgen05.mma, the value of its `idesc`.

    Args:
        kind: "f16", "tf32", "i8", "f8f6f4", and block-scaled "mxf8f6f4", "mxf4", "mxf4nvf4".
        m, n: tile size. m is 64, 128 or 256 (32 with .ws), for block-scaled kinds 128 or 256; n is a multiple of 8 up to
            256, for i8 above 32 a multiple of 16.
        a, b: types of the operands: f16, bf16; tf32; u8, s8; e4m3, e5m2, e2m3, e3m2, e2m1; e2m1 only for mxf4*.
        d: type of the accumulator: f32 (default) or f16 for kinds f16 and f8f6f4, s32 for i8, else f32.
        a_major, b_major: "K" or "MN"; types narrower than 8 bits must be K-major.
        negate_a, negate_b: negate an operand (not for i8).
        saturate: clamp the result (i8 only).
        sparse: A is sparse.
        selector: of the metadata of a sparse A, 0..3 (f16 and tf32).
        scale: type of the block scales: ue8m0, or for mxf4nvf4 ue4m3, the default there.
        scale_a_id, scale_b_id: which bytes of a column of scales are used: 0..3 with scale_vec::1X, 0 or 2 with ::2X,
            0 with ::4X.
        max_shift: 0..3, of the weight-stationary forms.
    Raises:
        ShapeError: an argument the kind does not support.
    """
    one_of(kind, tuple(_TYPES), "kind")
    scaled = kind in _SCALES
    type_a, type_b = _name(a), _name(b)
    for value, what in ((type_a, "a"), (type_b, "b")):
        one_of(value, tuple(_TYPES[kind]), f"{what} of kind::{kind}")
    sums = _SUMS.get(kind, {"f32": 0})
    type_d = next(iter(sums)) if d is None else _name(d)
    one_of(type_d, tuple(sums), f"d of kind::{kind}")
    if type_d == "f16" and "bf16" in (type_a, type_b):
        raise ShapeError("bf16 operands accumulate in f32: d='f32'", at=user_place())
    one_of(m, (128, 256) if scaled else (32, 64, 128, 256), f"m of kind::{kind}")
    one_of(n, tuple(v for v in range(8, 257, 8) if kind != "i8" or v <= 32 or not v % 16), f"n of kind::{kind}")
    for value, major, what in ((type_a, a_major, "a_major"), (type_b, b_major, "b_major")):
        one_of(major, ("K", "MN") if kind in ("f16", "tf32") or (value in _BYTES) else ("K",), f"{what} of {value}")
    _refuse(
        kind,
        saturate=(saturate, kind == "i8"),
        selector=(selector, sparse and kind in ("f16", "tf32")),
        scale=(scale, scaled),
        scale_a_id=(scale_a_id, scaled),
        scale_b_id=(scale_b_id, scaled),
        max_shift=(max_shift, not scaled),
        negate_a=(negate_a, kind != "i8"),
        negate_b=(negate_b, kind != "i8"),
    )
    bits = (
        field(selector, 0, 2, "selector")
        | int(sparse) << 2
        | int(saturate) << 3
        | sums[type_d] << 4
        | _TYPES[kind][type_a] << 7
        | _TYPES[kind][type_b] << 10
        | int(negate_a) << 13
        | int(negate_b) << 14
        | int(a_major == "MN") << 15
        | int(b_major == "MN") << 16
        | n >> 3 << 17
        | m >> 4 << 24
    )
    if not scaled:
        return bits | field(max_shift, 30, 2, "max_shift")
    scale_type = _SCALES[kind][0] if scale is None else _name(scale)
    one_of(scale_type, _SCALES[kind], f"scale of kind::{kind}")
    return (
        bits
        | int(scale_type == "ue8m0") << 23
        | field(scale_a_id, 29, 2, "scale_a_id")
        | field(scale_b_id, 4, 2, "scale_b_id")
    )


def _name(dtype: PtxType | str) -> str:
    return dtype if isinstance(dtype, str) else dtype.name


def _refuse(kind: str, **given: tuple[object, object]) -> None:
    """Raise ShapeError for an argument that the kind does not support: name -> (value, supported)."""
    for name, (value, has) in given.items():
        if value and not has:
            raise ShapeError(f"{name}={value!r} is not supported by kind::{kind} here", at=user_place())

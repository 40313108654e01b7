"""Instruction descriptors of tcgen05.mma, of every kind: types, tile, orders and scales as 32 bits.

Bits 0-1 sparsity selector, 2 sparse, 3 saturate (i8), 4-5 type of D, or the scale id of B, 7-9 and 10-12 types of A and
B, 13-14 negate them, 15-16 MN-major, 17-22 N/8, 23 scale type, 24-28 M/16, 29-30 the scale id of A, or 30-31 shift.
Source: PTX ISA, "Instruction descriptor" of tcgen05.
"""

from __future__ import annotations

from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ptx._descriptors import field
from pyptx.ptx._typed import one_of
from pyptx.types import PtxType

__all__ = ["make_instr_desc"]

_NARROW = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
_TYPES = {"f16": {"f16": 0, "bf16": 1}, "tf32": {"tf32": 2}, "i8": {"u8": 0, "s8": 1}, "f8f6f4": _NARROW,
          "mxf8f6f4": _NARROW, "mxf4": {"e2m1": 1}, "mxf4nvf4": {"e2m1": 1}}
_SUMS = {"f16": {"f32": 1, "f16": 0}, "tf32": {"f32": 1}, "i8": {"s32": 2}, "f8f6f4": {"f32": 1, "f16": 0}}
_SCALES = {"mxf8f6f4": ("ue8m0",), "mxf4": ("ue8m0",), "mxf4nvf4": ("ue4m3", "ue8m0")}
_BYTES = ("e4m3", "e5m2", "u8", "s8")


def make_instr_desc(kind: str, *, m: int, n: int, a: PtxType | str, b: PtxType | str, d: PtxType | str | None = None,
                    a_major: str = "K", b_major: str = "K", negate_a: bool = False, negate_b: bool = False,
                    saturate: bool = False, sparse: bool = False, selector: int = 0, scale: PtxType | str | None = None,
                    scale_a_id: int = 0, scale_b_id: int = 0, max_shift: int = 0) -> int:
    """The instruction descriptor of a kind of tcgen05.mma, a number for its `idesc`.

    Args:
        kind: "f16", "tf32", "i8", "f8f6f4", and block-scaled "mxf8f6f4", "mxf4", "mxf4nvf4".
        m, n: tile size; m is 64, 128 or 256 (32 with .ws), of block-scaled kinds 128 or 256; n a multiple of 8 up to
            256, with i8 one of 16 above 32.
        a, b: types of the operands: f16, bf16; tf32; u8, s8; e4m3, e5m2, e2m3, e3m2, e2m1; e2m1 alone for mxf4*.
        d: type of the sums: f32, or f16 for kinds f16 and f8f6f4, s32 for i8; the first of them unless told.
        a_major, b_major: "K" or "MN"; numbers of less than 8 bits are K-major.
        selector: of the metadata of a sparse A, 0..3 (f16 and tf32).
        scale: type of the block scales: ue8m0, or for mxf4nvf4 ue4m3, the default there.
        scale_a_id, scale_b_id: which bytes of a column of scales are used: 0..3 with scale_vec::1X, 0 or 2 with ::2X,
            0 with ::4X.
        max_shift: 0..3, of the weight-stationary forms.
    Raises:
        ShapeError: what the kind does not have.
    """
    one_of(kind, tuple(_TYPES), "kind")
    scaled = kind in _SCALES
    a, b, d, scale = (getattr(value, "name", value) for value in (a, b, d, scale))
    for value, what in ((a, "a"), (b, "b")):
        one_of(value, tuple(_TYPES[kind]), f"{what} of kind::{kind}")
    sums = _SUMS.get(kind, {"f32": 0})
    d = next(iter(sums)) if d is None else d
    one_of(d, tuple(sums), f"d of kind::{kind}")
    if d == "f16" and "bf16" in (a, b):
        raise ShapeError("bf16 operands have sums in f32: d='f32'", at=user_place())
    one_of(m, (128, 256) if scaled else (32, 64, 128, 256), f"m of kind::{kind}")
    one_of(n, tuple(v for v in range(8, 257, 8) if kind != "i8" or v <= 32 or not v % 16), f"n of kind::{kind}")
    for value, major, what in ((a, a_major, "a_major"), (b, b_major, "b_major")):
        one_of(major, ("K", "MN") if kind in ("f16", "tf32") or (value in _BYTES) else ("K",), f"{what} of {value}")
    _refuse(kind, saturate=(saturate, kind == "i8"), selector=(selector, sparse and kind in ("f16", "tf32")),
            scale=(scale, scaled), scale_a_id=(scale_a_id, scaled), scale_b_id=(scale_b_id, scaled),
            max_shift=(max_shift, not scaled), negate_a=(negate_a, kind != "i8"), negate_b=(negate_b, kind != "i8"))
    bits = (field(selector, 0, 2, "selector") | int(sparse) << 2 | int(saturate) << 3 | sums[d] << 4
            | _TYPES[kind][a] << 7 | _TYPES[kind][b] << 10 | int(negate_a) << 13 | int(negate_b) << 14
            | int(a_major == "MN") << 15 | int(b_major == "MN") << 16 | n >> 3 << 17 | m >> 4 << 24)
    if not scaled:
        return bits | field(max_shift, 30, 2, "max_shift")
    scale = _SCALES[kind][0] if scale is None else scale
    one_of(scale, _SCALES[kind], f"scale of kind::{kind}")
    return (bits | int(scale == "ue8m0") << 23 | field(scale_a_id, 29, 2, "scale_a_id")
            | field(scale_b_id, 4, 2, "scale_b_id"))


def _refuse(kind: str, **given: tuple[object, object]) -> None:
    """Raise ShapeError for what is given, where the kind has no such thing: (value, whether it has) by name."""
    for name, (value, has) in given.items():
        if value and not has:
            raise ShapeError(f"{name}={value!r}: kind::{kind} has none here", at=user_place())

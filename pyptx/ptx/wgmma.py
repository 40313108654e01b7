"""Warpgroup matrix multiply-accumulate (sm_90a): `ptx.wgmma.*`.

Source: PTX ISA, "wgmma.mma_async", "Matrix Descriptor Format".
"""

from __future__ import annotations

from collections.abc import Sequence

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import OperandError, ShapeError
from pyptx.ir.nodes import VectorOperand
from pyptx.ptx._checked import check_option, emit_checked, refuse, type_name
from pyptx.ptx._wgmma_descriptors import (
    MASKED_DESC_B128,
    OperandTile,
    TileDescriptor,
    auto_descriptor,
    make_descriptor,
    masked_descriptor,
)
from pyptx.reg import NegPred, Reg, RegArray
from pyptx.smem import SharedAlloc, SharedSlice
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, u32
from pyptx.types import pred as pred_type
from pyptx.wgmma_layout import GmmaLayout, Major, pick_gmma_layout

__all__ = [
    "MASKED_DESC_B128",
    "SWIZZLE_128B",
    "SWIZZLE_32B",
    "SWIZZLE_64B",
    "SWIZZLE_NONE",
    "auto_descriptor",
    "commit_group",
    "fence",
    "make_descriptor",
    "masked_descriptor",
    "mma_async",
    "wait_group",
]

Guard = Reg | NegPred | None
Tile = SharedAlloc | SharedSlice

SWIZZLE_NONE, SWIZZLE_128B, SWIZZLE_64B, SWIZZLE_32B = 0, 1, 2, 3

_TRANSPOSABLE = ("f16", "bf16")
_INTEGERS = ("s8", "u8", "b1")


def fence(*, pred: Guard = None) -> None:
    """Order register and shared-memory accesses before following wgmma operations."""
    emit_checked("wgmma", "fence.sync.aligned", pred=pred)


def commit_group(*, pred: Guard = None) -> None:
    """Commit the pending wgmma operations to a group."""
    emit_checked("wgmma", "commit_group.sync.aligned", pred=pred)


def wait_group(n: int, *, pred: Guard = None) -> None:
    """Wait until at most `n` (0..7) wgmma groups are pending."""
    emit_checked("wgmma", "wait_group.sync.aligned", n, pred=pred)


def mma_async(
    *,
    shape: tuple[int, int, int],
    dtype_d: PtxType,
    dtype_a: PtxType,
    dtype_b: PtxType,
    d: RegArray | Sequence[Reg],
    a: Reg | Tile | RegArray | Sequence[Reg],
    b: Reg | Tile,
    scale_d: Reg | bool | int = False,
    scale_a: int = 1,
    scale_b: int = 1,
    trans_a: int = 0,
    trans_b: int = 0,
    a_k_offset: int = 0,
    b_k_offset: int = 0,
    pred: Guard = None,
) -> None:
    """Emit an asynchronous matrix product of a warpgroup: D = A * B, plus D if `scale_d` holds.

    Args:
        shape: (m, n, k) in elements: m is 64, k is 32 bytes.
        dtype_d, dtype_a, dtype_b: types of the elements.
        d: the accumulator, m*n/128 registers per thread (half as many for f16).
        a, b: a matrix descriptor in a u64 register, a tile of `smem.wgmma_tile`, or a slice `tiles[stage]` of swizzled
            shared memory of shape (M or N, K), transposed (K, M or N); `a` can be a register fragment.
        scale_d: a predicate, a 32-bit register, or an int; false or 0 overwrites D.
        scale_a, scale_b: 1, or -1 to negate (float types).
        trans_a, trans_b: 1 for an MN-major operand in shared memory (f16 and bf16 only).
        a_k_offset, b_k_offset: bytes added to the address of a tile; ignored for a descriptor register.
    Raises:
        ShapeError: a negation or transposition that the type does not support.
        OperandError: an operand that is neither a descriptor nor a tile with a wgmma layout.
    """
    kind = type_name(dtype_a)
    m, n, k = shape
    fragment = isinstance(a, RegArray | list | tuple | VectorOperand)
    operand_a = _vector(a) if fragment else _descriptor(a, a_k_offset, "a", trans_a, m)
    operand_b = _descriptor(b, b_k_offset, "b", trans_b, n)
    for found, what, dtype, transposed, extent in (
        (operand_a, "a", dtype_a, trans_a, m),
        (operand_b, "b", dtype_b, trans_b, n),
    ):
        if isinstance(found, TileDescriptor) and found.tile is not None:
            _check_tile(found.tile, what, dtype, transposed, extent)
    operands = [_vector(d), operand_a, operand_b, _accumulate(scale_d)]
    for value, what in ((scale_a, "scale_a"), (scale_b, "scale_b")):
        check_option(value, (1, -1), what)
        if kind in _INTEGERS and value != 1:
            refuse(f"{what}={value}: {kind} operands cannot be negated")
    if kind not in _INTEGERS:
        operands += [scale_a, scale_b]
    for value, what, on_chip in ((trans_a, "trans_a", fragment), (trans_b, "trans_b", False)):
        check_option(value, (0, 1), what)
        if kind not in _TRANSPOSABLE or on_chip:
            if value:
                operand = "A in registers" if on_chip else f"{kind} operands"
                refuse(f"{what}=1: {operand} cannot be transposed; they must be K-major")
        else:
            operands.append(int(value))
    operation = ".and.popc" if kind == "b1" else ""
    emit_checked(
        "wgmma",
        f"mma_async.sync.aligned.m{m}n{n}k{k}.{type_name(dtype_d)}.{kind}.{type_name(dtype_b)}{operation}",
        *operands,
        pred=pred,
    )


def _vector(registers: RegArray | Sequence[Reg]) -> RegArray | list[Reg]:
    return registers if isinstance(registers, RegArray | VectorOperand) else list(registers)


def _descriptor(value: object, byte_offset: int, what: str, transposed: int, rows: int) -> Reg:
    """Return the matrix descriptor of an operand: computed for a tile, unchanged for a register."""
    if isinstance(value, Reg):
        return value
    if not isinstance(value, SharedAlloc | SharedSlice):
        raise OperandError(
            f"wgmma operand {what} is {value!r}; expected a descriptor in a u64 register (ptx.wgmma."
            "make_descriptor), a tile from smem.wgmma_tile, or a slice of shared memory",
            at=user_place(),
        )
    layout = value.gmma_layout or _layout_of(value, what, "MN" if transposed else "K", rows)
    return make_descriptor(
        value,
        leading_byte_offset=layout.leading_byte_offset,
        stride_byte_offset=layout.stride_byte_offset,
        swizzle=layout.swizzle_code,
        addr_byte_offset=byte_offset,
    )


def _check_tile(tile: OperandTile, what: str, dtype: PtxType, transposed: int, extent: int) -> None:
    """Refuse a product that reads the tile of a descriptor as another type, transposed, or beyond its rows."""
    along = tile.major == "MN"
    has = tile.columns if along else tile.rows
    if type_name(dtype) != type_name(tile.dtype):
        problem, fix = f"dtype_{what}={type_name(dtype)}", f"dtype_{what}={type_name(tile.dtype)}"
    elif bool(transposed) != along:
        problem, fix = f"trans_{what}={int(transposed)}", f"trans_{what}={int(along)}"
    elif extent > has:
        problem, fix = f"{'m' if what == 'a' else 'n'}={extent} in shape", f"at most {has}"
    else:
        return
    raise OperandError(
        f"operand {what} is the descriptor of {tile!r}, and {problem}", at=user_place(), hint=f"pass {fix}"
    )


def _layout_of(tile: Tile, what: str, major: str, rows: int) -> GmmaLayout:
    """Return the canonical layout of a tile allocated without one, by its shape and swizzle.

    `rows` is the extent along M or N that the instruction reads.

    Raises:
        OperandError: the tile is not two-dimensional, too small, or its swizzle is not that of the canonical layout.
    """
    swizzle = (tile if isinstance(tile, SharedAlloc) else tile.alloc).swizzle
    problem = f"its shape is {tile.shape}; expected two dimensions"
    if len(tile.shape) == 2:
        m_or_n, k = tile.shape if major == "K" else tile.shape[::-1]
        try:
            layout = pick_gmma_layout(elem_bytes=tile.dtype.bits // 8, m_or_n=m_or_n, k=k, major=Major[major])
        except ShapeError as error:
            problem = error.message
        else:
            if layout.smem_swizzle == swizzle and m_or_n >= rows:
                return layout
            if m_or_n < rows:
                problem = f"as a {major}-major tile it holds {m_or_n} of {rows} rows (trans_{what}=1 is MN-major)"
            else:
                problem = (
                    f"a {major}-major tile of shape {tile.shape} has swizzle={layout.smem_swizzle!r}, not {swizzle!r}"
                )
    raise OperandError(
        f"wgmma operand {what} is {tile!r}, which has no wgmma layout: {problem}",
        at=user_place(),
        hint="allocate it with smem.wgmma_tile, or pass a descriptor from ptx.wgmma.make_descriptor",
    )


def _accumulate(scale_d: Reg | NegPred | bool | int) -> Reg | NegPred:
    """Return the predicate that accumulates into D."""
    if isinstance(scale_d, NegPred) or (isinstance(scale_d, Reg) and scale_d.dtype == pred_type):
        return scale_d
    if isinstance(scale_d, Reg):
        number, keep = scale_d, reg.scalar(pred_type)
    else:
        number, keep = reg.scalar(u32), reg.scalar(pred_type)
        emit("mov", "u32", number, int(bool(scale_d)))
    emit("setp", "ne.b32", keep, number, 0)
    return keep

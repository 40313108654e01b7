"""Warp-level moves of 8 x 8 matrices: `ldmatrix`, `stmatrix`, `movmatrix`."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ptx._checked import check_option, emit_checked, register_address, shared_address
from pyptx.reg import NegPred, Reg, RegArray
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import b16, b32, u32

__all__ = ["ldmatrix", "movmatrix", "stmatrix", "stmatrix_x4_trans_f32_bf16"]

Guard = Reg | NegPred | None
Fragment = RegArray | Sequence[Reg] | Reg


def ldmatrix(*, dst: Fragment, src: object, layout: str = "x4", trans: bool = False, pred: Guard = None) -> None:
    """Load 1, 2 or 4 matrices of 8 x 8 16-bit elements; lane i gives the address of row i % 8 of matrix i / 8.

    Args:
        dst: one b32 register per matrix.
        src: shared address of the lane's row.
        layout: "x1", "x2" or "x4", optionally with a shape: "m8n8.x4".
        trans: transpose each matrix.
    """
    words = layout.split(".")
    if "trans" in words:
        words.remove("trans")
        trans = True
    if not words[0].startswith("m"):
        words.insert(0, "m8n8")
    emit_checked(
        "ldmatrix",
        f"sync.aligned.{'.'.join(words)}{'.trans' if trans else ''}.shared.b16",
        _vector(dst),
        shared_address(src),
        pred=pred,
    )


def stmatrix(
    *, smem: object, regs: Fragment, layout: str = "x4", trans: bool = False, shape: str = "m8n8", pred: Guard = None
) -> None:
    """Store 1, 2 or 4 matrices of 8 x 8 16-bit elements (sm_90); lane i gives the address of row i % 8 of matrix i / 8.

    Args:
        smem: shared address of the lane's row.
        regs: one b32 register per matrix.
        layout: "x1", "x2" or "x4"; "x4.trans" sets `trans`.
        trans: transpose each matrix.
        shape: "m8n8".
    """
    words = layout.split(".")
    check_option(words[0], ("x1", "x2", "x4"), "layout")
    transposed = ".trans" if trans or "trans" in words[1:] else ""
    emit_checked(
        "stmatrix",
        f"sync.aligned.{shape}.{words[0]}{transposed}.shared::cta.b16",
        shared_address(smem),
        _vector(regs),
        pred=pred,
    )


def movmatrix(*, dst: Reg, src: Reg, pred: Guard = None) -> None:
    """Transpose an 8 x 8 matrix of 16-bit elements across the lanes of a warp."""
    emit_checked("movmatrix", "sync.aligned.m8n8.trans.b16", dst, src, pred=pred)


def _vector(registers: Fragment) -> RegArray | list[Reg]:
    if isinstance(registers, Reg):
        return [registers]
    return registers if isinstance(registers, RegArray) else list(registers)


def stmatrix_x4_trans_f32_bf16(
    *,
    frag: Fragment,
    smem_base: object,
    lane: Reg,
    row_stride: int | Reg,
    tmp_bf16: RegArray | Sequence[Reg] | None = None,
    tmp_pack: RegArray | Sequence[Reg] | None = None,
) -> None:
    """Round an f32 accumulator to bf16 and store it transposed, 8 registers (16 columns) at a time.

    Args:
        frag: f32 registers, a multiple of 8.
        smem_base: shared address of the output tile.
        lane: the thread's index in the warpgroup, u32.
        row_stride: elements between consecutive rows of the tile.
        tmp_bf16, tmp_pack: 8 b16 and 4 b32 registers to use; default: new ones.
    Raises:
        ShapeError: a wrong number of registers.
    """
    values = list(frag)
    if not values or len(values) % 8:
        raise ShapeError(f"frag holds {len(values)} registers; expected a multiple of 8", at=user_place())
    halves = list(tmp_bf16) if tmp_bf16 is not None else reg.array(b16, 8).regs()
    packs = list(tmp_pack) if tmp_pack is not None else reg.array(b32, 4).regs()
    for given, wanted, what in ((halves, 8, "tmp_bf16"), (packs, 4, "tmp_pack")):
        if len(given) != wanted:
            raise ShapeError(f"{what} holds {len(given)} registers; expected {wanted}", at=user_place())
    base = _lane_address(register_address(smem_base), lane, row_stride)
    for group in range(len(values) // 8):
        with get_ctx().block():
            for half, value in zip(halves, values[8 * group : 8 * group + 8], strict=True):
                emit_checked("cvt", "rn.bf16.f32", half, value)
        for i, pack in enumerate(packs):
            emit_checked("mov", "b32", pack, [halves[2 * i], halves[2 * i + 1]])
        address = reg.scalar(u32)
        emit_checked("add", "u32", address, base, row_stride * (32 * group))
        stmatrix(smem=address, regs=packs, layout="x4.trans")


def _lane_address(smem_base: object, lane: Reg, row_stride: int | Reg) -> Reg:
    """Emit the address of this lane's row in the first group: smem_base + 2 * (offset in elements)."""
    lane32, warp, row, half, column = (reg.scalar(u32) for _ in range(5))
    offset = reg.scalar(u32)
    emit("and", "b32", lane32, lane, 31)
    emit("shr", "u32", warp, lane, 5)
    emit("mad", "lo.s32", offset, warp, 16, 0)
    emit("and", "b32", row, lane32, 7)
    emit("mad", "lo.s32", offset, row, row_stride, offset)
    emit("shr", "u32", half, lane32, 4)
    emit("mad", "lo.s32", offset, half, row_stride * 8, offset)
    emit("and", "b32", column, lane32, 8)
    emit("add", "s32", offset, offset, column)
    total, scaled = reg.scalar(u32), reg.scalar(u32)
    emit("shl", "b32", scaled, offset, 1)
    emit("add", "u32", total, smem_base, scaled)
    return total

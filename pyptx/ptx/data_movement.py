"""Typed data movement: `ptx.mov(u32, d, a)`, `ptx.cvt(f32, bf16, d, a)`, `ptx.ld(f32, d, addr)`, `ptx.st(f32, addr, a)`."""

from __future__ import annotations

from pyptx.ptx._checked import check_option, emit_checked, shared_address, type_name
from pyptx.reg import NegPred, Reg, RegArray
from pyptx.types import PtxType

__all__ = ["cvt", "ld", "mov", "st"]

Guard = Reg | NegPred | None

_SPACES = ("generic", "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param")


def mov(dtype: PtxType, dst: Reg, src: object, *, pred: Guard = None) -> None:
    """dst = src.

    Args:
        src: a register, a number, a special register, or the name of a variable (its address).
    """
    emit_checked("mov", type_name(dtype), dst, src, pred=pred)


def cvt(
    dst_t: PtxType,
    src_t: PtxType,
    dst: Reg,
    src: object,
    *,
    rounding: str | None = None,
    ftz: bool = False,
    sat: bool = False,
    pred: Guard = None,
) -> None:
    """Convert from one type to another.

    Args:
        dst_t, src_t: types of result and source.
        rounding: "rn", "rz", "rm" or "rp" to a float; "rni", "rzi", "rmi" or "rpi" from a float to an integer.
        ftz: flush subnormals to zero.
        sat: clamp the result to the range of its type (floats to [0, 1]).
    """
    words = [rounding, "ftz" if ftz else None, "sat" if sat else None, type_name(dst_t), type_name(src_t)]
    emit_checked("cvt", ".".join(filter(None, words)), dst, src, pred=pred)


def ld(
    dtype: PtxType,
    dst: Reg | RegArray | list[Reg],
    addr: object,
    *,
    space: str = "global",
    cache: str | None = None,
    pred: Guard = None,
) -> None:
    """Load from memory.

    Args:
        dst: a register; a list of 2, 4 or 8 registers for a vector load.
        addr: register, allocation or `ptx.addr(...)`.
        space: "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param" or "generic".
        cache: "ca", "cg", "cs", "lu", "cv" or "nc".
    """
    emit_checked("ld", _memory(dtype, dst, space, cache), dst, shared_address(addr), pred=pred)


def st(
    dtype: PtxType, addr: object, src: object, *, space: str = "global", cache: str | None = None, pred: Guard = None
) -> None:
    """Store to memory; see `ld`.

    Args:
        src: a register; a list of 2, 4 or 8 registers for a vector store.
        cache: "wb", "cg", "cs" or "wt".
    """
    emit_checked("st", _memory(dtype, src, space, cache), shared_address(addr), src, pred=pred)


def _memory(dtype: PtxType, registers: object, space: str, cache: str | None) -> str:
    space = space.replace("__", "::")
    check_option(space, _SPACES, "space")
    vector = f"v{len(registers)}" if isinstance(registers, RegArray | list) else None
    return ".".join(filter(None, [None if space == "generic" else space, cache, vector, type_name(dtype)]))

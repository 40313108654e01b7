"""Typed moves: `ptx.mov(u32, d, a)`, `ptx.cvt(f32, bf16, d, a)`, `ptx.ld(f32, d, addr)`, `ptx.st(f32, addr, a)`."""

from __future__ import annotations

from pyptx.ptx._typed import one_of, shared_address, type_name, typed
from pyptx.reg import NegPred, Reg, RegArray
from pyptx.types import PtxType

__all__ = ["cvt", "ld", "mov", "st"]

Guard = Reg | NegPred | None

_SPACES = ("generic", "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param")


def mov(dtype: PtxType, dst: Reg, src: object, *, pred: Guard = None) -> None:
    """dst = src: a register, a number, a special register, or the address of a named variable."""
    typed("mov", type_name(dtype), dst, src, pred=pred)


def cvt(dst_t: PtxType, src_t: PtxType, dst: Reg, src: object, *, rounding: str | None = None, ftz: bool = False,
        sat: bool = False, pred: Guard = None) -> None:
    """Convert from one type to another.

    Args:
        rounding: "rn", "rz", "rm", "rp" towards a float; "rni", "rzi", "rmi", "rpi" from a float to an integer.
        ftz: denormals become 0.    sat: the result is clamped to the range of its type (floats to [0, 1]).
    """
    words = [rounding, "ftz" if ftz else None, "sat" if sat else None, type_name(dst_t), type_name(src_t)]
    typed("cvt", ".".join(filter(None, words)), dst, src, pred=pred)


def ld(dtype: PtxType, dst: Reg | RegArray | list[Reg], addr: object, *, space: str = "global",
       cache: str | None = None, pred: Guard = None) -> None:
    """Load; a list of 2, 4 or 8 registers makes a vector load.

    Args:
        space: "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param" or "generic".
        cache: "ca", "cg", "cs", "lu", "cv" or "nc".
    """
    typed("ld", _memory(dtype, dst, space, cache), dst, shared_address(addr), pred=pred)


def st(dtype: PtxType, addr: object, src: object, *, space: str = "global", cache: str | None = None,
       pred: Guard = None) -> None:
    """Store; see ld.

    Args:
        cache: "wb", "cg", "cs" or "wt".
    """
    typed("st", _memory(dtype, src, space, cache), shared_address(addr), src, pred=pred)


def _memory(dtype: PtxType, registers: object, space: str, cache: str | None) -> str:
    space = space.replace("__", "::")
    one_of(space, _SPACES, "space")
    vector = f"v{len(registers)}" if isinstance(registers, RegArray | list) else None
    return ".".join(filter(None, [None if space == "generic" else space, cache, vector, type_name(dtype)]))

"""Conversion of vectors: whole words at a time where the instruction set converts pairs."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx import reg
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, b16, f16, f16x2, f32

__all__ = ["converted"]

_FP8 = ("e4m3", "e5m2")


def converted(
    source: PtxType, words: Sequence[Reg], elements: Sequence[Reg] | None, dtype: PtxType
) -> list[Reg] | None:
    """Emit a conversion of pairs; return the words of the result, or None if elements are converted one by one.

    Args:
        source: type of the elements.
        words: registers that hold them.
        elements: the elements, for f32; else unused.
        dtype: type of the result.
    """
    if source == f32 and elements is not None and len(elements) % 2 == 0:
        if dtype.name in ("f16", "bf16"):
            return [_pair(f"rn.{dtype}x2.f32", _packed(dtype), high, low) for low, high in _pairs(elements)]
        if dtype.name in _FP8:
            return _joined([_pair(f"rn.satfinite.{dtype}x2.f32", b16, high, low) for low, high in _pairs(elements)])
    if source == f16 and dtype.name in _FP8 and words[0].dtype == f16x2:
        return _joined([_pair(f"rn.satfinite.{dtype}x2.f16x2", b16, word) for word in words])
    if source.name in _FP8 and dtype == f16:
        return [_pair(f"rn.f16x2.{source}x2", f16x2, half) for half in _halves(words)]
    return None


def _pairs(elements: Sequence[Reg]) -> list[tuple[Reg, Reg]]:
    return list(zip(elements[::2], elements[1::2], strict=True))


def _packed(dtype: PtxType) -> PtxType:
    return PtxType(f"{dtype}x2", 32)


def _pair(modifiers: str, dtype: PtxType, *sources: Reg) -> Reg:
    """Emit the conversion of two elements, the upper one first."""
    result = reg.scalar(dtype)
    emit("cvt", modifiers, result, *sources)
    return result


def _joined(halves: Sequence[Reg]) -> list[Reg]:
    """Pack registers of 16 bits into words; a single one is kept."""
    if len(halves) == 1:
        return list(halves)
    words = [reg.scalar(PtxType("b32", 32)) for _ in halves[::2]]
    for word, low, high in zip(words, halves[::2], halves[1::2], strict=True):
        emit("mov", "b32", word, [low, high])
    return words


def _halves(words: Sequence[Reg]) -> list[Reg]:
    """Return the halves of words in registers of 16 bits."""
    if words[0].dtype.bits == 16:
        return list(words)
    found: list[Reg] = []
    for word in words:
        parts = [reg.scalar(b16), reg.scalar(b16)]
        emit("mov", "b32", parts, word)
        found += parts
    return found

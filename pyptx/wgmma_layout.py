"""Shared-memory layouts of wgmma operands: the swizzle and the two byte offsets of a matrix descriptor."""

from __future__ import annotations

from enum import IntEnum

from pyptx._frozen import frozen
from pyptx.errors import ShapeError
from pyptx.types import PtxType

__all__ = ["GmmaLayout", "LayoutType", "Major", "layout_for_a", "layout_for_b", "pick_gmma_layout"]


class LayoutType(IntEnum):
    """Swizzle mode, as encoded in bits 62-63 of a matrix descriptor."""

    INTERLEAVE = 0
    B128 = 1
    B64 = 2
    B32 = 3


class Major(IntEnum):
    """Dimension of an operand that is contiguous in memory."""

    K = 0
    MN = 1


@frozen
class GmmaLayout:
    """Layout of one operand in shared memory.

    Attributes:
        layout_type: swizzle mode.
        leading_byte_offset, stride_byte_offset: of the matrix descriptor, in bytes.
        tma_swizzle: swizzle of the tensor map: "NONE", "32B", "64B" or "128B".
        smem_swizzle: the same as `smem.alloc` takes it; None for no swizzle.
    """

    layout_type: LayoutType
    leading_byte_offset: int
    stride_byte_offset: int
    tma_swizzle: str
    smem_swizzle: str | None

    @property
    def swizzle_code(self) -> int:
        """The swizzle mode as a number, bits 62-63 of a matrix descriptor."""
        return int(self.layout_type)


_BY_ROW_BYTES = {16: LayoutType.INTERLEAVE, 32: LayoutType.B32, 64: LayoutType.B64, 128: LayoutType.B128}
_SWIZZLE = {LayoutType.INTERLEAVE: None, LayoutType.B32: "32B", LayoutType.B64: "64B", LayoutType.B128: "128B"}


def pick_gmma_layout(*, elem_bytes: int, m_or_n: int, k: int, major: Major) -> GmmaLayout:
    """Return the layout of an operand tile of `m_or_n` x `k` elements.

    Args:
        elem_bytes: bytes per element.
        m_or_n: elements along M (operand A) or N (operand B).
        k: elements along K.
        major: the contiguous dimension.
    Raises:
        ShapeError: a size is not positive, or no swizzle fits the contiguous row.
    Source: PTX ISA, "Matrix Descriptor Format" and "Strides" of wgmma.
    Examples:
        >>> pick_gmma_layout(elem_bytes=2, m_or_n=64, k=64, major=Major.K).smem_swizzle
        '128B'
    """
    if min(elem_bytes, m_or_n, k) <= 0:
        raise ShapeError(f"elem_bytes={elem_bytes}, m_or_n={m_or_n}, k={k}: all must be positive")
    k_major = major == Major.K
    row = (k if k_major else m_or_n) * elem_bytes
    if k_major and m_or_n % 8:
        raise ShapeError(f"K-major operands need M divisible by 8, got {m_or_n}")
    if not k_major and k % 8:
        raise ShapeError(f"MN-major operands need K divisible by 8, got {k}")
    if row > 128 and row % 128 == 0:
        kind, leading, stride = LayoutType.B128, (m_or_n if k_major else k) * 128, 1024
    elif row in _BY_ROW_BYTES:
        kind, leading, stride = _BY_ROW_BYTES[row], 16, 8 * row
        if not k_major and row == 16:
            leading, stride = stride, leading
    else:
        raise ShapeError(
            f"a contiguous row of {row} bytes is not one of the canonical 16, 32, 64, 128 or a multiple of 128"
        )
    swizzle = _SWIZZLE[kind]
    return GmmaLayout(kind, leading, stride, swizzle or "NONE", swizzle)


def layout_for_a(*, dtype: PtxType | int, m: int, k: int) -> GmmaLayout:
    """Return the layout of a K-major A tile of m x k elements; `dtype` is a type or the bytes per element."""
    return pick_gmma_layout(elem_bytes=_bytes(dtype), m_or_n=m, k=k, major=Major.K)


def layout_for_b(*, dtype: PtxType | int, k: int, n: int) -> GmmaLayout:
    """Return the layout of an MN-major B tile of k x n elements; `dtype` is a type or the bytes per element."""
    return pick_gmma_layout(elem_bytes=_bytes(dtype), m_or_n=n, k=k, major=Major.MN)


def _bytes(dtype: PtxType | int) -> int:
    return dtype if isinstance(dtype, int) else dtype.bits // 8

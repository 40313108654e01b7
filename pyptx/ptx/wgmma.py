"""Warpgroup matrix multiply-accumulate (sm_90a): `ptx.wgmma.*`.

Source: PTX ISA, "wgmma.mma_async", "Matrix Descriptor Format".
"""

from __future__ import annotations

from collections.abc import Sequence

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ir.nodes import VectorOperand
from pyptx.ptx._descriptors import MASKED_DESC_B128, auto_descriptor, make_descriptor, masked_descriptor
from pyptx.ptx._typed import one_of, type_name, typed
from pyptx.reg import NegPred, Reg, RegArray
from pyptx.smem import SharedAlloc, SharedSlice
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, u32
from pyptx.types import pred as pred_type

__all__ = ["MASKED_DESC_B128", "SWIZZLE_128B", "SWIZZLE_32B", "SWIZZLE_64B", "SWIZZLE_NONE", "auto_descriptor",
           "commit_group", "fence", "make_descriptor", "masked_descriptor", "mma_async", "wait_group"]

Guard = Reg | NegPred | None
Tile = SharedAlloc | SharedSlice

SWIZZLE_NONE, SWIZZLE_128B, SWIZZLE_64B, SWIZZLE_32B = 0, 1, 2, 3

_TRANSPOSABLE = ("f16", "bf16")
_INTEGERS = ("s8", "u8", "b1")


def fence(*, pred: Guard = None) -> None:
    """Order register and shared memory accesses before the next wgmma."""
    typed("wgmma", "fence.sync.aligned", pred=pred)


def commit_group(*, pred: Guard = None) -> None:
    """Close the group of the wgmmas since the last one."""
    typed("wgmma", "commit_group.sync.aligned", pred=pred)


def wait_group(n: int, *, pred: Guard = None) -> None:
    """Wait until at most `n` (0..7) groups are pending."""
    typed("wgmma", "wait_group.sync.aligned", n, pred=pred)


def mma_async(*, shape: tuple[int, int, int], dtype_d: PtxType, dtype_a: PtxType, dtype_b: PtxType,
              d: RegArray | Sequence[Reg], a: Reg | Tile | RegArray | Sequence[Reg], b: Reg | Tile,
              scale_d: Reg | bool | int = False, scale_a: int = 1, scale_b: int = 1, trans_a: int = 0, trans_b: int = 0,
              a_k_offset: int = 0, b_k_offset: int = 0, pred: Guard = None) -> None:
    """D = A * B + (D where scale_d), started asynchronously by the 128 threads of a warpgroup.

    Args:
        shape: (m, n, k) in elements: m is 64, k is 32 bytes.
        d: the accumulator, m*n/128 registers (half of it for f16).
        a, b: a descriptor in a u64 register, or a `smem.wgmma_tile`; a may be a fragment in registers.
        scale_d: a predicate, a 32-bit register, or a number known now: 0 starts a new sum.
        scale_a, scale_b: 1, or -1 to negate (float types).
        trans_a, trans_b: 1 for an MN-major operand in shared memory (f16 and bf16 only).
        a_k_offset, b_k_offset: bytes added to the start of a tile; a descriptor register is used as it is.
    Raises:
        ShapeError: a negation or transposition that the type does not have.
    """
    kind = type_name(dtype_a)
    m, n, k = shape
    fragment = isinstance(a, RegArray | list | tuple | VectorOperand)
    operand_a = _vector(a) if fragment else _descriptor(a, a_k_offset, "a")
    operand_b = _descriptor(b, b_k_offset, "b")
    operands = [_vector(d), operand_a, operand_b, _accumulate(scale_d)]
    for value, what in ((scale_a, "scale_a"), (scale_b, "scale_b")):
        one_of(value, (1, -1), what)
        if kind in _INTEGERS and value != 1:
            raise ShapeError(f"{what}={value}: {kind} operands cannot be negated", at=user_place())
    if kind not in _INTEGERS:
        operands += [scale_a, scale_b]
    for value, what, on_chip in ((trans_a, "trans_a", fragment), (trans_b, "trans_b", False)):
        one_of(value, (0, 1), what)
        if kind not in _TRANSPOSABLE or on_chip:
            if value:
                raise ShapeError(f"{what}=1: " + ("A in registers" if on_chip else f"{kind} operands")
                                 + " cannot be transposed; they must be K-major", at=user_place())
        else:
            operands.append(int(value))
    operation = ".and.popc" if kind == "b1" else ""
    typed("wgmma", f"mma_async.sync.aligned.m{m}n{n}k{k}.{type_name(dtype_d)}.{kind}.{type_name(dtype_b)}{operation}",
          *operands, pred=pred)


def _vector(registers: RegArray | Sequence[Reg]) -> RegArray | list[Reg]:
    return registers if isinstance(registers, RegArray | VectorOperand) else list(registers)


def _descriptor(value: object, byte_offset: int, what: str) -> Reg:
    """A matrix descriptor of an operand: of a tile by its layout, a register as it is."""
    if isinstance(value, Reg):
        return value
    layout = getattr(value, "gmma_layout", None)
    if layout is None:
        raise TypeError(f"wgmma operand {what} is {value!r}; expected a descriptor in a u64 register (ptx.wgmma."
                        "make_descriptor) or a tile from smem.wgmma_tile")
    return make_descriptor(value, leading_byte_offset=layout.leading_byte_offset,
                           stride_byte_offset=layout.stride_byte_offset, swizzle=layout.swizzle_code,
                           addr_byte_offset=byte_offset)


def _accumulate(scale_d: Reg | NegPred | bool | int) -> Reg | NegPred:
    """The predicate that keeps what D holds."""
    if isinstance(scale_d, NegPred) or (isinstance(scale_d, Reg) and scale_d.dtype == pred_type):
        return scale_d
    if isinstance(scale_d, Reg):
        number, keep = scale_d, reg.scalar(pred_type)
    else:
        number, keep = reg.scalar(u32), reg.scalar(pred_type)
        emit("mov", "u32", number, int(bool(scale_d)))
    emit("setp", "ne.b32", keep, number, 0)
    return keep

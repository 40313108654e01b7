"""Fifth-generation tensor cores and tensor memory (sm_100a): `ptx.tcgen05.*`.

A tensor memory address is a 32-bit register: lane in bits 16-31, column in bits 0-15.
Source: PTX ISA, "TensorCore 5th Generation Family Instructions".
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pyptx.ir.nodes import AddressOperand
from pyptx.ptx._checked import check_option, emit_checked, refuse, shared_address, type_name
from pyptx.ptx._tcgen05_descriptors import (
    BLACKWELL_MASKED_DESC_B128,
    descriptor,
    make_instr_desc,
    make_instr_desc_f16bf16_f32,
    masked_descriptor,
)
from pyptx.ptx._tcgen05_mma import group_word, mma
from pyptx.reg import NegPred, Reg, RegArray
from pyptx.tracing.operand import address
from pyptx.tracing.trace import emit
from pyptx.types import PtxType

__all__ = [
    "BLACKWELL_MASKED_DESC_B128",
    "alloc",
    "commit",
    "cp",
    "dealloc",
    "descriptor",
    "fence_after_thread_sync",
    "fence_before_thread_sync",
    "ld",
    "make_instr_desc",
    "make_instr_desc_f16bf16_f32",
    "masked_descriptor",
    "mma",
    "relinquish_alloc_permit",
    "shift",
    "st",
    "wait_ld",
    "wait_st",
]

Guard = Reg | NegPred | None
Registers = RegArray | Sequence[Reg] | Reg

_REGISTERS = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}  # registers per thread with .x1


def alloc(slot: object, ncols: int | Reg, *, cta_group: int = 1, pred: Guard = None) -> None:
    """Allocate tensor memory and write its address to shared memory.

    Args:
        slot: 4 bytes of shared memory that receive the address.
        ncols: columns, a power of two from 32 to 512.
        cta_group: 1, or 2 for a pair of CTAs.
    """
    emit_checked(
        "tcgen05", f"alloc.{group_word(cta_group)}.sync.aligned.shared::cta.b32", shared_address(slot), ncols, pred=pred
    )


def dealloc(taddr: Reg, ncols: int | Reg, *, cta_group: int = 1, pred: Guard = None) -> None:
    """Free the `ncols` columns that start at `taddr`."""
    emit_checked("tcgen05", f"dealloc.{group_word(cta_group)}.sync.aligned.b32", taddr, ncols, pred=pred)


def relinquish_alloc_permit(*, cta_group: int = 1, pred: Guard = None) -> None:
    """Give up the right of this CTA to allocate more tensor memory."""
    emit_checked("tcgen05", f"relinquish_alloc_permit.{group_word(cta_group)}.sync.aligned", pred=pred)


def commit(
    mbar: object,
    *,
    cta_group: int = 1,
    multicast: bool = False,
    multicast_mask: int | Reg | None = None,
    space: str = "cluster",
    pred: Guard = None,
) -> None:
    """Arrive at `mbar` when the tensor core operations issued so far by this thread have completed.

    Args:
        mbar: the mbarrier.
        cta_group: 1, or 2 for a pair of CTAs.
        multicast: arrive in several CTAs; implied by `multicast_mask`.
        multicast_mask: 16 bits, bit i for CTA i of the cluster.
        space: "cluster"; "cta" is emitted with a warning, as ptxas refuses it.
    """
    check_option(space, ("cta", "cluster"), "space")
    multicast = multicast or multicast_mask is not None
    modifiers = (
        f"commit.{group_word(cta_group)}.mbarrier::arrive::one{'.multicast::cluster' if multicast else ''}"
        f".shared::{space}.b64"
    )
    operands = (shared_address(mbar), *(() if multicast_mask is None else (multicast_mask,)))
    if space == "cta" or (multicast and multicast_mask is None):
        wrong = "space='cta'" if space == "cta" else "multicast without multicast_mask"
        warnings.warn(f"tcgen05.commit with {wrong} is refused by ptxas", stacklevel=2)
        emit("tcgen05", modifiers, *operands, pred=pred)
    else:
        emit_checked("tcgen05", modifiers, *operands, pred=pred)


def fence_before_thread_sync(*, pred: Guard = None) -> None:
    """Order the tensor core operations issued so far before a following thread synchronization."""
    emit_checked("tcgen05", "fence::before_thread_sync", pred=pred)


def fence_after_thread_sync(*, pred: Guard = None) -> None:
    """Order following tensor core operations after a preceding thread synchronization."""
    emit_checked("tcgen05", "fence::after_thread_sync", pred=pred)


def wait_ld(*, pred: Guard = None) -> None:
    """Wait for this thread's loads from tensor memory."""
    emit_checked("tcgen05", "wait::ld.sync.aligned", pred=pred)


def wait_st(*, pred: Guard = None) -> None:
    """Wait for this thread's stores to tensor memory."""
    emit_checked("tcgen05", "wait::st.sync.aligned", pred=pred)


def ld(
    dst: Registers,
    taddr: object,
    *,
    shape: str = "16x128b",
    count: int = 1,
    dtype: PtxType | str = "b32",
    pack: bool = False,
    split_offset: int | None = None,
    pred: Guard = None,
) -> None:
    """Load from tensor memory into registers; call `wait_ld` before reading them.

    Args:
        dst: `count` registers for shapes 32x32b, 16x64b and 16x32bx2, twice as many for 16x128b, four times for 16x256b.
        taddr: tensor memory address.
        shape: "32x32b", "16x64b", "16x128b", "16x256b" or "16x32bx2", lanes x bits.
        count: repetitions of the shape along the columns, 1..128.
        dtype: "b32".
        pack: pack two 16-bit elements into each register.
        split_offset: columns between the two halves of 16x32bx2.
    Raises:
        ShapeError: a wrong number of registers, or an unknown shape.
    """
    registers = _registers(dst, shape, count, "dst")
    rest = () if split_offset is None else (split_offset,)
    emit_checked(
        "tcgen05",
        f"ld.sync.aligned.{shape}.x{count}.{type_name(dtype)}{'.pack::16b' if pack else ''}",
        registers,
        address(taddr),
        *rest,
        pred=pred,
    )


def st(
    taddr: object,
    src: Registers,
    *,
    shape: str = "16x128b",
    count: int = 1,
    dtype: PtxType | str = "b32",
    unpack: bool = False,
    split_offset: int | None = None,
    pred: Guard = None,
) -> None:
    """Store registers to tensor memory; see `ld`. Call `wait_st` before other threads read it."""
    registers = _registers(src, shape, count, "src")
    rest = () if split_offset is None else (split_offset,)
    emit_checked(
        "tcgen05",
        f"st.sync.aligned.{shape}.x{count}.{type_name(dtype)}{'.unpack::16b' if unpack else ''}",
        address(taddr),
        *rest,
        registers,
        pred=pred,
    )


def _registers(registers: Registers, shape: str, count: int, what: str) -> RegArray | list[Reg]:
    check_option(shape, tuple(_REGISTERS), "shape")
    given = [registers] if isinstance(registers, Reg) else registers
    wanted = _REGISTERS.get(shape, 1) * count
    if len(given) != wanted:
        refuse(f"{what} holds {len(given)} registers; {shape} with count={count} moves {wanted}")
    return given if isinstance(given, RegArray) else list(given)


def cp(
    taddr: object,
    src: object,
    *,
    cta_group: int = 1,
    size: str = "128x256b",
    src_is_addr: bool | None = None,
    pred: Guard = None,
) -> None:
    """Copy from shared memory to tensor memory.

    Args:
        taddr: tensor memory address.
        src: a matrix descriptor in a u64 register. With src_is_addr=True, or for an address or allocation, it is emitted
            in brackets with a warning, as ptxas refuses it.
        size: "128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4".
    """
    modifiers = f"cp.{group_word(cta_group)}.{size}"
    if src_is_addr is None:
        src_is_addr = isinstance(src, AddressOperand) or hasattr(src, "address_register")
    if src_is_addr:
        warnings.warn(
            "tcgen05.cp with an address is refused by ptxas; pass a descriptor from ptx.tcgen05.descriptor",
            stacklevel=2,
        )
        emit("tcgen05", modifiers, address(taddr), shared_address(src), pred=pred)
    else:
        emit_checked("tcgen05", modifiers, address(taddr), src, pred=pred)


def shift(taddr: object, *, cta_group: int = 1, pred: Guard = None) -> None:
    """Shift the rows of a matrix in tensor memory down by one."""
    emit_checked("tcgen05", f"shift.{group_word(cta_group)}.down", address(taddr), pred=pred)

"""Thread block clusters: barrier, ranks, and distributed shared memory."""

from __future__ import annotations

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements.shared import LARGEST_CLUSTER
from pyptx.errors import OperandError, ShapeError
from pyptx.ir.nodes import AddressOperand, LabelOperand
from pyptx.ptx._checked import emit_checked, register_address
from pyptx.ptx.special import sreg
from pyptx.reg import NegPred, Reg
from pyptx.tracing.trace import get_ctx
from pyptx.types import b32, u32
from pyptx.types import pred as pred_type

__all__ = ["arrive", "arrive_multicast", "arrive_remote", "map_shared_u32", "rank", "sync", "wait"]

Guard = Reg | NegPred | None


def arrive(*, aligned: bool = False, pred: Guard = None) -> None:
    """Arrive at the cluster barrier."""
    emit_checked("barrier", f"cluster.arrive{'.aligned' if aligned else ''}", pred=pred)


def wait(*, aligned: bool = False, pred: Guard = None) -> None:
    """Wait for all threads of the cluster to arrive at the cluster barrier."""
    emit_checked("barrier", f"cluster.wait{'.aligned' if aligned else ''}", pred=pred)


def sync(*, aligned: bool = False) -> None:
    """Arrive at the cluster barrier and wait for all threads of the cluster."""
    arrive(aligned=aligned)
    wait(aligned=aligned)


def rank(r: int | Reg) -> Reg:
    """Return a predicate that is true in CTA `r` of the cluster."""
    own, same = reg.scalar(u32), reg.scalar(pred_type)
    emit_checked("mov", "u32", own, sreg("%cluster_ctarank"))
    emit_checked("setp", "eq.u32", same, own, r)
    return same


def map_shared_u32(addr: object, cta: int | Reg) -> Reg:
    """Map an address of this CTA's shared memory to that of another CTA.

    Args:
        addr: a shared address or an allocation.
        cta: rank of the CTA in the cluster.
    Returns:
        A b32 register with a `shared::cluster` address.
    """
    if isinstance(cta, int):
        number = reg.scalar(u32)
        emit_checked("mov", "u32", number, cta)
        cta = number
    start = register_address(addr)
    result = reg.scalar(b32)
    emit_checked("mapa", "shared::cluster.u32", result, start, cta)
    return result


def arrive_remote(addr: object, cta: int | Reg, count: int | Reg = 1, *, pred: Guard = None) -> None:
    """Arrive `count` times at the mbarrier at address `addr` in CTA `cta` of the cluster."""
    start = register_address(addr)
    ctx = get_ctx()
    with ctx.block():
        remote = reg.scalar(b32, name="remAddr32")
        emit_checked("mapa", "shared::cluster.u32", remote, start, cta, pred=pred)
        emit_checked(
            "mbarrier", "arrive.shared::cluster.b64", LabelOperand("_"), AddressOperand(remote.name), count, pred=pred
        )


def arrive_multicast(addr: object, mask: int, count: int | Reg = 1, *, pred: Guard = None) -> None:
    """Arrive at the mbarrier at `addr` in several CTAs: one remote arrive per set bit of `mask`.

    Args:
        addr: shared address of the mbarrier, the same in every CTA.
        mask: bit i for CTA i of the cluster, an int.
        count: arrivals per CTA.
    Raises:
        TypeError: `mask` is not an int.
        ShapeError: `mask` is not between 1 and 0xFFFF.
    """
    if not isinstance(mask, int) or isinstance(mask, bool):
        raise OperandError(
            f"arrive_multicast takes its mask as an int, not {mask!r}; it emits one instruction per CTA, "
            "so the mask must be known while tracing"
        )
    if not 0 < mask < 1 << LARGEST_CLUSTER:
        raise ShapeError(
            f"mask {mask:#x}; expected 1..{(1 << LARGEST_CLUSTER) - 1:#x}, bit i for CTA i", at=user_place()
        )
    start = register_address(addr)
    for cta in range(LARGEST_CLUSTER):
        if mask >> cta & 1:
            arrive_remote(start, cta, count, pred=pred)

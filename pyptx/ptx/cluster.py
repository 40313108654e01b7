"""Thread block clusters: their barrier, ranks, and the shared memory of other CTAs."""

from __future__ import annotations

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ir.nodes import AddressOperand, LabelOperand
from pyptx.ptx._typed import register_address, typed
from pyptx.ptx.special import sreg
from pyptx.reg import NegPred, Reg
from pyptx.tracing.trace import get_ctx
from pyptx.types import b32, u32
from pyptx.types import pred as pred_type

__all__ = ["arrive", "arrive_multicast", "arrive_remote", "map_shared_u32", "rank", "sync", "wait"]

Guard = Reg | NegPred | None

LARGEST_CLUSTER = 16


def arrive(*, aligned: bool = False, pred: Guard = None) -> None:
    """Arrive at the cluster barrier."""
    typed("barrier", f"cluster.arrive{'.aligned' if aligned else ''}", pred=pred)


def wait(*, aligned: bool = False, pred: Guard = None) -> None:
    """Wait for all threads of the cluster to arrive."""
    typed("barrier", f"cluster.wait{'.aligned' if aligned else ''}", pred=pred)


def sync(*, aligned: bool = False) -> None:
    """Arrive and wait."""
    arrive(aligned=aligned)
    wait(aligned=aligned)


def rank(r: int | Reg) -> Reg:
    """A predicate that holds in CTA `r` of the cluster."""
    own, same = reg.scalar(u32), reg.scalar(pred_type)
    typed("mov", "u32", own, sreg("%cluster_ctarank"))
    typed("setp", "eq.u32", same, own, r)
    return same


def map_shared_u32(addr: object, cta: int | Reg) -> Reg:
    """The address, in CTA `cta` of the cluster, of what `addr` is in this CTA's shared memory."""
    if isinstance(cta, int):
        number = reg.scalar(u32)
        typed("mov", "u32", number, cta)
        cta = number
    start = register_address(addr)
    result = reg.scalar(b32)
    typed("mapa", "shared::cluster.u32", result, start, cta)
    return result


def arrive_remote(addr: object, cta: int | Reg, count: int | Reg = 1, *, pred: Guard = None) -> None:
    """Arrive `count` times at the mbarrier that lies at `addr` in CTA `cta` of the cluster."""
    start = register_address(addr)
    ctx = get_ctx()
    with ctx.block():
        remote = reg.scalar(b32, name="remAddr32")
        typed("mapa", "shared::cluster.u32", remote, start, cta, pred=pred)
        typed("mbarrier", "arrive.shared::cluster.b64", LabelOperand("_"), AddressOperand(remote.name), count,
              pred=pred)


def arrive_multicast(addr: object, mask: int, count: int | Reg = 1, *, pred: Guard = None) -> None:
    """Arrive at the mbarrier at `addr` in every CTA of `mask`: one remote arrive for each set bit.

    Raises:
        TypeError: the mask is not known while tracing.
        ShapeError: it is not between 1 and 0xFFFF.
    """
    if not isinstance(mask, int) or isinstance(mask, bool):
        raise TypeError(f"arrive_multicast takes its mask as an int, not {mask!r}; no instruction arrives at several "
                        "CTAs, so each of them gets one of its own")
    if not 0 < mask < 1 << LARGEST_CLUSTER:
        raise ShapeError(f"mask {mask:#x}; expected 1..{(1 << LARGEST_CLUSTER) - 1:#x}, bit i for CTA i",
                         at=user_place())
    start = register_address(addr)
    for cta in range(LARGEST_CLUSTER):
        if mask >> cta & 1:
            arrive_remote(start, cta, count, pred=pred)

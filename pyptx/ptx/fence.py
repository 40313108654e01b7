"""Fences between the generic and the async proxy, and for mbarrier initialization."""

from __future__ import annotations

from pyptx.ptx._checked import emit_checked
from pyptx.reg import NegPred, Reg

__all__ = ["mbarrier_init", "proxy_async", "proxy_async_generic_acquire_shared_cluster", "proxy_async_shared_cta"]

Guard = Reg | NegPred | None


def proxy_async(*, pred: Guard = None) -> None:
    """Order generic-proxy accesses before async-proxy accesses (TMA, wgmma) in all state spaces."""
    emit_checked("fence", "proxy.async", pred=pred)


def proxy_async_shared_cta(*, pred: Guard = None) -> None:
    """Like `proxy_async`, for the CTA's own shared memory only."""
    emit_checked("fence", "proxy.async.shared::cta", pred=pred)


def proxy_async_generic_acquire_shared_cluster(*, pred: Guard = None) -> None:
    """Acquire async-proxy writes to the cluster's shared memory (PTX ISA 8.6)."""
    emit_checked("fence", "proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", pred=pred)


def mbarrier_init(*, pred: Guard = None) -> None:
    """Make mbarrier initializations visible to the cluster."""
    emit_checked("fence", "mbarrier_init.release.cluster", pred=pred)

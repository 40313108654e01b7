"""Fences between the generic and the async proxy, and for mbarrier initialisation."""

from __future__ import annotations

from pyptx.ptx._typed import typed
from pyptx.reg import NegPred, Reg

__all__ = ["mbarrier_init", "proxy_async", "proxy_async_generic_acquire_shared_cluster", "proxy_async_shared_cta"]

Guard = Reg | NegPred | None


def proxy_async(*, pred: Guard = None) -> None:
    """Order generic accesses before accesses of the async proxy (TMA, wgmma), all state spaces."""
    typed("fence", "proxy.async", pred=pred)


def proxy_async_shared_cta(*, pred: Guard = None) -> None:
    """`proxy_async` for the own CTA's shared memory only."""
    typed("fence", "proxy.async.shared::cta", pred=pred)


def proxy_async_generic_acquire_shared_cluster(*, pred: Guard = None) -> None:
    """Acquire what the async proxy wrote to the cluster's shared memory (PTX ISA 8.6)."""
    typed("fence", "proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", pred=pred)


def mbarrier_init(*, pred: Guard = None) -> None:
    """Make mbarrier initialisations visible to the cluster."""
    typed("fence", "mbarrier_init.release.cluster", pred=pred)

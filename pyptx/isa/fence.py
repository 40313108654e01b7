"""Fences."""

from pyptx.isa._schema import Family, form
from pyptx.isa._words import SCOPE

op = Family(__name__)

op("membar", "Order memory accesses, old spelling.", "parallel-synchronization-and-communication-instructions-membar",
   form("membar.level", level=".cta .gl .sys", effect="fence"))

op("membar.proxy", "Order accesses through different proxies, old spelling.",
   "parallel-synchronization-and-communication-instructions-membar",
   form("membar.proxy.kind", kind=".alias .async@sm_90,ptx_80", effect="fence", needs="sm_60 ptx_75"))

op("fence", "Order memory accesses.", "parallel-synchronization-and-communication-instructions-membar",
   form("fence{.sem}.scope", sem=".sc .acq_rel", needs="sm_70 ptx_60"),
   form("fence.sem.scope", sem=".acquire .release"),
   form("fence.acquire.sync_restrict::shared::cluster.cluster"),
   form("fence.release.sync_restrict::shared::cta.cluster"),
   form("fence.mbarrier_init.release.cluster", needs="sm_90 ptx_80"), scope=SCOPE, needs="sm_90 ptx_86",
   effect="fence")

op("fence.proxy", "Order accesses through different proxies.",
   "parallel-synchronization-and-communication-instructions-membar",
   form("fence.proxy.kind", kind=".alias .async@sm_90,ptx_80", needs="sm_70 ptx_75"),
   form("fence.proxy.async.space", space=".global .shared::cta .shared::cluster", needs="sm_90 ptx_80"),
   form("fence.proxy.tensormap::generic.release.scope"),
   form("fence.proxy.tensormap::generic.acquire.scope  [a], size", size="imm in 128"),
   form("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", needs="sm_90 ptx_86"),
   form("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", needs="sm_90 ptx_86"),
   form("fence.proxy.kind.alias.sem.sys", kind=".generic::fabric .fabric::generic .fabric::fabric",
        sem=".acquire .release", needs="sm_100 ptx_93"), effect="fence", needs="sm_90 ptx_83", scope=SCOPE)

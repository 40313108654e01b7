"""CTA, warp and cluster barriers, and fences."""

from pyptx.isa._choices import SCOPE
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("bar.sync", "Wait for the threads of a barrier.", "parallel-synchronization-and-communication-instructions-bar",
   form("bar{.cta}.sync  a{, b}", cta="ptx_78", a="u32 in 0..15", b="u32 in *32", rw="", effect="sync"))

op("bar.arrive", "Arrive at a barrier without waiting.", "parallel-synchronization-and-communication-instructions-bar",
   form("bar{.cta}.arrive  a, b", cta="ptx_78", a="u32 in 0..15", b="u32 in *32", rw="", effect="sync"))

op("bar.red", "Wait at a barrier and reduce a predicate.",
   "parallel-synchronization-and-communication-instructions-bar",
   form("bar{.cta}.red.popc.u32  d, a{, b}, c"),
   form("bar{.cta}.red.op.pred  p, a{, b}, c", op=".and .or"), cta="ptx_78", a="u32 in 0..15", b="u32 in *32",
   c="!pred", effect="sync")

op("barrier.sync", "Wait for the threads of a barrier.", "parallel-synchronization-and-communication-instructions-bar",
   form("barrier{.cta}.sync{.aligned}  a{, b}", cta="ptx_78", a="u32 in 0..15", b="u32 in *32", rw="",
        effect="sync", needs="sm_30 ptx_60"))

op("barrier.arrive", "Arrive at a barrier without waiting.",
   "parallel-synchronization-and-communication-instructions-bar",
   form("barrier{.cta}.arrive{.aligned}  a, b", cta="ptx_78", a="u32 in 0..15", b="u32 in *32", rw="",
        effect="sync", needs="sm_30 ptx_60"))

op("barrier.red", "Wait at a barrier and reduce a predicate.",
   "parallel-synchronization-and-communication-instructions-bar",
   form("barrier{.cta}.red.popc{.aligned}.u32  d, a{, b}, c"),
   form("barrier{.cta}.red.op{.aligned}.pred  p, a{, b}, c", op=".and .or"), cta="ptx_78", a="u32 in 0..15",
   b="u32 in *32", c="!pred", needs="sm_30 ptx_60", effect="sync")

op("bar.warp", "Wait for lanes of the warp.", "parallel-synchronization-and-communication-instructions-bar-warp-sync",
   form("bar.warp.sync  m", m="u32", rw="", effect="sync", needs="sm_30 ptx_60"))

op("barrier.cluster.arrive", "Arrive at the cluster barrier.",
   "parallel-synchronization-and-communication-instructions-barrier-cluster",
   form("barrier.cluster.arrive{.sem}{.aligned}", sem=".release@ptx_80 .relaxed@ptx_80", effect="sync",
        needs="sm_90 ptx_78"))

op("barrier.cluster.wait", "Wait at the cluster barrier.",
   "parallel-synchronization-and-communication-instructions-barrier-cluster",
   form("barrier.cluster.wait{.acquire}{.aligned}", acquire="ptx_80", effect="sync", needs="sm_90 ptx_78"))

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

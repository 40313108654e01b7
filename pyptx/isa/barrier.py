"""CTA, warp and cluster barriers."""

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

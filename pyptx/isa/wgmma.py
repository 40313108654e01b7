"""wgmma: matrix multiply of a warpgroup."""

from pyptx.isa._choices import WGMMA_N, WGMMA_N_INT
from pyptx.isa._schema import Family, form

op = Family(__name__)                       # the manual demands .aligned on wgmma.mma_async, ptxas does without

op("wgmma.fence", "Order register and shared accesses before wgmma.",
   "asynchronous-warpgroup-level-matrix-instructions-wgmma-fence",
   form("wgmma.fence.sync{.aligned}", effect="sync", needs="90a ptx_80"))

op("wgmma.commit_group", "Close the wgmma group.",
   "asynchronous-warpgroup-level-matrix-instructions-wgmma-commit-group",
   form("wgmma.commit_group.sync{.aligned}", effect="sync", needs="90a ptx_80"))

op("wgmma.wait_group", "Wait for wgmma groups.", "asynchronous-warpgroup-level-matrix-instructions-wgmma-wait-group",
   form("wgmma.wait_group.sync{.aligned}  n", n="imm in 0..2147483647", effect="sync", needs="90a ptx_80"))

op("wgmma.mma_async", "Matrix multiply-accumulate of a warpgroup.",
   "asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-async",
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k16.f32.type.type  {d*n/2}, ad, bd, sd, ia, ib, ta, tb", d="f32"),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k16.f16.f16.f16  {d*n/4}, ad, bd, sd, ia, ib, ta, tb", d="b32",
        regs="fragment"),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k16.f32.type.type  {d*n/2}, {a*4}, bd, sd, ia, ib, tb", d="f32",
        regs="fragment"),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k16.f16.f16.f16  {d*n/4}, {a*4}, bd, sd, ia, ib, tb", d="b32",
        regs="fragment"),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k8.f32.tf32.tf32  {d*n/2}, ad, bd, sd, ia, ib", d="f32"),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k8.f32.tf32.tf32  {d*n/2}, {a*4}, bd, sd, ia, ib", d="f32",
        regs="fragment"),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k32.f32.atype.btype  {d*n/2}, ad, bd, sd, ia, ib"),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k32.f16.atype.btype  {d*n/4}, ad, bd, sd, ia, ib", d="b32",
        regs="fragment"),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k32.f32.atype.btype  {d*n/2}, {a*4}, bd, sd, ia, ib", regs="fragment"),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k32.f16.atype.btype  {d*n/4}, {a*4}, bd, sd, ia, ib", d="b32",
        regs="fragment"),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k32{.satfinite}.s32.atype.btype  {d*n/2}, ad, bd, sd", n=WGMMA_N_INT,
        atype=".s8 .u8", btype=".s8 .u8", when={"atype != btype": "ptx_84"}),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k32{.satfinite}.s32.atype.btype  {d*n/2}, {a*4}, bd, sd",
        n=WGMMA_N_INT, atype=".s8 .u8", btype=".s8 .u8", when={"atype != btype": "ptx_84"}),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k256.s32.b1.b1.and.popc  {d*n/2}, ad, bd, sd", n=WGMMA_N_INT, d="s32"),
   form("wgmma.mma_async.sync{.aligned}.m64n<n>k256.s32.b1.b1.and.popc  {d*n/2}, {a*4}, bd, sd", n=WGMMA_N_INT,
        d="s32"), n=WGMMA_N, type=".f16 .bf16", ad="u64", bd="u64", sd="pred in 0/1", ia="imm in 1/-1",
        ib="imm in 1/-1",
   ta="imm in 0/1", tb="imm in 0/1", needs="90a ptx_80", work="2*m*n*k flop", effect="async", a="b32",
   atype=".e4m3 .e5m2", btype=".e4m3 .e5m2")

op("wgmma.mma_async.sp", "Sparse matrix multiply-accumulate of a warpgroup.",
   "asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-async-sp",
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k32.f32.type.type  {d*n/2}, ad, bd, m, ss, sd, ia, ib, ta, tb",
        d="f32"),
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k32.f32.type.type  {d*n/2}, {a*4}, bd, m, ss, sd, ia, ib, tb",
        d="f32", regs={"*": "fragment", "m": "any32"}),
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k32.f16.f16.f16  {d*n/4}, ad, bd, m, ss, sd, ia, ib, ta, tb",
        d="b32", regs={"*": "fragment", "m": "any32"}),
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k16.f32.tf32.tf32  {d*n/2}, ad, bd, m, ss, sd, ia, ib", d="f32"),
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k64.f32.atype.btype  {d*n/2}, ad, bd, m, ss, sd, ia, ib",
        ss="imm in 0"),
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k64{.satfinite}.s32.atype.btype  {d*n/2}, ad, bd, m, ss, sd",
        n=WGMMA_N_INT, atype=".s8 .u8", btype=".s8 .u8", ss="imm in 0", when={"atype != btype": "ptx_84"}),
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k32.f16.f16.f16  {d*n/4}, {a*4}, bd, m, ss, sd, ia, ib, tb",
        d="b32", regs={"*": "fragment", "m": "any32"}),
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k16.f32.tf32.tf32  {d*n/2}, {a*4}, bd, m, ss, sd, ia, ib", d="f32",
        regs={"*": "fragment", "m": "any32"}),
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k64.f32.atype.btype  {d*n/2}, {a*4}, bd, m, ss, sd, ia, ib",
        ss="imm in 0", regs={"*": "fragment", "m": "any32"}),
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k64.f16.atype.btype  {d*n/4}, ad, bd, m, ss, sd, ia, ib", d="b32",
        ss="imm in 0", regs={"*": "fragment", "m": "any32"}),
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k64.f16.atype.btype  {d*n/4}, {a*4}, bd, m, ss, sd, ia, ib",
        d="b32", ss="imm in 0", regs={"*": "fragment", "m": "any32"}),
   form("wgmma.mma_async.sp.sync{.aligned}.m64n<n>k64{.satfinite}.s32.atype.btype  {d*n/2}, {a*4}, bd, m, ss, sd",
        n=WGMMA_N_INT, atype=".s8 .u8", btype=".s8 .u8", ss="imm in 0", when={"atype != btype": "ptx_84"}),
   n=WGMMA_N, type=".f16 .bf16", ad="u64", bd="u64", m="b32-imm", ss="imm in 0/1", sd="pred in 0/1", ia="imm in 1/-1",
   ib="imm in 1/-1", ta="imm in 0/1", tb="imm in 0/1", needs="90a ptx_82", work="2*m*n*k flop", effect="async",
   a="b32", atype=".e4m3 .e5m2", btype=".e4m3 .e5m2")

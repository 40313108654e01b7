"""Reductions to memory."""

from pyptx.isa._choices import BOOL, SCOPE, SHARED, STRONG_SPACE
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("red", "Modify memory atomically.", "parallel-synchronization-and-communication-instructions-red",
   form("red{.sem}{.scope}{.space}.op{.L2::cache_hint}.type  [a], b{, cp if .L2::cache_hint}", space=".global",
        op=BOOL, L2_cache_hint="sm_80 ptx_74"),
   form("red{.sem}{.scope}.space.op.type  [a], b", space=SHARED, op=BOOL),
   form("red{.sem}{.scope}{.space}.add{.L2::cache_hint}.type  [a], b{, cp if .L2::cache_hint}",
        space=".global", L2_cache_hint="sm_80 ptx_74", type=".u32 .s32 .u64 .f32 .f64@sm_60,ptx_50"),
   form("red{.sem}{.scope}.space.add.type  [a], b", space=SHARED, type=".u32 .s32 .u64 .f32 .f64@sm_60,ptx_50"),
   form("red{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.type  [a], b{, cp if .L2::cache_hint}",
        sem=".relaxed .release", scope=SCOPE, space=".global", L2_cache_hint="sm_80 ptx_74",
        type=".f16 .f16x2@=sm_60,ptx_62 .bf16@sm_90,ptx_78 .bf16x2@sm_90,ptx_78", needs="sm_70 ptx_63"),
   form("red{.global}.op.noftz.vec.type  [a], {b*vec}", vec=".v8", type=".f16 .bf16", regs={"b": {"any": "f16"}},
        effect="reduce:global", needs="sm_90 ptx_81"),
   form("red{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.f32  [a], b{, cp if .L2::cache_hint}",
        sem=".relaxed .release", scope=SCOPE, space=".global", needs="sm_90 ptx_94"),
   form("red{.sem}{.scope}.space.add.noftz.f32  [a], b", sem=".relaxed .release", scope=SCOPE, space=SHARED,
        needs="sm_90 ptx_94"),
   form("red{.sem}{.scope}.space.add.noftz.type  [a], b", sem=".relaxed .release", scope=SCOPE, space=SHARED,
        type=".f16 .f16x2@=sm_60,ptx_62 .bf16@sm_90,ptx_78 .bf16x2@sm_90,ptx_78", needs="sm_70 ptx_63"),
   form("red{.sem}{.scope}{.global}.add{.L2::cache_hint}.vec.f32  [a], {b*vec}{, cp if .L2::cache_hint}",
        sem=".relaxed .release", scope=SCOPE, regs={"b": "any32"}, effect="reduce:global", needs="sm_90 ptx_81"),
   form("red{.sem}{.scope}{.global}.op.noftz{.L2::cache_hint}.vec.type  [a], {b*vec}{, cp if .L2::cache_hint}",
        sem=".relaxed .release", scope=SCOPE, type=".f16 .bf16 .f16x2 .bf16x2", regs={"b": {"any": "f16"}},
        effect="reduce:global", needs="sm_90 ptx_81"),
   form("red{.sem}{.scope}{.space}.op{.L2::cache_hint}.type  [a], b{, cp if .L2::cache_hint}",
        space=".global", op=".min .max", L2_cache_hint="sm_80 ptx_74", type=".u32 .s32 .u64@sm_32,ptx_40 .s64@sm_32,ptx_40", needs="ptx_23"),
   form("red{.sem}{.scope}.space.op.type  [a], b", space=SHARED, op=".min .max", type=".u32 .s32 .u64@sm_32,ptx_40 .s64@sm_32,ptx_40", needs="ptx_23"),
   form("red{.sem}{.scope}{.space}.op{.L2::cache_hint}.u32  [a], b{, cp if .L2::cache_hint}",
        space=".global", op=".inc .dec", L2_cache_hint="sm_80 ptx_74", regs={"b": "int+h2"}, needs="ptx_23"),
   form("red{.sem}{.scope}.space.op.u32  [a], b", space=SHARED, op=".inc .dec", regs={"b": "int+h2"}, needs="ptx_23"), sem=".relaxed@sm_70,ptx_60 .release@sm_70,ptx_60",
   scope=".cta@sm_60,ptx_50 .cluster@sm_90,ptx_78 .gpu@sm_60,ptx_50 .sys@sm_60,ptx_50", space=STRONG_SPACE,
   op=".add .min .max", type=".b32 .b64@sm_32,ptx_40", cp="u64", effect="reduce:space", vec=".v2 .v4")

op("red.async", "Modify memory atomically and asynchronously.",
   "parallel-synchronization-and-communication-instructions-red-async",
   form("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.u32  [a], b, [mb]",
        op=".inc .dec", regs={"b": "int+h2"}),
   form("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type  [a], b, [mb]",
        op=".min .max", type=".u32 .s32"),
   form("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.b32  [a], b, [mb]", op=BOOL),
   form("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.add.type  [a], b, [mb]",
        type=".u32 .s32 .u64"),
   form("red.async.release.scope{.global}.add.type  [a], b", scope=".gpu .sys", needs="sm_100 ptx_87"),
   form("red.async.mmio.release.sys{.global}.add.type  [a], b", needs="sm_100 ptx_87"), needs="sm_90 ptx_81",
   effect="async", type=".u32 .s32 .u64 .s64")

"""Bulk reductions."""

from pyptx.isa._choices import BOOL, SCOPE
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("cp.reduce.async.bulk", "Reduce in bulk asynchronously.",
   "data-movement-and-conversion-instructions-cp-reduce-async-bulk",
   form("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type  "
        "[d], [a], sz, [mb]", type=".b32"),
   form("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type  "
        "[d], [a], sz, [mb]", op=".min .max", type=".u32 .s32"),
   form("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type  "
        "[d], [a], sz, [mb]", op=".add", type=".u32 .s32 .u64"),
   form("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type  "
        "[d], [a], sz, [mb]", op=".inc .dec", type=".u32"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.op.type  "
        "[d], [a], sz{, cp if .L2::cache_hint}", type=".b32 .b64", cp="u64"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.op.type  "
        "[d], [a], sz{, cp if .L2::cache_hint}", op=".min .max", type=".u32 .s32 .u64 .s64 .f16 .bf16", cp="u64"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.type  "
        "[d], [a], sz{, cp if .L2::cache_hint}", cp="u64"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.op.u32  "
        "[d], [a], sz{, cp if .L2::cache_hint}", op=".inc .dec", cp="u64"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.noftz.type  "
        "[d], [a], sz{, cp if .L2::cache_hint}", type=".f16 .bf16", cp="u64"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f32  [d], [a], sz", needs="sm_90 ptx_94"),
   form("cp.reduce.async.bulk.relaxed.scope.global.shared::cta.bulk_group.add.type  [d], [a], sz", scope=SCOPE,
        needs="sm_90 ptx_93"), op=BOOL, type=".u32 .s32 .u64 .f32 .f64", sz="u32 in 0..1048560*16",
   needs="sm_90 ptx_80", effect="async")

op("multimem.cp.reduce.async.bulk", "Reduce in bulk into all replicas asynchronously.",
   "data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk",
   form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.op.type  [d], [a], sz", op=BOOL,
        type=".b32 .b64"),
   form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.op.type  [d], [a], sz", op=".min .max",
        type=".u32 .s32 .u64 .s64 .f16 .bf16"),
   form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.type  [d], [a], sz"),
   form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.op.u32  [d], [a], sz", op=".inc .dec"),
   form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.type  [d], [a], sz",
        type=".f16 .bf16 .f32@ptx_94"),
   form("multimem.cp.reduce.async.bulk.relaxed.scope.global.shared::cta.bulk_group.add.type  [d], [a], sz",
        scope=SCOPE, needs="sm_90 ptx_93"), type=".u32 .s32 .u64 .f32 .f64", sz="u32 in 0..1048560*16",
   needs="sm_90 ptx_91", effect="async")

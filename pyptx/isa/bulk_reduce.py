"""Bulk reductions."""

from pyptx.isa._schema import Family, form
from pyptx.isa._words import BOOL

op = Family(__name__)

op("cp.reduce.async.bulk", "Reduce in bulk asynchronously.", "data-movement-and-conversion-instructions-cp-reduce-async-bulk",
   form("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type  [d], [a], sz, [mb]",
        op=BOOL, type=".b32", sz="u32 in *16", needs="sm_90 ptx_80"),
   form("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type  [d], [a], sz, [mb]",
        op=".min .max", type=".u32 .s32", sz="u32 in *16", needs="sm_90 ptx_80"),
   form("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type  [d], [a], sz, [mb]",
        op=".add", type=".u32 .s32 .u64", sz="u32 in *16", needs="sm_90 ptx_80"),
   form("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type  [d], [a], sz, [mb]",
        op=".inc .dec", type=".u32", sz="u32 in *16", needs="sm_90 ptx_80"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.op.type  [d], [a], sz{, cp if .L2::cache_hint}",
        op=BOOL, type=".b32 .b64", sz="u32 in *16", cp="u64", needs="sm_90 ptx_80"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.op.type  [d], [a], sz{, cp if .L2::cache_hint}",
        op=".min .max", type=".u32 .s32 .u64 .s64 .f16 .bf16", sz="u32 in *16", cp="u64", needs="sm_90 ptx_80"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.type  [d], [a], sz{, cp if .L2::cache_hint}",
        type=".u32 .s32 .u64 .f32 .f64", sz="u32 in *16", cp="u64", needs="sm_90 ptx_80"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.op.u32  [d], [a], sz{, cp if .L2::cache_hint}",
        op=".inc .dec", sz="u32 in *16", cp="u64", needs="sm_90 ptx_80"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.noftz.type  [d], [a], sz{, cp if .L2::cache_hint}",
        type=".f16 .bf16", sz="u32 in *16", cp="u64", needs="sm_90 ptx_80"),
   form("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f32  [d], [a], sz", sz="u32 in *16",
        needs="sm_90 ptx_94"),
   form("cp.reduce.async.bulk.relaxed.scope.global.shared::cta.bulk_group.add.type  [d], [a], sz",
        scope=".cta .cluster .gpu .sys", type=".u32 .s32 .u64 .f32 .f64", sz="u32 in *16", needs="sm_90 ptx_93"),
   effect="async")

op("multimem.cp.reduce.async.bulk", "Reduce in bulk into all replicas asynchronously.", "data-movement-and-conversion-instructions-multimem-cp-reduce-async-bulk",
   form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.op.type  [d], [a], sz", op=BOOL, type=".b32 .b64",
        sz="u32 in *16", needs="sm_90 ptx_91"),
   form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.op.type  [d], [a], sz", op=".min .max",
        type=".u32 .s32 .u64 .s64 .f16 .bf16", sz="u32 in *16", needs="sm_90 ptx_91"),
   form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.type  [d], [a], sz",
        type=".u32 .s32 .u64 .f32 .f64", sz="u32 in *16", needs="sm_90 ptx_91"),
   form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.op.u32  [d], [a], sz", op=".inc .dec",
        sz="u32 in *16", needs="sm_90 ptx_91"),
   form("multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.type  [d], [a], sz",
        type=".f16 .bf16 .f32@ptx_94", sz="u32 in *16", needs="sm_90 ptx_91"),
   form("multimem.cp.reduce.async.bulk.relaxed.scope.global.shared::cta.bulk_group.add.type  [d], [a], sz",
        scope=".cta .cluster .gpu .sys", type=".u32 .s32 .u64 .f32 .f64", sz="u32 in *16", needs="sm_90 ptx_93"),
   effect="async")

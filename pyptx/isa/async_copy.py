"""Asynchronous copies: cp.async and bulk copies."""

from pyptx.isa._choices import CTA_SHARED, PREFETCH, SCOPE
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("cp.async", "Copy from global to shared memory asynchronously.",
   "data-movement-and-conversion-instructions-cp-async",
   form("cp.async.ca.space.global{.L2::cache_hint}{.prefetch}  [d], [a], size{, cp if .L2::cache_hint}",
        L2_cache_hint="ptx_74", cp="u64"),
   form("cp.async.cg.space.global{.L2::cache_hint}{.prefetch}  [d], [a], size{, cp if .L2::cache_hint}",
        L2_cache_hint="ptx_74", cp="u64", size="imm in 16"),
   form("cp.async.ca.space.global  [d], [a], size, sz", sz="u32 in 0..size"),
   form("cp.async.cg.space.global{.L2::cache_hint}  [d], [a], size, sz{, cp if .L2::cache_hint}",
        L2_cache_hint="ptx_74", sz="u32 in 0..16", cp="u64", size="imm in 16"),
   form("cp.async.ca.space.global  [d], [a], size, ign", needs="sm_80 ptx_75"),
   form("cp.async.cg.space.global{.L2::cache_hint}  [d], [a], size, ign{, cp if .L2::cache_hint}", cp="u64",
        size="imm in 16", needs="sm_80 ptx_75"),
   form("cp.async.commit_group"),
   form("cp.async.wait_group  n", n="imm"),
   form("cp.async.wait_all"), space=".shared .shared::cta", prefetch=PREFETCH, size="imm in 4/8/16",
   needs="sm_80 ptx_70", effect="async", ign="pred-imm")

op("cp.async.mbarrier.arrive", "Arrive on an mbarrier when this thread's cp.async are done.",
   "data-movement-and-conversion-instructions-cp-async-mbarrier-arrive",
   form("cp.async.mbarrier.arrive{.noinc}{.space}.b64  [mb]", space=CTA_SHARED, effect="async",
        needs="sm_80 ptx_70"))

op("cp.async.bulk", "Copy bytes in bulk asynchronously.", "data-movement-and-conversion-instructions-cp-async-bulk",
   form("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.L2::cache_hint}  "
        "[d], [a], sz, [mb]{, mask if .multicast::cluster}{, cp if .L2::cache_hint}", cp="u64"),
   form("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.L2::cache_hint}  "
        "[d], [a], sz, [mb]{, cp if .L2::cache_hint}", cp="u64", needs="sm_90 ptx_86"),
   form("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.L2::cache_hint}.ignore_oob  "
        "[d], [a], sz, l, r, [mb]{, cp if .L2::cache_hint}", l="u32 in 0..15", r="u32 in 0..15", cp="u64",
        needs="sm_90 ptx_92"),
   form("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes  [d], [a], sz, [mb]"),
   form("cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}  [d], [a], sz{, cp if .L2::cache_hint}",
        cp="u64"),
   form("cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.cp_mask  "
        "[d], [a], sz{, cp if .L2::cache_hint}, bm", cp="u64", bm="u16", needs="sm_100 ptx_86"),
   form("cp.async.bulk.relaxed.scope.shared::cta.global.mbarrier::complete_tx::bytes{.L2::cache_hint}.b128  "
        "[d], [a], sz, [mb]{, cp if .L2::cache_hint}", cp="u64", needs="sm_90 ptx_93"),
   form("cp.async.bulk.relaxed.scope.shared::cluster.global.mbarrier::complete_tx::bytes{.L2::cache_hint}.b128  "
        "[d], [a], sz, [mb]{, cp if .L2::cache_hint}", cp="u64", needs="100f* 110f* 90a ptx_93"),
   form("cp.async.bulk.relaxed.scope.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.b128  "
        "[d], [a], sz, [mb]", scope=".cta .cluster", needs="sm_90 ptx_93"),
   form("cp.async.bulk.relaxed.scope.global.shared::cta.bulk_group{.L2::cache_hint}.b128  "
        "[d], [a], sz{, cp if .L2::cache_hint}", cp="u64", needs="sm_90 ptx_93"),
   form("cp.async.bulk.weak.shared::cta.global.mbarrier::complete_tx::bytes  [d], [a], sz, [mb]",
        needs="sm_90 ptx_93"),
   form("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast  [d], [a], sz, [mb], mask",
        multicast=".multicast::cluster::32b", mask="u32", needs="107f* ptx_94"),
   form("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast  [d], [a], sz, [mb], mask",
        multicast=".multicast::cluster::16b", needs="sm_90 ptx_94"),
   form("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.rnd  [d], [a], sz, [mb]",
        rnd=".mbarrier::report::disabled .mbarrier::report::validity::per_16bytes::80000000 "
        ".mbarrier::report::validity::per_16bytes::8000 .mbarrier::report::validity::per_16bytes::80 "
        ".mbarrier::report::validity::per_16bytes::8 .mbarrier::report::validity::per_element::ff",
        needs="107f* ptx_94"),
   form("cp.async.bulk.commit_group"), sz="u32 in 0..1048560*16", mask="u16", needs="sm_90 ptx_80",
   effect="async", scope=SCOPE)

op("cp.async.bulk.prefetch", "Prefetch in bulk to L2.",
   "data-movement-and-conversion-instructions-cp-async-bulk-prefetch",
   form("cp.async.bulk.prefetch.L2.global{.L2::cache_hint}  [a], sz{, cp if .L2::cache_hint}", cp="u64",
        needs="sm_90 ptx_80"),
   form("cp.async.bulk.prefetch.L2.global.L2::evict_last  [a], sz", needs="107f* ptx_94"), sz="u32 in 0..1048560*16",
   effect="async")

op("multimem.cp.async.bulk", "Copy in bulk to all replicas asynchronously.",
   "data-movement-and-conversion-instructions-multimem-cp-async-bulk",
   form("multimem.cp.async.bulk.global.shared::cta.bulk_group  [d], [a], sz", needs="sm_90 ptx_91"),
   form("multimem.cp.async.bulk.global.shared::cta.bulk_group.cp_mask  [d], [a], sz, bm", bm="u16",
        needs="sm_100 ptx_91"),
   form("multimem.cp.async.bulk.relaxed.scope.global.shared::cta.bulk_group.b128  [d], [a], sz", scope=SCOPE,
        needs="sm_90 ptx_93"), sz="u32 in 0..1048560*16", effect="async")

op("cp.async.bulk.wait_group", "Wait for bulk groups.",
   "data-movement-and-conversion-instructions-cp-async-bulk-wait-group",
   form("cp.async.bulk.wait_group{.read}  n", n="imm", effect="async", needs="sm_90 ptx_80"))

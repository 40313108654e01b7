"""cp.async: copies of 4 to 16 bytes."""

from pyptx.isa._schema import Family, form
from pyptx.isa._words import CTA_SHARED, PREFETCH

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

"""Cache hints."""

from pyptx.isa._schema import Family, form

op = Family(__name__)

op("createpolicy.range", "Make a cache policy for an address range.",
   "data-movement-and-conversion-instructions-createpolicy",
   form("createpolicy.range{.global}.primary{.secondary}.b64  d, [a], psz, tsz",
        primary=".L2::evict_last .L2::evict_normal .L2::evict_first .L2::evict_unchanged",
        secondary=".L2::evict_first .L2::evict_unchanged", d="u64", psz="u32", tsz="u32", needs="sm_80 ptx_74"))

op("createpolicy.fractional", "Make a cache policy for a fraction of accesses.",
   "data-movement-and-conversion-instructions-createpolicy",
   form("createpolicy.fractional.primary{.secondary}.b64  d{, fraction}",
        primary=".L2::evict_last .L2::evict_normal .L2::evict_first .L2::evict_unchanged",
        secondary=".L2::evict_first .L2::evict_unchanged", d="u64", fraction="imm in float", needs="sm_80 ptx_74"))

op("createpolicy.cvt", "Make a cache policy from a CUDA access property.",
   "data-movement-and-conversion-instructions-createpolicy",
   form("createpolicy.cvt.L2.b64  d, a", d="u64", a="u64", needs="sm_80 ptx_74"))

op("prefetch", "Prefetch into a cache.", "data-movement-and-conversion-instructions-prefetch-prefetchu",
   form("prefetch{.space}.level  [a]", space=".global .local", level=".L1 .L2"),
   form("prefetch{.global}.level  [a]", level=".L2::evict_last .L2::evict_normal", needs="sm_80 ptx_74"),
   form("prefetch{.global}.L1::32B.valid_addr  [a]", needs="sm_90 ptx_94"),
   form("prefetch{.space}.tensormap  [a]", space=".const .param", needs="sm_90 ptx_80"), effect="cache")

op("prefetchu", "Prefetch into the uniform cache.", "data-movement-and-conversion-instructions-prefetch-prefetchu",
   form("prefetchu.L1  [a]", effect="cache"))

op("applypriority", "Change the cache priority of a range.", "data-movement-and-conversion-instructions-applypriority",
   form("applypriority{.global}.L2::evict_normal  [a], size", size="imm in 128", effect="cache",
        needs="sm_80 ptx_74"))

op("discard", "Drop cached data without writing it back.", "data-movement-and-conversion-instructions-discard",
   form("discard{.global}.L2  [a], size", size="imm in 128", effect="cache", needs="sm_80 ptx_74"))

op("applypriority.async.bulk", "Change the cache priority of a range asynchronously.",
   "data-movement-and-conversion-instructions-applypriority",
   form("applypriority.async.bulk{.global}.bulk_group.L2::evict_normal  [a], sz", sz="u32 in 0..1048560*16",
        effect="async", needs="107f* ptx_94"))

op("applypriority.async.bulk.tensor", "Change the cache priority of a tensor tile asynchronously.",
   "data-movement-and-conversion-instructions-applypriority",
   form("applypriority.async.bulk.tensor.2d{.global}.bulk_group{.tile}.L2::evict_normal  [tm, {c*2}]", c="s32",
        effect="async", needs="107f* ptx_94"))

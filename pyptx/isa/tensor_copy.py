"""Asynchronous tensor copies and tensor maps."""

from pyptx.isa._choices import GROUP, SCOPE
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("cp.async.bulk.tensor", "Copy a tensor tile asynchronously (TMA).",
   "data-movement-and-conversion-instructions-cp-async-bulk-tensor",
   form("cp.async.bulk.tensor.dim.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes"
        "{.multicast::cluster}{.group}{.L2::cache_hint}  "
        "[d], [tm, {c*dim}], [mb]{, mask if .multicast::cluster}{, cp if .L2::cache_hint}",
        dim=".1d .2d .3d .4d .5d", group=".cta_group::1@100f*,110f*,ptx_86 .cta_group::2@100f*,110f*,ptx_86",
        cp="u64"),
   form("cp.async.bulk.tensor.dim.shared::cta.global{.tile}.mbarrier::complete_tx::bytes{.group}{.L2::cache_hint}  "
        "[d], [tm, {c*dim}], [mb]{, cp if .L2::cache_hint}", dim=".1d .2d .3d .4d .5d", cp="u64",
        needs="sm_90 ptx_86"),
   form("cp.async.bulk.tensor.dim.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        "{.multicast::cluster}{.group}{.L2::cache_hint}  "
        "[d], [tm, {c*dim}], [mb], {o*dim-2}{, mask if .multicast::cluster}{, cp if .L2::cache_hint}",
        group=".cta_group::1@100f*,110f*,ptx_86 .cta_group::2@100f*,110f*,ptx_86", cp="u64"),
   form("cp.async.bulk.tensor.dim.shared::cta.global.im2col.mbarrier::complete_tx::bytes{.group}{.L2::cache_hint}  "
        "[d], [tm, {c*dim}], [mb], {o*dim-2}{, cp if .L2::cache_hint}", cp="u64", needs="sm_90 ptx_86"),
   form("cp.async.bulk.tensor.dim.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        "{.multicast::cluster}{.group}{.L2::cache_hint}  "
        "[d], [tm, {c*dim}], [mb], {o*2}{, mask if .multicast::cluster}{, cp if .L2::cache_hint}",
        im2col=".im2col::w .im2col::w::128", group=GROUP, cp="u64", needs="100f* 110f* ptx_86"),
   form("cp.async.bulk.tensor.dim.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes{.group}{.L2::cache_hint}  "
        "[d], [tm, {c*dim}], [mb], {o*2}{, cp if .L2::cache_hint}", cp="u64", needs="sm_100 ptx_86"),
   form("cp.async.bulk.tensor.dim.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes{.group}  "
        "[d], [tm, {c*dim}], [mb], {o*2}", group=GROUP, needs="100f* 110f* ptx_86"),
   form("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes"
        "{.multicast::cluster}{.group}{.L2::cache_hint}  "
        "[d], [tm, {c*5}], [mb]{, mask if .multicast::cluster}{, cp if .L2::cache_hint}", group=GROUP, cp="u64",
        needs="100f* 110f* ptx_86"),
   form("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes{.group}"
        "{.L2::cache_hint}  "
        "[d], [tm, {c*5}], [mb]{, cp if .L2::cache_hint}", cp="u64", needs="sm_100 ptx_86"),
   form("cp.async.bulk.tensor.dim.global.shared::cta{.tile}.bulk_group{.L2::cache_hint}  "
        "[tm, {c*dim}], [a]{, cp if .L2::cache_hint}", dim=".1d .2d .3d .4d .5d", cp="u64"),
   form("cp.async.bulk.tensor.dim.global.shared::cta.im2col_no_offs.bulk_group{.L2::cache_hint}  "
        "[tm, {c*dim}], [a]{, cp if .L2::cache_hint}", cp="u64"),
   form("cp.async.bulk.tensor.dim.global.shared::cta.im2col_no_offs::w.bulk_group  [tm, {c*dim}], [a]",
        needs="107f* ptx_94"),
   form("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group{.L2::cache_hint}  "
        "[tm, {c*5}], [a]{, cp if .L2::cache_hint}", cp="u64", needs="100f* 110f* ptx_86"),
   form("cp.async.bulk.tensor.dim.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes.override::global_address  "
        "[d], [tm, ga, {c*dim}], [mb]", dim=".1d .2d .3d .4d .5d", ga="b64",
        regs={"ga": "{b8,b16,b64,u8,u16,u64,s8,s16,s64}"}, needs="107f* ptx_94"),
   form("cp.async.bulk.tensor.1d.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes"
        ".override::global_address.override::global_dim  "
        "[d], [tm, ga, {sz*1}, {c*1}], [mb]", c="s32 in 0", regs={"sz": "{b8,b16,u8,u16,s8,s16}"},
        needs="107f* ptx_94"),
   form("cp.async.bulk.tensor.dim.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes"
        ".override::global_address.override::global_dim_stride  "
        "[d], [tm, ga, {sz*dim}, {lo*dim-1}, up, {c*dim}], [mb]", dim=".2d .3d .4d .5d", lo="b32", up="u16",
        c="s32 in 0", regs={"sz": "{b8,b16,u8,u16,s8,s16}"}, needs="107f* ptx_94"), dim=".3d .4d .5d",
   group=".cta_group::1@100f*,110f* .cta_group::2@100f*,110f*", c="s32", mask="u16", needs="sm_90 ptx_80",
   effect="async", o="u16", ga="u64", sz="b8")

op("cp.reduce.async.bulk.tensor", "Reduce a tensor tile into global memory asynchronously (TMA).",
   "data-movement-and-conversion-instructions-cp-reduce-async-bulk-tensor",
   form("cp.reduce.async.bulk.tensor.dim.global.shared::cta.op{.tile}.bulk_group{.L2::cache_hint}  "
        "[tm, {c*dim}], [a]{, cp if .L2::cache_hint}", dim=".1d .2d .3d .4d .5d"),
   form("cp.reduce.async.bulk.tensor.dim.global.shared::cta.op.im2col_no_offs.bulk_group{.L2::cache_hint}  "
        "[tm, {c*dim}], [a]{, cp if .L2::cache_hint}", dim=".3d .4d .5d"),
   op=".add .min .max .inc .dec .and .or .xor", c="s32", cp="u64", needs="sm_90 ptx_80", effect="async")

op("cp.async.bulk.prefetch.tensor", "Prefetch a tensor tile to L2 (TMA).",
   "data-movement-and-conversion-instructions-cp-async-bulk-prefetch-tensor",
   form("cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.L2::cache_hint}  "
        "[tm, {c*dim}]{, cp if .L2::cache_hint}", cp="u64"),
   form("cp.async.bulk.prefetch.tensor.dim.L2.global.im2col{.L2::cache_hint}  "
        "[tm, {c*dim}], {o*dim-2}{, cp if .L2::cache_hint}", dim=".3d .4d .5d", cp="u64"),
   form("cp.async.bulk.prefetch.tensor.dim.L2.global.im2col{.L2::cache_hint}  "
        "[tm, {c*dim}], {o*2}{, cp if .L2::cache_hint}", dim=".3d .4d .5d", im2col=".im2col::w .im2col::w::128",
        cp="u64", needs="100f* 110f* ptx_86"),
   form("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4{.L2::cache_hint}  "
        "[tm, {c*5}]{, cp if .L2::cache_hint}", cp="u64", needs="100f* 110f* ptx_86"),
   form("cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}.L2::evict_last  [tm, {c*dim}]", needs="107f* ptx_94"),
   dim=".1d .2d .3d .4d .5d", c="s32", needs="sm_90 ptx_80", effect="async", o="u16")

op("tensormap.replace", "Change a field of a tensor map.",
   "data-movement-and-conversion-instructions-tensormap-replace",
   form("tensormap.replace.tile.global_address{.space}.b1024.b64  [tm], v"),
   form("tensormap.replace.tile.rank{.space}.b1024.b32  [tm], v"),
   form("tensormap.replace.tile.field{.space}.b1024.b32  [tm], o, v", field=".box_dim .global_dim .element_stride",
        v="u32"),
   form("tensormap.replace.tile.global_stride{.space}.b1024.b64  [tm], o, v"),
   form("tensormap.replace.tile.elemtype{.space}.b1024.b32  [tm], v", v="imm in 0..15"),
   form("tensormap.replace.tile.interleave_layout{.space}.b1024.b32  [tm], v", v="imm in 0..2"),
   form("tensormap.replace.tile.swizzle_mode{.space}.b1024.b32  [tm], v", v="imm in 0..4"),
   form("tensormap.replace.tile.fill_mode{.space}.b1024.b32  [tm], v", v="imm in 0/1"),
   form("tensormap.replace.tile.swizzle_atomicity{.space}.b1024.b32  [tm], v", v="imm in 0..3",
        needs="100f* 110f* 120f* ptx_86"), space=".global .shared::cta", needs="100f* 110f* 120f* 90a ptx_83",
   effect="async", o="imm in 0..4")

op("tensormap.cp_fenceproxy", "Copy a tensor map and make it visible to the tensormap proxy.",
   "data-movement-and-conversion-instructions-tensormap-cp-fenceproxy",
   form("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned  "
        "[d], [a], size", scope=SCOPE, size="imm in 128", effect="async", needs="sm_90 ptx_83"))

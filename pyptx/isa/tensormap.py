"""Tensor maps."""

from pyptx.isa._schema import Family, form
from pyptx.isa._words import SCOPE

op = Family(__name__)

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

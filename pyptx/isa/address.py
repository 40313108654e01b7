"""Address arithmetic between state spaces and CTAs."""

from pyptx.isa._schema import Family, form
from pyptx.isa._words import ADDRESSED

op = Family(__name__)

op("isspacep", "Test whether a generic address is in a state space.",
   "data-movement-and-conversion-instructions-isspacep",
   form("isspacep.space  p, a", space=ADDRESSED, a="u64", regs={"a": "{b32,s32,u32,b64,s64,u64}"},
        needs="ptx_31"))

op("cvta", "Convert an address of a state space to generic.", "data-movement-and-conversion-instructions-cvta",
   form("cvta.space.type  d, a", space=ADDRESSED, needs="ptx_31"),
   form("cvta.space.type  d, a",
        space=".const .global .local .shared .shared::cta@ptx_78 .shared::cluster@sm_90,ptx_78", a="symbol"),
   type=".u64 .u32")

op("cvta.to", "Convert a generic address to a state space.", "data-movement-and-conversion-instructions-cvta",
   form("cvta.to.space.type  d, a", space=ADDRESSED, type=".u64 .u32", needs="ptx_31"))

op("mapa", "Map a shared address to another CTA of the cluster.", "data-movement-and-conversion-instructions-mapa",
   form("mapa{.shared::cluster}.type  d, a, b", type=".u64 .u32"),
   form("mapa.shared::cluster.type  d, a, b", type=".u32 .u64", a="symbol"), b="u32", needs="sm_90 ptx_78")

op("getctarank", "Rank of the CTA that owns a shared address.", "data-movement-and-conversion-instructions-getctarank",
   form("getctarank{.shared::cluster}.type  d, a", type=".u64 .u32", d="u32", needs="sm_90 ptx_78"))

"""Moves, address conversion and the local stack."""

from pyptx.isa._choices import ADDRESSED
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("mov", "Copy a register, a number, an address or a special register; pack or unpack a vector.",
   "data-movement-and-conversion-instructions-mov",
   form("mov.type  d, a", type=".pred .b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64", a="!type",
        semantics="d = a"),
   form("mov.b128  d, a", a="b128+imm", semantics="d = a", needs="sm_70 ptx_83"),
   form("mov.type  d, a", type=".u32 .u64 .b32 .b64 .s32 .s64 .b16 .u16 .s16", a="symbol", semantics="d = a"),
   form("mov.b16  d, {a*2}", a="b8"),
   form("mov.b32  d, {a*2}", a="b16"),
   form("mov.b32  d, {a*4}", a="b8"),
   form("mov.b64  d, {a*2}", a="b32"),
   form("mov.b64  d, {a*4}", a="b16"),
   form("mov.b128  d, {a*2}", a="b64", needs="sm_70 ptx_83"),
   form("mov.b128  d, {a*4}", a="b32", needs="sm_70 ptx_83"),
   form("mov.b16  {d*2}, a", d="b8", semantics="d = unpack(a)"),
   form("mov.b32  {d*2}, a", d="b16", semantics="d = unpack(a)"),
   form("mov.b32  {d*4}, a", d="b8", semantics="d = unpack(a)"),
   form("mov.b64  {d*2}, a", d="b32", semantics="d = unpack(a)"),
   form("mov.b64  {d*4}, a", d="b16", semantics="d = unpack(a)"),
   form("mov.b128  {d*2}, a", d="b64", a="b128+imm", semantics="d = unpack(a)", needs="sm_70 ptx_83"),
   form("mov.b128  {d*4}, a", d="b32", a="b128+imm", semantics="d = unpack(a)", needs="sm_70 ptx_83"),
   form("mov.vec.type  {d*vec}, {a*vec}", vec=".v2 .v4", type=".b16 .b32 .u16 .u32 .s16 .s32 .f32", semantics="d = a"),
   form("mov.v2.type  {d*2}, {a*2}", type=".b64 .u64 .s64 .f64", semantics="d = a"),
   form("mov.v4.type  {d*4}, a", type=".u32 .u16 .b32 .s32 .b16 .s16", a="special", semantics="d = a"),
   semantics="d = pack(a)", special="a")

op("prmt", "Permute bytes of two registers.", "data-movement-and-conversion-instructions-prmt",
   form("prmt.b32{.mode}  d, a, b, c", mode=".f4e .b4e .rc8 .ecl .ecr .rc16", semantics="d = prmt_{mode}(a, b, c)"))

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
   form("mapa{.shared::cluster}.type  d, a, b", type=".u64 .u32 .s64 .s32"),
   form("mapa.shared::cluster.type  d, a, b", type=".u32 .u64 .s32 .s64", a="symbol"), b="u32", needs="sm_90 ptx_78")

op("getctarank", "Rank of the CTA that owns a shared address.", "data-movement-and-conversion-instructions-getctarank",
   form("getctarank{.shared::cluster}.type  d, a", type=".u64 .u32 .s64 .s32", d="u32", needs="sm_90 ptx_78"))

op("stacksave", "Read the stack pointer.", "data-movement-and-conversion-instructions-stacksave",
   form("stacksave.type  d", type=".u64 .u32", effect="stack", needs="sm_52 ptx_73"))

op("stackrestore", "Set the stack pointer.", "data-movement-and-conversion-instructions-stackrestore",
   form("stackrestore.type  a", type=".u64 .u32", a="type-imm", rw="", effect="stack", needs="sm_52 ptx_73"))

op("alloca", "Allocate stack memory.", "data-movement-and-conversion-instructions-alloca",
   form("alloca.type  d, sz{, align}", type=".u64 .u32", align="imm", effect="stack", needs="sm_52 ptx_73"))

"""Moves between registers."""

from pyptx.isa._schema import Family, form

op = Family(__name__)

op("mov", "Copy a register, a number, an address or a special register; pack or unpack a vector.",
   "data-movement-and-conversion-instructions-mov",
   form("mov.type  d, a", type=".pred .b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64", a="!type",
        means="d = a"),
   form("mov.b128  d, a", a="b128+imm", means="d = a", needs="sm_70 ptx_83"),
   form("mov.type  d, a", type=".u32 .u64 .b32 .b64 .s32 .s64 .b16 .u16 .s16", a="symbol", means="d = a"),
   form("mov.b16  d, {a*2}", a="b8"),
   form("mov.b32  d, {a*2}", a="b16"),
   form("mov.b32  d, {a*4}", a="b8"),
   form("mov.b64  d, {a*2}", a="b32"),
   form("mov.b64  d, {a*4}", a="b16"),
   form("mov.b128  d, {a*2}", a="b64", needs="sm_70 ptx_83"),
   form("mov.b128  d, {a*4}", a="b32", needs="sm_70 ptx_83"),
   form("mov.b16  {d*2}, a", d="b8", means="d = unpack(a)"),
   form("mov.b32  {d*2}, a", d="b16", means="d = unpack(a)"),
   form("mov.b32  {d*4}, a", d="b8", means="d = unpack(a)"),
   form("mov.b64  {d*2}, a", d="b32", means="d = unpack(a)"),
   form("mov.b64  {d*4}, a", d="b16", means="d = unpack(a)"),
   form("mov.b128  {d*2}, a", d="b64", a="b128+imm", means="d = unpack(a)", needs="sm_70 ptx_83"),
   form("mov.b128  {d*4}, a", d="b32", a="b128+imm", means="d = unpack(a)", needs="sm_70 ptx_83"),
   form("mov.vec.type  {d*vec}, {a*vec}", vec=".v2 .v4", type=".b16 .b32 .u16 .u32 .s16 .s32 .f32", means="d = a"),
   form("mov.v2.type  {d*2}, {a*2}", type=".b64 .u64 .s64 .f64", means="d = a"),
   form("mov.v4.type  {d*4}, a", type=".u32 .u16 .b32 .s32 .b16 .s16", a="special", means="d = a"),
   means="d = pack(a)")

op("prmt", "Permute bytes of two registers.", "data-movement-and-conversion-instructions-prmt",
   form("prmt.b32{.mode}  d, a, b, c", mode=".f4e .b4e .rc8 .ecl .ecr .rc16", means="d = prmt_{mode}(a, b, c)"))

"""Surfaces."""

from pyptx.isa._schema import Family, form
from pyptx.isa._words import CLAMP

op = Family(__name__)

_COORDINATE = "{b32,s32,u32}"                           # just 32 bits, whatever the data
REGISTERS = {"*": "memory", "x": _COORDINATE}
LAYERS = {"*": "memory", **dict.fromkeys("ix", _COORDINATE)}
LAYERS_2D = {"*": "memory", **dict.fromkeys("ixyz", _COORDINATE)}

op("suld.b", "Load from a surface.", "surface-instructions-suld",
   form("suld.b.1d{.cop}.type.clampmode  d, [s, {x*1}]"),
   form("suld.b.2d{.cop}.type.clampmode  d, [s, {x*2}]"),
   form("suld.b.3d.type.clampmode  d, [s, {x*4}]"),
   form("suld.b.a1d.type.clampmode  d, [s, {i, x}]", x="s32+imm", regs=LAYERS),
   form("suld.b.a2d.type.clampmode  d, [s, {i, x, y, z}]", x="s32+imm", y="s32+imm", z="s32+imm",
        regs=LAYERS_2D),
   form("suld.b.2d.v2.type.clampmode  {d*2}, [s, {x*2}]"),
   form("suld.b.2d.v4.type.clampmode  {d*4}, [s, {x*2}]", type=".b8 .b16 .b32"), cop=".ca .cg .cs .cv",
   type=".b8 .b16 .b32 .b64", clampmode=CLAMP, s="u64", x="s32", regs=REGISTERS, needs="ptx_31", effect="load:surface",
   i="u32")

op("sust.b", "Store to a surface.", "surface-instructions-sust",
   form("sust.b.1d{.cop}.type.clampmode  [s, {x*1}], c"),
   form("sust.b.2d{.cop}.type.clampmode  [s, {x*2}], c"),
   form("sust.b.3d.type.clampmode  [s, {x*4}], c"),
   form("sust.b.a1d.type.clampmode  [s, {i, x}], c", x="s32+imm", regs=LAYERS),
   form("sust.b.a2d.type.clampmode  [s, {i, x, y, z}], c", x="s32+imm", y="s32+imm", z="s32+imm",
        regs=LAYERS_2D),
   form("sust.b.2d.v4.type.clampmode  [s, {x*2}], {c*4}", type=".b8 .b16 .b32"), cop=".wb .cg .cs .wt",
   type=".b8 .b16 .b32 .b64", clampmode=CLAMP, s="u64", x="s32", regs=REGISTERS, needs="ptx_31",
   effect="store:surface", i="u32")

op("sust.p", "Store formatted to a surface.", "surface-instructions-sust",
   form("sust.p.2d.b32.clampmode  [s, {x*2}], c"),
   form("sust.p.2d.vec.b32.clampmode  [s, {x*2}], {c*vec}", vec=".v2 .v4"), clampmode=CLAMP, s="u64", x="s32",
   regs=REGISTERS, needs="ptx_31", effect="store:surface")

op("sured.b", "Reduce into a surface, addressed by byte.", "surface-instructions-sured",
   form("sured.b.add.1d.type.clampmode  [s, {x*1}], c"),
   form("sured.b.op.1d.type.clampmode  [s, {x*1}], c", type=".u32 .s32 .u64@ptx_81"),
   form("sured.b.op.2d.type.clampmode  [s, {x*2}], c", type=".u32 .s32 .u64@sm_50,ptx_81 .s64@sm_50,ptx_81"),
   form("sured.b.op.2d.b32.clampmode  [s, {x*2}], c", op=".and .or"),
   form("sured.b.add.2d.type.clampmode  [s, {x*2}], c"),
   form("sured.b.add.3d.type.clampmode  [s, {x*4}], c"),
   form("sured.b.op.3d.type.clampmode  [s, {x*4}], c", type=".u32 .s32 .u64@ptx_81"), type=".u32 .s32 .u64",
   clampmode=CLAMP, s="u64", x="s32", regs=REGISTERS, needs="ptx_31", effect="reduce:surface", op=".min .max")

op("sured.p", "Reduce into a surface, addressed by sample.", "surface-instructions-sured",
   form("sured.p.op.2d.b32.clampmode  [s, {x*2}], c", op=".add .min .max .and .or", clampmode=CLAMP, s="u64",
        x="s32", regs=REGISTERS, effect="reduce:surface", needs="ptx_31"))

op("suq", "Query a surface attribute.", "surface-instructions-suq",
   form("suq.query.b32  d, [s]",
        query=".width .height .depth .channel_data_type .channel_order .array_size@ptx_41 .memory_layout@ptx_42",
        s="u64", needs="ptx_31"))

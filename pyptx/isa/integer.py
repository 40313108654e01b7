"""Integer arithmetic."""

from pyptx.isa._choices import INT, SIGNED
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("add", "Add.", "integer-arithmetic-instructions-add",
   form("add.type  d, a, b", type=INT),
   form("add.sat.s32  d, a, b", regs={"*": "int+h2"}),
   form("add.type  d, a, b", type=".u16x2 .s16x2", needs="sm_90 ptx_80"),
   form("add.sat.type  d, a, b", type=".u32 .u16x2 .s16x2", needs="107f* 120f* ptx_92"),
   form("add{.sat}.type  d, a, b", type=".u8x4 .s8x4", needs="107f* 120f* ptx_92"), semantics="d = a + b")

op("sub", "Subtract.", "integer-arithmetic-instructions-sub",
   form("sub.type  d, a, b", type=INT),
   form("sub.sat.s32  d, a, b", regs={"*": "int+h2"}),
   form("sub{.sat}.type  d, a, b", type=".u8x4 .s8x4", needs="107f* 120f* ptx_92"), semantics="d = a - b")

op("mul", "Multiply.", "integer-arithmetic-instructions-mul",
   form("mul.half.type  d, a, b", half=".lo .hi", type=INT, semantics="d = mul_{half}(a, b)"))

op("mul.wide", "Multiply into twice the width.", "integer-arithmetic-instructions-mul",
   form("mul.wide.type  d, a, b", type=".u16 .u32 .s16 .s32", d="wide(type)", semantics="d = mul_wide(a, b)"))

op("mad", "Multiply and add.", "integer-arithmetic-instructions-mad",
   form("mad.half.type  d, a, b, c", half=".lo .hi", type=INT, semantics="d = mul_{half}(a, b) + c"))

op("mad.wide", "Multiply and add in twice the width.", "integer-arithmetic-instructions-mad",
   form("mad.wide.type  d, a, b, c", type=".u16 .u32 .s16 .s32", d="wide(type)", c="wide(type)",
        semantics="d = mul_wide(a, b) + c"))

op("mad.hi", "Multiply, take the high half, add and saturate.", "integer-arithmetic-instructions-mad",
   form("mad.hi.sat.s32  d, a, b, c", regs={"*": "int+h2"}, semantics="d = mul_hi(a, b) + c"))

op("mul24", "Multiply the low 24 bits.", "integer-arithmetic-instructions-mul24",
   form("mul24.half.type  d, a, b", half=".lo .hi", type=".u32 .s32", semantics="d = mul24_{half}(a, b)"))

op("mad24", "Multiply the low 24 bits and add.", "integer-arithmetic-instructions-mad24",
   form("mad24.half.type  d, a, b, c", half=".lo .hi", type=".u32 .s32", semantics="d = mul24_{half}(a, b) + c"))

op("mad24.hi", "Multiply the low 24 bits, add and saturate.", "integer-arithmetic-instructions-mad24",
   form("mad24.hi.sat.s32  d, a, b, c", regs={"*": "int+h2"}, semantics="d = mul24_hi(a, b) + c"))

op("clmad", "Carry-less multiply and xor.", "integer-arithmetic-instructions-clmad",
   form("clmad.half.u64  d, a, b, c", half=".lo .hi", semantics="d = clmul_{half}(a, b) ^ c", needs="sm_80 ptx_93"))

op("sad", "Sum of absolute differences.", "integer-arithmetic-instructions-sad",
   form("sad.type  d, a, b, c", type=INT, semantics="d = sad(a, b, c)"))

op("div", "Divide.", "integer-arithmetic-instructions-div",
   form("div.type  d, a, b", type=INT, semantics="d = a / b"))

op("rem", "Remainder of a division, with the sign of the dividend.", "integer-arithmetic-instructions-rem",
   form("rem.type  d, a, b", type=INT, semantics="d = rem(a, b)"))

op("abs", "Absolute value.", "integer-arithmetic-instructions-abs",
   form("abs.type  d, a", type=SIGNED, semantics="d = abs(a)"))

op("neg", "Negate.", "integer-arithmetic-instructions-neg",
   form("neg.type  d, a", type=SIGNED),
   form("neg.s8x4  d, a", needs="107f* 120f* ptx_92"), semantics="d = -a")

op("min", "Minimum.", "integer-arithmetic-instructions-min",
   form("min.type  d, a, b", type=INT),
   form("min.type  d, a, b", type=".u16x2 .s16x2", needs="sm_90 ptx_80"),
   form("min.relu.type  d, a, b", type=".s16x2 .s32", a="type-imm", b="type-imm", needs="sm_90 ptx_80"),
   form("min.u8x4  d, a, b", needs="107f* 120f* ptx_92"),
   form("min{.relu}.s8x4  d, a, b", needs="107f* 120f* ptx_92"), semantics="d = min(a, b)")

op("max", "Maximum.", "integer-arithmetic-instructions-max",
   form("max.type  d, a, b", type=INT),
   form("max.type  d, a, b", type=".u16x2 .s16x2", needs="sm_90 ptx_80"),
   form("max.relu.type  d, a, b", type=".s16x2 .s32", a="type-imm", b="type-imm", needs="sm_90 ptx_80"),
   form("max.u8x4  d, a, b", needs="107f* 120f* ptx_92"),
   form("max{.relu}.s8x4  d, a, b", needs="107f* 120f* ptx_92"), semantics="d = max(a, b)")

op("popc", "Count the one bits.", "integer-arithmetic-instructions-popc",
   form("popc.type  d, a", type=".b32 .b64", d="u32", semantics="d = popc(a)"))

op("clz", "Count the leading zeros.", "integer-arithmetic-instructions-clz",
   form("clz.type  d, a", type=".b32 .b64", d="u32", semantics="d = clz(a)"))

op("bfind", "Find the most significant non-sign bit.", "integer-arithmetic-instructions-bfind",
   form("bfind{.shiftamt}.type  d, a", type=".u32 .u64 .s32 .s64", d="u32", semantics="d = bfind(a)"))

op("fns", "Find the n-th set bit.", "integer-arithmetic-instructions-fns",
   form("fns.b32  d, mask, base, off", off="s32", semantics="d = fns(mask, base, off)", regs={"off": "any32"},
        needs="sm_30 ptx_60"))

op("brev", "Reverse the bits.", "integer-arithmetic-instructions-brev",
   form("brev.type  d, a", type=".b32 .b64", semantics="d = brev(a)"))

op("bfe", "Extract a bit field.", "integer-arithmetic-instructions-bfe",
   form("bfe.type  d, a, b, c", type=".u32 .u64 .s32 .s64", b="u32 in 0..255", c="u32 in 0..255",
        semantics="d = bfe(a, b, c)"))

op("bfi", "Insert a bit field.", "integer-arithmetic-instructions-bfi",
   form("bfi.type  f, a, b, c, d", type=".b32 .b64", c="u32 in 0..255", d="u32 in 0..255",
        semantics="f = bfi(a, b, c, d)"))

op("szext", "Sign- or zero-extend from a given bit.", "integer-arithmetic-instructions-szext",
   form("szext.mode.type  d, a, b", mode=".clamp .wrap", type=".u32 .s32", b="u32", semantics="d = szext_{mode}(a, b)",
        needs="sm_70 ptx_76"))

op("bmsk", "Make a mask of consecutive ones.", "integer-arithmetic-instructions-bmsk",
   form("bmsk.mode.b32  d, a, b", mode=".clamp .wrap", d="u32", a="u32", b="u32", semantics="d = bmsk_{mode}(a, b)",
        needs="sm_70 ptx_76"))

op("dp4a", "Dot product of four bytes, accumulated.", "integer-arithmetic-instructions-dp4a",
   form("dp4a.atype.btype  d, a, b, c", atype=".u32 .s32", btype=".u32 .s32", d="s32", a="u32", b="u32", c="s32",
        semantics="d = dp4a(a, b, c)", regs={"a": "int+h2", "b": "int+h2"}, needs="sm_61 ptx_50"))

op("dp2a", "Dot product of two halves and two bytes, accumulated.", "integer-arithmetic-instructions-dp2a",
   form("dp2a.half.atype.btype  d, a, b, c", half=".lo .hi", atype=".u32 .s32", btype=".u32 .s32", d="s32", a="u32",
        b="u32", c="s32", semantics="d = dp2a_{half}(a, b, c)", regs={"a": "int+h2", "b": "int+h2"},
        needs="sm_61 ptx_50"))

"""Logic and shift."""

from pyptx.isa._choices import BITS
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("and", "Bitwise and.", "logic-and-shift-instructions-and",
   form("and.type  d, a, b", type=".pred .b16 .b32 .b64", a="!type", b="!type", semantics="d = a & b"))

op("or", "Bitwise or.", "logic-and-shift-instructions-or",
   form("or.type  d, a, b", type=".pred .b16 .b32 .b64", a="!type", b="!type", semantics="d = a | b"))

op("xor", "Bitwise exclusive or.", "logic-and-shift-instructions-xor",
   form("xor.type  d, a, b", type=".pred .b16 .b32 .b64", a="!type", b="!type", semantics="d = a ^ b"))

op("not", "Bitwise complement.", "logic-and-shift-instructions-not",
   form("not.type  d, a", type=".pred .b16 .b32 .b64", a="!type", semantics="d = ~a"))

op("cnot", "Logical negation: 1 for zero, else 0.", "logic-and-shift-instructions-cnot",
   form("cnot.type  d, a", type=BITS, semantics="d = cnot(a)"))

op("lop3", "Any bitwise function of three inputs, given as a table.", "logic-and-shift-instructions-lop3",
   form("lop3.b32  d, a, b, c, lut", semantics="d = lop3(a, b, c, lut)", sink="d", needs="sm_50 ptx_43"),
   form("lop3.bool.b32  d|p, a, b, c, lut, q", bool=".or .and", q="!pred",
        semantics="d = lop3(a, b, c, lut); p = bool_{bool}(ne(lop3(a, b, c, lut), 0), q)", sink="d",
        needs="sm_70 ptx_82"), lut="imm")

op("shf", "Funnel shift of two registers.", "logic-and-shift-instructions-shf",
   form("shf.dir.mode.b32  d, a, b, c", dir=".l .r", mode=".clamp .wrap", c="u32",
        semantics="d = funnel_{dir}_{mode}(a, b, c)", needs="sm_32 ptx_31"))

op("shl", "Shift left.", "logic-and-shift-instructions-shl",
   form("shl.type  d, a, b", type=BITS, b="u32", semantics="d = shl(a, b)"))

op("shr", "Shift right.", "logic-and-shift-instructions-shr",
   form("shr.type  d, a, b", type=".b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64", b="u32", semantics="d = shr(a, b)"))

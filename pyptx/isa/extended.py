"""Extended-precision integer arithmetic: the carry lives in CC.CF."""

from pyptx.isa._schema import Family, form

op = Family(__name__)

op("add", "Add.", "extended-precision-arithmetic-instructions-add-cc",
   form("add.cc.type  d, a, b", type=".u32 .s32 .u64@ptx_43 .s64@ptx_43", semantics="d = a + b"))

op("addc", "Add with carry-in.", "extended-precision-arithmetic-instructions-addc",
   form("addc{.cc}.type  d, a, b", type=".u32 .s32 .u64 .s64", semantics="d = a + b + carry"))

op("sub", "Subtract.", "extended-precision-arithmetic-instructions-sub-cc",
   form("sub.cc.type  d, a, b", type=".u32 .s32 .u64@ptx_43 .s64@ptx_43", semantics="d = a - b"))

op("subc", "Subtract with borrow-in.", "extended-precision-arithmetic-instructions-subc",
   form("subc{.cc}.type  d, a, b", type=".u32 .s32 .u64 .s64", semantics="d = a - b - carry"))

op("mad", "Multiply and add.", "extended-precision-arithmetic-instructions-mad-cc",
   form("mad.half.cc.type  d, a, b, c", half=".lo .hi", type=".u32 .s32 .u64@ptx_43 .s64@ptx_43",
        semantics="d = mul_{half}(a, b) + c", needs="ptx_30"))

op("madc", "Multiply and add with carry-in.", "extended-precision-arithmetic-instructions-madc",
   form("madc.half{.cc}.type  d, a, b, c", half=".lo .hi", type=".u32 .s32 .u64 .s64",
        semantics="d = mul_{half}(a, b) + c + carry", needs="ptx_30"))

"""Half precision and bfloat16."""

from pyptx.isa._schema import Family, form

op = Family(__name__)

op("add", "Add.", "half-precision-floating-point-instructions-add",
   form("add{.rn}{.ftz}{.sat}.type  d, a, b", type=".f16 .f16x2", needs="sm_53 ptx_42"),
   form("add{.rn}.type  d, a, b", type=".bf16 .bf16x2", needs="sm_90 ptx_78"), semantics="d = a + b", work="1 flop")

op("sub", "Subtract.", "half-precision-floating-point-instructions-sub",
   form("sub{.rn}{.ftz}{.sat}.type  d, a, b", type=".f16 .f16x2", needs="sm_53 ptx_42"),
   form("sub{.rn}.type  d, a, b", type=".bf16 .bf16x2", needs="sm_90 ptx_78"), semantics="d = a - b", work="1 flop")

op("mul", "Multiply.", "half-precision-floating-point-instructions-mul",
   form("mul{.rn}{.ftz}{.sat}.type  d, a, b", type=".f16 .f16x2", needs="sm_53 ptx_42"),
   form("mul{.rn}.type  d, a, b", type=".bf16 .bf16x2", needs="sm_90 ptx_78"), semantics="d = a * b", work="1 flop")

op("fma", "Multiply and add with one rounding.", "half-precision-floating-point-instructions-fma",
   form("fma.rn{.ftz}{.sat}.type  d, a, b, c", needs="sm_53 ptx_42"),
   form("fma.rn{.ftz}.relu.type  d, a, b, c"),
   form("fma.rn{.relu}.type  d, a, b, c", type=".bf16 .bf16x2"),
   form("fma.rn.oob{.relu}.type  d, a, b, c", type=".f16 .f16x2 .bf16 .bf16x2", needs="sm_90 ptx_81"),
   type=".f16 .f16x2", needs="sm_80 ptx_70", semantics="d = fma(a, b, c)", work="2 flop")

op("neg", "Negate.", "half-precision-floating-point-instructions-neg",
   form("neg{.ftz}.type  d, a", type=".f16 .f16x2", needs="sm_53 ptx_60"),
   form("neg.type  d, a", type=".bf16 .bf16x2", needs="sm_80 ptx_70"), semantics="d = -a")

op("abs", "Absolute value.", "half-precision-floating-point-instructions-abs",
   form("abs{.ftz}.type  d, a", type=".f16 .f16x2", needs="sm_53 ptx_65"),
   form("abs.type  d, a", type=".bf16 .bf16x2", needs="sm_80 ptx_70"), semantics="d = abs(a)")

op("min", "Minimum.", "half-precision-floating-point-instructions-min",
   form("min{.ftz}{.NaN}{.xorsign.abs}.type  d, a, b", type=".f16 .f16x2"),
   form("min{.NaN}{.xorsign.abs}.type  d, a, b", type=".bf16 .bf16x2"), xorsign="sm_86 ptx_72", needs="sm_80 ptx_70",
   semantics="d = min(a, b)", work="1 flop")

op("max", "Maximum.", "half-precision-floating-point-instructions-max",
   form("max{.ftz}{.NaN}{.xorsign.abs}.type  d, a, b", type=".f16 .f16x2"),
   form("max{.NaN}{.xorsign.abs}.type  d, a, b", type=".bf16 .bf16x2"), xorsign="sm_86 ptx_72", needs="sm_80 ptx_70",
   semantics="d = max(a, b)", work="1 flop")

op("tanh", "Hyperbolic tangent, approximated.", "half-precision-floating-point-instructions-tanh",
   form("tanh.approx.type  d, a", type=".f16 .f16x2 .bf16@sm_90,ptx_78 .bf16x2@sm_90,ptx_78",
        semantics="d = tanh_approx(a)", work="1 flop", needs="sm_75 ptx_70"))

op("ex2", "Power of two, approximated.", "half-precision-floating-point-instructions-ex2",
   form("ex2.approx.type  d, a", type=".f16 .f16x2", needs="sm_75 ptx_70"),
   form("ex2.approx.ftz.type  d, a", type=".bf16 .bf16x2", needs="sm_90 ptx_78"), semantics="d = ex2_approx(a)",
   work="1 flop")

"""Single and double precision."""

from pyptx.isa._choices import RND
from pyptx.isa._schema import Family, form

op = Family(__name__)

FTZ = "-> ftz: subnormals become 0"

op("testp", "Test a property of a float.", "floating-point-instructions-testp",
   form("testp.test.type  p, a", test=".finite .infinite .number .notanumber .normal .subnormal", type=".f32 .f64",
        semantics="p = is_{test}(a)"))

op("copysign", "Copy the sign of one value to another.", "floating-point-instructions-copysign",
   form("copysign.type  d, a, b", type=".f32 .f64", semantics="d = copysign(a, b)"))

op("add", "Add.", "floating-point-instructions-add",
   form("add{.rnd}{.ftz}{.sat}.f32  d, a, b"),
   form("add{.rnd}{.ftz}.f32x2  d, a, b", needs="sm_100 ptx_86"),
   form("add{.rnd}.f64  d, a, b"), rnd=RND, semantics="d = a + b", work="1 flop")

op("sub", "Subtract.", "floating-point-instructions-sub",
   form("sub{.rnd}{.ftz}{.sat}.f32  d, a, b"),
   form("sub{.rnd}{.ftz}.f32x2  d, a, b", needs="sm_100 ptx_86"),
   form("sub{.rnd}.f64  d, a, b"), rnd=RND, semantics="d = a - b", work="1 flop")

op("mul", "Multiply.", "floating-point-instructions-mul",
   form("mul{.rnd}{.ftz}{.sat}.f32  d, a, b"),
   form("mul{.rnd}{.ftz}.f32x2  d, a, b", needs="sm_100 ptx_86"),
   form("mul{.rnd}.f64  d, a, b"), rnd=RND, semantics="d = a * b", work="1 flop")

op("fma", "Multiply and add with one rounding.", "floating-point-instructions-fma",
   form("fma.rnd{.ftz}{.sat}.f32  d, a, b, c"),
   form("fma.rnd{.ftz}.f32x2  d, a, b, c", needs="sm_100 ptx_86"),
   form("fma.rnd.f64  d, a, b, c"), rnd=RND, semantics="d = fma(a, b, c)", work="2 flop")

op("mad", "Multiply and add.", "floating-point-instructions-mad",
   form("mad.rnd{.ftz}{.sat}.f32  d, a, b, c"),
   form("mad.rnd.f64  d, a, b, c"), rnd=RND, semantics="d = fma(a, b, c)", work="2 flop")

op("div", "Divide.", "floating-point-instructions-div",
   form("div.approx{.ftz}.f32  d, a, b", semantics="d = div_approx(a, b)", cheaper=FTZ),
   form("div.rnd{.ftz}.f32  d, a, b",
        cheaper="rnd -> full: at most 2 ulp off | rnd -> approx: at most 2 ulp off, and 0 for divisors above 2^126"),
   form("div.rnd.f64  d, a, b"), semantics="d = a / b", work="1 flop", rnd=RND)

op("div.full", "Divide over the full range, at most 2 ulp off.", "floating-point-instructions-div",
   form("div.full{.ftz}.f32  d, a, b", semantics="d = div_full(a, b)", work="1 flop", cheaper=FTZ))

op("abs", "Absolute value.", "floating-point-instructions-abs",
   form("abs{.ftz}.f32  d, a"),
   form("abs.f64  d, a"), semantics="d = abs(a)")

op("neg", "Negate.", "floating-point-instructions-neg",
   form("neg{.ftz}.f32  d, a"),
   form("neg.f64  d, a"), semantics="d = -a")

op("min", "Minimum.", "floating-point-instructions-min",
   form("min{.ftz}{.NaN}{.xorsign.abs}.f32  d, a, b", NaN="sm_80 ptx_70", xorsign="sm_86 ptx_72"),
   form("min{.ftz}{.NaN}{.abs}.f32  d, a, b, c", semantics="d = min(a, b, c)", needs="sm_100 ptx_88"),
   form("min.f64  d, a, b"), semantics="d = min(a, b)", work="1 flop")

op("max", "Maximum.", "floating-point-instructions-max",
   form("max{.ftz}{.NaN}{.xorsign.abs}.f32  d, a, b", NaN="sm_80 ptx_70", xorsign="sm_86 ptx_72"),
   form("max{.ftz}{.NaN}{.abs}.f32  d, a, b, c", semantics="d = max(a, b, c)", needs="sm_100 ptx_88"),
   form("max.f64  d, a, b"), semantics="d = max(a, b)", work="1 flop")

op("rcp", "Reciprocal.", "floating-point-instructions-rcp",
   form("rcp.approx{.ftz}.f32  d, a", cheaper=FTZ),
   form("rcp.rnd{.ftz}.f32  d, a", semantics="d = rcp(a)", cheaper="rnd -> approx: at most 1 ulp off"),
   form("rcp.rnd.f64  d, a", semantics="d = rcp(a)"),
   form("rcp.approx.ftz.f64  d, a"), semantics="d = rcp_approx(a)", work="1 flop", rnd=RND)

op("sqrt", "Square root.", "floating-point-instructions-sqrt",
   form("sqrt.approx{.ftz}.f32  d, a", semantics="d = sqrt_approx(a)", cheaper=FTZ),
   form("sqrt.rnd{.ftz}.f32  d, a", cheaper="rnd -> approx: relative error at most 2^-23"),
   form("sqrt.rnd.f64  d, a"), semantics="d = sqrt(a)", work="1 flop", rnd=RND)

op("rsqrt", "Reciprocal of the square root.", "floating-point-instructions-rsqrt",
   form("rsqrt.approx{.ftz}.f32  d, a", cheaper=FTZ),
   form("rsqrt.approx{.ftz}.f64  d, a", ftz="ptx_40"), semantics="d = rsqrt_approx(a)", work="1 flop")

op("sin", "Sine, approximated.", "floating-point-instructions-sin",
   form("sin.approx{.ftz}.f32  d, a", semantics="d = sin_approx(a)", work="1 flop"))

op("cos", "Cosine, approximated.", "floating-point-instructions-cos",
   form("cos.approx{.ftz}.f32  d, a", semantics="d = cos_approx(a)", work="1 flop"))

op("lg2", "Base-2 logarithm, approximated.", "floating-point-instructions-lg2",
   form("lg2.approx{.ftz}.f32  d, a", semantics="d = lg2_approx(a)", work="1 flop", cheaper=FTZ))

op("ex2", "Power of two, approximated.", "floating-point-instructions-ex2",
   form("ex2.approx{.ftz}.f32  d, a", semantics="d = ex2_approx(a)", work="1 flop", cheaper=FTZ))

op("tanh", "Hyperbolic tangent, approximated.", "floating-point-instructions-tanh",
   form("tanh.approx.f32  d, a", semantics="d = tanh_approx(a)", work="1 flop", needs="sm_75 ptx_70"))

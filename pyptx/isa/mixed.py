"""Mixed precision: narrow sources are widened exactly."""

from pyptx.isa._choices import RND
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("add", "Add.", "mixed-precision-floating-point-instructions-add",
   form("add{.rnd}{.sat}.f32.type  d, a, c", type=".f16 .bf16", d="f32", c="f32", needs="sm_100 ptx_86"),
   form("add{.rnd}.f32x2.type.f32x2  d, a, c", type=".f16x2 .bf16x2", d="f32x2", c="f32x2"),
   form("add.rz.ftz.f16x2.f32x2.f32x2  d, a, c", d="f16x2"),
   form("add.rz.bf16x2.f32x2.f32x2  d, a, c", d="bf16x2"),
   form("add{.rn}{.satfinite}.dtype.atype  d, a, c", dtype=".e5m2x4 .e4m3x4",
        atype=".e5m2x4 .e4m3x4 .e3m2x4 .e2m3x4 .e2m1x4 .e2m1p4x4 .ue8m0x4", d="b32", c="b32-imm",
        regs={"d": "fragment", "c": "fragment"}, needs="100a 103a ptx_94"), rnd=RND, needs="107f* ptx_94",
   semantics="d = a + c", work="1 flop")

op("sub", "Subtract.", "mixed-precision-floating-point-instructions-sub",
   form("sub{.rnd}{.sat}.f32.type  d, a, c", type=".f16 .bf16", d="f32", c="f32", needs="sm_100 ptx_86"),
   form("sub{.rnd}.f32x2.type.f32x2  d, a, c", type=".f16x2 .bf16x2", d="f32x2", c="f32x2"),
   form("sub.rz.ftz.f16x2.f32x2.f32x2  d, a, c", d="f16x2"),
   form("sub.rz.bf16x2.f32x2.f32x2  d, a, c", d="bf16x2"),
   form("sub{.rn}{.satfinite}.dtype.atype  d, a, c", dtype=".e5m2x4 .e4m3x4",
        atype=".e5m2x4 .e4m3x4 .e3m2x4 .e2m3x4 .e2m1x4 .e2m1p4x4 .ue8m0x4", d="b32", c="b32-imm",
        regs={"d": "fragment", "c": "fragment"}, needs="100a 103a ptx_94"), rnd=RND, needs="107f* ptx_94",
   semantics="d = a - c", work="1 flop")

op("fma", "Multiply and add with one rounding.", "mixed-precision-floating-point-instructions-fma",
   form("fma.rnd{.sat}.f32.type  d, a, b, c", type=".f16 .bf16", d="f32", c="f32", needs="sm_100 ptx_86"),
   form("fma.rnd.f32x2.type.f32x2.f32x2  d, a, b, c", type=".f16x2 .bf16x2", d="f32x2", b="f32x2", c="f32x2",
        needs="107f* ptx_94"),
   form("fma{.rn}{.satfinite}.dtype.atype.btype  d, a, b, c", dtype=".e5m2x4 .e4m3x4",
        atype=".e5m2x4 .e4m3x4 .e3m2x4 .e2m3x4 .e2m1x4 .e2m1p4x4 .ue8m0x4",
        btype=".e5m2x4 .e4m3x4 .e3m2x4 .e2m3x4 .e2m1x4 .e2m1p4x4 .ue8m0x4", d="b32", c="b32-imm",
        regs={"d": "fragment", "c": "fragment"}, needs="100a 103a ptx_94"), rnd=RND, semantics="d = fma(a, b, c)",
   work="2 flop")

op("mul", "Multiply.", "mixed-precision-floating-point-instructions-mul",
   form("mul.rz.ftz.f16x2.f32x2.f32x2  d, a, c"),
   form("mul.rz.bf16x2.f32x2.f32x2  d, a, c", d="bf16x2"),
   form("mul.bf16x2.bf16x2.f16x2  d, a, c", d="bf16x2", a="bf16x2"),
   form("mul.f16x2.f16x2.bf16x2  d, a, c", a="f16x2"),
   form("mul{.rn}{.satfinite}.dtype.atype.ctype  d, a, c", dtype=".e5m2x4 .e4m3x4",
        atype=".e5m2x4 .e4m3x4 .e3m2x4 .e2m3x4 .e2m1x4 .e2m1p4x4 .ue8m0x4",
        ctype=".e5m2x4 .e4m3x4 .e3m2x4 .e2m3x4 .e2m1x4 .e2m1p4x4 .ue8m0x4", d="b32", regs={"d": "fragment"},
        needs="100a 103a ptx_94"), d="f16x2", needs="107f* ptx_94", semantics="d = a * c", work="1 flop")

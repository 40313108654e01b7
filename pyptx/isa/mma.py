"""Warp-level matrix loads, stores, moves and multiply-accumulate."""

from pyptx.isa._choices import CTA_SHARED, RND
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("ldmatrix", "Load matrices from shared memory.", "warp-level-matrix-instructions-ldmatrix",
   form("ldmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16  {r*num}, [p]", needs="sm_75 ptx_65"),
   form("ldmatrix.sync.aligned.m16n16.num.trans{.space}.b8  {r*2*num}, [p]", num=".x1 .x2"),
   form("ldmatrix.sync.aligned.m8n16.num{.space}.b8x16.fmt  {r*num}, [p]"),
   form("ldmatrix.sync.aligned.m16n16.num.trans{.space}.b8x16.fmt  {r*2*num}, [p]", num=".x1 .x2"),
   form("ldmatrix.sync.aligned.m8n16.num{.space}.s8.s4  {r*num}, [p]", needs="100f* 110f* 120f* 90a ptx_94"),
   num=".x1 .x2 .x4", space=CTA_SHARED, r="b32", needs="100f* 110f* 120f* ptx_86", effect="load:shared",
   fmt=".b6x16_p32 .b4x16_p64")

op("stmatrix", "Store matrices to shared memory.", "warp-level-matrix-instructions-stmatrix",
   form("stmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16  [p], {r*num}", needs="sm_90 ptx_78"),
   form("stmatrix.sync.aligned.m16n8.num.trans{.space}.b8  [p], {r*num}", needs="100f* 110f* 120f* ptx_86"),
   num=".x1 .x2 .x4", space=CTA_SHARED, r="b32", effect="store:shared")

op("movmatrix", "Transpose a matrix across the warp.", "warp-level-matrix-instructions-movmatrix",
   form("movmatrix.sync.aligned.m8n8.trans.b16  d, a", d="b32", a="b32", effect="warp", needs="sm_75 ptx_78"))

op("spcompress", "Select the structured non-zeros.", "warp-level-matrix-instructions-spcompress",
   form("spcompress.b8.b2.sp::2:4.x4  {m*1}, {c*4}, {a*8}, sd", rw="m c"),
   form("spcompress.b16.b2.sp::2:4.x8  {m*1}, {c*8}, {a*16}, sd", rw="m c"), m="b32", c="b32", a="b32", sd="b32",
   needs="107a ptx_94", effect="warp")

op("spdecompress", "Expand structured non-zeros.", "warp-level-matrix-instructions-spdecompress",
   form("spdecompress.b8.b2.sp::2:4.x4  {o*4}, {m*1}, {c*2}", o="b32", m="b32", c="b32", effect="warp",
        needs="107a ptx_94"))

op("mma", "Matrix multiply-accumulate of a warp.", "warp-level-matrix-instructions-mma",
   form("mma.sync.aligned.m8n8k4.alayout.blayout.f16.f16.f16.f16  {d*4}, {a*2}, {b*2}, {c*4}", d="b32", a="b32",
        b="b32", c="b32", regs="fragment", needs="sm_70 ptx_64"),
   form("mma.sync.aligned.m8n8k4.alayout.blayout.f32.f16.f16.f16  {d*8}, {a*2}, {b*2}, {c*4}", d="f32", a="b32",
        b="b32", c="b32", regs="fragment", needs="sm_70 ptx_64"),
   form("mma.sync.aligned.m8n8k4.alayout.blayout.f32.f16.f16.f32  {d*8}, {a*2}, {b*2}, {c*8}", a="b32", b="b32",
        regs="fragment", needs="sm_70 ptx_64"),
   form("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16  {d*2}, {a*2}, {b*1}, {c*2}", d="b32", a="b32", b="b32",
        c="b32", regs="fragment", needs="sm_75 ptx_65"),
   form("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32  {d*4}, {a*2}, {b*1}, {c*4}", a="b32", b="b32",
        regs="fragment", needs="sm_75 ptx_65"),
   form("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16  {d*2}, {a*4}, {b*2}, {c*2}", d="b32", a="b32", b="b32",
        c="b32", regs="fragment"),
   form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32  {d*4}, {a*4}, {b*2}, {c*4}", a="b32", b="b32",
        regs="fragment"),
   form("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32  {d*4}, {a*2}, {b*1}, {c*4}", a="b32", b="b32",
        regs="fragment"),
   form("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32  {d*4}, {a*4}, {b*2}, {c*4}", a="b32", b="b32",
        regs="fragment"),
   form("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32  {d*4}, {a*2}, {b*1}, {c*4}", a="b32", b="b32",
        regs="fragment"),
   form("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32  {d*4}, {a*4}, {b*2}, {c*4}", a="b32", b="b32",
        regs="fragment"),
   form("mma.sync.aligned.m16n8k32.row.col.f32.atype.btype.f32  {d*4}, {a*4}, {b*2}, {c*4}", a="b32", b="b32",
        needs="sm_89 ptx_84"),
   form("mma.sync.aligned.m16n8k32.row.col.f16.atype.btype.f16  {d*2}, {a*4}, {b*2}, {c*2}", d="b32", a="b32+imm",
        b="b32+imm", c="b32", regs={"*": "fragment", "a": "any32", "b": "any32"}, needs="sm_89 ptx_87"),
   form("mma.sync.aligned.m16n8k16.row.col.f32.atype.btype.f32  {d*4}, {a*2}, {b*1}, {c*4}", a="b32", b="b32",
        needs="sm_89 ptx_87"),
   form("mma.sync.aligned.m16n8k16.row.col.f16.atype.btype.f16  {d*2}, {a*2}, {b*1}, {c*2}", d="b32", a="b32+imm",
        b="b32+imm", c="b32", regs={"*": "fragment", "a": "any32", "b": "any32"}, needs="sm_89 ptx_87"),
   form("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.atype.btype.f32  {d*4}, {a*4}, {b*2}, {c*4}",
        atype=".e4m3 .e5m2 .e3m2@120f*,ptx_87 .e2m3@120f*,ptx_87 .e2m1@120f*,ptx_87",
        btype=".e4m3 .e5m2 .e3m2@120f*,ptx_87 .e2m3@120f*,ptx_87 .e2m1@120f*,ptx_87", a="b32", b="b32",
        needs="100f* 110f* 120f* ptx_86"),
   form("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.atype.btype.f16  {d*2}, {a*4}, {b*2}, {c*2}",
        atype=".e4m3 .e5m2 .e3m2@120f* .e2m3@120f* .e2m1@120f*",
        btype=".e4m3 .e5m2 .e3m2@120f* .e2m3@120f* .e2m1@120f*", d="b32", a="b32+imm", b="b32+imm", c="b32",
        regs={"*": "fragment", "a": "any32", "b": "any32"}, needs="100f* 110f* 120f* ptx_87"),
   form("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.atype.btype.f32.ue8m0  "
        "{d*4}, {a*4}, {b*2}, {c*4}, sa, {ba, ta}, sb, {bb, tb}", atype=".e4m3 .e5m2 .e3m2 .e2m3 .e2m1",
        btype=".e4m3 .e5m2 .e3m2 .e2m3 .e2m1", d="f32", a="b32", b="b32", c="f32", ba="u16 in 0..3",
        bb="u16 in 0..3", regs={"*": "fragment", "sa": "any32", "sb": "any32"}, needs="120f* ptx_87"),
   form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0  "
        "{d*4}, {a*4}, {b*2}, {c*4}, sa, {ba, ta}, sb, {bb, tb}", d="f32", a="b32", b="b32", c="f32",
        regs={"*": "fragment", "sa": "any32", "sb": "any32"}, needs="120f* ptx_87"),
   form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0  "
        "{d*4}, {a*4}, {b*2}, {c*4}, sa, {ba, ta}, sb, {bb, tb}", d="f32", a="b32", b="b32", c="f32",
        regs={"*": "fragment", "sa": "any32", "sb": "any32"}, needs="120f* ptx_87"),
   form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.stype  "
        "{d*4}, {a*4}, {b*2}, {c*4}, sa, {ba, ta}, sb, {bb, tb}", stype=".ue4m3 .ue8m0@ptx_91", a="b32", b="b32",
        ba="u16 in 0", bb="u16 in 0", regs={"*": "fragment", "sa": "any32", "sb": "any32"}, needs="120f* ptx_87"),
   form("mma.sync.aligned.m8n8k4.row.col{.rnd}.f64.f64.f64.f64  {d*2}, {a*1}, {b*1}, {c*2}",
        regs={"d": "any64", "a": "any64", "b": "any64", "c": "any64"}),
   form("mma.sync.aligned.m16n8k4.row.col{.rnd}.f64.f64.f64.f64  {d*4}, {a*2}, {b*1}, {c*4}",
        regs={"d": "any64", "a": "any64", "b": "any64", "c": "any64"}, needs="sm_90 ptx_78"),
   form("mma.sync.aligned.m16n8k8.row.col{.rnd}.f64.f64.f64.f64  {d*4}, {a*4}, {b*2}, {c*4}",
        regs={"d": "any64", "a": "any64", "b": "any64", "c": "any64"}, needs="sm_90 ptx_78"),
   form("mma.sync.aligned.m16n8k16.row.col{.rnd}.f64.f64.f64.f64  {d*4}, {a*8}, {b*4}, {c*4}",
        regs={"d": "any64", "a": "any64", "b": "any64", "c": "any64"}, needs="sm_90 ptx_78"),
   form("mma.sync.aligned.m8n8k16.row.col{.satfinite}.s32.atype.btype.s32  {d*2}, {a*1}, {b*1}, {c*2}",
        atype=".u8 .s8", btype=".u8 .s8", a="u32-imm", b="u32-imm", needs="sm_75 ptx_65"),
   form("mma.sync.aligned.m16n8k16.row.col{.satfinite}.s32.atype.btype.s32  {d*4}, {a*2}, {b*1}, {c*4}",
        atype=".u8 .s8", btype=".u8 .s8", a="b32", b="b32"),
   form("mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32  {d*4}, {a*4}, {b*2}, {c*4}",
        atype=".u8 .s8", btype=".u8 .s8", a="b32", b="b32"),
   form("mma.sync.aligned.m8n8k32.row.col{.satfinite}.s32.atype.btype.s32  {d*2}, {a*1}, {b*1}, {c*2}",
        atype=".u4 .s4", btype=".u4 .s4", a="b32", b="b32", needs="sm_75 ptx_65"),
   form("mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32  {d*4}, {a*2}, {b*1}, {c*4}",
        atype=".u4 .s4", btype=".u4 .s4", a="b32", b="b32"),
   form("mma.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32  {d*4}, {a*4}, {b*2}, {c*4}",
        atype=".u4 .s4", btype=".u4 .s4", a="b32", b="b32"),
   form("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.op.popc  {d*2}, {a*1}, {b*1}, {c*2}",
        op=".xor .and@sm_80,ptx_71", a="b32", b="b32", needs="sm_75 ptx_70"),
   form("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.op.popc  {d*4}, {a*2}, {b*1}, {c*4}", a="b32", b="b32"),
   form("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.op.popc  {d*4}, {a*4}, {b*2}, {c*4}", a="b32", b="b32"),
   alayout=".row .col", blayout=".row .col", needs="sm_80 ptx_70", work="2*m*n*k flop", effect="mma",
   atype=".e4m3 .e5m2", btype=".e4m3 .e5m2", sa="b32+imm", ba="u16 in 0/2", ta="u16 in 0..1", sb="b32+imm",
   bb="u16 in 0/2", tb="u16 in 0..3", rnd=RND, op=".xor .and@ptx_71")

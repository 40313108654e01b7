"""mma.sp: sparse matrix multiply of a warp."""

from pyptx.isa._schema import Family, form

op = Family(__name__)

op("mma.sp", "Sparse matrix multiply-accumulate of a warp.", "warp-level-matrix-instructions-mma-sp",
   form("mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16  {d*2}, {a*2}, {b*2}, {c*2}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", d="b32", c="b32", f="imm in 0..3",
        regs={"*": "fragment", "e": "any32"}),
   form("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32  {d*4}, {a*2}, {b*2}, {c*4}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", f="imm in 0..3",
        regs={"*": "fragment", "d": "any32", "c": "any32", "e": "any32"}),
   form("mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16  {d*2}, {a*4}, {b*4}, {c*2}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", d="b32", c="b32", f="imm in 0..1",
        regs={"*": "fragment", "e": "any32"}),
   form("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32  {d*4}, {a*4}, {b*4}, {c*4}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", f="imm in 0..3",
        regs={"*": "fragment", "d": "any32", "c": "any32", "e": "any32"}),
   form("mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32  {d*4}, {a*2}, {b*2}, {c*4}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", e="b32", f="imm in 0..3", regs={"d": "any32", "c": "any32"}),
   form("mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32  {d*4}, {a*4}, {b*4}, {c*4}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", e="b32", f="imm in 0..1", regs={"d": "any32", "c": "any32"}),
   form("mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32  {d*4}, {a*2}, {b*2}, {c*4}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", e="b32", f="imm in 0..3", regs={"d": "any32", "c": "any32"}),
   form("mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32  {d*4}, {a*4}, {b*4}, {c*4}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", e="b32", f="imm in 0..1", regs={"d": "any32", "c": "any32"}),
   form("mma.sp.sync.aligned.m16n8k64.row.col.f32.atype.btype.f32  {d*4}, {a*4}, {b*4}, {c*4}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", e="u32-imm", needs="sm_89 ptx_84"),
   form("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.atype.btype.f16  "
        "{d*2}, {a*4}, {b*4}, {c*2}, e, f", d="b32", a="b32+imm", b="b32+imm", c="b32",
        regs={"*": "fragment", "a": "any32", "b": "any32", "e": "any32"}, needs="120f* ptx_87"),
   form("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.atype.btype.f32  "
        "{d*4}, {a*4}, {b*4}, {c*4}, e, f",
        atype=".e4m3 .e5m2 .e3m2@120f*,ptx_87 .e2m3@120f*,ptx_87 .e2m1@120f*,ptx_87",
        btype=".e4m3 .e5m2 .e3m2@120f*,ptx_87 .e2m3@120f*,ptx_87 .e2m1@120f*,ptx_87", e="u32-imm",
        needs="100f* 110f* 120f* ptx_86"),
   form("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.atype.btype.f16  "
        "{d*2}, {a*4}, {b*4}, {c*2}, e, f", atype=".e4m3 .e5m2 .e3m2 .e2m3 .e2m1",
        btype=".e4m3 .e5m2 .e3m2 .e2m3 .e2m1", d="b32", a="b32+imm", b="b32+imm", c="b32",
        regs={"*": "fragment", "a": "any32", "b": "any32", "e": "any32"}, needs="120f* ptx_87"),
   form("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32"
        ".atype.btype.f32.ue8m0  "
        "{d*4}, {a*4}, {b*4}, {c*4}, e, f, sa, {ba, ta}, sb, {bb, tb}", atype=".e4m3 .e5m2 .e3m2 .e2m3 .e2m1",
        btype=".e4m3 .e5m2 .e3m2 .e2m3 .e2m1", d="f32", c="f32", ba="u16 in 0..3", bb="u16 in 0..3",
        regs={"*": "fragment", "e": "any32", "sa": "any32", "sb": "any32"}, needs="120f* ptx_87"),
   form("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32"
        ".e2m1.e2m1.f32.ue8m0  "
        "{d*4}, {a*4}, {b*4}, {c*4}, e, f, sa, {ba, ta}, sb, {bb, tb}", d="f32", c="f32",
        regs={"*": "fragment", "e": "any32", "sa": "any32", "sb": "any32"}, needs="120a 121a ptx_87"),
   form("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale"
        ".scale_vec::<scale_vec>.f32.e2m1.e2m1.f32.stype  "
        "{d*4}, {a*4}, {b*4}, {c*4}, e, f, sa, {ba, ta}, sb, {bb, tb}", scale_vec=".4X",
        stype=".ue4m3 .ue8m0@ptx_91", ba="u16 in 0", bb="u16 in 0",
        regs={"*": "fragment", "e": "any32", "sa": "any32", "sb": "any32"}, needs="120a 121a ptx_87"),
   form("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32"
        ".e2m1.e2m1.f32.ue8m0  "
        "{d*4}, {a*4}, {b*4}, {c*4}, e, f, sa, {ba, ta}, sb, {bb, tb}", d="f32", c="f32",
        regs={"*": "fragment", "e": "any32", "sa": "any32", "sb": "any32"}, needs="120a 121a ptx_87"),
   form("mma.sp.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32  {d*4}, {a*2}, {b*2}, {c*4}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", atype=".u8 .s8", btype=".u8 .s8", e="b32", f="imm in 0..1"),
   form("mma.sp.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32  {d*4}, {a*4}, {b*4}, {c*4}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", atype=".u8 .s8", btype=".u8 .s8", e="b32"),
   form("mma.sp.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32  {d*4}, {a*2}, {b*2}, {c*4}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", atype=".u4 .s4", btype=".u4 .s4", e="b32", f="imm in 0..1"),
   form("mma.sp.sync.aligned.m16n8k128.row.col{.satfinite}.s32.atype.btype.s32  {d*4}, {a*4}, {b*4}, {c*4}, e, f",
        sp=".sp .sp::ordered_metadata@ptx_85", atype=".u4 .s4", btype=".u4 .s4", e="b32"), a="b32", b="b32",
   e="b32+imm", f="imm in 0", needs="sm_80 ptx_71", work="2*m*n*k flop", effect="mma", atype=".e4m3 .e5m2",
   btype=".e4m3 .e5m2", sa="b32+imm", ba="u16 in 0/2", ta="u16 in 0..1", sb="b32+imm", bb="u16 in 0/2",
   tb="u16 in 0..3")

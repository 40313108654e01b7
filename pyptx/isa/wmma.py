"""wmma: matrix multiply on opaque fragments."""

from pyptx.isa._choices import RND
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("wmma.load.a", "Load a fragment of A.", "warp-level-matrix-instructions-wmma-ld",
   form("wmma.load.frag.sync.aligned.layout.shape{.space}.f16  {r*8}, [p]{, s}",
        shape=".m16n16k16 .m8n32k16 .m32n8k16", r="b32", regs="fragment", needs="sm_70 ptx_63"),
   form("wmma.load.frag.sync.aligned.layout.m16n16k16{.space}.type  {r*2}, [p]{, s}", r="u32", needs="sm_72 ptx_63"),
   form("wmma.load.a.sync.aligned.layout.m32n8k16{.space}.type  {r*4}, [p]{, s}", r="u32", needs="sm_72 ptx_63"),
   form("wmma.load.a.sync.aligned.layout.m8n32k16{.space}.type  {r*1}, [p]{, s}", r="u32", needs="sm_72 ptx_63"),
   form("wmma.load.frag.sync.aligned.layout.m16n16k16{.space}.bf16  {r*4}, [p]{, s}", r="b32", regs="fragment"),
   form("wmma.load.a.sync.aligned.layout.m32n8k16{.space}.bf16  {r*8}, [p]{, s}", r="b32", regs="fragment"),
   form("wmma.load.a.sync.aligned.layout.m8n32k16{.space}.bf16  {r*2}, [p]{, s}", r="b32", regs="fragment"),
   form("wmma.load.frag.sync.aligned.layout.m16n16k8{.space}.tf32  {r*4}, [p]{, s}", r="b32", regs="fragment"),
   form("wmma.load.frag.sync.aligned.layout.m8n8k4{.space}.f64  {r*1}, [p]{, s}"),
   form("wmma.load.a.sync.aligned.row.m8n8k32{.space}.type  {r*1}, [p]{, s}", type=".s4 .u4", r="b32",
        needs="sm_75 ptx_63"),
   form("wmma.load.a.sync.aligned.row.m8n8k128{.space}.b1  {r*1}, [p]{, s}", r="b32", needs="sm_75 ptx_63"),
   frag=".a .b", layout=".row .col", space=".global .shared .shared::cta@ptx_78", s="u32", needs="sm_80 ptx_70",
   effect="load:generic", type=".s8 .u8")

op("wmma.load.c", "Load a fragment of C.", "warp-level-matrix-instructions-wmma-ld",
   form("wmma.load.c.sync.aligned.layout.shape{.space}.f16  {r*4}, [p]{, s}", r="b32", regs="fragment"),
   form("wmma.load.c.sync.aligned.layout.shape{.space}.type  {r*8}, [p]{, s}", type=".f32 .s32@sm_72"),
   form("wmma.load.c.sync.aligned.layout.m16n16k8{.space}.f32  {r*8}, [p]{, s}", needs="sm_80 ptx_70"),
   form("wmma.load.c.sync.aligned.layout.m8n8k4{.space}.f64  {r*2}, [p]{, s}", needs="sm_80 ptx_70"),
   form("wmma.load.c.sync.aligned.layout.shape{.space}.s32  {r*2}, [p]{, s}", shape=".m8n8k32 .m8n8k128",
        needs="sm_75 ptx_63"), layout=".row .col", shape=".m16n16k16 .m8n32k16 .m32n8k16",
   space=".global .shared .shared::cta@ptx_78", s="u32", needs="sm_70 ptx_63", effect="load:generic")

op("wmma.load.b", "Load a fragment of B.", "warp-level-matrix-instructions-wmma-ld",
   form("wmma.load.b.sync.aligned.layout.m32n8k16{.space}.type  {r*1}, [p]{, s}", r="u32"),
   form("wmma.load.b.sync.aligned.layout.m8n32k16{.space}.type  {r*4}, [p]{, s}", r="u32"),
   form("wmma.load.b.sync.aligned.layout.m32n8k16{.space}.bf16  {r*2}, [p]{, s}", regs="fragment",
        needs="sm_80 ptx_70"),
   form("wmma.load.b.sync.aligned.layout.m8n32k16{.space}.bf16  {r*8}, [p]{, s}", regs="fragment",
        needs="sm_80 ptx_70"),
   form("wmma.load.b.sync.aligned.col.m8n8k32{.space}.type  {r*1}, [p]{, s}", type=".s4 .u4", needs="sm_75 ptx_63"),
   form("wmma.load.b.sync.aligned.col.m8n8k128{.space}.b1  {r*1}, [p]{, s}", needs="sm_75 ptx_63"),
   layout=".row .col", space=".global .shared .shared::cta@ptx_78", type=".s8 .u8", r="b32", s="u32",
   needs="sm_72 ptx_63", effect="load:generic")

op("wmma.store.d", "Store a fragment of D.", "warp-level-matrix-instructions-wmma-st",
   form("wmma.store.d.sync.aligned.layout.shape{.space}.f16  [p], {r*4}{, s}", r="b32", regs="fragment"),
   form("wmma.store.d.sync.aligned.layout.shape{.space}.type  [p], {r*8}{, s}", type=".f32 .s32@sm_72"),
   form("wmma.store.d.sync.aligned.layout.m16n16k8{.space}.f32  [p], {r*8}{, s}", needs="sm_80 ptx_70"),
   form("wmma.store.d.sync.aligned.layout.m8n8k4{.space}.f64  [p], {r*2}{, s}", needs="sm_80 ptx_70"),
   form("wmma.store.d.sync.aligned.layout.shape{.space}.s32  [p], {r*2}{, s}", shape=".m8n8k32 .m8n8k128",
        needs="sm_75 ptx_63"), layout=".row .col", shape=".m16n16k16 .m8n32k16 .m32n8k16",
   space=".global .shared .shared::cta@ptx_78", s="u32", needs="sm_70 ptx_63", effect="store:generic")

op("wmma.mma", "Matrix multiply-accumulate on fragments.", "warp-level-matrix-instructions-wmma-mma",
   form("wmma.mma.sync.aligned.alayout.blayout.shape.f16.f16  {d*4}, {a*8}, {b*8}, {c*4}", d="b32", a="b32",
        b="b32", c="b32", regs="fragment", needs="sm_70 ptx_63"),
   form("wmma.mma.sync.aligned.alayout.blayout.shape.f32.f16  {d*8}, {a*8}, {b*8}, {c*4}", d="f32", a="b32",
        b="b32", c="b32", regs="fragment", needs="sm_70 ptx_63"),
   form("wmma.mma.sync.aligned.alayout.blayout.shape.f16.f32  {d*4}, {a*8}, {b*8}, {c*8}", d="b32", a="b32",
        b="b32", regs="fragment", needs="sm_70 ptx_63"),
   form("wmma.mma.sync.aligned.alayout.blayout.shape.f32.f32  {d*8}, {a*8}, {b*8}, {c*8}", a="b32", b="b32",
        regs="fragment", needs="sm_70 ptx_63"),
   form("wmma.mma.sync.aligned.alayout.blayout.m16n16k16.s32.type.type.s32{.satfinite}  "
        "{d*8}, {a*2}, {b*2}, {c*8}", d="s32", a="u32-imm", b="u32-imm", c="s32", needs="sm_72 ptx_63"),
   form("wmma.mma.sync.aligned.alayout.blayout.m32n8k16.s32.type.type.s32{.satfinite}  "
        "{d*8}, {a*4}, {b*1}, {c*8}", d="s32", a="u32-imm", b="u32-imm", c="s32", needs="sm_72 ptx_63"),
   form("wmma.mma.sync.aligned.alayout.blayout.m8n32k16.s32.type.type.s32{.satfinite}  "
        "{d*8}, {a*1}, {b*4}, {c*8}", d="s32", a="u32-imm", b="u32-imm", c="s32", needs="sm_72 ptx_63"),
   form("wmma.mma.sync.aligned.alayout.blayout.m16n16k16.f32.bf16.bf16.f32  {d*8}, {a*4}, {b*4}, {c*8}", a="b32",
        b="b32", regs="fragment"),
   form("wmma.mma.sync.aligned.alayout.blayout.m32n8k16.f32.bf16.bf16.f32  {d*8}, {a*8}, {b*2}, {c*8}", a="b32",
        b="b32", regs="fragment"),
   form("wmma.mma.sync.aligned.alayout.blayout.m8n32k16.f32.bf16.bf16.f32  {d*8}, {a*2}, {b*8}, {c*8}", a="b32",
        b="b32", regs="fragment"),
   form("wmma.mma.sync.aligned.alayout.blayout.m16n16k8.f32.tf32.tf32.f32  {d*8}, {a*4}, {b*4}, {c*8}", a="b32",
        b="b32", regs="fragment"),
   form("wmma.mma.sync.aligned.alayout.blayout.m8n8k4{.rnd}.f64.f64.f64.f64  {d*2}, {a*1}, {b*1}, {c*2}", rnd=RND,
        regs={"d": "any64", "c": "any64"}),
   form("wmma.mma.sync.aligned.row.col.m8n8k32.s32.type.type.s32{.satfinite}  {d*2}, {a*1}, {b*1}, {c*2}",
        type=".s4 .u4", d="s32", a="u32", b="u32", c="s32", needs="sm_75 ptx_63"),
   form("wmma.mma.op.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32  {d*2}, {a*1}, {b*1}, {c*2}",
        op=".xor .and@sm_80,ptx_71", a="u32-imm", b="u32-imm", needs="sm_75 ptx_63"), alayout=".row .col",
   blayout=".row .col", shape=".m16n16k16 .m8n32k16 .m32n8k16", needs="sm_80 ptx_70", work="2*m*n*k flop",
   effect="mma", type=".s8 .u8")

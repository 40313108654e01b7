"""Matrix loads, stores and moves."""

from pyptx.isa._schema import Family, form
from pyptx.isa._words import CTA_SHARED

op = Family(__name__)

op("ldmatrix", "Load matrices from shared memory.", "warp-level-matrix-instructions-ldmatrix",
   form("ldmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16  {r*num}, [p]", num=".x1 .x2 .x4", space=CTA_SHARED, r="b32",
        needs="sm_75 ptx_65"),
   form("ldmatrix.sync.aligned.m16n16.num.trans{.space}.b8  {r*2*num}, [p]", num=".x1 .x2", space=".shared .shared::cta",
        r="b32", needs="100f* 110f* 120f* ptx_86"),
   form("ldmatrix.sync.aligned.m8n16.num{.space}.b8x16.fmt  {r*num}, [p]", num=".x1 .x2 .x4", space=".shared .shared::cta",
        fmt=".b6x16_p32 .b4x16_p64", r="b32", needs="100f* 110f* 120f* ptx_86"),
   form("ldmatrix.sync.aligned.m16n16.num.trans{.space}.b8x16.fmt  {r*2*num}, [p]", num=".x1 .x2",
        space=".shared .shared::cta", fmt=".b6x16_p32 .b4x16_p64", r="b32", needs="100f* 110f* 120f* ptx_86"),
   form("ldmatrix.sync.aligned.m8n16.num{.space}.s8.s4  {r*num}, [p]", num=".x1 .x2 .x4", space=".shared .shared::cta",
        r="b32", needs="100f* 110f* 120f* 90a ptx_94"), effect="load:shared", regs={"r": "any32"})

op("stmatrix", "Store matrices to shared memory.", "warp-level-matrix-instructions-stmatrix",
   form("stmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16  [p], {r*num}", num=".x1 .x2 .x4",
        space=".shared .shared::cta", r="b32+imm", needs="sm_90 ptx_78"),
   form("stmatrix.sync.aligned.m16n8.num.trans{.space}.b8  [p], {r*num}", num=".x1 .x2 .x4", space=".shared .shared::cta",
        r="b32+imm", needs="100f* 110f* 120f* ptx_86"), effect="store:shared", regs={"r": "any32"})

op("movmatrix", "Transpose a matrix across the warp.", "warp-level-matrix-instructions-movmatrix",
   form("movmatrix.sync.aligned.m8n8.trans.b16  d, a", d="b32", a="b32+imm", regs={"d": "any32", "a": "any32"},
        effect="warp", needs="sm_75 ptx_78"))

op("spcompress", "Select the structured non-zeros.", "warp-level-matrix-instructions-spcompress",
   form("spcompress.b8.b2.sp::2:4.x4  {m*1}, {c*4}, {a*8}, sd", m="b32", c="b32", a="b32+imm", sd="b32+imm", rw="m c"),
   form("spcompress.b16.b2.sp::2:4.x8  {m*1}, {c*8}, {a*16}, sd", m="b32", c="b32", a="b32+imm", sd="b32+imm", rw="m c"),
   effect="warp", regs={"m": "any32", "c": "any32", "a": "any32", "sd": "any32"}, needs="107a ptx_94")

op("spdecompress", "Expand structured non-zeros.", "warp-level-matrix-instructions-spdecompress",
   form("spdecompress.b8.b2.sp::2:4.x4  {o*4}, {m*1}, {c*2}", o="b32", m="b32+imm", c="b32+imm",
        regs={"o": "any32", "m": "any32", "c": "any32"}, effect="warp", needs="107a ptx_94"))

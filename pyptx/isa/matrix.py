"""Matrix loads, stores and moves."""

from pyptx.isa._schema import Family, form
from pyptx.isa._words import CTA_SHARED

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

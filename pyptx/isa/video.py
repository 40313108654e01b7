"""Video instructions."""

from pyptx.isa._schema import Family, form
from pyptx.isa._words import CMP

op = Family(__name__)

op("vadd", "Add scalar bytes, halves or words.", "video-instructions-vadd",
   form("vadd.dtype.atype.btype{.sat}  d, a, b"),
   form("vadd.dtype.atype.btype{.sat}.op2  d, a, b, c", op2=".add .min .max"),
   form("vadd.dtype.atype.btype{.sat}  d.dsel, a.asel, b.bsel, c", atype=".u32", btype=".u32",
        dsel=".b0 .b3 .h0 .h1", asel=".b0 .b1 .h1", bsel=".b2 .h0", a="u32-imm", b="u32-imm"),
   form("vadd.dtype.atype.btype{.sat}  d, a.asel, b.bsel", asel=".b0 .b1 .b2 .b3 .h0 .h1", bsel=".b0 .h1",
        a="u32-imm", b="u32-imm"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32", d="u32", a="u32", b="u32",
   c="u32")

op("vsub", "Subtract scalar bytes, halves or words.", "video-instructions-vsub",
   form("vsub.dtype.atype.btype{.sat}  d, a, b"),
   form("vsub.dtype.atype.btype{.sat}.op2  d, a, b, c", op2=".add .min .max", c="u32"),
   form("vsub.dtype.atype.btype{.sat}  d, a.asel, b.bsel", asel=".b0 .b1 .b2 .b3 .h0 .h1", bsel=".b0 .h1",
        a="u32-imm", b="u32-imm"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32", d="u32", a="u32", b="u32")

op("vabsdiff", "Absolute difference scalar bytes, halves or words.", "video-instructions-vabsdiff",
   form("vabsdiff.dtype.atype.btype{.sat}  d, a, b"),
   form("vabsdiff.dtype.atype.btype{.sat}.op2  d, a, b, c", op2=".add .min .max", c="u32"), dtype=".u32 .s32",
   atype=".u32 .s32", btype=".u32 .s32", d="u32", a="u32", b="u32")

op("vmin", "Minimum scalar bytes, halves or words.", "video-instructions-vmin",
   form("vmin.dtype.atype.btype{.sat}  d, a, b"),
   form("vmin.dtype.atype.btype{.sat}.op2  d, a, b, c", op2=".add .min .max", c="u32"), dtype=".u32 .s32",
   atype=".u32 .s32", btype=".u32 .s32", d="u32", a="u32", b="u32")

op("vmax", "Maximum scalar bytes, halves or words.", "video-instructions-vmax",
   form("vmax.dtype.atype.btype{.sat}  d, a, b"),
   form("vmax.dtype.atype.btype{.sat}.op2  d, a, b, c", op2=".add .min .max"),
   form("vmax.dtype.atype.btype{.sat}  d.dsel, a.asel, b.bsel, c", atype=".u32", btype=".u32",
        dsel=".b0 .b3 .h0 .h1", asel=".b0 .b1 .h1", bsel=".b2 .h0", a="u32-imm", b="u32-imm"), dtype=".u32 .s32",
   atype=".u32 .s32", btype=".u32 .s32", d="u32", a="u32", b="u32", c="u32")

op("vshl", "Shift left scalar bytes, halves or words.", "video-instructions-vshl",
   form("vshl.dtype.atype.u32{.sat}.mode  d, a, b"),
   form("vshl.dtype.atype.u32{.sat}.mode.op2  d, a, b, c", op2=".add .min .max"), dtype=".u32 .s32",
   atype=".u32 .s32", mode=".clamp .wrap", d="u32", a="u32")

op("vshr", "Shift right scalar bytes, halves or words.", "video-instructions-vshr",
   form("vshr.dtype.atype.u32{.sat}.mode  d, a, b"),
   form("vshr.dtype.atype.u32{.sat}.mode.op2  d, a, b, c", op2=".add .min .max"), dtype=".u32 .s32",
   atype=".u32 .s32", mode=".clamp .wrap", d="u32", a="u32")

op("vmad", "Multiply and add with scaling.", "video-instructions-vmad",
   form("vmad.dtype.atype.btype{.sat}{.scale}  d, a, b, c", dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32",
        d="u32", a="u32", b="u32", c="u32"),
   form("vmad.u32.u32.u32.po{.sat}{.scale}  d, a, b, c"), scale=".shr7 .shr15")

op("vset", "Compare and set.", "video-instructions-vset",
   form("vset.atype.btype.cmp  d, a, b"),
   form("vset.atype.btype.cmp.op2  d, a, b, c", op2=".add .min .max"),
   form("vset.atype.btype.cmp  d.dsel, a.asel, b, c", btype=".u32", cmp=".eq .lt", dsel=".b0 .h1", asel=".b1 .h0",
        a="u32-imm"), atype=".u32 .s32", btype=".u32 .s32", cmp=CMP, d="u32", a="u32", b="u32", c="u32")

op("vadd2", "Add of two halves.", "video-instructions-vadd2",
   form("vadd2.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vadd2.dtype.atype.btype.add  d, a, b, c"),
   form("vadd2.dtype.atype.btype{.sat}  d.dsel, a.asel, b.bsel, c", btype=".u32", dsel=".h0 .h1 .h10",
        asel=".h10 .h01 .h32 .h20", bsel=".h32 .h11"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32",
   d="u32", a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vsub2", "Subtract of two halves.", "video-instructions-vsub2",
   form("vsub2.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vsub2.dtype.atype.btype.add  d, a, b, c"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32", d="u32",
   a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vavrg2", "Average of two halves.", "video-instructions-vavrg2",
   form("vavrg2.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vavrg2.dtype.atype.btype.add  d, a, b, c"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32", d="u32",
   a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vabsdiff2", "Absolute difference of two halves.", "video-instructions-vabsdiff2",
   form("vabsdiff2.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vabsdiff2.dtype.atype.btype.add  d, a, b, c"),
   form("vabsdiff2.dtype.atype.btype{.sat}  d.dsel, a.asel, b.bsel, c", btype=".u32", dsel=".h0 .h1 .h10",
        asel=".h10 .h01 .h32 .h20", bsel=".h32 .h11"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32",
   d="u32", a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vmin2", "Minimum of two halves.", "video-instructions-vmin2",
   form("vmin2.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vmin2.dtype.atype.btype.add  d, a, b, c"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32", d="u32",
   a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vmax2", "Maximum of two halves.", "video-instructions-vmax2",
   form("vmax2.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vmax2.dtype.atype.btype.add  d, a, b, c"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32", d="u32",
   a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vset2", "Compare two halves and set.", "video-instructions-vset2",
   form("vset2.atype.btype.cmp  d, a, b, c"),
   form("vset2.atype.btype.cmp.add  d, a, b, c"), atype=".u32 .s32", btype=".u32 .s32", cmp=CMP, d="u32", a="u32-imm",
   b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vadd4", "Add of four bytes.", "video-instructions-vadd4",
   form("vadd4.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vadd4.dtype.atype.btype.add  d, a, b, c"),
   form("vadd4.dtype.atype.btype{.sat}  d.dsel, a.asel, b.bsel, c", btype=".u32", dsel=".b0 .b10 .b321 .b3210",
        asel=".b3210 .b0123 .b7654", bsel=".b7654 .b0000"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32",
   d="u32", a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vsub4", "Subtract of four bytes.", "video-instructions-vsub4",
   form("vsub4.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vsub4.dtype.atype.btype.add  d, a, b, c"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32", d="u32",
   a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vavrg4", "Average of four bytes.", "video-instructions-vavrg4",
   form("vavrg4.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vavrg4.dtype.atype.btype.add  d, a, b, c"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32", d="u32",
   a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vabsdiff4", "Absolute difference of four bytes.", "video-instructions-vabsdiff4",
   form("vabsdiff4.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vabsdiff4.dtype.atype.btype.add  d, a, b, c"),
   form("vabsdiff4.dtype.atype.btype{.sat}  d.dsel, a.asel, b.bsel, c", btype=".u32", dsel=".b0 .b10 .b321 .b3210",
        asel=".b3210 .b0123 .b7654", bsel=".b7654 .b0000"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32",
   d="u32", a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vmin4", "Minimum of four bytes.", "video-instructions-vmin4",
   form("vmin4.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vmin4.dtype.atype.btype.add  d, a, b, c"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32", d="u32",
   a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vmax4", "Maximum of four bytes.", "video-instructions-vmax4",
   form("vmax4.dtype.atype.btype{.sat}  d, a, b, c"),
   form("vmax4.dtype.atype.btype.add  d, a, b, c"), dtype=".u32 .s32", atype=".u32 .s32", btype=".u32 .s32", d="u32",
   a="u32-imm", b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

op("vset4", "Compare four bytes and set.", "video-instructions-vset4",
   form("vset4.atype.btype.cmp  d, a, b, c"),
   form("vset4.atype.btype.cmp.add  d, a, b, c"), atype=".u32 .s32", btype=".u32 .s32", cmp=CMP, d="u32", a="u32-imm",
   b="u32-imm", c="u32-imm", needs="sm_30 ptx_30")

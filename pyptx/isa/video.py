"""Video instructions."""

from pyptx.isa._choices import CMP, S32
from pyptx.isa._schema import Family, form

op = Family(__name__)

PIECE = ".b0 .b1 .b2 .b3 .h0 .h1"                   # a byte or half of a register
HALVES, HALVES_OUT = "~h[0-3][0-3] h10", ".h0 .h1 .h10"     # two of the four halves of a and b; halves of d written
BYTES, BYTES_OUT = "~b[0-7]{4} b3210", "~b3?2?1?0?(?<=[0-9]) b3210"

op("vadd", "Add bytes, halves or words; merge into c or combine with it.", "video-instructions-vadd",
   form("vadd.dtype.atype.btype{.sat}  d, a{.asel}, b{.bsel}"),
   form("vadd.dtype.atype.btype{.sat}  d.dsel, a{.asel}, b{.bsel}, c", dsel=PIECE),
   form("vadd.dtype.atype.btype{.sat}.op2  d, a{.asel}, b{.bsel}, c", op2=".add .min .max"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32", b="u32", c="u32", asel=PIECE, bsel=PIECE)

op("vsub", "Subtract bytes, halves or words; merge into c or combine with it.", "video-instructions-vsub",
   form("vsub.dtype.atype.btype{.sat}  d, a{.asel}, b{.bsel}"),
   form("vsub.dtype.atype.btype{.sat}  d.dsel, a{.asel}, b{.bsel}, c", dsel=PIECE),
   form("vsub.dtype.atype.btype{.sat}.op2  d, a{.asel}, b{.bsel}, c", op2=".add .min .max"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32", b="u32", c="u32", asel=PIECE, bsel=PIECE)

op("vabsdiff", "Absolute difference of bytes, halves or words; merge into c or combine with it.",
   "video-instructions-vabsdiff",
   form("vabsdiff.dtype.atype.btype{.sat}  d, a{.asel}, b{.bsel}"),
   form("vabsdiff.dtype.atype.btype{.sat}  d.dsel, a{.asel}, b{.bsel}, c", dsel=PIECE),
   form("vabsdiff.dtype.atype.btype{.sat}.op2  d, a{.asel}, b{.bsel}, c", op2=".add .min .max"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32", b="u32", c="u32", asel=PIECE, bsel=PIECE)

op("vmin", "Minimum of bytes, halves or words; merge into c or combine with it.", "video-instructions-vmin",
   form("vmin.dtype.atype.btype{.sat}  d, a{.asel}, b{.bsel}"),
   form("vmin.dtype.atype.btype{.sat}  d.dsel, a{.asel}, b{.bsel}, c", dsel=PIECE),
   form("vmin.dtype.atype.btype{.sat}.op2  d, a{.asel}, b{.bsel}, c", op2=".add .min .max"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32", b="u32", c="u32", asel=PIECE, bsel=PIECE)

op("vmax", "Maximum of bytes, halves or words; merge into c or combine with it.", "video-instructions-vmax",
   form("vmax.dtype.atype.btype{.sat}  d, a{.asel}, b{.bsel}"),
   form("vmax.dtype.atype.btype{.sat}  d.dsel, a{.asel}, b{.bsel}, c", dsel=PIECE),
   form("vmax.dtype.atype.btype{.sat}.op2  d, a{.asel}, b{.bsel}, c", op2=".add .min .max"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32", b="u32", c="u32", asel=PIECE, bsel=PIECE)

op("vshl", "Shift left bytes, halves or words; merge into c or combine with it.", "video-instructions-vshl",
   form("vshl.dtype.atype.u32{.sat}.mode  d, a{.asel}, b{.bsel}"),
   form("vshl.dtype.atype.u32{.sat}.mode  d.dsel, a{.asel}, b{.bsel}, c", dsel=PIECE),
   form("vshl.dtype.atype.u32{.sat}.mode.op2  d, a{.asel}, b{.bsel}, c", op2=".add .min .max"),
   dtype=S32, atype=S32, mode=".clamp .wrap", d="u32", a="u32", b="u32", c="u32", asel=PIECE, bsel=PIECE)

op("vshr", "Shift right bytes, halves or words; merge into c or combine with it.", "video-instructions-vshr",
   form("vshr.dtype.atype.u32{.sat}.mode  d, a{.asel}, b{.bsel}"),
   form("vshr.dtype.atype.u32{.sat}.mode  d.dsel, a{.asel}, b{.bsel}, c", dsel=PIECE),
   form("vshr.dtype.atype.u32{.sat}.mode.op2  d, a{.asel}, b{.bsel}, c", op2=".add .min .max"),
   dtype=S32, atype=S32, mode=".clamp .wrap", d="u32", a="u32", b="u32", c="u32", asel=PIECE, bsel=PIECE)

op("vmad", "Multiply and add with scaling.", "video-instructions-vmad",
   form("vmad.dtype.atype.btype{.sat}{.scale}  d, a{.asel}, b{.bsel}, c", dtype=S32, atype=S32, btype=S32),
   form("vmad.u32.u32.u32.po{.sat}{.scale}  d, a{.asel}, b{.bsel}, c"),
   scale=".shr7 .shr15", d="u32", a="u32", b="u32", c="u32", asel=PIECE, bsel=PIECE)

op("vset", "Compare bytes, halves or words; merge into c or combine with it.", "video-instructions-vset",
   form("vset.atype.btype.cmp  d, a{.asel}, b{.bsel}"),
   form("vset.atype.btype.cmp  d.dsel, a{.asel}, b{.bsel}, c", dsel=PIECE),
   form("vset.atype.btype.cmp.op2  d, a{.asel}, b{.bsel}, c", op2=".add .min .max"),
   atype=S32, btype=S32, cmp=CMP, d="u32", a="u32", b="u32", c="u32", asel=PIECE, bsel=PIECE)

op("vadd2", "Add two halves, merged into c or added to it.", "video-instructions-vadd2",
   form("vadd2.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=HALVES_OUT),
   form("vadd2.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=HALVES, bsel=HALVES, needs="sm_30 ptx_30")

op("vsub2", "Subtract two halves, merged into c or added to it.", "video-instructions-vsub2",
   form("vsub2.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=HALVES_OUT),
   form("vsub2.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=HALVES, bsel=HALVES, needs="sm_30 ptx_30")

op("vavrg2", "Average of two halves, merged into c or added to it.", "video-instructions-vavrg2",
   form("vavrg2.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=HALVES_OUT),
   form("vavrg2.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=HALVES, bsel=HALVES, needs="sm_30 ptx_30")

op("vabsdiff2", "Absolute difference of two halves, merged into c or added to it.", "video-instructions-vabsdiff2",
   form("vabsdiff2.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=HALVES_OUT),
   form("vabsdiff2.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=HALVES, bsel=HALVES, needs="sm_30 ptx_30")

op("vmin2", "Minimum of two halves, merged into c or added to it.", "video-instructions-vmin2",
   form("vmin2.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=HALVES_OUT),
   form("vmin2.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=HALVES, bsel=HALVES, needs="sm_30 ptx_30")

op("vmax2", "Maximum of two halves, merged into c or added to it.", "video-instructions-vmax2",
   form("vmax2.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=HALVES_OUT),
   form("vmax2.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=HALVES, bsel=HALVES, needs="sm_30 ptx_30")

op("vset2", "Compare two halves, merged into c or added to it.", "video-instructions-vset2",
   form("vset2.atype.btype.cmp  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=HALVES_OUT),
   form("vset2.atype.btype.cmp.add  d, a{.asel}, b{.bsel}, c"),
   atype=S32, btype=S32, cmp=CMP, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=HALVES, bsel=HALVES,
   needs="sm_30 ptx_30")

op("vadd4", "Add four bytes, merged into c or added to it.", "video-instructions-vadd4",
   form("vadd4.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=BYTES_OUT),
   form("vadd4.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=BYTES, bsel=BYTES, needs="sm_30 ptx_30")

op("vsub4", "Subtract four bytes, merged into c or added to it.", "video-instructions-vsub4",
   form("vsub4.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=BYTES_OUT),
   form("vsub4.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=BYTES, bsel=BYTES, needs="sm_30 ptx_30")

op("vavrg4", "Average of four bytes, merged into c or added to it.", "video-instructions-vavrg4",
   form("vavrg4.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=BYTES_OUT),
   form("vavrg4.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=BYTES, bsel=BYTES, needs="sm_30 ptx_30")

op("vabsdiff4", "Absolute difference of four bytes, merged into c or added to it.", "video-instructions-vabsdiff4",
   form("vabsdiff4.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=BYTES_OUT),
   form("vabsdiff4.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=BYTES, bsel=BYTES, needs="sm_30 ptx_30")

op("vmin4", "Minimum of four bytes, merged into c or added to it.", "video-instructions-vmin4",
   form("vmin4.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=BYTES_OUT),
   form("vmin4.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=BYTES, bsel=BYTES, needs="sm_30 ptx_30")

op("vmax4", "Maximum of four bytes, merged into c or added to it.", "video-instructions-vmax4",
   form("vmax4.dtype.atype.btype{.sat}  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=BYTES_OUT),
   form("vmax4.dtype.atype.btype.add  d, a{.asel}, b{.bsel}, c"),
   dtype=S32, atype=S32, btype=S32, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=BYTES, bsel=BYTES, needs="sm_30 ptx_30")

op("vset4", "Compare four bytes, merged into c or added to it.", "video-instructions-vset4",
   form("vset4.atype.btype.cmp  d{.dsel}, a{.asel}, b{.bsel}, c", dsel=BYTES_OUT),
   form("vset4.atype.btype.cmp.add  d, a{.asel}, b{.bsel}, c"),
   atype=S32, btype=S32, cmp=CMP, d="u32", a="u32-imm", b="u32-imm", c="u32-imm",
   asel=BYTES, bsel=BYTES,
   needs="sm_30 ptx_30")

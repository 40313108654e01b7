"""Textures."""

from pyptx.isa._schema import Family, form

op = Family(__name__)

op("tex", "Sample a texture.", "texture-instructions-tex",
   form("tex.1d.v4.dtype.f32  {d*4}, [t, {c*1}]", needs="ptx_31"),
   form("tex.1d.v4.dtype.s32  {d*4}, [t, {c*1}]", regs={"d": {"any": "f32 f16"}}, needs="ptx_31"),
   form("tex.2d.v4.dtype.f32  {d*4}{|p}, [t, {c*2}]", needs="ptx_31"),
   form("tex.2d.v4.dtype.s32  {d*4}{|p}, [t, {c*2}]", regs={"d": {"any": "f32 f16"}}, needs="ptx_31"),
   form("tex.3d.v4.dtype.f32  {d*4}, [t, {c*4}]", needs="ptx_31"),
   form("tex.3d.v4.dtype.s32  {d*4}, [t, {c*4}]", regs={"d": {"any": "f32 f16"}}, needs="ptx_31"),
   form("tex.a1d.v4.dtype.f32  {d*4}, [t, {i, c}]", c="f32+imm", needs="ptx_31"),
   form("tex.a2d.v4.dtype.f32  {d*4}, [t, {i, x, y, z}]", regs={"d": {"any": "f32 f16"}}, needs="ptx_31"),
   form("tex.cube.v4.dtype.f32  {d*4}, [t, {c*4}]", needs="ptx_31"),
   form("tex.acube.v4.dtype.f32  {d*4}, [t, {i, x, y, z}]", regs={"d": {"any": "f32 f16"}}, needs="ptx_31"),
   form("tex.2dms.v4.dtype.s32  {d*4}, [t, {c*4}]", regs={"d": {"any": "f32 f16"}}, needs="sm_30 ptx_32"),
   form("tex.a2dms.v4.dtype.s32  {d*4}, [t, {c*4}]", regs={"d": {"any": "f32 f16"}}, needs="sm_30 ptx_32"),
   form("tex.2d.v2.f16x2.f32  {d*2}, [t, {c*2}]", d="b32", regs={"d": "fragment", "c": "any32"},
        needs="sm_53 ptx_42"),
   form("tex.2d.v4.dtype.f32  {d*4}, [t, smp, {c*2}]", smp="symbol"),
   form("tex.2d.v4.dtype.f32  {d*4}, [t, {c*2}], {e*2}", dtype=".u32 .s32 .f32 .f16@sm_53", e="s32",
        needs="sm_30 ptx_43"),
   form("tex.2d.v4.dtype.f32  {d*4}, [t, {c*2}], dc", dtype=".f32", regs={"d": "any", "c": "any32", "dc": "any32"},
        needs="sm_30 ptx_43"), dtype=".u32 .s32 .f32 .f16@sm_53,ptx_42", t="u64",
   regs={"d": {"any": "f32 f16"}, "c": "any32"}, effect="load:texture", p="@sm_60,ptx_71", i="u32", x="f32+imm",
   y="f32+imm", z="f32+imm")

op("tex.base", "Sample the base level of a texture.", "texture-instructions-tex",
   form("tex.base.2d.v4.dtype.f32  {d*4}, [t, {c*2}]", dtype=".u32 .s32 .f32 .f16@sm_53,ptx_42", t="u64",
        regs={"d": {"any": "f32 f16"}, "c": "any32"}, effect="load:texture", needs="ptx_31"))

op("tex.level", "Sample a texture at a given level of detail.", "texture-instructions-tex",
   form("tex.level.2d.v4.dtype.f32  {d*4}, [t, {c*2}], lod", dtype=".u32 .s32 .f32 .f16@sm_53,ptx_42", t="u64",
        regs={"d": {"any": "f32 f16"}, "c": "any32"}, effect="load:texture", needs="ptx_31"))

op("tex.grad", "Sample a texture with given gradients.", "texture-instructions-tex",
   form("tex.grad.2d.v4.dtype.f32  {d*4}, [t, {c*2}], {dx*2}, {dy*2}", dtype=".u32 .s32 .f32 .f16@sm_53,ptx_42",
        regs={"d": {"any": "f32 f16"}, "c": "any32"}),
   form("tex.grad.3d.v4.f32.f32  {d*4}, [t, {c*4}], {dx*4}, {dy*4}", regs={"d": "any32"}), t="u64", needs="ptx_31",
   effect="load:texture")

op("tld4", "Gather one component of four texels.", "texture-instructions-tld4",
   form("tld4.comp.2d.v4.dtype.f32  {d*4}{|p}, [t, {c*2}]", p="@sm_60,ptx_71", needs="ptx_31"),
   form("tld4.comp.a2d.v4.dtype.f32  {d*4}, [t, {i, x, y, z}]", i="u32", x="f32+imm", y="f32+imm", z="f32+imm",
        regs={"d": {"any": "f32"}}),
   form("tld4.comp.cube.v4.dtype.f32  {d*4}, [t, {c*4}]"), comp=".r .g .b .a", dtype=".u32 .s32 .f32", t="u64",
   regs={"d": {"any": "f32"}, "c": "any32"}, needs="sm_30 ptx_43", effect="load:texture")

op("txq", "Query a texture or sampler attribute.", "texture-instructions-txq",
   form("txq.query.b32  d, [t]",
        query=".width .height .depth .channel_data_type .channel_order .normalized_coords .array_size@ptx_41 "
        ".num_mipmap_levels@ptx_41 .num_samples@sm_30,ptx_41",
        t="u64", needs="ptx_31"),
   form("txq.query.b32  d, [smp]", smp="symbol",
        query=".force_unnormalized_coords .filter_mode .addr_mode_0 .addr_mode_1 .addr_mode_2"))

op("txq.level", "Query a texture attribute at a level.", "texture-instructions-txq",
   form("txq.level.query.b32  d, [t], l", query=".width .height .depth", t="u64", l="s32", needs="sm_30 ptx_43"))

op("istypep", "Test what a handle is.", "texture-instructions-istypep",
   form("istypep.type  p, a", type=".texref .samplerref .surfref", a="u64", needs="sm_30 ptx_40"))

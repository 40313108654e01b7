"""Texture instructions.

A syntax line of the manual covers several geometries, which differ in their coordinates; here each has a form.
"""

import re

from pyptx.isa._schema import Family, Form, form

op = Family(__name__)

# geometry -> coordinates, and of these the offset; what else may follow is in `_lookups`
GEOMETRIES = {"1d": ("{c*1}", 1), "2d": ("{c*2}", 2), "3d": ("{c*4}", 4), "a1d": ("{i, x}", 1),
              "a2d": ("{i, x, y, z}", 2), "cube": ("{c*4}", 0), "acube": ("{i, x, y, z}", 0), "2dms": ("{c*4}", 2),
              "a2dms": ("{c*4}", 2)}
GRADIENTS = {"1d": 1, "a1d": 1, "2d": 2, "a2d": 2, "3d": 4, "cube": 4, "acube": 4}
DATA = {"d": {"any": "f32 f16"}, "c": "any32", "f": "any32", "lod": "any32"}


def _lookups(mode: str = "", more: str = "") -> list[Form]:
    """`tex.mode` in every geometry and type of coordinates; `more` follows the address."""
    rows = []
    for geometry, (coordinates, offset) in GEOMETRIES.items():
        samples = geometry.endswith("ms")
        if mode in (".level", ".grad") and samples:
            continue
        behind = more.replace("#", str(GRADIENTS.get(geometry, 0)))
        behind += f"{{, {{e*{offset}}}}}" if offset else ""
        for ctype in ("s32",) if samples else ("f32",) if "cube" in geometry else ("f32", "s32"):
            compared = behind + ("{, f}" if ctype == "f32" and geometry != "3d" else "")
            cells = {"needs": "sm_30 ptx_32"} if samples else {}
            cells |= {axis: f"{ctype}+imm" for axis in "xyz" if axis in coordinates}
            cells |= {"lod": ctype} if "lod" in more else {}
            for sampler in ("", "smp, "):
                address = f"[t, {sampler}{coordinates}]"
                words = re.findall(r"\w+", address + compared)
                used = {"d": "fragment"} | {name: "any32" for name in ("c", "f", "lod") if name in words}
                cells |= {"smp": "symbol"} if sampler else {}
                rows += [form(f"tex{mode}.{geometry}.v4.dtype.{ctype}  {{d*4}}{{|p}}, {address}{compared}", **cells),
                         form(f"tex{mode}.{geometry}.v2.f16x2.{ctype}  {{d*2}}{{|p}}, {address}{compared}",
                              d="b32", regs=used, **cells | {"needs": "sm_53 ptx_42"})]
    return rows


CELLS = {"dtype": ".u32 .s32 .f32 .f16@sm_53,ptx_42", "t": "u64", "regs": DATA, "effect": "load:texture",
         "p": "@sm_60,ptx_71", "i": "u32", "e": "s32@sm_30,ptx_43", "f": "f32@sm_30,ptx_43", "needs": "ptx_31",
         "alone": "c"}

op("tex", "Sample a texture.", "texture-instructions-tex", *_lookups(), **CELLS)

op("tex.base", "Sample the base level of a texture.", "texture-instructions-tex", *_lookups(".base"), **CELLS)

op("tex.level", "Sample a texture at a given level of detail.", "texture-instructions-tex",
   *_lookups(".level", ", lod"), **CELLS)

op("tex.grad", "Sample a texture with given gradients.", "texture-instructions-tex",
   *_lookups(".grad", ", {dx*#}, {dy*#}"), dx="f32", dy="f32", **CELLS)

GATHERS = {"2d": ("{c*2}{e}", {}), "a2d": ("{i, x, y, z}{e}", {axis: "f32+imm" for axis in "xyz"}),
           "cube": ("{c*4}", {}), "acube": ("{i, x, y, z}", {axis: "f32+imm" for axis in "xyz"})}

op("tld4", "Gather one component of four texels.", "texture-instructions-tld4",
   *[form(f"tld4.comp.{geometry}.v4.dtype.f32  {{d*4}}{{|p}}, [t, {sampler}{coordinates.removesuffix('{e}')}]"
          f"{'{, {e*2}}' if coordinates.endswith('{e}') else ''}{{, f}}",
          **cells | ({"smp": "symbol"} if sampler else {}))
     for geometry, (coordinates, cells) in GATHERS.items() for sampler in ("", "smp, ")],
   comp=".r .g .b .a", dtype=".u32 .s32 .f32", t="u64", i="u32", e="s32", f="f32", p="@sm_60,ptx_71",
   regs={"d": {"any": "f32"}, "c": "any32", "f": "any32"}, needs="sm_30 ptx_43", effect="load:texture")

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

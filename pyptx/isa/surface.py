"""Surface instructions.

A syntax line of the manual covers several geometries and vector lengths; here each has a form.
"""

from pyptx.isa._choices import CLAMP
from pyptx.isa._schema import Family, Form, form

op = Family(__name__)

_COORDINATE = "{b32,s32,u32}"                           # just 32 bits, whatever the data
REGISTERS = {"*": "memory", **dict.fromkeys("ixyz", _COORDINATE)}
GEOMETRIES = {"1d": "{x*1}", "2d": "{x*2}", "3d": "{x*4}", "a1d": "{i, x}", "a2d": "{i, x, y, z}"}
LENGTHS = {"": 1, ".v2": 2, ".v4": 4}
CELLS = {"clampmode": CLAMP, "s": "u64", "x": "s32", "i": "u32", "regs": REGISTERS, "needs": "ptx_31",
         "alone": "x"}
ATOMIC = {key: value for key, value in CELLS.items() if key != "i"}
TYPES = ".b8 .b16 .b32 .b64"


def _rows(mnemonic: str, data: str, *, loads: bool = False, types: bool = True) -> list[Form]:
    """`mnemonic.geometry.vector` in every geometry and length; `data` names the operand that is loaded or stored."""
    rows = []
    for geometry, coordinates in GEOMETRIES.items():
        cells = {axis: "s32+imm" for axis in "xyz" if geometry[0] == "a" and axis in coordinates}
        for vector, length in LENGTHS.items():
            value = f"{{{data}*{length}}}" if vector else data
            operands = f"{value}, [s, {coordinates}]" if loads else f"[s, {coordinates}], {value}"
            head, word = (f"{mnemonic}.{geometry}{{.cop}}{vector}", ".type" if types else ".b32")
            more = {"type": TYPES.removesuffix(" .b64") if length == 4 else TYPES} if types else {}
            rows.append(form(f"{head}{word}.clampmode  {operands}", **cells, **more))
    return rows


op("suld.b", "Load from a surface.", "surface-instructions-suld", *_rows("suld.b", "d", loads=True),
   cop=".ca .cg .cs .cv", effect="load:surface", **CELLS)

op("sust.b", "Store to a surface.", "surface-instructions-sust", *_rows("sust.b", "c"), cop=".wb .cg .cs .wt",
   effect="store:surface", **CELLS)

op("sust.p", "Store formatted to a surface.", "surface-instructions-sust", *_rows("sust.p", "c", types=False),
   cop=".wb .cg .cs .wt", effect="store:surface", **CELLS)

op("sured.b", "Reduce into a surface, addressed by byte.", "surface-instructions-sured",
   *[form(f"sured.b.{syntax}  [s, {GEOMETRIES[geometry]}], c".replace("geom", geometry), **cells)
     for geometry in ("1d", "2d", "3d")
     for syntax, cells in (("add.geom.type.clampmode", {"type": ".u32 .s32 .u64"}),
                           ("op.geom.type.clampmode", {"op": ".min .max",
                                                       "type": ".u32 .s32 .u64@sm_50,ptx_81 .s64@sm_50,ptx_81"}),
                           ("op.geom.b32.clampmode", {"op": ".and .or"}))],
   effect="reduce:surface", **ATOMIC)

op("sured.p", "Reduce into a surface, addressed by sample.", "surface-instructions-sured",
   *[form(f"sured.p.op.{geometry}.b32.clampmode  [s, {GEOMETRIES[geometry]}], c", op=".add .min .max .and .or")
     for geometry in ("1d", "2d", "3d")],
   effect="reduce:surface", **ATOMIC)

op("suq", "Query a surface attribute.", "surface-instructions-suq",
   form("suq.query.b32  d, [s]",
        query=".width .height .depth .channel_data_type .channel_order .array_size@ptx_41 .memory_layout@ptx_42",
        s="u64", needs="ptx_31"))

"""Accesses to all replicas of a multimem address."""

from typing import Any

from pyptx.isa._choices import BOOL, SCALAR, SCOPE
from pyptx.isa._schema import Family, Form, form

op = Family(__name__)

NARROW = "100f* 110f* 120a 121a ptx_86"                     # what has fp8
HALF = {"vec": ".v2 .v4 .v8", "type": ".f16 .bf16"}
HALVES = {"vec": ".v2 .v4 .v8", "type": ".e4m3x2 .e5m2x2"}
BYTES = {"vec": ".v4 .v8", "type": ".e4m3 .e5m2"}
QUADS = {"type": ".e4m3x4 .e5m2x4"}


def both(name: str, line: str, **cells: Any) -> tuple[Form, ...]:
    """Return a weak form, and one with an order and a scope."""
    return tuple(form(f"multimem.{name}{words}{{.global}}.{line}", **cells) for words in ("{.weak}", ".sem.scope"))


def loads(line: str, **cells: Any) -> tuple[Form, ...]:
    """Return the forms of a load."""
    return both("ld_reduce", line, **cells)


op("multimem.ld_reduce", "Load from all replicas of a multimem address and reduce.",
   "data-movement-and-conversion-instructions-multimem",
   *loads("op.type  d, [a]", type=".u32 .s32 .u64"),
   *loads("op.s64  d, [a]", op=".min .max"),
   *loads("op.type  d, [a]", op=BOOL, type=".b32 .b64"),
   *loads("op.type  d, [a]"),
   *loads("add.type  d, [a]", type=".f32 .f64"),
   *loads("op.vec.type  {d*vec}, [a]"),
   *loads("op.vec.type  {d*vec}, [a]", **HALF, regs={"d": {"any": "f16"}}),
   *loads("add.vec.f32  {d*vec}, [a]", regs={"d": "any32"}),
   *loads("add.acc::f32.type  d, [a]", needs="sm_90 ptx_82"),
   *loads("add.acc::f32.vec.type  {d*vec}, [a]", needs="sm_90 ptx_82"),
   *loads("add.acc::f32.vec.type  {d*vec}, [a]", **HALF, regs={"d": {"any": "f16"}}, needs="sm_90 ptx_82"),
   *loads("add.acc::f16.type  d, [a]", **QUADS, d="b32", needs=NARROW),
   *loads("add.acc::f16.vec.type  {d*vec}, [a]", **QUADS, d="b32", needs=NARROW),
   *loads("add.acc::f16.vec.type  {d*vec}, [a]", **HALVES, d="b16", needs=NARROW),
   *loads("add.acc::f16.vec.type  {d*vec}, [a]", **BYTES, d="b8", needs=NARROW),
   *loads("op.type  d, [a]", **QUADS, d="b32", needs=NARROW),
   *loads("op.vec.type  {d*vec}, [a]", **QUADS, d="b32", needs=NARROW),
   *loads("op.vec.type  {d*vec}, [a]", **HALVES, d="b16", needs=NARROW),
   *loads("op.vec.type  {d*vec}, [a]", **BYTES, d="b8", needs=NARROW),
   sem=".relaxed .acquire", scope=SCOPE, op=".min .max .add", type=".f16x2 .bf16x2", needs="sm_90 ptx_81",
   effect="load:global", vec=".v2 .v4")

op("multimem.st", "Store to all replicas of a multimem address.", "data-movement-and-conversion-instructions-multimem",
   *both("st", "type  [a], b", type=".b32 .b64 .u32 .u64 .s32 .s64 .f32 .f64 .f16x2 .bf16x2"),
   *both("st", "type  [a], b", **QUADS, b="type+imm", regs={"b": "any"}, needs=NARROW),
   *both("st", "vec.type  [a], {b*vec}", b="type-imm", regs={"b": {"any": "f32"}}),
   *both("st", "vec.type  [a], {b*vec}", **HALF, regs={"b": {"any": "f16"}}),
   *both("st", "vec.type  [a], {b*vec}", type=".e4m3x4 .e5m2x4 .e4m3x2 .e5m2x2", b="type+imm", regs={"b": "any"},
         needs=NARROW),
   sem=".relaxed .release", scope=SCOPE, type=".f16x2 .bf16x2 .f32", needs="sm_90 ptx_81", effect="store:global",
   vec=".v2 .v4")

op("multimem.red", "Reduce into all replicas of a multimem address.",
   "data-movement-and-conversion-instructions-multimem",
   form("multimem.red.sem.scope{.global}.op.type  [a], b"),
   form("multimem.red.sem.scope{.global}.op.s64  [a], b", op=".min .max"),
   form("multimem.red.sem.scope{.global}.op.type  [a], b", op=BOOL, type=".b32 .b64"),
   form("multimem.red.sem.scope{.global}.add.type  [a], b", type=".f32 .f64 .f16x2 .bf16x2"),
   form("multimem.red.sem.scope{.global}.op.vec.type  [a], {b*vec}", type=".f16x2 .bf16x2", b="type-imm"),
   form("multimem.red.sem.scope{.global}.add.vec.f32  [a], {b*vec}", b="f32-imm", regs={"b": "any"}),
   form("multimem.red.sem.scope{.global}.op.vec.type  [a], {b*vec}", **HALF, regs={"b": {"any": "f16"}}),
   form("multimem.red{.global}.op.type  [a], b"),
   form("multimem.red{.global}.op.s64  [a], b", op=".min .max"),
   form("multimem.red{.global}.op.type  [a], b", op=BOOL, type=".b32 .b64"),
   form("multimem.red{.global}.add.type  [a], b", type=".f32 .f64 .f16x2 .bf16x2"),
   form("multimem.red{.global}.op.vec.type  [a], {b*vec}", type=".f16x2 .bf16x2", b="type-imm"),
   form("multimem.red{.global}.add.vec.f32  [a], {b*vec}", b="f32-imm", regs={"b": "any"}),
   form("multimem.red{.global}.op.vec.type  [a], {b*vec}", **HALF, regs={"b": {"any": "f16"}}),
   sem=".relaxed .release", scope=SCOPE, op=".min .max .add", type=".u32 .s32 .u64",
   needs="sm_90 ptx_81", effect="reduce:global", vec=".v2 .v4")

op("multimem.st.async", "Store to all replicas asynchronously.", "data-movement-and-conversion-instructions-multimem",
   form("multimem.st.async.release.scope{.global}.type  [a], b", scope=".gpu .sys", type=SCALAR,
        regs={"b": {">=int": "b8 u8 u16 s8 s16 u32 s32", "{b16,b32,b64,u16,u32,u64,s16,s32,s64,f16}": "b16",
        "{b32,b64,u32,u64,s32,s64,f32}": "b32"}},
        effect="async", needs="sm_100 ptx_93"))

op("multimem.red.async", "Reduce into all replicas asynchronously.",
   "data-movement-and-conversion-instructions-multimem",
   form("multimem.red.async.release.scope{.global}.add.type  [a], b", scope=".gpu .sys", type=".u32 .s32 .u64",
        effect="async", needs="sm_100 ptx_93"))

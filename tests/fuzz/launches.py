"""Launches on the simulator with random arguments, shapes and declarations."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pyptx
from pyptx.errors import PtxError

__all__ = ["prepare"]

_SIZES = (
    0,
    1,
    2,
    7,
    32,
    33,
    1024,
    1025,
    65535,
    65536,
    1 << 20,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 59,
    1 << 62,
    -1,
    -32,
)
_SIZES += ((1 << 63) - 1, 1 << 63, 1 << 64, 1 << 70)
_TYPES = ("u8", "b8", "s16", "u32", "b32", "f32", "u64", "b64", "f64", "f16", "b128", "pred")
_BODIES = (
    "ld.param.u64 %d0, [a]; ld.global.u32 %r0, [%d0+{n}]; st.global.u32 [%d0], %r0;",
    "mov.u64 %d1, x; ld.u32 %r0, [%d1]; st.u32 [%d1+{n}], %r0;",
    "mov.u32 %r1, {n}; bar.sync %r1, %r1;",
    "mov.u32 %r1, %tid.x; L: add.u32 %r1, %r1, 1; setp.ne.u32 %p0, %r1, {n}; @%p0 bra L;",
    "ld.param.u64 %d0, [a]; atom.global.add.u32 %r0, [%d0+{n}], 1; red.global.max.s32 [%d0], {n};",
    "ld.param.u64 %d0, [a]; prefetch.global.L2 [%d0+{n}]; discard.global.L2 [%d0], 128;",
    "mov.u32 %r1, {n}; shfl.sync.idx.b32 %r0, %r1, %r1, %r1, %r1; vote.sync.ballot.b32 %r0, %p0, %r1;",
    "call f, (); call (%d1), g, ({n});",
    "ld.param.u64 %d0, [a]; call (%d1), g, (%d0);",
    "ld.param.u64 %d0, [a]; cvta.to.shared.u64 %d1, %d0; st.shared.u64 [%d1+{n}], %d0; isspacep.local %p0, %d0;",
    "mov.u64 %d0, {n}; mbarrier.init.shared.b64 [%d0], {n};",
    "ld.param.u64 %d0, [a]; cp.async.bulk.prefetch.L2.global [%d0], {n};",
    "mov.b64 %d0, {n}; brx.idx %r0, T;",
    "alloca.u64 %d0, {n}; st.local.u32 [%d0], 1; stackrestore.u64 %d0;",
    "nanosleep.u32 {n}; trap;",
    "exit;",
)
_HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"
_FUNCTIONS = """
.func f() { .local .align 16 .b8 deep[64]; call f, (); ret; }
.func (.reg .u64 %o) g(.reg .u64 %i) { ld.u64 %o, [%i]; ret; }
"""


def prepare(folder: Path) -> Callable[[random.Random], str]:
    """Return a round of the fuzzer; see fuzz.run."""

    def one(rnd: random.Random) -> str:
        try:
            program = pyptx.load(_text(rnd), name="fuzzed.ptx")
            entry = program["k"]
        except PtxError as error:
            return f"not loaded: {type(error).__name__}"
        settings: dict[str, Any] = {"backend": "sim", "max_steps": 20_000}
        for name in ("grid", "block", "cluster"):
            if name == "block" or rnd.random() < (0.9 if name == "grid" else 0.2):
                settings[name] = _extent(rnd)
        if rnd.random() < 0.3:
            settings["smem_bytes"] = rnd.choice(_SIZES)
        if rnd.random() < 0.1:
            settings[rnd.choice(("seed", "schedule", "threads", "max_steps", "sanitize", "nothing"))] = _value(rnd)
        arguments = [_value(rnd) for _ in range(rnd.choice((2, 2, 2, 2, 2, 2, 0, 1, 3)))]
        call = rnd.choice((entry.launch, entry.launch, entry.launch, entry.check))
        if call == entry.check:
            settings.pop("backend")
        try:
            call(*arguments, **settings)
        except PtxError as error:
            return f"refused: {getattr(error, 'kind', None) or type(error).__name__}"
        return "completed"

    return one


def _number(rnd: random.Random) -> int:
    if rnd.random() < 0.2:
        return rnd.choice(_SIZES)
    return rnd.choice((1, 4, 16, 64, 256, 4 * rnd.randrange(1024), rnd.randrange(4096)))


def _text(rnd: random.Random) -> str:
    declarations = []
    for space in ("global", "const", "shared", "extern .shared"):
        if rnd.random() < 0.3:
            declarations.append(f".{space} {_align(rnd)} .{rnd.choice(_TYPES)} {space[:1]}v{_dimensions(rnd)};")
    if rnd.random() < 0.1:
        declarations.append(f".global .{rnd.choice(_TYPES)} gi[{_number(rnd)}] = {{{_number(rnd)}, {_number(rnd)}}};")
    space = rnd.choice(("local", "shared", "global", "const", "local"))
    body = "".join(rnd.choice(_BODIES).format(n=_number(rnd)) + "\n" for _ in range(rnd.choice((1, 1, 2, 4))))
    for at in range(body.count("L:")):  # one label of each name
        body = body.replace("L:", f"L{at}_:", 1).replace("bra L;", f"bra L{at}_;", 1)
    targets = "T: .branchtargets E;\n" if "brx.idx" in body else ""
    second = rnd.choice(
        (
            ".param .u64 b",
            ".param .u64 b",
            ".param .u64 b",
            f".param {_align(rnd)} .b8 b[{_number(rnd)}]",
            ".param .f32 b",
            ".param .f16 b",
        )
    )
    directive = rnd.choice(("", "", "", f".reqntid {_number(rnd)}", f".maxntid {_number(rnd)}", ".reqnctapercluster 2"))
    name = rnd.choice(("x", "x", "x" * 5000))
    variable = f".{space} {_align(rnd)} .{rnd.choice(_TYPES)} {name}{_dimensions(rnd)};"
    body = body.replace(" x;", f" {name};")
    nesting = rnd.choice((0, 0, 0, 3, 150, 3000))
    body = "{\n" * nesting + body + "}\n" * nesting
    return (
        f"{_HEAD}{' '.join(declarations)}\n{_FUNCTIONS}.visible .entry k(.param .u64 a, {second}) {directive}\n{{\n"
        f".reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %p<4>;\n{variable}\n{targets}{body}E: ret;\n}}\n"
    )


def _align(rnd: random.Random) -> str:
    return rnd.choice(("", "", f".align {rnd.choice((1, 4, 16, 128, 1024, 3, 0, 1 << 31, 1 << 60))}"))


def _dimensions(rnd: random.Random) -> str:
    return "".join(f"[{_number(rnd)}]" for _ in range(rnd.choice((0, 1, 1, 2, 3))))


def _extent(rnd: random.Random) -> Any:
    if rnd.random() < 0.9:
        return rnd.choice((1, 2, 32, (2, 2), (4, 1, 2)))
    return rnd.choice(
        (_number(rnd), tuple(_number(rnd) for _ in range(rnd.randrange(5))), 1.5, "x", None, [1, 2], {}, b"1")
    )


def _value(rnd: random.Random) -> Any:
    match rnd.randrange(28):
        case 0:
            return rnd.choice(
                (None, "x", object(), {}, [1, 2], 1j, float("nan"), float("inf"), -0.0, True, b"", b"12345678")
            )
        case 1:
            return rnd.choice(_SIZES)
        case 2:
            return np.array([{}, None, "x"], dtype=object)
        case 3:
            return np.zeros(4, np.dtype([("a", "<f4"), ("b", "O")])) if rnd.random() < 0.5 else np.array(["a", "bc"])
        case 4:
            return rnd.choice(
                (np.zeros(3, "M8[s]"), np.zeros(3, "m8[ns]"), np.zeros(3, ">f4"), np.zeros(3, np.complex64))
            )
        case 5:
            return np.broadcast_to(np.zeros(1, np.float32), (1 << rnd.choice((4, 20, 40)),))
        case 6:
            array = np.zeros(256, np.uint32)
            array.flags.writeable = False
            return array
        case 7:
            return np.zeros((32, 32), np.float32)[:: rnd.choice((1, 2, -1)), :: rnd.choice((1, 3, -2))]
        case 8:
            return np.frombuffer(bytearray(4096), np.uint8)[rnd.randrange(16) :]
        case 9:
            return np.zeros(rnd.choice((0, (0, 4), (), 1)), rnd.choice(("f4", "u1", "f8", "?", "f2")))
        case 10:
            return np.ma.masked_array(np.zeros(8, np.float32), [1] * 8) if rnd.random() < 0.5 else np.float32(3)
        case 11:
            return np.array(["long text " * 5], dtype=np.dtypes.StringDType())
        case _:
            return np.zeros(rnd.choice((64, 1024, 4096)), rnd.choice((np.uint32, np.float32, np.uint64)))

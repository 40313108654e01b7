"""Kernels of one instruction on a texture or surface: each lane takes its operands from a row of words and leaves its
results in another. They run on both engines, which must agree to the bit.
"""

from __future__ import annotations

import numpy as np

from pyptx import Surface, Texture, sim
from pyptx.parser import parse

WORDS = 16

_HEAD = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 object, .param .u64 words, .param .u64 out, .param .u32 n)
{
    .reg .b64 %object, %row, %out, %wide<4>; .reg .b32 %w<16>; .reg .f32 %f<16>; .reg .b32 %d<8>; .reg .b16 %h<8>;
    .reg .b32 %i, %n; .reg .pred %p, %inside;
    ld.param.u64 %object, [object]; ld.param.u64 %row, [words]; ld.param.u64 %out, [out];
    mov.u32 %i, %ctaid.x; mov.u32 %n, %tid.x; mad.lo.u32 %i, %i, 32, %n;
    ld.param.u32 %n, [n]; setp.ge.u32 %p, %i, %n; @%p ret;
    mad.wide.u32 %row, %i, 64, %row; mad.wide.u32 %out, %i, 32, %out;
"""


def program(statement: str, stores: str = "") -> sim.Program:
    loads = "".join(f"    ld.global.b32 %w{k}, [%row+{4 * k}]; mov.b32 %f{k}, %w{k};\n" for k in range(WORDS))
    return sim.load(parse(f"{_HEAD}{loads}    {statement}\n{stores}    ret;\n}}\n"))


def both(code: sim.Program, value: Texture | Surface, words: np.ndarray) -> np.ndarray:
    """Eight words of results a lane, of the core; the reference gives the same, and leaves the same in a surface."""
    n, results, memories = len(words), [], []
    padded = np.zeros((n, WORDS), np.uint32)
    padded[:, : words.shape[1]] = words
    before = [np.array(a) for a in value.sources]
    for engine in ("reference", "core"):
        for array, kept in zip(value.sources, before, strict=True):
            array[...] = kept
        out = np.zeros((n, 8), np.uint32)
        run = sim.launch(code, -(-n // 32), 32, [value, padded, out, n], engine=engine)
        results.append((out, run.counters.global_requests, run.counters.global_sectors))
        memories.append([np.array(a) for a in value.sources])
    for theirs, ours in zip(*results, strict=True):
        np.testing.assert_array_equal(theirs, ours)
    for theirs, ours in zip(*memories, strict=True):
        np.testing.assert_array_equal(theirs.view(np.uint8), ours.view(np.uint8))
    return results[1][0]


def fetch(
    texture: Texture,
    words: np.ndarray,
    *,
    ctype: str = "f32",
    dtype: str = "f32",
    mode: str = "",
    extra: str = "",
    opcode: str = "tex",
) -> np.ndarray:
    """What `opcode.mode.geometry` reads: words of a lane are coordinates in PTX's order, then what `extra` names."""
    geometry = texture.geometry.name
    count = {"1d": 1, "2d": 2, "a1d": 2}.get(geometry, 4)
    register = "f" if ctype == "f32" else "w"
    names = [f"%{register}{k}" for k in range(count)]
    if geometry in ("a1d", "a2d", "acube"):
        names[0] = "%w0"
    data = {"f16": "{%h0, %h1, %h2, %h3}", "f16x2": "{%d0, %d1}"}.get(dtype, "{%d0, %d1, %d2, %d3}")
    length = 2 if dtype == "f16x2" else 4
    mnemonic = ".".join(filter(None, (opcode, mode, geometry, f"v{length}", dtype, ctype)))
    kind = "%h" if dtype == "f16" else "%d"
    bits = 16 if dtype == "f16" else 32
    stores = "".join(f"    st.global.b{bits} [%out+{4 * k}], {kind}{k};\n" for k in range(length))
    stores += "    selp.b32 %d7, 1, 0, %inside; st.global.b32 [%out+28], %d7;\n"
    statement = f"{mnemonic} {data}|%inside, [%object, {{{', '.join(names)}}}]{extra};"
    found = both(program(statement, stores), texture, words)
    assert (found[:, 7] == 1).all()
    return found[:, :length]


def floats(*columns: np.ndarray) -> np.ndarray:
    """Columns of floats or integers as words."""
    return np.stack(
        [
            np.asarray(c, np.float32).view(np.uint32)
            if np.asarray(c).dtype.kind == "f"
            else np.asarray(c).astype(np.int64).astype(np.uint32)
            for c in columns
        ],
        axis=1,
    )

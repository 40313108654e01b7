"""Grids of one axis that stand for images and tiles: what a sample finds out about the others, and what L2 keeps."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx.analysis.gpus import gpu as find_gpu
from pyptx.analysis.model.estimate import predict
from pyptx.analysis.work.call import bind_call
from pyptx.analysis.work.count import work_of
from pyptx.analysis.work.footprint import NOTHING, Footprint, Touched, expected_returns

# sums of the neighbors of each cell of an image or a box, by a thread for each cell; those at the edge do nothing
STENCIL = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry stencil(.param .u64 from, .param .u64 to, .param .u32 width, .param .u32 height, .param .u32 depth)
{{
    .reg .u64 %rd<9>;
    .reg .u32 %r<20>;
    .reg .f32 %f<3>;
    .reg .pred %p<12>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u32 %r1, [width];
    ld.param.u32 %r2, [height];
    ld.param.u32 %r3, [depth];
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r4, %r4, {threads}, %r5;
    rem.u32 %r5, %r4, %r1;
    div.u32 %r6, %r4, %r1;
    div.u32 %r7, %r6, %r2;
    rem.u32 %r6, %r6, %r2;
    mul.lo.u32 %r8, %r1, %r2;
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    mul.wide.u32 %rd6, %r1, 4;
    mul.wide.u32 %rd7, %r8, 4;
    mov.f32 %f1, 0f00000000;
{skip}
{loads}
    st.global.f32 [%rd5], %f1;
    ret;
}}
"""
TILES = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry tiles(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 across)
{
    .reg .u64 %rd<8>;
    .reg .u32 %r<9>;
    .reg .f32 %f<4>;
    .reg .pred %p;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    ld.param.u32 %r1, [across];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    div.u32 %r4, %r2, %r1;
    rem.u32 %r5, %r2, %r1;
    mad.lo.u32 %r4, %r4, 65536, %r3;
    mad.lo.u32 %r5, %r5, 65536, %r3;
    mad.lo.u32 %r6, %r2, 256, %r3;
    mul.wide.u32 %rd4, %r4, 4;
    mul.wide.u32 %rd5, %r5, 4;
    mul.wide.u32 %rd6, %r6, 4;
    add.u64 %rd1, %rd1, %rd4;
    add.u64 %rd2, %rd2, %rd5;
    add.u64 %rd3, %rd3, %rd6;
    mov.f32 %f1, 0f00000000;
    mov.u32 %r7, 0;
NEXT:
    ld.global.f32 %f2, [%rd1];
    ld.global.f32 %f3, [%rd2];
    fma.rn.f32 %f1, %f2, %f3, %f1;
    add.u64 %rd1, %rd1, 1024;
    add.u64 %rd2, %rd2, 1024;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p, %r7, 256;
    @%p bra NEXT;
    st.global.f32 [%rd3], %f1;
    ret;
}
"""


MOVES = {"left": "-4", "right": "4", "up": "-%rd6", "down": "%rd6", "before": "-%rd7", "behind": "%rd7"}
EDGES = {"left": ("%r5", "%r1"), "up": ("%r6", "%r2"), "before": ("%r7", "%r3")}


def stencil(sides: int, threads: int) -> pyptx.Program:
    """Return a stencil with the neighbors along some axes, the fastest one first."""
    names, skip, loads = list(MOVES)[: 2 * sides], [], []
    for k, name in enumerate(list(EDGES)[:sides]):
        place, size = EDGES[name]
        skip += [f"setp.eq.u32 %p{2 * k}, {place}, 0;", f"@%p{2 * k} ret;", f"sub.u32 %r9, {size}, 1;"]
        skip += [f"setp.eq.u32 %p{2 * k + 1}, {place}, %r9;", f"@%p{2 * k + 1} ret;"]
    for name in names:
        by = MOVES[name]
        loads.append(f"{'sub' if by[0] == '-' else 'add'}.s64 %rd8, %rd4, {by.lstrip('-')};")
        loads += ["ld.global.f32 %f2, [%rd8];", "add.f32 %f1, %f1, %f2;"]
    return pyptx.load(STENCIL.format(threads=threads, skip="\n".join(skip), loads="\n".join(loads)))


def counted(kernel: pyptx.Kernel, *args: object, grid: int, threads: int = 256, on: str = "A100 SXM 80GB"):
    """Return the work of a launch, and the bytes that DRAM moves in the time that its prediction states."""
    call = bind_call(kernel, *args, grid=(grid,), block=(threads,), smem_bytes=0)
    work, device = work_of(call), find_gpu(on)
    return work, predict(call.compiled(), call.plan, work, device).terms["dram"]


@pytest.mark.parametrize(
    "sides, size, threads",
    [
        (2, (4096, 4096, 1), 256),  # 16 CTAs are a row, and those in the middle of the grid are at an edge
        (2, (5000, 3008, 1), 256),  # rows end within a CTA
        (2, (4096, 2048, 1), 1024),
        (3, (256, 256, 256), 256),
        (3, (512, 128, 256), 128),
    ],
)
def test_an_image_by_a_flat_grid_moves_each_byte_once(sides, size, threads):
    """DRAM moves as much as in a copy of the image: rows and planes that are read again are still in L2."""
    cells = int(np.prod(size))
    x, y = np.zeros(cells, np.float32), np.zeros(cells, np.float32)
    grid = -(-cells // threads)
    work, seconds = counted(stencil(sides, threads)["stencil"], x, y, *size, grid=grid, threads=threads)
    inner = 4 * int(np.prod([side - 2 for side in size[:sides]])) * int(np.prod(size[sides:]))
    assert work.uniform, work.how
    assert work.bytes["dram_read"] == pytest.approx(4 * cells, rel=0.03)
    assert work.bytes["dram_write"] == pytest.approx(inner, rel=0.03)
    alone, copied = counted(stencil(0, threads)["stencil"], x, y, *size, grid=grid, threads=threads)  # writes only
    written = seconds * alone.bytes["dram_write"] / copied
    assert 1.9 * inner < written < 2.4 * inner


def test_rows_that_l2_does_not_hold_are_read_again():
    """A row of 4 million cells, 16 MB: three rows are read and one is written until the next one, more than L2 of A100 holds."""
    size = 4_000_000, 5, 1
    x, y = (np.zeros(size[0] * size[1], np.float32) for _ in range(2))
    kernel, grid = stencil(2, 256)["stencil"], size[0] * size[1] // 256
    _, once = counted(kernel, x, y, *size, grid=grid, on="B200")
    _, again = counted(kernel, x, y, *size, grid=grid)
    on, other = find_gpu("A100 SXM 80GB"), find_gpu("B200")
    assert again * on.dram_bytes_per_s > 1.4 * once * other.dram_bytes_per_s


def test_tiles_of_a_product_by_a_flat_grid_read_both_operands():
    across, tile = 64, 65536 * 4  # bytes
    a, b = (np.zeros(across * tile // 4, np.float32) for _ in range(2))
    c = np.zeros(across * across * 256, np.float32)
    work, _ = counted(pyptx.load(TILES)["tiles"], a, b, c, across, grid=across**2)
    assert work.bytes["dram_read"] == 2 * across * tile and work.bytes["dram_write"] == c.nbytes


def test_returns_are_those_of_the_stretches_of_a_cluster():
    """Clusters of 64 words in rows of 640 words read the rows above and below them."""

    def bits(at: int) -> np.ndarray:
        words = np.zeros(64 * 1024, bool)
        for row in (0, 1, 2):
            words[at + 640 * row : at + 640 * row + 64] = True
        return np.packbits(np.repeat(words, 4), bitorder="little")

    assert expected_returns(bits(0), bits(64), 100) == [10]
    assert expected_returns(bits(0), bits(64), 8) == [], "no cluster is so many places later"
    assert expected_returns(bits(0), bits(32), 100) == [], "the neighbor shares data itself"
    own, row = Touched(768, 768, 768), Touched(256, 256, 256)
    image = Footprint("x", False, own, (own, NOTHING, NOTHING), returns=((10, row),))
    assert image.axes((100, 1, 1)) == [(10, own), (10, row), (1, NOTHING), (1, NOTHING)]
    assert image.wave((100, 1, 1), 10) == (7680, 7680) and image.wave((100, 1, 1), 100) == (7680 + 9 * 2560,) * 2

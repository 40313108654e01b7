"""Transpose of a matrix of any size, f32, bf16 or f16: y[j, i] = x[i, j].

    python examples/transpose.py
    pyptx view examples/transpose.py:transpose -p M=1024 N=1024

A CTA moves TILES square tiles, one below the other, through shared memory, so that both reads and writes cover whole
128-byte lines (Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA"). A row of a tile is 128 bytes, eight
chunks of 16. Techniques:

- Accesses of 16 bytes where the sizes allow; the loads of all tiles are in flight together.
- Swizzle instead of padding: chunk p of row r is stored at p XOR r / V, where V is the elements per chunk. Eight lanes
  write a row: eight chunks, no bank conflicts. Then eight lanes read one column, V rows apart, and three times eight the
  next columns: different chunks, different words, no conflicts either (PTX ISA, "Swizzling Modes").

Cost: 32 registers per thread and 8 KiB of shared memory: 16 CTAs per SM.
"""

from __future__ import annotations

import numpy as np

from examples.vectors import moved, widest
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, b8, b16, b32, f32, u32, u64

THREADS = 128
PIECES, LINE = 8, 128  # 16-byte chunks of a tile row, and its bytes
SPACE = {"TILES": (1, 2, 4)}  # tuning space


def transposed(x, y, *, TILES=2):
    """Write the transpose of x (M x N) to y (N x M)."""
    (M, N), dtype = x.shape, x.dtype
    size, vector = dtype.bits // 8, 128 // dtype.bits
    side = PIECES * vector  # of a tile: 32 for f32, 64 for 16-bit types
    held = smem.alloc(b8, (TILES, side * LINE), align=128)
    start = reg.from_(held.name, u32)
    tid = reg.from_(ptx.special.tid.x(), u32)
    across = max(1, -(-N // side))  # tiles; only the x dimension of a grid can be that large
    block = reg.from_(ptx.special.ctaid.x(), u32)
    top, left = block // across * (side * TILES), block % across * side
    from_x, to_y = ptx.global_ptrs(x, y)
    turns = [divmod(i, side * PIECES // THREADS) for i in range(TILES * side * PIECES // THREADS)]

    # Load: eight adjacent threads read a row.
    piece, first_row = tid & 7, tid >> 3
    column = left + piece * vector
    pieces = []
    for tile, turn in turns:
        row = top + tile * side + turn * (THREADS // PIECES) + first_row
        pieces.append(read(element(from_x, row, N, column, size), row, M, column, N, dtype))
    for (tile, turn), words in zip(turns, pieces, strict=True):
        row = turn * (THREADS // PIECES) + first_row
        place = start + row * LINE + ((piece ^ (row >> vector.bit_length() - 1)) & 7) * 16
        ptx.inst.st.shared.v4.b32(ptx.addr(place, tile * side * LINE), words)
    ptx.bar.sync(0)

    # Store: eight adjacent threads write a row, each from a column of the tile.
    for tile, turn in turns:
        across = turn * (THREADS // PIECES) + first_row  # column of the tile
        own = (piece ^ (across >> vector.bit_length() - 1)) * 16 + (across & vector - 1) * size
        place = start + piece * (vector * LINE) + own
        numbers = [reg.scalar(b32 if size == 4 else b16) for _ in range(vector)]
        for i, number in enumerate(numbers):
            getattr(ptx.inst.ld.shared, f"b{dtype.bits}")(number, ptx.addr(place, tile * side * LINE + i * LINE))
        row, column = left + across, top + tile * side + piece * vector
        write(element(to_y, row, M, column, size), numbers, row, N, column, M, dtype)


def element(start: Reg, row: Reg, columns: int, column: Reg, size: int) -> Reg:
    """Return the address of a matrix element."""
    result = reg.scalar(u64)
    ptx.inst.mul.wide.u32(result, row, columns * size)
    ptx.inst.add.s64(result, result, start)
    return moved(result, column, size)


def inside(row: Reg, rows: int, column: Reg, columns: int) -> Reg:
    """Return the predicate of an element within bounds."""
    limit = reg.scalar(u32)
    ptx.inst.selp.u32(limit, columns, 0, row < rows)
    return column < limit


def read(address: Reg, row: Reg, rows: int, column: Reg, columns: int, dtype: PtxType) -> list[Reg]:
    """Load a chunk as four words: in one access if rows are 16-byte aligned, else in several."""
    vector, size = 128 // dtype.bits, dtype.bits // 8
    width = widest(columns, dtype)
    words = [reg.scalar(b32, 0) for _ in range(4)]
    for i in range(0, vector, width):
        guard = inside(row, rows, column + i, columns)
        if width * size >= 4:
            part = words[i * size // 4 : (i + width) * size // 4]
            load = ptx.inst.ld.global_ if len(part) == 1 else getattr(ptx.inst.ld.global_, f"v{len(part)}")
            load.b32(part[0] if len(part) == 1 else part, ptx.addr(address, i * size), pred=guard)
        else:
            half = reg.scalar(b16, 0)
            ptx.inst.ld.global_.b16(half, ptx.addr(address, i * size), pred=guard)
            wide = reg.scalar(u32)
            ptx.inst.cvt.u32.u16(wide, half)
            ptx.inst.mad.lo.u32(words[i // 2], wide, 1 << i % 2 * 16, words[i // 2])
    return words


def write(address: Reg, numbers: list[Reg], row: Reg, rows: int, column: Reg, columns: int, dtype: PtxType) -> None:
    """Store a chunk; see `read`."""
    size = dtype.bits // 8
    width = widest(columns, dtype)
    for i in range(0, len(numbers), width):
        part = numbers[i : i + width]
        if size == 2 and width > 1:
            pairs = [reg.scalar(b32) for _ in part[::2]]
            for pair, low, high in zip(pairs, part[::2], part[1::2], strict=True):
                ptx.inst.mov.b32(pair, [low, high])
            part = pairs
        store = ptx.inst.st.global_ if len(part) == 1 else getattr(ptx.inst.st.global_, f"v{len(part)}")
        store = getattr(store, f"b{min(32, width * dtype.bits)}")
        store(
            ptx.addr(address, i * size),
            part[0] if len(part) == 1 else part,
            pred=inside(row, rows, column + i, columns),
        )


def transpose_of(dtype: PtxType) -> Kernel:
    """Return the kernel for matrices of `dtype` (f32, bf16 or f16; it moves bits and rounds nothing)."""
    side = PIECES * 128 // dtype.bits
    return kernel(
        transposed,
        name="transpose",
        arch="sm_80",
        in_specs=[Tile("M", "N", dtype, align=16)],
        out_specs=[Tile("N", "M", dtype, align=16)],
        grid=lambda M, N, TILES: max(1, -(-N // side) * -(-M // (side * TILES))),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


transpose = transpose_of(f32)


def reference(x: np.ndarray) -> np.ndarray:
    """Return the reference result in NumPy."""
    return x.T


def main() -> None:
    x = np.random.default_rng(0).standard_normal((300, 1001), dtype=np.float32)
    compare(transpose, [x], reference(x), rtol=0)


if __name__ == "__main__":
    main()

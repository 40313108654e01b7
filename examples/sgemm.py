"""Matrix product in f32: C = A @ B, tiled over shared memory and registers.

    python examples/sgemm.py
    pyptx view examples/sgemm.py:sgemm -p M=256 N=256 K=256 -o sgemm.html

A block of 256 threads computes a BM x BN tile of C, BK columns of A and rows of B at a time. The threads form a
16 x 16 grid; each keeps its BM/16 x BN/16 part of the tile in registers. Techniques, and where they are described:

- Tiles in shared memory, and parts of them in registers, so that a number is read from memory once for a whole tile and
  from shared memory once for a row or column of a part (Volkov and Demmel, "Benchmarking GPUs to tune dense linear
  algebra").
- Vectors of four both ways; A lies in shared memory with rows and columns exchanged, rows padded by PAD numbers.

Cost: 53 registers a thread and 8 KiB of shared memory: four CTAs on an SM.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examples.products import reference
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import f32, u32

THREADS = 256
SIDE = 16                       # the threads as a SIDE x SIDE grid
SPACE = {"BM": (64, 128), "BN": (64, 128), "BK": (16, 32, 64)}          # values worth trying
PAD = 4                         # columns added to the tile of A: keeps its rows apart in the banks, and aligned


@kernel(in_specs=(Tile("M", "K", f32), Tile("K", "N", f32)), out_specs=(Tile("M", "N", f32),),
        grid=lambda M, N, BM, BN: (N // BN, M // BM, 1), block=(THREADS, 1, 1))
def sgemm(a, b, c, *, BM=64, BN=64, BK=16):
    """C (M x N) = A (M x K) @ B (K x N), row-major f32; M, N and K multiples of BM, BN and BK."""
    (M, K), N = a.shape, b.shape[1]
    check_sizes(M, N, K, BM, BN, BK)

    tid = reg.from_(ptx.special.tid.x(), u32)
    tile_row = reg.from_(ptx.special.ctaid.y(), u32) * BM
    tile_column = reg.from_(ptx.special.ctaid.x(), u32) * BN
    a_at, b_at, c_at = ptx.global_ptrs(a, b, c)

    # A lies in shared memory with rows and columns exchanged, so that a thread reads its rows of one k as a vector.
    a_shared = smem.alloc(f32, (BK, BM + PAD))
    b_shared = smem.alloc(f32, (BK, BN))
    a_part, b_part = Part.of(tid, BM, BK), Part.of(tid, BK, BN)
    advance(a_at, (tile_row + a_part.row) * K + a_part.column)
    advance(b_at, b_part.row * N + tile_column + b_part.column)
    a_store = byte_address(a_shared, a_part.column * (BM + PAD) + a_part.row)
    b_store = byte_address(b_shared, b_part.row * BN + b_part.column)

    rows, columns = BM // SIDE, BN // SIDE              # of C, in this thread
    ty, tx = tid >> 4, tid & (SIDE - 1)
    a_read = byte_address(a_shared, ty * rows)
    b_read = byte_address(b_shared, tx * columns)
    sums = [[reg.scalar(f32, 0.0) for _ in range(columns)] for _ in range(rows)]
    left, right = reg.array(f32, rows).regs(), reg.array(f32, columns).regs()

    for _ in ptx.range_(0, K, BK):
        copy_transposed(a_at, a_store, a_part, K, BM + PAD)
        copy(b_at, b_store, b_part, N, BN)
        ptx.inst.add.u64(a_at, a_at, BK * 4)
        ptx.inst.add.u64(b_at, b_at, BK * N * 4)
        ptx.bar.sync(0)
        for k in range(BK):
            load_shared(left, a_read, k * (BM + PAD))
            load_shared(right, b_read, k * BN)
            for sums_of_row, x in zip(sums, left, strict=True):
                for total, y in zip(sums_of_row, right, strict=True):
                    ptx.inst.fma.rn.f32(total, x, y, total)
        ptx.bar.sync(0)

    advance(c_at, (tile_row + ty * rows) * N + tile_column + tx * columns)
    for i, sums_of_row in enumerate(sums):
        for j in range(0, columns, 4):
            ptx.inst.st.global_.v4.f32(ptx.addr(c_at, (i * N + j) * 4), sums_of_row[j:j + 4])


def check_sizes(M: int, N: int, K: int, BM: int, BN: int, BK: int) -> None:
    """Raise ValueError for sizes that the tiling does not cover exactly."""
    for name, size, tile in (("M", M, BM), ("N", N, BN), ("K", K, BK)):
        if size % tile:
            raise ValueError(f"sgemm: {name}={size} is not a multiple of B{name}={tile}")
    for name, tile, what in (("BM", BM, 64), ("BN", BN, 64), ("BK", BK, 4)):
        if tile % what:
            raise ValueError(f"sgemm: {name}={tile} is not a multiple of {what}")
    for name, width, height in (("A", BK, BM), ("B", BN, BK)):
        if THREADS % (width // 4) or width * height % (4 * THREADS):
            raise ValueError(f"sgemm: {THREADS} threads cannot copy a {height} x {width} tile of {name} evenly; "
                             f"choose powers of two for BM, BN and BK with at least {4 * THREADS} numbers in each tile")


class Part(NamedTuple):
    """What one thread copies of a tile: vectors of four numbers, the first at (row, column), then `step` rows on."""

    row: Reg
    column: Reg
    step: int
    count: int

    @classmethod
    def of(cls, tid: Reg, height: int, width: int) -> Part:
        """Thread `tid`'s part of a height x width tile, spread so that neighbours read neighbouring vectors."""
        per_row = width // 4                            # vectors; a power of two, so that no division is needed
        shift = per_row.bit_length() - 1
        return cls(tid >> shift, (tid & (per_row - 1)) << 2, THREADS // per_row, height * per_row // THREADS)


def advance(pointer: Reg, elements: Reg) -> None:
    """Move a global pointer by a number of f32."""
    ptx.inst.mad.wide.u32(pointer, elements, 4, pointer)


def byte_address(tile: smem.SharedAlloc, element: Reg) -> Reg:
    """The shared address of an f32 of the tile."""
    address = reg.from_(tile.name, u32)
    address += element << 2
    return address


def load_shared(values: list[Reg], start: Reg, element: int) -> None:
    """Fill `values` with the consecutive f32 that lie `element` numbers behind a shared address."""
    for i in range(0, len(values), 4):
        ptx.inst.ld.shared.v4.f32(values[i:i + 4], ptx.addr(start, (element + i) * 4))


def fetch(pointer: Reg, part: Part, row_length: int) -> list[list[Reg]]:
    """This thread's vectors of a tile, from global memory."""
    vectors = [reg.array(f32, 4).regs() for _ in range(part.count)]
    for i, vector in enumerate(vectors):
        ptx.inst.ld.global_.v4.f32(vector, ptx.addr(pointer, i * part.step * row_length * 4))
    return vectors


def copy(pointer: Reg, store: Reg, part: Part, row_length: int, shared_length: int) -> None:
    """Copy this thread's part of a tile to shared memory; lengths are those of a row in elements."""
    for i, vector in enumerate(fetch(pointer, part, row_length)):
        ptx.inst.st.shared.v4.f32(ptx.addr(store, i * part.step * shared_length * 4), vector)


def copy_transposed(pointer: Reg, store: Reg, part: Part, row_length: int, shared_length: int) -> None:
    """Copy this thread's part of a tile to shared memory, where its columns become rows."""
    for i, vector in enumerate(fetch(pointer, part, row_length)):
        for j, value in enumerate(vector):
            ptx.inst.st.shared.f32(ptx.addr(store, (j * shared_length + i * part.step) * 4), value)


def main() -> None:
    random = np.random.default_rng(0)
    a = random.standard_normal((256, 256), dtype=np.float32)
    b = random.standard_normal((256, 256), dtype=np.float32)
    compare(sgemm, [a, b], reference(a, b), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    main()

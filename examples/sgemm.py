"""Matrix product in f32: C = A @ B, tiled in shared memory and registers.

    python examples/sgemm.py
    pyptx view examples/sgemm.py:sgemm -p M=256 N=256 K=256 -o sgemm.html

A CTA of 256 threads computes a BM x BN tile of C in steps of BK along K. The threads form a 16 x 16 grid; each
accumulates its BM/16 x BN/16 part of the tile in registers. Techniques and their sources:

- Tiling in shared memory and registers: an element is read from global memory once per tile, and from shared memory
  once per row or column of a thread's part (Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra").
- A thread's part consists of 4 x 4 blocks, 64 rows or columns apart, and a warp covers 4 x 8 threads of the grid: its
  shared-memory reads, 4 rows of A and 8 columns of B in vectors of four, are contiguous (CUTLASS, "Efficient GEMM in
  CUDA"). A is stored transposed in shared memory, with rows padded by PAD elements.
- The next tiles are loaded to registers while the current ones are multiplied.
- Out-of-bounds elements are zero, and vectors are as wide as the row length allows: M, N and K are arbitrary.

Cost: 128 registers per thread and 16 KiB of shared memory: two CTAs per SM.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from examples.products import reference
from examples.vectors import both, wide, widest
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import f32, u32

THREADS = 256
SIDE = 16  # the threads as a SIDE x SIDE grid
BLOCK, APART = 4, 64  # size of a block of a thread's part, and distance between blocks
SPACE = {"BM": (64, 128), "BN": (64, 128), "BK": (16, 32)}  # tuning space
PAD = 4  # columns added to the tile of A against bank conflicts; keeps rows aligned


@kernel(
    in_specs=(Tile("M", "K", f32, align=16), Tile("K", "N", f32, align=16)),
    out_specs=(Tile("M", "N", f32, align=16),),
    grid=lambda M, N, BM, BN: (-(-N // BN), -(-M // BM), 1),
    block=(THREADS, 1, 1),
)
def sgemm(a, b, c, *, BM=128, BN=128, BK=16):
    """Compute C (M x N) = A (M x K) @ B (K x N), row-major f32."""
    (M, K), N = a.shape, b.shape[1]
    check_sizes(BM, BN, BK)
    tid = reg.from_(ptx.special.tid.x(), u32)
    row = reg.from_(ptx.special.ctaid.y(), u32) * BM
    column = reg.from_(ptx.special.ctaid.x(), u32) * BN
    from_a, from_b, to_c = ptx.global_ptrs(a, b, c)

    # The elements this thread copies; A is transposed in shared memory.
    a_shared, b_shared = smem.alloc(f32, (BK, BM + PAD)), smem.alloc(f32, (BK, BN))
    a_part, b_part = Part.of(tid, BM, BK, widest(K, f32)), Part.of(tid, BK, BN, widest(N, f32))
    a_row, b_column = row + a_part.row, column + b_part.column
    from_a += wide(a_row, K * 4) + wide(a_part.column, 4)
    from_b += wide(b_part.row, N * 4) + wide(b_column, 4)
    put_a = byte_address(a_shared, a_part.column * (BM + PAD) + a_part.row)
    put_b = byte_address(b_shared, b_part.row * BN + b_part.column)
    a_numbers, b_numbers = a_part.numbers(), b_part.numbers()
    a_inside = [a_row + i * a_part.step < M if M % BM else None for i in range(a_part.count)]
    b_inside = b_column < N if N % BN else None

    def fetch(k: int | Reg) -> None:
        """Start loading BK columns of A and rows of B, from `k` on."""
        inside = a_part.column + k < K
        for i, (vector, row_inside) in enumerate(zip(a_numbers, a_inside, strict=True)):
            read(vector, ptx.addr(from_a, i * a_part.step * K * 4), both(inside, row_inside))
        for i, vector in enumerate(b_numbers):
            inside = b_part.row + i * b_part.step + k < K
            read(vector, ptx.addr(from_b, i * b_part.step * N * 4), both(inside, b_inside))
        ptx.inst.add.u64(from_a, from_a, BK * 4)
        ptx.inst.add.u64(from_b, from_b, BK * N * 4)

    rows, columns = BM // SIDE, BN // SIDE  # of this thread's part of C
    lane, warp = tid & 31, tid >> 5
    first_row = ((warp >> 1) * 4 + (lane >> 3)) * BLOCK
    first_column = ((warp & 1) * 8 + (lane & 7)) * BLOCK
    get_a, get_b = byte_address(a_shared, first_row), byte_address(b_shared, first_column)
    sums = [[reg.scalar(f32, 0.0) for _ in range(columns)] for _ in range(rows)]
    left, right = reg.array(f32, rows).regs(), reg.array(f32, columns).regs()

    fetch(0)
    for k in ptx.range_(0, K, BK):
        for i, vector in enumerate(a_numbers):
            for j, value in enumerate(vector):
                ptx.inst.st.shared.f32(ptx.addr(put_a, (j * (BM + PAD) + i * a_part.step) * 4), value)
        for i, vector in enumerate(b_numbers):
            write(ptx.inst.st.shared, ptx.addr(put_b, i * b_part.step * BN * 4), vector)
        ptx.bar.sync(0)
        fetch(k + BK)  # overlaps with the multiplication
        for j in range(BK):
            load_blocks(left, get_a, j * (BM + PAD))
            load_blocks(right, get_b, j * BN)
            for sums_of_row, x in zip(sums, left, strict=True):
                for total, y in zip(sums_of_row, right, strict=True):
                    ptx.inst.fma.rn.f32(total, x, y, total)
        ptx.bar.sync(0)

    row, column = row + first_row, column + first_column
    to_c += wide(row, N * 4) + wide(column, 4)
    size = widest(N, f32)
    inside_columns = [column + place(j) < N if N % BN else None for j in range(0, columns, size)]
    for i, sums_of_row in enumerate(sums):
        inside_row = row + place(i) < M if M % BM else None
        for j, inside in zip(range(0, columns, size), inside_columns, strict=True):
            write(
                ptx.inst.st.global_,
                ptx.addr(to_c, (place(i) * N + place(j)) * 4),
                sums_of_row[j : j + size],
                both(inside_row, inside),
            )


def check_sizes(BM: int, BN: int, BK: int) -> None:
    """Raise ValueError for tiles that the threads do not cover evenly."""
    for name, tile, what in (("BM", BM, APART), ("BN", BN, APART), ("BK", BK, 4)):
        if tile % what:
            raise ValueError(f"sgemm: {name}={tile} is not a multiple of {what}")
    for name, width, height in (("A", BK, BM), ("B", BN, BK)):
        if THREADS % (width // 4) or width * height % (4 * THREADS):
            raise ValueError(
                f"sgemm: {THREADS} threads cannot copy a {height} x {width} tile of {name} evenly; "
                f"choose powers of two for BM, BN and BK with at least {4 * THREADS} numbers in each tile"
            )


class Part(NamedTuple):
    """One thread's part of a tile copy: `count` vectors of `size` elements from (row, column) on, `step` rows apart."""

    row: Reg
    column: Reg
    step: int
    count: int
    size: int

    @classmethod
    def of(cls, tid: Reg, height: int, width: int, size: int) -> Part:
        """Return thread `tid`'s part of a height x width tile; neighboring threads read neighboring vectors."""
        per_row = width // size  # vectors; a power of two avoids a division
        shift = per_row.bit_length() - 1
        return cls(tid >> shift, (tid & (per_row - 1)) * size, THREADS // per_row, height * per_row // THREADS, size)

    def numbers(self) -> list[list[Reg]]:
        """Declare registers for the elements."""
        return [reg.array(f32, self.size).regs() for _ in range(self.count)]


def place(number: int) -> int:
    """Return the rows (or columns) of a thread's part, relative to its first one."""
    return number // BLOCK * APART + number % BLOCK


def byte_address(tile: smem.SharedAlloc, element: Reg) -> Reg:
    """Return the shared address of an f32 of the tile."""
    address = reg.from_(tile.name, u32)
    address += element << 2
    return address


def read(vector: Sequence[Reg], address: object, guard: Reg | None) -> None:
    """Load elements from global memory; zeros where the guard is false."""
    for value in vector:
        ptx.inst.mov.f32(value, 0.0)
    if len(vector) == 1:
        ptx.inst.ld.global_.f32(vector[0], address, pred=guard)
    else:
        getattr(ptx.inst.ld.global_, f"v{len(vector)}").f32(vector, address, pred=guard)


def write(space: Any, address: object, vector: Sequence[Reg], guard: Reg | None = None) -> None:
    """Store elements to the state space `space`, global or shared."""
    if len(vector) == 1:
        space.f32(address, vector[0], pred=guard)
    else:
        getattr(space, f"v{len(vector)}").f32(address, vector, pred=guard)


def load_blocks(values: list[Reg], start: Reg, element: int) -> None:
    """Load blocks of f32 into `values`, the first one `element` elements after a shared address."""
    for i in range(0, len(values), BLOCK):
        ptx.inst.ld.shared.v4.f32(values[i : i + BLOCK], ptx.addr(start, (element + place(i)) * 4))


def main() -> None:
    random = np.random.default_rng(0)
    a = random.standard_normal((250, 203), dtype=np.float32)
    b = random.standard_normal((203, 130), dtype=np.float32)
    compare(sgemm, [a, b], reference(a, b), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    main()

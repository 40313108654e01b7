"""Matrix fragments: the element in each register of each lane, for mma.sync, wgmma, wmma, ldmatrix, metadata and scales.

All these layouts are defined here. With `g = lane // 4`, `t = lane % 4`, `e` elements in a 32-bit register,
`r` the register and `j` the element in it, counted from the low bits:

    A, 16 rows   row g + 8 * (r & 1),  k = t * e + j + 4 * e * (r >> 1)         A, 8 rows    row g, k = t * e + j
    B            k = t * e + j + 4 * e * r,  n = g
    C, D         row g + 8 * (r >> 1 & 1),  n = 8 * (r >> 2) + 2 * t + (r & 1);  f16: row g + 8 * (r & 1), n = .. + j

Source: PTX ISA, "Matrix Fragments for mma", "Register Fragments for wgmma", and the accumulator of mma.m8n8k4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

__all__ = [
    "BITS",
    "Fragment",
    "accesses",
    "accumulator",
    "left",
    "metadata",
    "quad_pair",
    "right",
    "scale_lanes",
    "transposed",
    "wmma",
]

LANE = np.arange(32)
GROUP, THREAD = LANE >> 2, LANE & 3
BITS = {
    "f64": 64,
    "f32": 32,
    "s32": 32,
    "tf32": 32,
    "f16": 16,
    "bf16": 16,
    "e4m3": 8,
    "e5m2": 8,
    "e3m2": 8,
    "e2m3": 8,
    "e2m1": 8,
    "e2m1x8": 4,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
}  # e2m1 in a byte each, e2m1x8 dense


@dataclass(frozen=True, eq=False)
class Fragment:
    """A matrix distributed over a warp: `row` and `column` are arrays [register][element][lane].

    `batch` [lane] numbers the independent products of m8n8k4.f16, one per group of eight lanes; else None.
    """

    rows: int
    columns: int
    row: np.ndarray
    column: np.ndarray
    batch: np.ndarray | None = None

    @property
    def registers(self) -> int:
        """Registers per lane."""
        return self.row.shape[0]

    @property
    def elements(self) -> int:
        """Elements per register."""
        return self.row.shape[1]

    def indices(self) -> np.ndarray:
        """Return, for each [register][element][lane], batch * rows * columns + row * columns + column."""
        flat = self.row * self.columns + self.column
        return flat if self.batch is None else flat + self.batch * self.rows * self.columns

    def holders(self) -> np.ndarray:
        """Return, for each element in row-major order, its first holder as (register * elements + element) * 32 + lane."""
        indices = self.indices().reshape(-1)
        count = self.rows * self.columns * (4 if self.batch is not None else 1)
        found = np.full(count, -1)
        found[indices[::-1]] = np.arange(indices.size)[::-1]
        assert (found >= 0).all()
        return found


def _grid(registers: int, elements: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(registers)[:, None, None], np.arange(elements)[None, :, None]


def _fragment(rows: int, columns: int, row, column, batch=None) -> Fragment:
    row, column = np.broadcast_arrays(row, column)
    return Fragment(rows, columns, row, column, batch)


@cache
def left(rows: int, columns: int, bits: int) -> Fragment:
    """Layout of A for mma.sync (8 or 16 rows, or blocks of 16) and wgmma (16 rows of a warp); `columns` are stored ones."""
    e = max(1, 32 // bits)
    if rows == 8:
        r, j = _grid(columns // (4 * e), e)
        return _fragment(8, columns, GROUP, THREAD * e + j + 4 * e * r)
    inner = columns // (4 * e)  # register pairs of a block of 16 rows
    r, j = _grid(rows // 16 * 2 * inner, e)
    block, r = r // (2 * inner), r % (2 * inner)
    return _fragment(rows, columns, 16 * block + GROUP + 8 * (r & 1), THREAD * e + j + 4 * e * (r >> 1))


@cache
def right(rows: int, columns: int, bits: int) -> Fragment:
    """Layout of B for mma.sync: `rows` along k, blocks of 8 columns in sequence."""
    e = max(1, 32 // bits)
    inner = rows // (4 * e)
    r, j = _grid(columns // 8 * inner, e)
    return _fragment(rows, columns, THREAD * e + j + 4 * e * (r % inner), 8 * (r // inner) + GROUP)


@cache
def accumulator(rows: int, columns: int, bits: int) -> Fragment:
    """Layout of C and D: 8 rows, 16 rows (mma.sync, a warp of wgmma), or blocks of 16."""
    if rows == 8:
        if bits == 16:
            r, j = _grid(columns // 8, 2)
            return _fragment(8, columns, GROUP, 8 * r + 2 * THREAD + j)
        r, j = _grid(columns // 4, 1)
        return _fragment(8, columns, GROUP, 8 * (r >> 1) + 2 * THREAD + (r & 1) + 0 * j)
    per = columns // 8 * (2 if bits == 16 else 4)
    r, j = _grid(rows // 16 * per, 2 if bits == 16 else 1)
    block, r = r // per, r % per
    if bits == 16:
        return _fragment(rows, columns, 16 * block + GROUP + 8 * (r & 1), 8 * (r >> 1) + 2 * THREAD + j)
    return _fragment(rows, columns, 16 * block + GROUP + 8 * (r >> 1 & 1), 8 * (r >> 2) + 2 * THREAD + (r & 1) + 0 * j)


def transposed(fragment: Fragment) -> Fragment:
    """Return the layout of the transposed matrix in the same registers."""
    return Fragment(fragment.columns, fragment.rows, fragment.column, fragment.row, fragment.batch)


@cache
def quad_pair(operand: str, layout: str, bits: int) -> Fragment:
    """Layout of an operand of mma.m8n8k4 with f16 sources: "a" [8][4], "b" [4][8], "c" [8][8] of four products.

    Lanes 4q..4q+3 and 16+4q..16+4q+3 hold product q. `layout` is "row" or "col" of A and B.
    """
    high = LANE >= 16
    quad, t = (LANE & 15) >> 2, LANE & 3
    if operand == "c" and bits == 32:
        i = np.arange(8)[:, None, None]
        return _fragment(8, 8, (LANE & 1) + (i & 2) + 4 * high, (i & 4) + (LANE & 2) + (i & 1), quad)
    r, j = _grid(4 if operand == "c" else 2, 2)
    i = 2 * r + j
    if operand == "c":
        return _fragment(8, 8, t + 4 * high, i, quad)
    if operand == "a":
        return _fragment(8, 4, *((t + 4 * high, i) if layout == "row" else (i % 4 + 4 * high, t)), quad)
    return _fragment(4, 8, *((t, i + 4 * high) if layout == "row" else (i, t + 4 * high)), quad)


@cache
def wmma(operand: str, shape: tuple[int, int, int], bits: int, registers: int) -> Fragment:
    """Layout of a wmma fragment: "a" [m][k], "b" [k][n], "c" (and "d") [m][n].

    The PTX ISA does not define it. Here it is the layout of the equivalent mma.sync instructions: blocks of 16 rows of
    A, or of 8 columns of B, in sequence; shapes with 8 rows are the transposed ones with 8 columns. If there are more
    registers than elements (f16), the additional ones repeat the first.
    """
    m, n, k = shape
    if m == 8 and n == 32:
        other = {"a": "b", "b": "a"}.get(operand, operand)
        return transposed(wmma(other, (n, m, k), bits, registers))
    found = {"a": lambda: left(m, k, bits), "b": lambda: right(k, n, bits), "c": lambda: accumulator(m, n, bits)}[
        operand
    ]()
    if registers == found.registers:
        return found
    times = registers // found.registers
    return Fragment(found.rows, found.columns, np.tile(found.row, (times, 1, 1)), np.tile(found.column, (times, 1, 1)))


@cache
def metadata(rows: int, chunks: int, selector: int) -> tuple[np.ndarray, np.ndarray]:
    """Location of the four metadata bits of each chunk of A's columns: lane and shift, arrays [rows][chunks].

    A chunk is the columns that a pair of indices describes: four columns (eight of 4-bit types, two of tf32). With 4 chunks in a
    row one lane of a quad (`selector`) has all of rows g and g + 8; with 8, two lanes (2 * selector, 2 * selector + 1)
    have half a row each; with 16, four lanes have a half of one of the rows.
    """
    row, chunk = np.arange(rows)[:, None], np.arange(chunks)[None, :]
    g, low = row & 7, row >> 3 & 1
    if chunks == 4:
        return 4 * g + selector + 0 * chunk, 16 * low + 4 * chunk
    if chunks == 8:
        return 4 * g + 2 * selector + (chunk >> 2), 16 * low + 4 * (chunk & 3)
    return 4 * g + low + 2 * (chunk >> 3), 4 * (chunk & 7) + 0 * row


@cache
def scale_lanes(operand: str, thread: int) -> np.ndarray:
    """Lanes whose registers hold the scales of each row of A (16), or of each column of B (8)."""
    if operand == "a":
        row = np.arange(16)
        return 4 * (row & 7) + 2 * thread + (row >> 3)
    return 4 * np.arange(8) + thread


@cache
def accesses(fragment: Fragment, major: str, bits: int) -> tuple[int, list[tuple[int, int, np.ndarray, np.ndarray]]]:
    """Memory accesses of wmma loads and stores, for memory with contiguous rows ("row") or columns ("col").

    Returns:
        bytes per access, and for each access: register, bit in it, and per lane the line and the element in it.
    """
    line, within = (fragment.row, fragment.column) if major == "row" else (fragment.column, fragment.row)
    count = fragment.elements
    together = (line == line[:, :1]).all() and (within == within[:, :1] + np.arange(count)[:, None]).all()
    step = count if together else 1
    assert together or bits >= 8
    found = [
        (r, bits * j % 64, line[r, j], within[r, j]) for r in range(fragment.registers) for j in range(0, count, step)
    ]
    return bits * step // 8, found


@cache
def matrix_rows(fragment: Fragment, major: str) -> np.ndarray:
    """Rows of the 8 x 8 matrices of 16-bit elements in which ptxas loads a fragment from shared memory (LDSM).

    Returns:
        for each row the line and its first element, eight rows to a matrix; int64 [rows][2].
    """
    lines, elements = (fragment.rows, fragment.columns) if major == "row" else (fragment.columns, fragment.rows)
    return np.array(
        [(line, first) for top in range(0, lines, 8) for first in range(0, elements, 8) for line in range(top, top + 8)]
    )

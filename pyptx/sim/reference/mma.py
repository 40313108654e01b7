"""mma.sync and wmma.mma: gather fragments from registers, multiply, scatter the result (core/src/mma.c)."""

from __future__ import annotations

import numpy as np

from pyptx.sim.actions import Mma, Scale, Value
from pyptx.sim.layouts import fragments
from pyptx.sim.layouts.fragments import BITS, Fragment
from pyptx.sim.reference import lane_values, matrix_product
from pyptx.sim.reference.state import Runner

__all__ = ["gather", "registers", "run", "scatter", "sparse"]

_ALL = 0xFFFFFFFF


def registers(runner: Runner, values: tuple[Value, ...]) -> np.ndarray:
    """Read registers as bits [register][lane]."""
    return np.array([lane_values.read(runner, v, _ALL) for v in values], np.uint64)


def gather(rows: np.ndarray, fragment: Fragment, type_name: str) -> np.ndarray:
    """Assemble the matrix in registers as numbers [batch][row][column]; for b1, words of 32 columns."""
    bits, count = BITS[type_name], fragment.elements
    if type_name == "b1":
        return _words(rows, fragment)
    shifts = np.arange(count, dtype=np.uint64) * np.uint64(bits % 64)
    cut = np.uint64((1 << bits) - 1)
    planes = matrix_product.decode(rows[:, None, :] >> shifts[None, :, None] & cut, type_name)
    return planes.reshape(-1)[fragment.holders()].reshape(-1, fragment.rows, fragment.columns)


def _words(rows: np.ndarray, fragment: Fragment) -> np.ndarray:
    """Registers of b1 hold 32 columns of a row of A, or 32 rows of a column of B."""
    column_wise = (fragment.column[0, 0] == fragment.column[0, 1]).all()
    word, line = (fragment.row, fragment.column) if column_wise else (fragment.column, fragment.row)
    found = np.zeros((max(fragment.rows, fragment.columns) // 32, int(line.max()) + 1), np.uint32)
    found[word[:, 0] // 32, line[:, 0]] = rows.astype(np.uint32)
    return (found if column_wise else found.T)[None]


def scatter(runner: Runner, data, fragment: Fragment, matrix: np.ndarray, type_name: str) -> None:
    """Write a matrix [batch][row][column] of numbers to registers."""
    bits = matrix_product.encode(matrix, type_name).reshape(-1)[fragment.indices()]
    for register, elements in zip(data, bits, strict=True):
        packed = np.zeros(32, np.uint64)
        for j, lanes in enumerate(elements):
            packed |= lanes << np.uint64(j * BITS[type_name] % 64)
        lane_values.write(runner, register, _ALL, [int(v) for v in packed])


def sparse(runner: Runner, stored: np.ndarray, metadata: Value | None, selector: int, type_name: str) -> np.ndarray:
    """Expand sparse A with the metadata register."""
    chunks = 2 * stored.shape[1] // {32: 2, 4: 8}.get(BITS[type_name], 4)
    lanes, shifts = fragments.metadata(stored.shape[0], chunks, selector)
    assert metadata is not None
    word = registers(runner, (metadata,))[0]
    return matrix_product.expand(
        stored, (word[lanes] >> shifts.astype(np.uint64) & np.uint64(15)).astype(np.int64), type_name
    )


def _scales(runner: Runner, scale: Scale | None, operand: str, count: int, type_name: str) -> np.ndarray | None:
    if scale is None:
        return None
    first, thread = (lane_values.read(runner, v, 1)[0] & 3 for v in (scale.byte, scale.thread))
    word = registers(runner, (scale.value,))[0][fragments.scale_lanes(operand, thread) & 31]
    bytes_ = [word >> np.uint64(8 * (first + i) % 32) & np.uint64(255) for i in range(count)]
    return matrix_product.decode(np.stack(bytes_, axis=1), type_name)


def run(runner: Runner, action: Mma) -> None:
    """Execute a product of a warp."""
    p = action.product
    fa, fb, fc, fd = action.fragments
    a, b, c = (
        gather(registers(runner, v), f, t)
        for v, f, t in ((action.a, fa, p.a), (action.b, fb, p.b), (action.c, fc, p.c))
    )
    if action.metadata is not None:
        a = sparse(runner, a[0], action.metadata, action.selector, p.a)[None]
    blocks = p.k // p.scale if p.scale else 0
    scales = (
        _scales(runner, action.scale_a, "a", blocks, p.scale_type),
        _scales(runner, action.scale_b, "b", blocks, p.scale_type),
    )
    hardware = runner.run.plan.tensor_cores == "hw" and p.model is not None
    d = np.stack(
        [matrix_product.multiply(p, *matrices, *scales, hardware=hardware) for matrices in zip(c, a, b, strict=True)]
    )
    scatter(runner, action.data, fd, d, p.d)

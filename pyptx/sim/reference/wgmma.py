"""wgmma: each warp multiplies its 16 rows of A with all of B (core/wgmma.c, tile.c)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyptx.sim import fragments
from pyptx.sim.fragments import BITS
from pyptx.sim.memory import SHARED_START
from pyptx.sim.reference import execute, mma, product
from pyptx.sim.reference.state import Fault
from pyptx.sim.tensor import Wgmma

__all__ = ["Tile", "read_tile", "run", "wgmma_tile"]

_ALL = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Tile:
    """What a matrix descriptor says: start and distances in bytes, `chunks` of 16 bytes in a row of the swizzle (1:
    none), the row of the pattern the start lies in, and whether elements next to each other lie along M or N.
    """

    start: int
    leading: int
    stride: int
    chunks: int
    phase: int
    mn: bool


def wgmma_tile(descriptor: int, major: str) -> Tile:
    """The descriptor of wgmma. Source: PTX ISA, "Matrix Descriptor Format"."""
    start, leading, stride = ((descriptor >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
    return Tile(start, leading, stride, (1, 8, 4, 2)[descriptor >> 62], descriptor >> 49 & 7, major == "mn")


def read_tile(shared: bytearray, tile: Tile, type_name: str, rows: range, columns: int) -> np.ndarray:
    """Rows and all columns along k of a tile in shared memory, as numbers [row][k]; of b1 words of 32 columns.

    Raises:
        Fault: it lies outside of shared memory.
    """
    bits = 32 if type_name == "b1" else BITS[type_name]
    columns = columns // 32 if type_name == "b1" else columns
    per, s = 128 // bits, tile.chunks                           # elements in 16 bytes
    row, k = np.array(rows)[:, None], np.arange(columns)[None, :]
    if tile.mn:
        chunk, within = row // per, row % per
        offset = k % 8 * 16 * s + chunk % s * 16
        offset = offset + (k // 8 * tile.leading + chunk * tile.stride if s == 1 else
                           k // 8 * tile.stride + chunk // s * tile.leading)
    else:
        chunk, within = k // per, k % per
        offset = row % 8 * 16 * s + row // 8 * tile.stride + chunk % s * 16 + chunk // s * tile.leading
    address = tile.start + offset
    address = address ^ ((address >> 7) - tile.phase & s - 1) << 4
    outside = (address < SHARED_START) | (address + 16 > SHARED_START + len(shared))
    if outside.any():
        raise Fault("bounds", 0, int((address.T if tile.mn else _by_eights(address, per)).reshape(-1)[
            np.argmax((outside.T if tile.mn else _by_eights(outside, per)).reshape(-1))]), 16)
    at = address - SHARED_START + within * bits // 8
    memory, code = np.frombuffer(bytes(shared), np.uint8), np.zeros(at.shape, np.uint64)
    for byte in range(max(1, bits // 8)):
        code |= memory[at + byte].astype(np.uint64) << np.uint64(8 * byte)
    if bits == 4:
        code = code >> (4 * (within & 1)).astype(np.uint64) & np.uint64(15)
    return product.decode(code, type_name)


def _by_eights(values: np.ndarray, per: int) -> np.ndarray:
    """In the order the core reads chunks: eight rows of the first, eight of the next; then the next eight rows."""
    return values[:, ::per].reshape(len(values) // 8, 8, -1).swapaxes(1, 2)


def run(runner, action: Wgmma) -> None:
    """The product of this warp."""
    p = action.product
    first = execute.read(runner, action.scale_d, 1)[0] & 1
    keep = first != int(action.scale_d_negated)
    b = read_tile(runner.cta.shared, wgmma_tile(execute.read(runner, action.b, 1)[0], action.major_b), p.b,
                  range(p.n), p.k).T
    stored = p.k // 2 if p.sparse else p.k
    if len(action.a) > 1:
        a = mma.gather(mma.registers(runner, action.a), fragments.left(16, stored, BITS[p.a]), p.a)[0]
    else:
        row = runner.warp.index % 4 * 16
        a = read_tile(runner.cta.shared, wgmma_tile(execute.read(runner, action.a[0], 1)[0], action.major_a), p.a,
                      range(row, row + 16), stored)
    if p.sparse:
        a = mma.sparse(runner, a, action.metadata, action.selector, p.a)
    if action.negate:
        a = -a
    layout = fragments.accumulator(16, p.n, BITS[p.d])
    if keep:
        c = mma.gather(mma.registers(runner, action.c), layout, p.d)[0]
    else:
        c = np.zeros((16, p.n), np.int64 if p.d == "s32" else np.float32)
    hardware = runner.run.plan.tensor_cores == "hw" and p.model is not None
    mma.scatter(runner, action.data, layout, product.multiply(p, c, a, b, hardware=hardware)[None], p.d)

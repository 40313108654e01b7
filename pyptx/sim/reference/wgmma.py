"""wgmma: each warp multiplies its 16 rows of A by B, asynchronously (core/src/wgmma.c)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyptx._frozen import frozen
from pyptx.sim.actions import Value, Wgmma, WgmmaGroup
from pyptx.sim.layouts import fragments
from pyptx.sim.layouts.fragments import BITS
from pyptx.sim.memory.address_space import SHARED_START
from pyptx.sim.reference import lane_values, matrix_product, mma
from pyptx.sim.reference.asynchronous import commit, issue, land_groups
from pyptx.sim.reference.state import ALL, Fault, Operation, Runner

__all__ = ["Tile", "group", "read_chunk", "read_tile", "run", "wgmma_tile"]


@frozen
class Tile:
    """Tile of shared memory that a matrix descriptor describes.

    Attributes:
        start: address of the tile.
        leading, stride: distances in bytes.
        chunks: chunks of 16 bytes in a row of the swizzle; 1 without a swizzle.
        phase: row of the swizzle pattern in which the tile starts.
        mn: elements along M or N are contiguous, not along K.
        wide: the swizzle has atoms of 32 bytes.
    """

    start: int
    leading: int
    stride: int
    chunks: int
    phase: int
    mn: bool
    wide: bool = False

    def address(self, offset: Any) -> Any:
        """Return the address of the element at `offset` bytes (an int or an array) from the start."""
        address = self.start + offset
        if self.wide:
            return address ^ ((address >> 7) - self.phase & 3) << 5
        return address ^ ((address >> 7) - self.phase & self.chunks - 1) << 4


def wgmma_tile(descriptor: int, major: str) -> Tile:
    """Decode a matrix descriptor of wgmma. Source: PTX ISA, "Matrix Descriptor Format"."""
    start, leading, stride = ((descriptor >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
    return Tile(start, leading, stride, (1, 8, 4, 2)[descriptor >> 62], descriptor >> 49 & 7, major == "mn")


def read_tile(shared: bytearray, tile: Tile, type_name: str, rows: range, columns: int) -> np.ndarray:
    """Read rows of a tile in shared memory as numbers [row][k]; for b1, words of 32 columns.

    For padded types ("e2m1.padded"), 16 elements fill the first 8 or 12 of 16 bytes.

    Raises:
        Fault: the tile exceeds shared memory.
    """
    packed = type_name.endswith(".padded")
    bits = 32 if type_name == "b1" else 8 if packed else BITS[type_name]
    columns = columns // 32 if type_name == "b1" else columns
    per, s = 128 // bits, tile.chunks  # elements in 16 bytes
    row, k = np.array(rows)[:, None], np.arange(columns)[None, :]
    if tile.mn:
        chunk, within = row // per, row % per
        lines = 4 if tile.wide else 8
        offset = k % lines * 16 * s + chunk % s * 16
        offset = offset + (
            k // 8 * tile.leading + chunk * tile.stride
            if s == 1
            else k // lines * tile.stride + chunk // s * tile.leading
        )
    else:
        chunk, within = k // per, k % per
        offset = row % 8 * 16 * s + row // 8 * tile.stride + chunk % s * 16 + chunk // s * tile.leading
    address = tile.address(offset)
    outside = (address < SHARED_START) | (address + 16 > SHARED_START + len(shared))
    if outside.any():
        raise Fault(
            "bounds",
            0,
            int(
                (address.T if tile.mn else _by_eights(address, per)).reshape(-1)[
                    np.argmax((outside.T if tile.mn else _by_eights(outside, per)).reshape(-1))
                ]
            ),
            16,
        )
    at = address - SHARED_START + within * bits // 8
    memory, code = np.frombuffer(bytes(shared), np.uint8), np.zeros(at.shape, np.uint64)
    if packed:
        return _padded(memory, address - SHARED_START, within, type_name.removesuffix(".padded"))
    for byte in range(max(1, bits // 8)):
        code |= memory[at + byte].astype(np.uint64) << np.uint64(8 * byte)
    if bits == 4:
        code = code >> (4 * (within & 1)).astype(np.uint64) & np.uint64(15)
    return matrix_product.decode(code, type_name)


def _padded(memory: np.ndarray, chunk: np.ndarray, within: np.ndarray, type_name: str) -> np.ndarray:
    bits = 4 if type_name == "e2m1" else 6
    first = chunk + within * bits // 8
    pair = memory[first].astype(np.uint64) | memory[first + 1].astype(np.uint64) << np.uint64(8)
    code = pair >> (within * bits % 8).astype(np.uint64) & np.uint64((1 << bits) - 1)
    return matrix_product.decode(code << np.uint64(2) if bits == 4 else code, type_name)


def read_chunk(shared: bytearray, tile: Tile, row: int, chunk: int) -> bytes:
    """Read 16 bytes of a row of a K-major tile.

    Raises:
        Fault: they are outside shared memory.
    """
    s = tile.chunks
    offset = row % 8 * 16 * s + row // 8 * tile.stride + chunk % s * 16 + chunk // s * tile.leading
    address = tile.address(offset)
    if address < SHARED_START or address + 16 > SHARED_START + len(shared):
        raise Fault("bounds", 0, address, 16)
    return bytes(shared[address - SHARED_START : address - SHARED_START + 16])


def _by_eights(values: np.ndarray, per: int) -> np.ndarray:
    """Reorder chunks as the core reads them: eight rows of each chunk, then the next eight rows."""
    return values[:, ::per].reshape(len(values) // 8, 8, -1).swapaxes(1, 2)


def run(runner: Runner, action: Wgmma) -> None:
    """Issue the product of this warp."""
    first = lane_values.read(runner, action.scale_d, 1)[0] & 1
    keep = first != int(action.scale_d_negated)
    left = _descriptor(runner, action.a[0]) if len(action.a) == 1 else 0
    right = _descriptor(runner, action.b)

    def land(op: Operation) -> None:
        if op.data is not None:
            for register, row in zip(action.data, op.data, strict=True):
                runner.warp.registers[register.index][:] = row
        _multiply(runner, action, left, right, keep=keep)

    op = Operation(runner, land, ALL, track="wgmma", after=frozenset({"wgmma"}))
    if runner.run.plan.schedule != "eager" and not _in_flight(runner, action):
        rows = [runner.warp.registers[register.index] for register in action.data]
        if keep:
            op.data = [list(row) for row in rows]
        for row in rows:
            row[:] = [ALL] * 32
    issue(op)


def _descriptor(runner: Runner, value: Value) -> int:
    """Read a matrix descriptor, which must be the same in all lanes."""
    lanes = lane_values.read(runner, value, ALL)
    for lane, found in enumerate(lanes):
        if found != lanes[0]:
            raise Fault("uniform", lane, found, lanes[0])
    return lanes[0]


def _in_flight(runner: Runner, action: Wgmma) -> bool:
    """Return whether a pending operation writes one of the accumulators."""
    mine = {register.index for register in action.data}
    pending = (
        runner.run.program.actions[op.pc]
        for op in runner.cta.cluster.pending
        if op.track == "wgmma" and op.warp is runner.warp
    )
    return any(isinstance(p, Wgmma) and not mine.isdisjoint(r.index for r in p.data) for p in pending)


def group(runner: Runner, action: WgmmaGroup) -> None:
    """Execute commit_group or wait_group; a fence has no effect on values."""
    if action.mode == "commit_group":
        commit(runner, "wgmma", ALL)
    elif action.mode == "wait_group":
        land_groups(runner, "wgmma", ALL, action.pending)


def _multiply(runner: Runner, action: Wgmma, left: int, right: int, *, keep: bool) -> None:
    """Compute the product of this warp."""
    p = action.product
    stored = p.k // 2 if p.sparse else p.k
    if len(action.a) > 1:
        a = mma.gather(mma.registers(runner, action.a), fragments.left(16, stored, BITS[p.a]), p.a)[0]
    else:
        row = runner.warp.index % 4 * 16
        a = read_tile(runner.cta.shared, wgmma_tile(left, action.major_a), p.a, range(row, row + 16), stored)
    b = np.concatenate(
        [
            read_tile(
                runner.cta.shared, wgmma_tile(right, action.major_b), p.b, range(first, min(first + 64, p.n)), p.k
            )
            for first in range(0, p.n, 64)
        ]
    ).T
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
    mma.scatter(runner, action.data, layout, matrix_product.multiply(p, c, a, b, hardware=hardware)[None], p.d)

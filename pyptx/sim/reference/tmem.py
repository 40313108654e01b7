"""Tensor memory: allocation, loads and stores, copies, shifts, commit (core/src/tmem.c)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from pyptx.sim import actions as act
from pyptx.sim.abi import TensorMemoryProblem
from pyptx.sim.arithmetic.bits import signed
from pyptx.sim.arithmetic.evaluator import minimum
from pyptx.sim.layouts.tmem import BLOCK, COLUMNS, LANES, TmemProblem, copy_lanes, copy_size, spread
from pyptx.sim.memory.address_space import SHARED_START
from pyptx.sim.reference import lane_values, wgmma
from pyptx.sim.reference._registry import handles
from pyptx.sim.reference.asynchronous import issue, land_track, lane_addresses, shared_place
from pyptx.sim.reference.mbarrier import check
from pyptx.sim.reference.state import ALL, Cta, Fault, Operation, Runner, Warp, lanes_of
from pyptx.sim.reference.wgmma import Tile

__all__ = ["ORDERED", "check_end", "faults_of", "group_ctas", "holds", "tile", "tmem_of", "value"]

ORDERED = frozenset({"tc"})  # operations of a thread complete in order
_BLOCKS = COLUMNS // BLOCK


@dataclass(eq=False)
class Tmem:
    """Tensor memory of a CTA.

    Attributes:
        used: bit mask of allocated blocks.
        blocks: number of blocks of each allocation, by its first block.
        makers: warp and instruction of each allocation, by its first block.
        group: cta_group that its instructions use, 0 before the first.
        exclusive: whether its only allocation is exclusive.
        wanted: columns and exclusiveness that wait for the other CTA of the pair.
        granted: first block that the other CTA of the pair allocated for this one.
    """

    cells: np.ndarray = field(default_factory=lambda: np.zeros((LANES, COLUMNS), np.uint32))
    used: int = 0
    blocks: dict[int, int] = field(default_factory=dict)
    makers: dict[int, tuple[Warp, int]] = field(default_factory=dict)
    group: int = 0
    relinquished: bool = False
    exclusive: bool = False
    wanted: tuple[int, bool] | None = None
    granted: int | None = None


@contextmanager
def faults_of(lane: int) -> Iterator[None]:
    """Turn a TmemProblem into a fault of a lane."""
    try:
        yield
    except TmemProblem as problem:
        raise Fault("tmem", lane, problem.about, problem.problem) from None


def tmem_of(cta: Cta) -> Tmem:
    """Return the tensor memory of a CTA."""
    if not isinstance(cta.tmem, Tmem):
        cta.tmem = Tmem()
    return cta.tmem


def group_ctas(runner: Runner, group: int) -> list[Cta]:
    """Return the CTAs that an instruction of a cta_group works on, the even one first.

    Raises:
        TmemProblem: earlier instructions have another cta_group, or there is no pair.
    """
    own = tmem_of(runner.cta)
    if own.group not in (0, group):
        raise TmemProblem(TensorMemoryProblem.MIXED, own.group)
    own.group = group
    if group == 1:
        return [runner.cta]
    ctas, even = runner.cta.cluster.ctas, runner.cta.rank & ~1
    if even + 1 >= len(ctas):
        raise TmemProblem(TensorMemoryProblem.PAIR, len(ctas))
    for cta in ctas[even : even + 2]:
        tmem_of(cta)
    return ctas[even : even + 2]


def holds(cta: Cta, address: int, columns: int) -> None:
    """Check that columns are allocated.

    Raises:
        TmemProblem: not all of them are.
    """
    first = address & 0xFFFF
    blocks = range(first // BLOCK, (first + columns - 1) // BLOCK + 1)
    if first + columns > COLUMNS or not all(tmem_of(cta).used >> k & 1 for k in blocks):
        raise TmemProblem(TensorMemoryProblem.UNALLOCATED, columns << 32 | address)


def tile(descriptor: int, major: bool, tf32: bool) -> Tile:
    """Decode a matrix descriptor of tcgen05.

    Raises:
        TmemProblem: it is invalid, or the operand does not support its layout.
    """
    layout = descriptor >> 61
    chunks = {0: 1, 1: 8, 2: 8, 4: 4, 6: 2}.get(layout)
    if descriptor >> 46 & 7 != 1:
        raise TmemProblem(TensorMemoryProblem.VERSION, descriptor)
    if descriptor >> 52 & 1:
        raise TmemProblem(TensorMemoryProblem.ABSOLUTE, descriptor)
    if chunks is None or (layout == 1) != (major and tf32):
        raise TmemProblem(TensorMemoryProblem.LAYOUT, descriptor)
    start, leading, stride = ((descriptor >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
    return Tile(start, leading, stride, chunks, descriptor >> 49 & 7, major, layout == 1)


def value(runner: Runner, operand: act.Address | act.Value, lane: int) -> int:
    """Return a value, or an address in tensor memory, in one lane."""
    if isinstance(operand, act.Address):
        return lane_addresses(runner, operand, 1 << lane)[0] & 0xFFFFFFFF
    return lane_values.read(runner, operand, 1 << lane)[0]


def _whole(mask: int) -> None:
    if mask != ALL:
        raise Fault("warp", lanes_of(mask)[0], mask)


# allocation -----------------------------------------------------------------------------------------------------------


def _find_free(used: int, blocks: int, exclusive: bool, taken: bool) -> int | None:
    """Find free blocks for an allocation; None if there are none, or if it must wait for others."""
    if taken or (exclusive and used):
        return None
    return next((k for k in range(_BLOCKS - blocks + 1) if not used >> k & (1 << blocks) - 1), None)


def _take(runner: Runner, memory: Tmem, first: int, blocks: int) -> None:
    memory.used |= (1 << blocks) - 1 << first
    memory.blocks[first] = blocks
    memory.makers[first] = runner.warp, runner.pc
    memory.cells[:, first * BLOCK : (first + blocks) * BLOCK] = 0xFFFFFFFF


@handles(act.TmemAlloc)
def _alloc(runner: Runner, action: act.TmemAlloc, mask: int) -> bool:
    _whole(mask)
    with faults_of(0):
        ctas = group_ctas(runner, action.group)
        own, columns = tmem_of(runner.cta), value(runner, action.columns, 0)
        if columns not in (range(32, 513, 32) if action.exclusive else (32, 64, 128, 256, 512)):
            raise TmemProblem(TensorMemoryProblem.BLOCKS if action.exclusive else TensorMemoryProblem.COLUMNS, columns)
        if own.relinquished:
            raise TmemProblem(TensorMemoryProblem.RELINQUISHED)
        address = lane_addresses(runner, action.to, 1)[0]
        at, offset = shared_place(runner, 0, address, 4, 4, action.to.space, own=True)
        blocks = columns // BLOCK
        if len(ctas) == 1:
            first = _find_free(own.used, blocks, action.exclusive, own.exclusive)
            if first is None:
                return False
            _take(runner, own, first, blocks)
            own.exclusive = action.exclusive
        elif own.granted is not None:
            first, own.granted = own.granted, None
            own.makers[first] = runner.warp, runner.pc
        else:
            peer = tmem_of(ctas[1] if ctas[0] is runner.cta else ctas[0])
            if peer.wanted is not None and peer.wanted[0] != columns:
                raise TmemProblem(TensorMemoryProblem.PAIR_SIZE, peer.wanted[0] << 32 | columns)
            if peer.wanted is not None and peer.wanted[1] != action.exclusive:
                raise TmemProblem(TensorMemoryProblem.EXCLUSIVE, columns)
            first = (
                None
                if peer.wanted is None
                else _find_free(own.used | peer.used, blocks, action.exclusive, own.exclusive or peer.exclusive)
            )
            own.wanted = columns, action.exclusive
            if first is None:
                return False
            _take(runner, own, first, blocks)
            _take(runner, peer, first, blocks)
            peer.granted, peer.wanted, own.wanted = first, None, None
            peer.exclusive = own.exclusive = action.exclusive
    at.shared[offset - SHARED_START : offset - SHARED_START + 4] = (first * BLOCK).to_bytes(4, "little")
    return True


@handles(act.TmemFree)
def _free(runner: Runner, action: act.TmemFree, mask: int) -> None:
    _whole(mask)
    with faults_of(0):
        group_ctas(runner, action.group)
        own, address, columns = tmem_of(runner.cta), value(runner, action.address, 0), value(runner, action.columns, 0)
        first, offset = divmod(address, BLOCK)
        if offset or first not in own.blocks:
            raise TmemProblem(TensorMemoryProblem.NOT_ALLOCATED, address)
        if own.blocks[first] * BLOCK != columns:
            raise TmemProblem(TensorMemoryProblem.SIZE, own.blocks[first] * BLOCK << 32 | columns)
        if own.exclusive != action.exclusive:
            raise TmemProblem(TensorMemoryProblem.EXCLUSIVE, columns)
        own.used &= ~((1 << own.blocks.pop(first)) - 1 << first)
        own.exclusive = False


@handles(act.TmemRelinquish)
def _relinquish(runner: Runner, action: act.TmemRelinquish, mask: int) -> None:
    _whole(mask)
    with faults_of(0):
        group_ctas(runner, action.group)
        tmem_of(runner.cta).relinquished = True


def check_end(cta: Cta) -> None:
    """Check at the end of a CTA that it has freed its tensor memory.

    Raises:
        Fault: an allocation is left.
    """
    memory = cta.tmem
    if not isinstance(memory, Tmem) or not memory.used:
        return
    first = min(memory.blocks)
    fault = Fault("tmem", 0, memory.blocks[first] * BLOCK << 32 | first * BLOCK, TensorMemoryProblem.LEAK)
    fault.where = (cta, *memory.makers[first])
    raise fault


# loads and stores -----------------------------------------------------------------------------------------------------


def _cells(runner: Runner, action: act.TmemLoad | act.TmemStore, registers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lanes and columns [register][thread] of an access, checked."""
    addresses = [a & 0xFFFFFFFF for a in lane_addresses(runner, action.address, ALL)]
    address, own = addresses[0], runner.warp.index % 4 * 32
    lane, column, count = spread(action.shape, registers, action.packed, action.split)
    for k, other in enumerate(addresses):
        with faults_of(k):
            if other != address:
                raise TmemProblem(TensorMemoryProblem.UNEVEN, address)
    with faults_of(0):
        first = address >> 16
        if first != own and not (action.shape != "32x32b" and first == own + 16):
            raise TmemProblem(TensorMemoryProblem.WARP, own << 32 | address)
        holds(runner.cta, address, count)
        if action.shape == "16x32bx2":
            holds(runner.cta, address + action.split & 0xFFFFFFFF, count)
    return first + lane, (address & 0xFFFF) + column


@handles(act.TmemLoad)
def _load(runner: Runner, action: act.TmemLoad, mask: int) -> None:
    """Load at once in every schedule: hardware orders reads of the registers after the load, and compilers rely on it."""
    _whole(mask)
    count = len(action.data) - (action.reduction is not None)
    lanes, columns = _cells(runner, action, count)
    cells = tmem_of(runner.cta).cells
    found = cells[lanes, columns]
    if action.packed:
        found = found & np.uint32(0xFFFF) | cells[lanes, columns + 1] << np.uint32(16)
    for register, row in zip(action.data, found, strict=False):
        lane_values.write(runner, register, ALL, [int(v) for v in row])
    if action.reduction is not None:
        values = [_reduced([int(v) for v in column], action.reduction) for column in found.T]
        lane_values.write(runner, action.data[-1], ALL, values)


def _reduced(values: list[int], reduction: tuple[str, str, bool, bool]) -> int:
    operation, type_name, absolute, nan = reduction
    if type_name != "f32":
        return {"min": min, "max": max}[operation](values, key=lambda v: signed(v, 32) if type_name == "s32" else v)
    flags = frozenset({"nan"} if nan else ())
    values = [v & 0x7FFFFFFF for v in values] if absolute else values
    result = minimum(values[0], values[0], "f32", largest=False, flags=flags)
    for v in values[1:]:
        result = minimum(result, v, "f32", largest=operation == "max", flags=flags)
    return result


@handles(act.TmemStore)
def _store(runner: Runner, action: act.TmemStore, mask: int) -> None:
    _whole(mask)
    lanes, columns = _cells(runner, action, len(action.source))
    values = np.array([lane_values.read(runner, v, ALL) for v in action.source], np.uint32)

    def put(cta: Cta, bits: np.ndarray) -> None:
        cells = tmem_of(cta).cells
        cells[lanes, columns] = bits & np.uint32(0xFFFF) if action.packed else bits
        if action.packed:
            cells[lanes, columns + 1] = bits >> np.uint32(16)

    if runner.run.plan.schedule != "eager":
        tmem_of(runner.cta).cells[lanes, columns] = 0xFFFFFFFF
        if action.packed:
            tmem_of(runner.cta).cells[lanes, columns + 1] = 0xFFFFFFFF
    issue(Operation(runner, lambda op: put(op.cta, values), ALL, track="tc_st"))


@handles(act.TmemWait)
def _wait(runner: Runner, action: act.TmemWait, mask: int) -> None:
    _whole(mask)
    if action.direction == "st":
        land_track(runner, "tc_st", mask)


# copies and shifts ----------------------------------------------------------------------------------------------------


def _expanded(chunk: bytes, bits: int) -> bytes:
    """Expand 16 bytes: elements of 4 and 6 bits to one per byte, 4-bit elements in bits 2 to 5."""
    if not bits:
        return chunk
    number = int.from_bytes(chunk, "little")
    return bytes((number >> bits * k & (1 << bits) - 1) << (2 if bits == 4 else 0) for k in range(16))


@handles(act.TmemCopy)
def _copy(runner: Runner, action: act.TmemCopy, mask: int) -> None:
    rows, chunks = copy_size(action.shape)
    lanes = copy_lanes(action.shape)
    for lane in lanes_of(mask):
        address, descriptor = value(runner, action.address, lane), value(runner, action.descriptor, lane)
        with faults_of(lane):
            ctas = group_ctas(runner, action.group)
            source = tile(descriptor, False, False)
            if (address >> 16) + int(lanes.max()) >= LANES:
                raise TmemProblem(TensorMemoryProblem.LANE, address)
            for cta in ctas:
                holds(cta, address, 4 * chunks)

        def land(op: Operation, address=address, source=source, ctas=ctas) -> None:
            for cta in ctas:
                for row in range(rows):
                    for c in range(chunks):
                        data = _expanded(wgmma.read_chunk(cta.shared, source, row, c), action.expansion)
                        column, to = (address & 0xFFFF) + 4 * c, (address >> 16) + lanes[row]
                        tmem_of(cta).cells[to, column : column + 4] = np.frombuffer(data, np.uint32)

        issue(Operation(runner, land, 1 << lane, track="tc", after=ORDERED))


@handles(act.TmemShift)
def _shift(runner: Runner, action: act.TmemShift, mask: int) -> None:
    for lane in lanes_of(mask):
        address = value(runner, action.address, lane)
        with faults_of(lane):
            ctas = group_ctas(runner, action.group)
            if (address >> 16) % 32 or address >> 16 >= LANES:
                raise TmemProblem(TensorMemoryProblem.LANE, address)
            for cta in ctas:
                holds(cta, address, 8)

        def land(op: Operation, address=address, ctas=ctas) -> None:
            first, column = address >> 16, address & 0xFFFF
            for cta in ctas:
                cells = tmem_of(cta).cells[first : first + 32, column : column + 8]
                cells[:31] = cells[1:].copy()

        issue(Operation(runner, land, 1 << lane, track="tc", after=ORDERED))


@handles(act.Tcgen05Commit)
def _commit(runner: Runner, action: act.Tcgen05Commit, mask: int) -> None:
    ctas = runner.cta.cluster.ctas
    for lane in lanes_of(mask):
        with faults_of(lane):
            group_ctas(runner, action.group)
        address = lane_addresses(runner, action.barrier, 1 << lane)[0]
        at, offset = shared_place(runner, lane, address, 8, 8, action.barrier.space)
        targets = 1 << at.rank if action.ctas is None else value(runner, action.ctas, lane)
        with faults_of(lane):
            if targets >> len(ctas):
                raise TmemProblem(TensorMemoryProblem.TARGET, targets.bit_length() - 1)
        for rank, cta in enumerate(ctas):
            if targets >> rank & 1:
                check(cta, offset, lane)
                issue(Operation(runner, lambda op: None, 1 << lane, after=ORDERED, at=cta, barrier=offset, arrivals=1))

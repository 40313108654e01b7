"""Instructions on tensors and tensor maps, lane by lane (core/src/tensor_copy.c)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pyptx.sim.abi import TensorCopyProblem
from pyptx.sim.actions import Address, TensorCopy, TensormapCopy, TensormapFence, TensormapReplace, Value
from pyptx.sim.memory.address_space import PARAM_WINDOW, SHARED_START, SHARED_WINDOW
from pyptx.sim.reference import lane_values, mbarrier, tensor_copy, tensor_map
from pyptx.sim.reference._registry import handles
from pyptx.sim.reference.asynchronous import global_place, issue, lane_addresses, poison, shared_place
from pyptx.sim.reference.state import Cta, Fault, Operation, Runner, lanes_of
from pyptx.sim.reference.tensor_map import Geometry, Map, Request, TensorProblem
from pyptx.tensor_map._layout import LAYOUT, MAGIC, VERSION

_WINDOW, _RANK = 1 << 32, 24  # bits of an address below the rank of its CTA


def _fault(lane: int, problem: TensorProblem) -> Fault:
    return Fault("tensor", lane, problem.about, problem.problem | problem.detail << 8)


def _map(runner: Runner, lane: int, address: int, base: int | None) -> Map:
    """Read the tensor map at a generic address; `base` replaces the address of its tensor."""
    m = _read(runner, lane, address)
    return m if base is None else m._replace(address=base)


def _read(runner: Runner, lane: int, address: int) -> Map:
    if address % 64:
        raise TensorProblem(TensorCopyProblem.MAP_ALIGNMENT, address)
    at = address - PARAM_WINDOW
    if 0 <= at < _WINDOW:
        data = bytes(runner.run.params[at : at + 128])
        if len(data) < 128:
            raise TensorProblem(TensorCopyProblem.MAP_SPACE, address)
        return Map.read(data, address)
    try:
        return Map.read(bytes(global_place(runner, lane, address, 128, 64)), address)
    except Fault:
        raise TensorProblem(TensorCopyProblem.MAP_SPACE, address) from None


def _host(runner: Runner, lane: int) -> Callable[[int, int, bool], np.ndarray]:
    def host(address: int, bytes_: int, writes: bool) -> np.ndarray:
        try:
            return global_place(runner, lane, address, bytes_, 1, writes=writes)
        except Fault as fault:
            problem = TensorCopyProblem.READ_ONLY if fault.kind == "read_only" else TensorCopyProblem.GLOBAL_BOUNDS
            raise TensorProblem(problem, address) from None

    return host


def _values(runner: Runner, items: tuple[Value, ...], mask: int, bits: int, *, signed: bool) -> list[tuple[int, ...]]:
    """Read values in each lane."""
    cut = (1 << bits) - 1
    columns = [[v & cut for v in lane_values.read(runner, item, mask)] for item in items]
    if signed:
        columns = [[v - (v >> bits - 1 << bits) for v in column] for column in columns]
    return list(zip(*columns, strict=True)) if columns else [()] * mask.bit_count()


@handles(TensorCopy)
def _copy(runner: Runner, action: TensorCopy, mask: int) -> None:
    lanes = lanes_of(mask)
    coordinates = _values(runner, action.coordinates, mask, 32, signed=True)
    offsets = _values(runner, action.offsets, mask, 16, signed=False)
    maps = lane_addresses(runner, action.map, mask)
    bases = lane_values.read(runner, action.base, mask) if action.base is not None else [None] * len(lanes)
    none = [0] * len(lanes)
    shared = lane_addresses(runner, action.shared, mask) if action.shared else none
    barriers = lane_addresses(runner, action.barrier, mask) if action.barrier else none
    targets = lane_values.read(runner, action.mask, mask) if action.mask is not None else [None] * len(lanes)
    for k, lane in enumerate(lanes):
        request = Request(
            action.direction,
            action.mode,
            action.rank,
            coordinates[k],
            offsets[k],
            action.reduction or "",
            action.inside,
        )
        try:
            m = _map(runner, lane, maps[k], bases[k])
            g = tensor_map.geometry(m, request, maps[k])
            if action.direction == "prefetch":
                tensor_copy.check(m, request, g, 0, bytearray())
                continue
            _start(runner, action, lane, request, m, g, maps[k], bases[k], shared[k], barriers[k], targets[k])
        except TensorProblem as problem:
            raise _fault(lane, problem) from None


def _start(
    runner: Runner,
    action: TensorCopy,
    lane: int,
    request: Request,
    m: Map,
    g: Geometry,
    at: int,
    base: int | None,
    address: int,
    barrier: int,
    mask: int | None,
) -> None:
    load = action.direction == "load"
    tensor_copy.check(m, request, g, address & (1 << _RANK) - 1, runner.cta.shared)
    target, offset = shared_place(runner, lane, address, 1, 1, "shared", own=not load)
    runner.run.counters.tma_bytes[runner.pc] += g.transaction
    if not load:
        issue(Operation(runner, _store(lane, request, g, at, base, offset), 1 << lane, track="bulk", stages=2))
        return
    signals, signal_at = shared_place(runner, lane, barrier, 8, 8, "shared")
    cluster = runner.cta.cluster
    if mask is not None and mask >> len(cluster.ctas):
        raise TensorProblem(TensorCopyProblem.TARGET, mask.bit_length() - 1)
    if mask is None and signals is not target and not (action.pair and signals.rank ^ 1 == target.rank):
        raise TensorProblem(TensorCopyProblem.BARRIER, signals.rank)
    for rank in lanes_of(1 << target.rank if mask is None else mask):
        to = cluster.ctas[rank]
        told = signals if mask is None else to
        if mask is not None and action.pair:
            told = cluster.ctas[rank & ~1 | signals.rank & 1]
        mbarrier.check(told, signal_at, lane)
        poison(runner, to, offset, g.footprint)
        issue(
            Operation(
                runner,
                _load(lane, request, at, base, to, offset),
                1 << lane,
                at=told,
                barrier=signal_at,
                tx=g.transaction,
            )
        )


def _again(op: Operation, lane: int, request: Request, at: int, base: int | None, offset: int, shared: bytearray):
    """Read the map at the time the copy completes."""
    runner = op.runner
    m = _map(runner, lane, at, base)
    g = tensor_map.geometry(m, request, at)
    tensor_copy.check(m, request, g, offset, shared)
    return m, g, _host(runner, lane)


def _load(lane: int, request: Request, at: int, base: int | None, to: Cta, offset: int) -> Callable[[Operation], None]:
    def land(op: Operation) -> None:
        try:
            m, g, host = _again(op, lane, request, at, base, offset, to.shared)
            tensor_copy.load(m, request, g, host, to.shared, offset)
        except TensorProblem as problem:
            raise _fault(lane, problem) from None

    return land


def _store(
    lane: int, request: Request, first: Geometry, at: int, base: int | None, offset: int
) -> Callable[[Operation], None]:
    def land(op: Operation) -> None:
        if op.stage == 0:
            op.data = bytearray(op.cta.shared)  # the box as it is now
            return
        try:
            m, g, host = _again(op, lane, request, at, base, offset, op.data)
            move = tensor_copy.store if request.direction == "store" else tensor_copy.reduce
            move(m, request, g, host, op.data, offset)
        except TensorProblem as problem:
            raise _fault(lane, problem) from None

    return land


# tensor maps ----------------------------------------------------------------------------------------------------------

# field -> (place in the layout, of dimension 0 where there are five; what is stored for a value, None: not allowed)
_REPLACE = {
    "global_address": (9, lambda v: None if v % 16 else v),
    "rank": (2, lambda v: v + 1 if v <= 4 else None),
    "box_dim": (19, lambda v: v if 1 <= v <= 256 else None),
    "global_dim": (14, lambda v: v - 1 if v else None),
    "global_stride": (10, lambda v: None if v % 16 or v >> 40 else v),
    "element_stride": (30, lambda v: v if 1 <= v <= 8 else None),
    "elemtype": (3, lambda v: v if v <= 15 else None),
    "interleave_layout": (4, lambda v: v if v <= 2 else None),
    "swizzle_mode": (5, lambda v: v if v <= 4 else None),
    "swizzle_atomicity": (6, lambda v: v if v <= 3 else None),
    "fill_mode": (7, lambda v: v if v <= 1 else None),
}


@handles(TensormapReplace)
def _replace(runner: Runner, action: TensormapReplace, mask: int) -> None:
    wide = action.field in ("global_address", "global_stride")
    values = [v if wide else v & 0xFFFFFFFF for v in lane_values.read(runner, action.value, mask)]
    place, stored = _REPLACE[action.field]
    for lane, address, value in zip(lanes_of(mask), lane_addresses(runner, action.address, mask), values, strict=True):
        data = _map_bytes(runner, lane, address, action.address, writes=True)
        fields = list(LAYOUT.unpack(bytes(data)))
        if not any(bytes(data)):  # nothing set yet: compilers clear a map and replace every field
            fields[:3] = MAGIC, VERSION, 1
        if fields[0] != MAGIC:
            raise _fault(lane, TensorProblem(TensorCopyProblem.MAP_MAGIC, address))
        new = stored(value)
        if new is None or (action.field == "global_stride" and action.ordinal > 3):
            raise _fault(lane, TensorProblem(TensorCopyProblem.FIELD, value))
        fields[place + action.ordinal] = new
        data[:] = np.frombuffer(LAYOUT.pack(*fields), np.uint8)


@handles(TensormapCopy)
def _copy_map(runner: Runner, action: TensormapCopy, mask: int) -> None:
    lane = lanes_of(mask)[0]
    source, target = (lane_addresses(runner, a, mask)[0] for a in (action.source, action.target))
    data = bytes(_map_bytes(runner, lane, source, action.source, writes=False))
    global_place(runner, lane, target, 128, 64, writes=True)[:] = np.frombuffer(data, np.uint8)


@handles(TensormapFence)
def _fence_map(runner: Runner, action: TensormapFence, mask: int) -> None:
    pass  # lanes run in program order and see one memory


def _map_bytes(runner: Runner, lane: int, address: int, of: Address, *, writes: bool) -> np.ndarray:
    """128 bytes of global memory, or of this CTA's shared memory."""
    in_shared = of.space == "shared" or (of.space == "generic" and 0 <= address - SHARED_WINDOW < _WINDOW)
    if not in_shared:
        return global_place(runner, lane, address, 128, 64, writes=writes)
    cta, offset = shared_place(runner, lane, address, 128, 64, of.space, own=True)
    start = offset - SHARED_START
    return np.frombuffer(cta.shared, np.uint8)[start : start + 128]

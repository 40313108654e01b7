"""Asynchronous copies: cp.async, bulk copies and reductions, st.async, red.async, st.bulk (core/src/async_copies.c)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pyptx.sim import actions as act
from pyptx.sim.actions import Atomic
from pyptx.sim.memory.address_space import SHARED_START
from pyptx.sim.reference import access, lane_values
from pyptx.sim.reference._registry import handles
from pyptx.sim.reference.access import apply_atomic
from pyptx.sim.reference.asynchronous import (
    commit,
    global_place,
    issue,
    land_groups,
    lane_addresses,
    poison,
    shared_place,
)
from pyptx.sim.reference.mbarrier import MOST, check
from pyptx.sim.reference.state import Cta, Fault, Operation, Runner, lanes_of
from pyptx.sim.value_types import width

__all__ = ["combine", "read_shared", "write_shared"]

_NOWHERE = act.Address("global", None, 0)  # of an atomic that is applied to bytes directly


def read_shared(cta: Cta, offset: int, size: int) -> bytes:
    """Read bytes of the shared memory of a CTA."""
    return bytes(cta.shared[offset - SHARED_START : offset - SHARED_START + size])


def write_shared(cta: Cta, offset: int, data: bytes) -> None:
    """Write bytes of the shared memory of a CTA."""
    cta.shared[offset - SHARED_START : offset - SHARED_START + len(data)] = data


@handles(act.CpAsync)
def _cp_async(runner: Runner, action: act.CpAsync, mask: int) -> None:
    lanes, size = lanes_of(mask), action.size
    counts = [size] * len(lanes) if action.bytes is None else lane_values.read(runner, action.bytes, mask)
    skips = [0] * len(lanes)
    if action.skip is not None:
        skips = [v ^ action.negated for v in lane_values.read(runner, action.skip, mask)]
    sources = lane_addresses(runner, action.source, mask)
    places, whole = {}, 0
    for lane, to, source, n, skip in zip(
        lanes, lane_addresses(runner, action.to, mask), sources, counts, skips, strict=True
    ):
        if n > size:
            raise Fault("size", lane, n, size)
        n = 0 if skip else n
        cta, offset = shared_place(runner, lane, to, size, size, action.to.space, own=True)
        if n == size:
            whole |= 1 << lane
        array = global_place(runner, lane, source, n, size) if 0 < n < size else None
        places[lane] = [cta, offset, array]
    if whole:
        found, _ = access.places(
            runner,
            "global",
            lanes_of(whole),
            [a for lane, a in zip(lanes, sources, strict=True) if whole >> lane & 1],
            size,
            False,
        )
        for lane, place in zip(lanes_of(whole), found, strict=True):
            places[lane][2] = place.memory[place.offset : place.offset + size]

    def land(op: Operation) -> None:
        for lane in lanes_of(op.lanes):
            cta, offset, array = places[lane]
            data = b"" if array is None else bytes(array)
            write_shared(cta, offset, data + bytes(size - len(data)))

    for cta, offset, _ in places.values():
        poison(runner, cta, offset, size)
    issue(Operation(runner, land, mask, track="cp"))


@handles(act.AsyncGroup)
def _group(runner: Runner, action: act.AsyncGroup, mask: int) -> None:
    if action.operation == "commit":
        commit(runner, action.track, mask)
    else:
        land_groups(
            runner,
            action.track,
            mask,
            None if action.operation == "all" else action.pending,
            1 if action.operation == "read" else 2,
        )


def combine(reduction: act.Reduction, old: bytes, new: bytes) -> bytes:
    """Apply a reduction to each element, as atomics do."""
    size = width(reduction.type) // 8
    action = Atomic(_NOWHERE, reduction.operation, reduction.type, False, size, 1, (None,), ())
    out = bytearray()
    for k in range(0, len(old), size):
        a, b = (int.from_bytes(x[k : k + size], "little") for x in (old, new))
        out += (apply_atomic(action, a, b, 0, ftz=reduction.flush) & (1 << 8 * size) - 1).to_bytes(size, "little")
    return bytes(out)


def _value(runner: Runner, value: act.Value | None, lane: int, otherwise: int) -> int:
    return otherwise if value is None else lane_values.read(runner, value, 1 << lane)[0]


@handles(act.BulkCopy)
def _bulk(runner: Runner, action: act.BulkCopy, mask: int) -> None:
    cluster, inside = runner.cta.cluster, action.left is not None
    tos, sources = (lane_addresses(runner, a, mask) for a in (action.to, action.source))
    barriers = lane_addresses(runner, action.barrier, mask) if action.barrier else [0] * len(tos)
    for lane, to, source, barrier in zip(lanes_of(mask), tos, sources, barriers, strict=True):
        size = _value(runner, action.bytes, lane, 0)
        left, right = _value(runner, action.left, lane, 0), _value(runner, action.right, lane, 0)
        if size % 16 or size > MOST or left > 15 or right > 15 or (inside and left + right > size):
            raise Fault("size", lane, size)
        owner, offset, target = None, 0, None
        if action.direction == "store":
            target = global_place(runner, lane, to, size, 16, writes=True)
        else:
            owner, offset = shared_place(runner, lane, to, size, 16, action.to.space, own=action.to.space == "shared")
        if action.direction != "load":
            place = shared_place(runner, lane, source, size, 16, action.source.space, own=True)
        elif inside and source % 16:
            place = global_place(runner, lane, source, size, 16)
        else:
            place = global_place(runner, lane, source + left, size - left - right, 1 if inside else 16)
        runner.run.counters.tma_bytes[runner.pc] += size
        bytes_ = _value(runner, action.byte_mask, lane, 0xFFFF) & 0xFFFF
        if action.direction == "store":
            assert target is not None and isinstance(place, tuple)
            cta, start = place
            issue(_store(runner, action, lane, target, cta, start, size, bytes_))
            continue
        assert action.barrier is not None and owner is not None
        at, bar = shared_place(runner, lane, barrier, 8, 8, action.barrier.space)
        if action.ctas is None:
            if at is not owner:
                raise Fault("remote", lane, barrier, 8)
            targets = [at]
        else:
            ctas = _value(runner, action.ctas, lane, 0)
            if ctas >> len(cluster.ctas):
                raise Fault("rank", lane, ctas, len(cluster.ctas))
            targets = [c for k, c in enumerate(cluster.ctas) if ctas >> k & 1]
        for cta in targets:
            check(cta, bar, lane)
            if action.reduction is None:
                poison(runner, cta, offset, size)
            issue(_load(runner, action, lane, cta, offset, place, size, bar, left, right))


def _load(
    runner: Runner,
    action: act.BulkCopy,
    lane: int,
    cta: Cta,
    offset: int,
    place: tuple[Cta, int] | np.ndarray,
    size: int,
    barrier: int,
    left: int,
    right: int,
) -> Operation:
    def land(op: Operation) -> None:
        data = read_shared(place[0], place[1], size) if isinstance(place, tuple) else bytes(place)
        if action.left is not None:
            data = b"\xff" * left + data + b"\xff" * right
        if action.reduction is not None:
            data = combine(action.reduction, read_shared(cta, offset, size), data)
        write_shared(cta, offset, data)

    return Operation(runner, land, 1 << lane, at=cta, barrier=barrier, tx=size)


def _store(
    runner: Runner, action: act.BulkCopy, lane: int, target: np.ndarray, cta: Cta, offset: int, size: int, bytes_: int
) -> Operation:
    def land(op: Operation) -> None:
        if op.stage == 0:
            op.data = read_shared(cta, offset, size)
            return
        data = op.data
        if action.reduction is not None:
            data = combine(action.reduction, bytes(target), data)
        elif bytes_ != 0xFFFF:
            there = bytes(target)
            data = bytes(d if bytes_ >> k % 16 & 1 else there[k] for k, d in enumerate(data))
        target[:] = np.frombuffer(data, np.uint8)

    return Operation(runner, land, 1 << lane, track="bulk", stages=2)


@handles(act.AsyncStore)
def _send(runner: Runner, action: act.AsyncStore, mask: int) -> None:
    size, total = action.size, action.size * len(action.values)
    columns = [lane_values.read(runner, v, mask) for v in action.values]
    tos = lane_addresses(runner, action.to, mask)
    barriers = lane_addresses(runner, action.barrier, mask) if action.barrier else [0] * len(tos)
    for lane, to, barrier, *values in zip(lanes_of(mask), tos, barriers, *columns, strict=True):
        data = b"".join((v & (1 << 8 * size) - 1).to_bytes(size, "little") for v in values)
        if action.barrier is None:
            target = global_place(runner, lane, to, total, total, writes=True)
            issue(Operation(runner, _sender(action, data, target), 1 << lane))
            continue
        cta, offset = shared_place(runner, lane, to, total, total, action.to.space)
        at, bar = shared_place(runner, lane, barrier, 8, 8, action.barrier.space)
        if at is not cta:
            raise Fault("remote", lane, barrier, 8)
        check(at, bar, lane)
        if action.reduction is None:
            poison(runner, cta, offset, total)
        issue(Operation(runner, _sender(action, data, (cta, offset)), 1 << lane, at=at, barrier=bar, tx=total))


def _sender(action: act.AsyncStore, data: bytes, target: tuple[Cta, int] | np.ndarray) -> Callable[[Operation], None]:
    """Return the function that completes an asynchronous store to shared or global memory."""

    def land(op: Operation) -> None:
        new = data
        if action.reduction is not None:
            old = read_shared(target[0], target[1], len(data)) if isinstance(target, tuple) else bytes(target)
            new = combine(action.reduction, old, data)
        if isinstance(target, tuple):
            write_shared(target[0], target[1], new)
        else:
            target[:] = np.frombuffer(new, np.uint8)

    return land


@handles(act.StBulk)
def _st_bulk(runner: Runner, action: act.StBulk, mask: int) -> None:
    for lane, to, size in zip(
        lanes_of(mask),
        lane_addresses(runner, action.to, mask),
        lane_values.read(runner, action.bytes, mask),
        strict=True,
    ):
        if size % 8:
            raise Fault("size", lane, size)
        cta, offset = shared_place(runner, lane, to, size, 8, action.to.space, own=True)
        write_shared(cta, offset, bytes(size))

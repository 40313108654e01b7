"""Instructions on mbarriers, lane by lane (core/src/mbarrier.c)."""

from __future__ import annotations

from pyptx.sim import actions as act
from pyptx.sim.reference import lane_values
from pyptx.sim.reference._registry import handles
from pyptx.sim.reference.asynchronous import issue, land_for, lane_addresses, shared_place
from pyptx.sim.reference.mbarrier import MOST, MOST_OF, Word, check, read_word, update, word_of, write_word
from pyptx.sim.reference.state import Cta, Fault, Operation, Runner, lanes_of


def _places(runner: Runner, address, mask: int):
    """Yield lane, CTA and offset of the mbarrier of each lane, checked in order."""
    for lane, at in zip(lanes_of(mask), lane_addresses(runner, address, mask), strict=True):
        yield lane, *shared_place(runner, lane, at, 8, 8, address.space, own=address.space == "shared")


def _counts(runner: Runner, value, mask: int) -> list[int]:
    return [1] * mask.bit_count() if value is None else lane_values.read(runner, value, mask)


@handles(act.MbarrierInit)
def _init(runner: Runner, action: act.MbarrierInit, mask: int) -> None:
    for (lane, at, offset), n in zip(
        _places(runner, action.address, mask), _counts(runner, action.count, mask), strict=True
    ):
        if not 1 <= n <= MOST_OF[action.layout]:
            raise Fault("mbarrier_count", lane, offset | at.base, n)
        write_word(at, offset, Word(n, n, 0, 0, action.layout))


@handles(act.MbarrierInval)
def _inval(runner: Runner, action: act.MbarrierInval, mask: int) -> None:
    for lane, at, offset in _places(runner, action.address, mask):
        check(at, offset, lane)
        at.shared[offset - 0x400 : offset - 0x400 + 8] = bytes(8)


@handles(act.MbarrierLayout)
def _layout(runner: Runner, action: act.MbarrierLayout, mask: int) -> None:
    found = [check(at, offset, lane).layout for lane, at, offset in _places(runner, action.address, mask)]
    lane_values.write(runner, action.data, mask, [int(layout == action.layout) for layout in found])


@handles(act.MbarrierArrive)
def _arrive(runner: Runner, action: act.MbarrierArrive, mask: int) -> None:
    bytes_ = action.expect or action.complete
    for (lane, at, offset), n in zip(
        _places(runner, action.address, mask), _counts(runner, action.count, mask), strict=True
    ):
        if not bytes_ and not 1 <= n <= MOST:
            raise Fault("mbarrier_count", lane, offset | at.base, n)
        if bytes_ and n > MOST:
            raise Fault("tx_range", lane, offset | at.base, n)
        arrivals = action.arrivals if bytes_ else n
        old = update(
            runner.run,
            at,
            offset,
            lane,
            expect=n if action.expect else 0,
            complete=n if action.complete else 0,
            arrivals=arrivals,
            drop=arrivals if action.drop else 0,
            stays=action.no_complete,
        )
        lane_values.write(runner, action.data, 1 << lane, [old.bits])


def _completed(runner: Runner, action: act.MbarrierTest | act.MbarrierWait, mask: int) -> list[int]:
    """Return 1 for each lane whose phase is complete, after completing the operations that complete it."""
    done = []
    phases = lane_values.read(runner, action.phase, mask)
    for (lane, at, offset), value in zip(_places(runner, action.address, mask), phases, strict=True):
        check(at, offset, lane)
        phase = value & 1 if action.parity else word_of(value).phase
        if not _is_complete(at, offset, phase) and runner.run.plan.schedule != "eager":
            land_for(at, offset)
        done.append(int(_is_complete(at, offset, phase)))
    return done


def _is_complete(at: Cta, offset: int, phase: int) -> bool:
    return read_word(at, offset).phase != phase


def _answer(runner: Runner, action: act.MbarrierTest | act.MbarrierWait, mask: int, done: list[int]) -> None:
    lane_values.write(runner, action.data, mask, done)
    for register in action.report:
        lane_values.write(runner, register, mask, [0] * len(done))


@handles(act.MbarrierTest)
def _test(runner: Runner, action: act.MbarrierTest, mask: int) -> None:
    _answer(runner, action, mask, _completed(runner, action, mask))


@handles(act.MbarrierWait)
def _wait(runner: Runner, action: act.MbarrierWait, mask: int) -> bool:
    done = _completed(runner, action, mask)
    if any(done):
        _answer(runner, action, mask, done)
    return any(done)


@handles(act.MbarrierPending)
def _pending(runner: Runner, action: act.MbarrierPending, mask: int) -> None:
    states = lane_values.read(runner, action.state, mask)
    lane_values.write(runner, action.data, mask, [word_of(v).pending for v in states])


@handles(act.CpAsyncArrive)
def _cp_arrive(runner: Runner, action: act.CpAsyncArrive, mask: int) -> None:
    while mask:
        places = list(_places(runner, action.address, mask))
        first, at, offset = places[0]
        same = sum(1 << lane for lane, *place in places if place == [at, offset])
        if not action.counted:
            update(runner.run, at, offset, first, arrivals=-same.bit_count())
        check(at, offset, first)
        issue(
            Operation(
                runner, lambda op: None, same, after=frozenset({"cp"}), at=at, barrier=offset, arrivals=same.bit_count()
            )
        )
        mask &= ~same

"""Shuffles, votes, matches and reductions over lanes."""

from __future__ import annotations

from pyptx.sim.actions import basic as act
from pyptx.sim.reference import lanevalues, matrix
from pyptx.sim.reference.alu import minimum
from pyptx.sim.reference.bits import signed
from pyptx.sim.reference.state import lanes_of

__all__ = ["run"]


def run(runner, action, mask: int) -> None:
    """Execute a collective for the lanes of `mask`, which are all there."""
    lanes = lanes_of(mask)
    match action:
        case act.Shuffle():
            _shuffle(runner, action, mask, lanes)
        case act.Vote():
            values = [bool(v) != action.negated for v in lanevalues.read(runner, action.value, mask)]
            result = {"all": int(all(values)), "any": int(any(values)), "uni": int(all(values) or not any(values)),
                      "ballot": sum(v << lane for v, lane in zip(values, lanes, strict=True))}[action.mode]
            lanevalues.write(runner, action.data, mask, [result] * len(lanes))
        case act.Match():
            values = lanevalues.read(runner, action.value, mask)
            if action.mode == "all":
                equal = len(set(values)) == 1
                lanevalues.write(runner, action.data, mask, [mask if equal else 0] * len(lanes))
                lanevalues.write(runner, action.equal, mask, [int(equal)] * len(lanes))
            else:
                same = [sum(1 << j for j, w in zip(lanes, values, strict=True) if w == v) for v in values]
                lanevalues.write(runner, action.data, mask, same)
        case act.Redux():
            _redux(runner, action, mask, lanes)
        case act.Elect():
            lanevalues.write(runner, action.data, mask, [lanes[0]] * len(lanes))
            lanevalues.write(runner, action.leader, mask, [int(lane == lanes[0]) for lane in lanes])
        case act.WarpBarrier():
            pass
        case act.Collective():
            matrix.run(runner, action, mask)


def _shuffle(runner, action: act.Shuffle, mask: int, lanes: list[int]) -> None:
    value = dict(zip(lanes, lanevalues.read(runner, action.value, mask), strict=True))
    offsets, segments = lanevalues.read(runner, action.lane, mask), lanevalues.read(runner, action.segment, mask)
    results, inside = [], []
    for i, offset, segment in zip(lanes, offsets, segments, strict=True):
        b, c, seg = offset & 31, segment & 31, segment >> 8 & 31
        top, low = (i & seg) | (c & ~seg & 31), i & seg
        match action.mode:
            case "up":
                j = i - b
                ok = j >= top
            case "down":
                j = i + b
                ok = j <= top
            case "bfly":
                j = i ^ b
                ok = j <= top
            case _:
                j = low | (b & ~seg & 31)
                ok = j <= top
        results.append(value.get((j if ok else i) & 31, 0))
        inside.append(int(ok))
    lanevalues.write(runner, action.data, mask, results)
    lanevalues.write(runner, action.inside, mask, inside)


def _redux(runner, action: act.Redux, mask: int, lanes: list[int]) -> None:
    values = lanevalues.read(runner, action.value, mask)
    if action.type == "f32":
        flags = frozenset({"nan"} if action.nan else ())
        if action.absolute:
            values = [v & 0x7FFFFFFF for v in values]
        result = minimum(values[0], values[0], "f32", largest=False, flags=flags)
        for v in values[1:]:
            result = minimum(result, v, "f32", largest=action.operation == "max", flags=flags)
    else:
        numbers = [signed(v, 32) for v in values] if action.type == "s32" else values
        result = numbers[0]
        for v in numbers[1:]:
            result = {"add": lambda a, b: a + b, "min": min, "max": max, "and": lambda a, b: a & b, "or": lambda a,
                      b: a | b,
                      "xor": lambda a, b: a ^ b}[action.operation](result, v)
        result &= 0xFFFFFFFF
    lanevalues.write(runner, action.data, mask, [result] * len(lanes))

"""Warp collectives: shuffles, votes, matches, reductions."""

from __future__ import annotations

from pyptx.sim import actions as act
from pyptx.sim.arithmetic.bits import signed
from pyptx.sim.arithmetic.evaluator import minimum
from pyptx.sim.reference import lane_values, matrix
from pyptx.sim.reference.state import Runner, lanes_of

__all__ = ["run"]


def run(runner: Runner, action: act.Collective, mask: int) -> None:
    """Execute a collective for the lanes of `mask`, which have all arrived."""
    lanes = lanes_of(mask)
    match action:
        case act.Shuffle():
            _shuffle(runner, action, mask, lanes)
        case act.Vote():
            values = [bool(v) != action.negated for v in lane_values.read(runner, action.value, mask)]
            result = {
                "all": int(all(values)),
                "any": int(any(values)),
                "uni": int(all(values) or not any(values)),
                "ballot": sum(v << lane for v, lane in zip(values, lanes, strict=True)),
            }[action.mode]
            lane_values.write(runner, action.data, mask, [result] * len(lanes))
        case act.Match():
            values = lane_values.read(runner, action.value, mask)
            if action.mode == "all":
                equal = len(set(values)) == 1
                lane_values.write(runner, action.data, mask, [mask if equal else 0] * len(lanes))
                lane_values.write(runner, action.equal, mask, [int(equal)] * len(lanes))
            else:
                same = [sum(1 << j for j, w in zip(lanes, values, strict=True) if w == v) for v in values]
                lane_values.write(runner, action.data, mask, same)
        case act.Redux():
            _redux(runner, action, mask, lanes)
        case act.Elect():
            lane_values.write(runner, action.data, mask, [lanes[0]] * len(lanes))
            lane_values.write(runner, action.leader, mask, [int(lane == lanes[0]) for lane in lanes])
        case act.WarpBarrier():
            pass
        case act.Collective():
            matrix.run(runner, action, mask)


def _shuffle(runner: Runner, action: act.Shuffle, mask: int, lanes: list[int]) -> None:
    value = dict(zip(lanes, lane_values.read(runner, action.value, mask), strict=True))
    offsets, segments = lane_values.read(runner, action.lane, mask), lane_values.read(runner, action.segment, mask)
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
    lane_values.write(runner, action.data, mask, results)
    lane_values.write(runner, action.inside, mask, inside)


def _redux(runner: Runner, action: act.Redux, mask: int, lanes: list[int]) -> None:
    values = lane_values.read(runner, action.value, mask)
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
            result = {
                "add": lambda a, b: a + b,
                "min": min,
                "max": max,
                "and": lambda a, b: a & b,
                "or": lambda a, b: a | b,
                "xor": lambda a, b: a ^ b,
            }[action.operation](result, v)
        result &= 0xFFFFFFFF
    lane_values.write(runner, action.data, mask, [result] * len(lanes))

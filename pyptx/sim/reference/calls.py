"""Calls: lanes that called together meet again where they return (core/calls.c takes the same decisions)."""

from __future__ import annotations

from pyptx.sim.actions import basic as act
from pyptx.sim.memory.host import HOST_FUNCTIONS, HostError, heap_among
from pyptx.sim.memory.spaces import FUNCTION_STRIDE, FUNCTION_WINDOW
from pyptx.sim.reference import access, execute, lanevalues
from pyptx.sim.reference.state import Fault, Frame, Group, lanes_of

__all__ = ["call", "host_call", "leave", "settle"]


def call(runner, group: Group, mask: int, action: act.Call) -> None:
    """Lanes `mask` of a group go into a function; the others go on behind the call and wait there."""
    warp, names = runner.warp, runner.run.program.names
    for part in action.before:
        execute.execute(runner, part, mask)
    targets = {names.bodies[action.name].start: mask} if action.name else _targets(runner, mask, action)
    if mask != group.mask:
        runner._split_off(group, mask)
    kept = [r.index for r in action.keeps.registers] if action.keeps else []
    frame = Frame(runner.pc, mask, group.frame, group.join, {k: list(warp.registers[k]) for k in kept})
    place = warp.frames.index(None) if None in warp.frames else len(warp.frames)
    warp.frames[place:place + 1] = [frame]
    group.join, group.frame = None, frame
    if len(targets) > 1:
        runner.run.counters.branches_divergent[runner.pc] += 1
    (group.pc, group.mask), *others = targets.items()
    for start, lanes in others:
        warp.spawn(Group(start, lanes, None, frame))
    for start, lanes in targets.items():
        for part in runner.run.program.prologues.get(start, ()):
            execute.execute(runner, part, lanes)


def _targets(runner, mask: int, action: act.Call) -> dict[int, int]:
    """Lanes by the function their address stands for."""
    names, found = runner.run.program.names, {}
    starts = names.function_starts()
    for lane, address in zip(lanes_of(mask), lanevalues.read(runner, action.address, mask), strict=True):
        number, rest = divmod(address - FUNCTION_WINDOW, FUNCTION_STRIDE)
        if rest or not 0 <= number < len(starts) or starts[number] is None:
            raise Fault("function", lane, address)
        start = names.bodies[starts[number]].start
        found[start] = found.get(start, 0) | 1 << lane
    return found


def leave(runner, group: Group, mask: int, action: act.Return) -> bool:
    """Lanes return; whether the group is gone. It goes on as all the lanes of the call when they are the last."""
    warp, frame = runner.warp, group.frame
    for part in action.stores:
        execute.execute(runner, part, mask)
    for join in warp.joins:
        if join.frame is frame:
            join.expected &= ~mask
    frame.arrived |= mask
    group.mask &= ~mask
    if not group.mask:
        warp.groups[warp.current] = None
    runner._settle_joins()
    settle(runner)
    return not group.mask


def settle(runner) -> None:
    """Let go on behind their call the lanes that have all returned, calls in the order of their places."""
    warp = runner.warp
    for place, frame in enumerate(warp.frames):
        if frame is None or frame.arrived != frame.expected:
            continue
        warp.frames[place] = None
        if not frame.expected:
            continue
        for index, values in frame.kept.items():
            for lane in lanes_of(frame.arrived):
                warp.registers[index][lane] = values[lane]
        for part in runner.run.program.actions[frame.pc].after:
            execute.execute(runner, part, frame.arrived)
        warp.spawn(Group(frame.pc + 1, frame.arrived, frame.join, frame.parent))
    while warp.frames and warp.frames[-1] is None:
        warp.frames.pop()


class _Lane:
    """The memory of a lane of a warp."""

    def __init__(self, runner, number: int):
        self.runner, self.number, self.heap = runner, number, heap_among(runner.run.segments)

    def read(self, address: int, size: int) -> bytes | None:
        try:
            place = access.place(self.runner, "generic", self.number, address, size, False)
        except Fault:
            return None
        return bytes(place.memory[place.offset:place.offset + size])


def host_call(runner, mask: int, action: act.HostCall) -> None:
    """Call a function of the driver for one lane after the other."""
    for part in action.before:
        execute.execute(runner, part, mask)
    columns = [lanevalues.read(runner, value, mask) for value in action.arguments]
    results = []
    for k, lane in enumerate(lanes_of(mask)):
        try:
            results.append(HOST_FUNCTIONS[action.name](_Lane(runner, lane), [column[k] for column in columns]))
        except HostError as error:
            raise Fault("host", lane, text=str(error)) from None
    lanevalues.write(runner, action.data, mask, results)
    for part in action.after:
        execute.execute(runner, part, mask)

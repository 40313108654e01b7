"""Calls and returns: lanes that called together reconverge where they return (core/src/calls.c)."""

from __future__ import annotations

from heapq import heappop, heappush

from pyptx.sim import actions as act
from pyptx.sim.abi import Limit
from pyptx.sim.memory.address_space import FUNCTION_STRIDE, FUNCTION_WINDOW
from pyptx.sim.memory.host_functions import HOST_FUNCTIONS, HostError, heap_among
from pyptx.sim.reference import access, execute, lane_values
from pyptx.sim.reference.state import Fault, Frame, Group, Runner, lanes_of

__all__ = ["call", "host_call", "leave", "settle"]


def call(runner: Runner, group: Group, mask: int, action: act.Call) -> None:
    """Call a function with the lanes `mask` of a group; the others wait behind the call."""
    warp, symbols = runner.warp, runner.run.program.symbols
    for part in action.before:
        execute.execute(runner, part, mask)
    targets = {symbols.bodies[action.name].start: mask} if action.name else _targets(runner, mask, action)
    if mask != group.mask:
        warp.split_off(group, mask, runner.pc)
    saved = action.saves.registers if action.saves else ()
    size = max(Limit.MIN_FRAME_BYTES, sum(4 if r.width == 1 else 128 * max(1, r.width // 32) for r in saved))
    if warp.stack_bytes + size > Limit.CALL_STACK_BYTES:
        raise Fault("call_depth", (mask & -mask).bit_length() - 1, len(warp.frames))
    warp.stack_bytes += size
    registers = {r.index: list(warp.registers[r.index]) for r in saved}
    slot = heappop(warp.free_frames) if warp.free_frames else len(warp.frames)
    frame = Frame(runner.pc, mask, group.frame, group.join, registers, slot, size)
    warp.frames[slot : slot + 1] = [frame]
    group.join, group.frame = None, frame
    if len(targets) > 1:
        runner.run.counters.branches_divergent[runner.pc] += 1
    (group.pc, group.mask), *others = targets.items()
    for start, lanes in others:
        warp.spawn(Group(start, lanes, None, frame))
    for start, lanes in targets.items():
        for part in runner.run.program.prologues.get(start, ()):
            execute.execute(runner, part, lanes)


def _targets(runner: Runner, mask: int, action: act.Call) -> dict[int, int]:
    """Group the lanes by the function at their address: first instruction -> mask."""
    symbols = runner.run.program.symbols
    names = symbols.function_starts()
    found: dict[int, int] = {}
    assert action.address is not None
    for lane, address in zip(lanes_of(mask), lane_values.read(runner, action.address, mask), strict=True):
        number, rest = divmod(address - FUNCTION_WINDOW, FUNCTION_STRIDE)
        name = names[number] if not rest and 0 <= number < len(names) else None
        if name is None:
            raise Fault("function", lane, address)
        start = symbols.bodies[name].start
        found[start] = found.get(start, 0) | 1 << lane
    return found


def leave(runner: Runner, group: Group, mask: int, action: act.Return) -> bool:
    """Return from a function; True if no lane is left in the group. The last lanes resume all lanes of the call."""
    warp, frame = runner.warp, group.frame
    assert frame is not None
    for part in action.stores:
        execute.execute(runner, part, mask)
    for join in warp.joins:
        if join.frame is frame:
            join.expected &= ~mask
    frame.arrived |= mask
    group.mask &= ~mask
    if not group.mask:
        warp.groups[warp.current] = None
    warp.settle_joins()
    _settle_frame(runner, frame)
    return not group.mask


def settle(runner: Runner) -> None:
    """Resume the lanes of calls from which all live lanes have returned, in the order of their slots."""
    for frame in filter(None, list(runner.warp.frames)):
        _settle_frame(runner, frame)


def _settle_frame(runner: Runner, frame: Frame) -> None:
    warp = runner.warp
    if frame.arrived != frame.expected:
        return
    warp.frames[frame.slot] = None
    heappush(warp.free_frames, frame.slot)
    warp.stack_bytes -= frame.size
    if frame.expected:
        _resume(runner, frame)


def resume_returned(runner: Runner, frame: Frame) -> None:
    """Resume those lanes of a call that have returned, without the others."""
    _resume(runner, frame)
    frame.expected &= ~frame.arrived
    frame.arrived = 0


def _resume(runner: Runner, frame: Frame) -> None:
    warp = runner.warp
    for index, values in frame.saved.items():
        for lane in lanes_of(frame.arrived):
            warp.registers[index][lane] = values[lane]
    action = runner.run.program.actions[frame.pc]
    assert isinstance(action, act.Call)
    for part in action.after:
        execute.execute(runner, part, frame.arrived)
    warp.spawn(Group(frame.pc + 1, frame.arrived, frame.join, frame.parent))


class _Lane:
    """Memory as a lane of a warp sees it (a `host_functions.Lane`)."""

    def __init__(self, runner: Runner, number: int):
        self.runner, self.number, self.heap = runner, number, heap_among(runner.run.segments)

    def read(self, address: int, size: int) -> bytes | None:
        """Read bytes at a generic address; None if some of them are not mapped."""
        try:
            place = access.place(self.runner, "generic", self.number, address, size, False)
        except Fault:
            return None
        return bytes(place.memory[place.offset : place.offset + size])


def host_call(runner: Runner, mask: int, action: act.HostCall) -> None:
    """Call a function of the driver, for one lane after the other."""
    for part in action.before:
        execute.execute(runner, part, mask)
    columns = [lane_values.read(runner, value, mask) for value in action.arguments]
    results = []
    for k, lane in enumerate(lanes_of(mask)):
        try:
            results.append(HOST_FUNCTIONS[action.name](_Lane(runner, lane), [column[k] for column in columns]))
        except HostError as error:
            raise Fault("host", lane, text=str(error)) from None
    lane_values.write(runner, action.data, mask, results)
    for part in action.after:
        execute.execute(runner, part, mask)

"""Scheduling of a warp: its groups of lanes run one at a time and reconverge at the immediate post-dominator.

The C core (core/src/warp.c) takes the same decisions in the same order.
"""

from __future__ import annotations

from pyptx.sim import actions as act
from pyptx.sim.reference import calls, clusters, collectives, cta_barriers, execute, lane_values
from pyptx.sim.reference._registry import HANDLERS
from pyptx.sim.reference.state import (
    AT_BARRIER,
    PARKED,
    READY,
    WAITING,
    Cta,
    Fault,
    Group,
    Join,
    Run,
    Runner,
    Warp,
    lanes_of,
)

__all__ = ["WarpRunner", "free_held"]


def _resume_join(warp: Warp, join: Join) -> None:
    waiting, join.arrived = join.arrived, 0
    join.expected &= ~waiting
    warp.spawn(Group(join.pc, waiting, join.parent, join.frame))


def _yield_join(warp: Warp, group: Group) -> None:
    """Resume the lanes that wait for a long-running group to reconverge, because the group may wait for them."""
    if group.join is not None and group.join.arrived:
        _resume_join(warp, group.join)


def _resume_nearest(runner: Runner, group: Group) -> bool:
    """Resume the lanes at the nearest reconvergence point or return where some wait for a group, if there are any."""
    join, frame = group.join, group.frame
    while True:
        while join is not None:
            if join.arrived:
                _resume_join(runner.warp, join)
                return True
            join = join.parent
        if frame is None:
            return False
        if frame.arrived:
            calls.resume_returned(runner, frame)
            return True
        join, frame = frame.join, frame.parent


def free_held(runner: Runner) -> bool:
    """Resume lanes that wait for blocked groups to reconverge or to return; return whether there were any.

    A group that polls memory may wait for them, and so may one at bar.warp.sync or at a barrier without .aligned, which lanes
    execute in different places. Other .sync operations and barriers wait for threads that have not exited, so lanes that
    reconverge at an exit do exit; other lanes stay, because a collective that only part of the warp executes is a mistake to
    report.
    """
    program, warp, found = runner.run.program, runner.warp, False
    for k in range(32):
        group = warp.groups[k]
        if group is None or group.state == READY:
            continue
        if group.state == WAITING or _is_divergent(program.actions[group.pc]):
            found |= _resume_nearest(runner, group)
        elif group.join is not None and group.join.arrived:
            pc = group.join.pc
            if pc >= len(program.actions) or (isinstance(program.actions[pc], act.Exit) and program.guards[pc] is None):
                _resume_join(warp, group.join)
                found = True
    return found


def _is_divergent(action: act.Action) -> bool:
    return isinstance(action, act.WarpBarrier) or (isinstance(action, act.CtaBarrier) and not action.aligned)


class WarpRunner(Runner):
    """Runs turns of a warp.

    Attributes:
        host_called: whether it called a function of the driver, which ends the turn of the CTA.
    """

    def __init__(self, run: Run, cta: Cta, warp: Warp):
        super().__init__(run, cta, warp)
        self.end = len(run.program.actions)
        self.host_called = False

    def turn(self, quantum: int) -> int:
        """Run until the warp waits, exits or has issued `quantum` instructions; return how many it issued."""
        warp = self.warp
        for group in warp.groups:
            if group is not None and group.state == WAITING:
                group.state, group.again = READY, True
        current = warp.groups[warp.current]
        if (current is None or current.state != READY) and not warp.next_group():
            for group in warp.groups:
                if group is not None and group.state == AT_BARRIER:
                    self.run.counters.waits[group.pc] += 1
            return 0
        self.left, self.turn_end = quantum, warp.issued + quantum
        try:
            while True:
                self._run_group()
                if self.host_called:
                    break
                if self.left < 0:
                    self.left = 0
                    current = warp.groups[warp.current]
                    if self.run.plan.yields and current is not None:
                        _yield_join(warp, current)
                    warp.next_group()
                    break
                if not warp.next_group():
                    break
        finally:
            warp.issued += quantum - self.left
        return quantum - self.left

    def _run_group(self) -> None:
        """Run the current group until it ends, waits, or the turn is over (then `left` is -1)."""
        warp, program = self.warp, self.run.program
        group = warp.groups[warp.current]
        assert group is not None
        while True:
            if not self._reconverge(group):
                return
            self.pc = pc = group.pc
            if pc == self.end:
                self._exit(group, group.mask)
                return
            action = program.actions[pc]
            mask = group.mask & self._guard(pc)
            if not group.again:
                if self.left == 0:
                    self.left = -1
                    return
                self.left -= 1
                if not isinstance(action, act.Collective):
                    self._count(pc, mask)
            match action:
                case act.Branch(target):
                    self._branch(group, mask, target)
                case act.Jump():
                    if mask:
                        self._jump(group, mask, action)
                    else:
                        group.pc += 1
                case act.Exit():
                    if mask and self._exit(group, mask):
                        return
                    group.pc += 1
                case act.Call():
                    if mask:
                        calls.call(self, group, mask, action)
                    else:
                        group.pc += 1
                case act.Return():
                    if mask and calls.leave(self, group, mask, action):
                        return
                    if not mask or group.mask & ~mask:
                        group.pc += 1
                case act.HostCall():
                    if mask:
                        calls.host_call(self, mask, action)
                        group.pc += 1
                        self.host_called = True
                        return
                    group.pc += 1
                case act.Trap():
                    if mask:
                        raise Fault("trap", lanes_of(mask)[0])
                    group.pc += 1
                case act.CtaBarrier():
                    if mask and self._barrier(group, mask, action):
                        return
                    if not mask or action.mode == "arrive":
                        group.pc += 1
                case act.Blocking():
                    again, group.again = group.again, False
                    if mask and not self._try(group, mask, action):
                        self.run.counters.waits[pc] += again
                        group.state = WAITING
                        return
                    if again:
                        self.run.landed = True
                    group.pc += 1
                case act.Collective():
                    if not mask:
                        self._count(pc, 0)
                    elif not self._synchronize(group, mask, action):
                        return
                    group.pc += 1
                case _:
                    if mask:
                        execute.execute(self, action, mask)
                    group.pc += 1

    def _guard(self, pc: int) -> int:
        guard = self.run.program.guards[pc]
        if guard is None:
            return 0xFFFFFFFF
        register, negated = guard
        bits = sum(bit << i for i, bit in enumerate(self.warp.registers[register.index]))
        return bits ^ 0xFFFFFFFF if negated else bits

    def _count(self, pc: int, mask: int) -> None:
        self.run.counters.issues[pc] += 1
        self.run.counters.lanes[pc] += mask.bit_count()

    def _reconverge(self, group: Group) -> bool:
        """Join the other lanes at the reconvergence point; return False if the group waits there for more of them."""
        warp = self.warp
        while group.join is not None and group.pc == group.join.pc:
            join = group.join
            join.arrived |= group.mask
            if join.arrived != join.expected:
                warp.groups[warp.current] = None
                return False
            warp.joins.remove(join)
            group.mask, group.join = join.arrived, join.parent
        return True

    def _branch(self, group: Group, mask: int, target: int) -> None:
        stay = group.mask & ~mask
        if not stay:
            group.pc = target
            return
        if mask:
            self.run.counters.branches_divergent[self.pc] += 1
            group.join = self.warp.join_at(self.run.program.reconvergence[self.pc], group)
            group.mask = stay
            if group.join is not None and group.join.pc == target:
                group.join.arrived |= mask
            else:
                self.warp.spawn(Group(target, mask, group.join, group.frame))
        group.pc += 1

    def _jump(self, group: Group, mask: int, action: act.Jump) -> None:
        parts: dict[int, int] = {}
        for lane, index in zip(lanes_of(mask), lane_values.read(self, action.index, mask), strict=True):
            if index >= len(action.targets):
                raise Fault("jump", lane, index, len(action.targets))
            parts[index] = parts.get(index, 0) | 1 << lane
        places = [(action.targets[index], lanes) for index, lanes in parts.items()]
        if group.mask & ~mask:
            places.append((self.pc + 1, group.mask & ~mask))
        if len(places) > 1:
            self.run.counters.branches_divergent[self.pc] += 1
            group.join = self.warp.join_at(self.run.program.reconvergence[self.pc], group)
            for target, lanes in places[1:]:
                self.warp.spawn(Group(target, lanes, group.join, group.frame))
        group.pc, group.mask = places[0]

    def _exit(self, group: Group, mask: int) -> bool:
        """Exit lanes; return whether none is left in the group."""
        warp = self.warp
        warp.live &= ~mask
        for point in (*warp.joins, *filter(None, warp.frames)):
            point.expected &= ~mask
        group.mask &= ~mask
        if not group.mask:
            warp.groups[warp.current] = None
        warp.settle_joins()
        calls.settle(self)
        for other in warp.groups:
            if other is not None and other.state == PARKED:
                other.state = READY
        if not warp.live:
            self.cta.left -= 1
        cta_barriers.recheck(self.run, self.cta)
        if self.cta.cluster.arrived:
            clusters.recheck(self.cta.cluster)
        return not group.mask

    def _barrier(self, group: Group, mask: int, action: act.CtaBarrier) -> bool:
        """Arrive at a CTA barrier; return whether the group waits."""
        if mask != group.mask and action.mode != "arrive":
            self.warp.split_off(group, mask, self.pc)
        cta_barriers.arrive(self, group, mask, action)
        return group.state != READY

    def _try(self, group: Group, mask: int, action: act.Action) -> bool:
        if mask != group.mask:
            self.warp.split_off(group, mask, self.pc)
        return bool(HANDLERS[type(action)](self, action, mask))

    def _synchronize(self, group: Group, mask: int, action: act.Collective) -> bool:
        """Wait for the live lanes of the membermask, then execute with all of them; return whether it was executed."""
        if mask != group.mask:
            self.warp.split_off(group, mask, self.pc)
        warp, named = self.warp, lane_values.read(self, action.members, mask)
        members = named[0]
        same = sum(1 << lane for lane, value in zip(lanes_of(mask), named, strict=True) if value == members)
        if same != mask:  # lanes with other membermasks
            group.join = warp.join_at(self.pc + 1, group)
            warp.spawn(Group(self.pc, mask & ~same, group.join, group.frame))
            mask = group.mask = same
        if mask & ~members:
            raise Fault("membermask", lanes_of(mask & ~members)[0], members, mask)
        need, have = members & warp.live, mask
        parked = [
            g
            for g in warp.groups
            if g is not None
            and g is not group
            and g.state == PARKED
            and (together := self._together(g, action)) is not None
            and lane_values.read(self, together.members, 1 << lanes_of(g.mask)[0])[0] == members
        ]
        if mask & need != need:
            for other in parked:
                have |= other.mask
        if have & need != need:
            group.state = PARKED
            return False
        have &= need | mask
        here = have
        collectives.run(self, action, have)
        if have != mask:
            for other in parked:
                if other.mask & ~have:
                    continue
                elsewhere = other.pc != self.pc
                if elsewhere:
                    self._count(other.pc, other.mask)
                    here &= ~other.mask
                other.state = READY
                other.pc += 1
                if other.join is group.join and not elsewhere:
                    group.mask |= other.mask
                    warp.groups[warp.groups.index(other)] = None
        self._count(self.pc, here)
        return True

    def _together(self, other: Group, action: act.Collective) -> act.Collective | None:
        """Return the operation at which a parked group waits if it is executed together with `action`."""
        if other.pc == self.pc:
            return action
        elsewhere = self.run.program.actions[other.pc]
        return elsewhere if isinstance(action, act.WarpBarrier) and isinstance(elsewhere, act.WarpBarrier) else None

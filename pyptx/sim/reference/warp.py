"""One warp: its groups of lanes run one at a time and meet again at the immediate post-dominator of the branch that
split them. core/interp.c takes the same decisions in the same order.
"""

from __future__ import annotations

from pyptx.sim.actions import basic as act
from pyptx.sim.reference import barrier, calls, clusters, execute, lanevalues, warpops
from pyptx.sim.reference.handlers import HANDLERS
from pyptx.sim.reference.state import AT_BARRIER, PARKED, READY, WAITING, Cta, Fault, Group, Run, Warp, lanes_of

__all__ = ["WarpRunner", "free_held"]


def _yield_join(warp: Warp, group: Group) -> None:
    """The group has run for long while others wait for it: let them go on alone, it may wait for them."""
    join = group.join
    if join is not None and join.arrived:
        waiting, join.arrived = join.arrived, 0
        join.expected &= ~waiting
        warp.spawn(Group(join.pc, waiting, join.parent, join.frame))


def free_held(warp: Warp) -> bool:
    """Lanes that wait at the meeting point of a group that waits itself go on alone; whether there were any."""
    found = False
    for k in range(32):
        group = warp.groups[k]
        if group is not None and group.state == WAITING and group.join is not None and group.join.arrived:
            _yield_join(warp, group)
            found = True
    return found


class WarpRunner:
    """Runs turns of a warp of a CTA."""

    def __init__(self, run: Run, cta: Cta, warp: Warp):
        self.run, self.cta, self.warp = run, cta, warp
        self.end = len(run.program.actions)
        self.pc = 0
        self.host_called = False            # it called a function of the driver, which ends the turn of its CTA

    def turn(self, quantum: int) -> int:
        """Run until the warp waits, has exited or has issued `quantum` instructions; how many it issued."""
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
                    if self.run.plan.yields:
                        _yield_join(warp, warp.groups[warp.current])
                    warp.next_group()
                    break
                if not warp.next_group():
                    break
        finally:
            warp.issued += quantum - self.left
        return quantum - self.left

    def _run_group(self) -> None:
        """Run the current group until it ends, waits, or time is up (then `left` is -1)."""
        warp, program = self.warp, self.run.program
        group = warp.groups[warp.current]
        while True:
            if not self._meet(group):
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
                if not isinstance(action, act.SYNCHRONIZING):
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
                case act.BarrierOp():
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
                case _ if isinstance(action, act.SYNCHRONIZING):
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

    def _meet(self, group: Group) -> bool:
        """Whether the group goes on: at its meeting point it waits for the others and goes on as all of them."""
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
            group.join = self.warp.join_at(self.run.program.meets[self.pc], group)
            group.mask = stay
            if group.join is not None and group.join.pc == target:
                group.join.arrived |= mask
            else:
                self.warp.spawn(Group(target, mask, group.join, group.frame))
        group.pc += 1

    def _jump(self, group: Group, mask: int, action: act.Jump) -> None:
        parts: dict[int, int] = {}
        for lane, index in zip(lanes_of(mask), lanevalues.read(self, action.index, mask), strict=True):
            if index >= len(action.targets):
                raise Fault("jump", lane, index, len(action.targets))
            parts[index] = parts.get(index, 0) | 1 << lane
        places = [(action.targets[index], lanes) for index, lanes in parts.items()]
        if group.mask & ~mask:
            places.append((self.pc + 1, group.mask & ~mask))
        if len(places) > 1:
            self.run.counters.branches_divergent[self.pc] += 1
            group.join = self.warp.join_at(self.run.program.meets[self.pc], group)
            for target, lanes in places[1:]:
                self.warp.spawn(Group(target, lanes, group.join, group.frame))
        group.pc, group.mask = places[0]


    def _exit(self, group: Group, mask: int) -> bool:
        """Lanes leave; whether the group is gone."""
        warp = self.warp
        warp.live &= ~mask
        for meeting in (*warp.joins, *filter(None, warp.frames)):
            meeting.expected &= ~mask
        group.mask &= ~mask
        if not group.mask:
            warp.groups[warp.current] = None
        self._settle_joins()
        calls.settle(self)
        for other in warp.groups:
            if other is not None and other.state == PARKED:
                other.state = READY
        if not warp.live:
            self.cta.left -= 1
        barrier.recheck(self.run, self.cta)
        if self.cta.cluster.came:
            clusters.recheck(self.cta.cluster)
        return not group.mask

    def _settle_joins(self) -> None:
        warp = self.warp
        again = True
        while again:
            again = False
            for join in list(warp.joins):
                if not join.expected:
                    warp.joins.remove(join)
                elif join.arrived == join.expected:
                    warp.joins.remove(join)
                    warp.spawn(Group(join.pc, join.arrived, join.parent, join.frame))
                    again = True

    def _split_off(self, group: Group, mask: int) -> None:
        """Lanes that skip a waiting instruction go on and meet the others behind it."""
        rest = group.mask & ~mask
        group.join = self.warp.join_at(self.pc + 1, group)
        if group.join is not None and group.join.pc == self.pc + 1:
            group.join.arrived |= rest
        else:
            self.warp.spawn(Group(self.pc + 1, rest, group.join, group.frame))
        group.mask = mask

    def _barrier(self, group: Group, mask: int, action: act.BarrierOp) -> bool:
        """Arrive; whether the group waits."""
        if mask != group.mask and action.mode != "arrive":
            self._split_off(group, mask)
        barrier.arrive(self, group, mask, action)
        return group.state != READY

    def _try(self, group: Group, mask: int, action) -> bool:
        if mask != group.mask:
            self._split_off(group, mask)
        return HANDLERS[type(action)](self, action, mask)

    def _synchronize(self, group: Group, mask: int, action) -> bool:
        """Wait for the live lanes of the membermask; True when executed by all of them."""
        if mask != group.mask:
            self._split_off(group, mask)
        warp, named = self.warp, lanevalues.read(self, action.members, mask)
        members = named[0]
        same = sum(1 << lane for lane, value in zip(lanes_of(mask), named, strict=True) if value == members)
        if same != mask:                                            # groups of a warp, each with a mask of its own
            group.join = warp.join_at(self.pc + 1, group)
            warp.spawn(Group(self.pc, mask & ~same, group.join, group.frame))
            mask = group.mask = same
        if mask & ~members:
            raise Fault("membermask", lanes_of(mask & ~members)[0], members, mask)
        need, have = members & warp.live, mask
        parked = [g for g in warp.groups if g is not None and g is not group and g.state == PARKED and g.pc == self.pc
                  and lanevalues.read(self, action.members, 1 << lanes_of(g.mask)[0])[0] == members]
        if mask & need != need:
            for other in parked:
                have |= other.mask
        if have & need != need:
            group.state = PARKED
            return False
        have &= need | mask
        self._count(self.pc, have)
        warpops.run(self, action, have)
        if have != mask:
            for other in parked:
                if other.mask & ~have:
                    continue
                other.state = READY
                other.pc += 1
                if other.join is group.join:
                    group.mask |= other.mask
                    warp.groups[warp.groups.index(other)] = None
        return True

"""One SM that runs the CTAs it has room for: instructions issued by their stall counts, units that serve one at a time.

Every team of warps goes through its operations. An instruction starts when the one before has let its stall count
pass, the scoreboards it waits for are clear, and its unit is free. What does not complete through scoreboards has
servers of its own: matrix products of warpgroups and of tcgen05, the copy engine, the memory system (servers). Waits
for mbarriers (phases) and barriers are edges from team to team. Teams advance in the order of their clocks. Where a
place of the SM has several CTAs, the next one starts when all teams of the one before are done: its loads meet the
arithmetic of those at other places.

Yield hints decide which warp goes next among those that could; here the one whose clock is behind does.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from pyptx.analysis.model.barriers import Barriers
from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.phases import Rings
from pyptx.analysis.model.replaystate import UNITS, Memory, Record, Run, Span, Team
from pyptx.analysis.model.servers import Servers
from pyptx.analysis.model.steps import Kind, Operation

__all__ = ["replay"]

_WAITS = frozenset((Kind.WAIT, Kind.PRODUCT_WAIT, Kind.RING_WAIT, Kind.BARRIER))
_QUEUED = frozenset((Kind.PLAIN, Kind.LOAD, Kind.STORE, Kind.COPY))
_CAUSES = {"shared": "shared memory", "mufu": "special functions", "tensor": "matrix products", "fp64": "f64",
           "tmem": "tensor memory"}


def replay(teams: Sequence[tuple[int, int, Sequence[Operation]]], memory: Memory, constants: Constants,
           log: list[Span] | None = None) -> Run:
    """Run teams on their SMs.

    Args:
        teams: (place, SM, operations) of each, the place that of its CTA; CTAs of a cluster are on different SMs,
            copies of it on the same ones.
        memory: as one SM has it.
        log: what happened is appended to it.
    """
    return _Replay(teams, memory, constants, log).run()


class _Replay:
    def __init__(self, teams: Sequence[tuple[int, int, Sequence[Operation]]], memory: Memory, constants: Constants,
                 log: list[Span] | None):
        self.memory, self.constants, self.record = memory, constants, Record(log)
        self.sms = 1 + max(sm for _, sm, _ in teams)
        self.teams = [Team(k, sm, (place, 0), operations) for k, (place, sm, operations) in enumerate(teams)]
        self.ready = [(0.0, team.number) for team in self.teams]
        self.servers = Servers(self.sms, memory, constants.shared_cycles, self.record)
        self.rings = Rings(self.teams, self.sms, self.ready, memory.remote_cycles, self.record)
        self.barriers = Barriers(self.teams, self.ready, constants.barrier_cycles, self.record)
        uses = [{op.unit for op in team.operations} for team in self.teams]
        about = next((units for units in ({"tensor"}, {"fma", "fp64", "mufu"}) if any(map(units.intersection, uses))),
                     set(UNITS))
        for team, units in zip(self.teams, uses, strict=True):
            team.computes = bool(about & units)

    def run(self) -> Run:
        while self.ready or self.rings.unblock() or self.barriers.unblock():
            _, number = heappop(self.ready)
            self._advance(self.teams[number])
        extra, run = max(team.extra for team in self.teams), self.record.run
        run.replayed = max(team.now for team in self.teams)
        run.cycles = run.replayed + extra
        run.drained = max(run.cycles, *(max(free.values()) + extra for free in self.servers.free))
        return run

    def _advance(self, team: Team) -> None:
        """Go on until the clock is ahead of another team's, the team has to wait for others, or it is done."""
        ready, operations, free, busy = self.ready, team.operations, self.servers.free[team.rank], self.record.run.busy
        scoreboards = team.scoreboards
        while team.at < len(operations):
            op = operations[team.at]
            kind = op.kind
            if kind >= Kind.TURN:
                self._mark(team, op)
                team.at += 1
                continue
            now = team.now
            for k in op.mask:
                there, why = scoreboards[k]
                if there > now:
                    self.record.loses(team, why, now, there)
                    now = there
            if ready and now > ready[0][0]:                     # others have their turn before
                team.now = now
                heappush(ready, (now, team.number))
                return
            start = max(now, free["issue"])
            free["issue"] = start + op.issue
            busy["issue"] += op.issue
            if kind in _WAITS:
                after = self._wait(team, op, start)
                if after is None:
                    team.now = start
                    return
                start = after
            end = start
            if op.unit:
                begin = self.servers.serve(team.rank, op.unit, op.cycles, start)
                end = begin + op.cycles
                if kind in _QUEUED:
                    start = max(start, begin - 8)               # a queue in front of the unit, not endless
            if kind == Kind.PLAIN:
                if op.write >= 0:
                    scoreboards[op.write] = end + op.latency, _CAUSES.get(op.unit, "fixed latencies")
                if op.read >= 0:
                    scoreboards[op.read] = end + 8, "operands read"
            else:
                self._special(team, op, start, end)
            team.now = start + op.stall
            team.at += 1
        self.record.waits(team, "", team.now, team.now)
        team.now = max(team.now, team.pending, team.ends)
        self.rings.gives_no_more(team)

    def _special(self, team: Team, op: Operation, start: float, end: float) -> None:
        """What an operation that began then, and whose unit is done at the end, asks of the memory system and the
        tensor cores, and what it completes."""
        kind, scoreboards, servers, rank = op.kind, team.scoreboards, self.servers, team.rank
        if kind == Kind.LOAD:
            done = servers.read(rank, op.bytes, end, self.memory.load_cycles)
            if op.write >= 0:
                scoreboards[op.write] = done, "global loads"
        elif kind == Kind.STORE:
            servers.write(rank, op.bytes, end)
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "stores"
        elif kind == Kind.COPY:
            done = servers.read(rank, op.bytes, end, self.memory.load_cycles)
            team.pending = max(team.pending, done, servers.besides(rank, "shared", op.shared, end))
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "copies"
        elif kind == Kind.COPY_BULK:
            done = servers.read(rank, op.bytes, end, self.memory.copy_cycles)
            for other in range(self.sms) if op.sms > 1 else (rank,):
                servers.arrives(other, op.shared, done)
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "copies"
            self.rings.give(team, op, done)
        elif kind == Kind.STORE_BULK:
            done = servers.besides(rank, "shared", op.shared, end)
            servers.write(rank, op.bytes, done)
            team.pending = max(team.pending, done)              # read; whether it was written, few ask
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "copies"
        elif kind == Kind.COMMIT:
            team.groups.append(team.pending)
        elif kind == Kind.PRODUCT:
            done = max(end, servers.products(rank, op.shared, end - op.cycles))
            team.ends = max(team.ends, done)
            if op.about:
                team.products.append(team.ends)
        elif kind == Kind.PRODUCT_TENSOR:
            team.ends = max(team.ends, end)
        elif kind == Kind.ARRIVE:
            self.rings.give(team, op, start)
        elif kind == Kind.ARRIVE_AFTER_TENSOR:
            self.rings.give(team, op, team.ends + self.constants.product_cycles)
        elif kind == Kind.ARRIVE_AFTER_COPIES:
            self.rings.give(team, op, max(start, team.pending))
        elif kind == Kind.RING_WAIT and op.write >= 0:
            scoreboards[op.write] = start + op.latency, "the test of an mbarrier"

    def _wait(self, team: Team, op: Operation, start: float) -> float | None:
        """Time when it may go on; None: that is not known yet, it is put to sleep."""
        if op.kind == Kind.WAIT:
            return self._groups(team, team.groups, op, start, "copies")
        if op.kind == Kind.PRODUCT_WAIT:
            return self._groups(team, team.products, op, start, "matrix products")
        if op.kind == Kind.BARRIER:
            return self.barriers.wait(team, op, start)
        return start if op.about is None else self.rings.wait(team, op.about, start)

    def _groups(self, team: Team, groups: list[float], op: Operation, start: float, why: str) -> float:
        """Wait until at most as many groups are under way as the operation leaves."""
        left: int = op.about
        if len(groups) <= left:
            return start
        done = max(groups[:len(groups) - left]) + op.latency
        if done > start:
            self.record.loses(team, why, start, done)
        return max(start, done)

    def _mark(self, team: Team, op: Operation) -> None:
        """Turns of a shortened loop: what the last quarter of them lasted stands for those left out. Or a new CTA."""
        if op.kind == Kind.NEXT:
            self._next(team)
            return
        if op.kind == Kind.TURN:
            loop, _ = op.about
            team.marks.setdefault(loop, team.now + team.extra)
            return
        loop, turns, left_out = op.about
        first = team.marks.pop(loop, None)
        if first is not None and turns > 0:
            team.extra += left_out * (team.now + team.extra - first) / turns

    def _next(self, team: Team) -> None:
        """The team goes on as one of the next CTA of its place, which waits for nothing that the one before began."""
        place, number = team.cta
        team.cta = place, number + 1
        self.rings.gives_no_more(team, number)
        team.now += self.constants.start_cycles
        team.scoreboards[:] = [(0.0, "")] * 6
        for pending in (team.waits, team.groups, team.products):
            pending.clear()

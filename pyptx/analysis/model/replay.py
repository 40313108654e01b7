"""One SM that runs the CTAs it has room for: instructions issued by their stall counts, units that serve one at a time.

Every team of warps goes through its operations. An instruction starts when the one before has let its stall count
pass, the scoreboards it waits for are clear, and its unit is free; units are servers in the order of arrival. What
does not complete through scoreboards has servers of its own: matrix products of warpgroups and of tcgen05, the copy
engine, the memory system. Waits for mbarriers are edges of a max-plus system: a phase is over when the slowest of
those who complete it is done, and a ring of S stages lets a producer be S phases ahead. Teams advance in the order of
their clocks. Where a place of the SM has several CTAs, the next one starts when all teams of the one before are done:
its loads meet the arithmetic of those at other places.

Yield hints decide which warp goes next among those that could; here the one whose clock is behind does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush

from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.replaystate import UNITS, Memory, Phases, Run, Span, Team
from pyptx.analysis.model.steps import Kind, Operation
from pyptx.analysis.model.trips import TEAM

__all__ = ["Memory", "Run", "replay"]

Key = tuple[tuple[int, int], int]       # of a ring: place of its CTA, the how manieth there, number of the ring
LATELY = 4096.0                         # cycles


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
    def __init__(self, teams, memory: Memory, constants: Constants, log: list[Span] | None):
        self.memory, self.constants, self.result, self.log = memory, constants, Run(), log
        self.sms = 1 + max(sm for _, sm, _ in teams)
        self.free = [dict.fromkeys(UNITS, 0.0) for _ in range(self.sms)]
        self.operands = [0.0] * self.sms                        # until when products that are queued read shared memory
        self.arrivals: list[deque[tuple[float, float]]] = [deque() for _ in range(self.sms)]   # of copies: time, cycles
        self.teams = [Team(k, sm, operations) for k, (_, sm, operations) in enumerate(teams)]
        self.cta = [(place, 0) for place, _, _ in teams]        # of each team: its place, and the how manieth there
        self.asleep: dict[int, float] = {}                      # team -> since when
        self.rings: dict[Key, Phases] = {}
        self.barriers: dict[tuple, dict[int, tuple[float, bool]]] = {}     # team -> when it came, whether it sleeps
        self.members: dict[tuple, dict[int, float]] = {}       # team -> warps of it that come
        for team in self.teams:
            self._prepare(team)
        uses = [{op.unit for op in team.operations} for team in self.teams]
        about = next((units for units in ({"tensor"}, {"fma", "fp64", "mufu"}) if any(map(units.intersection, uses))),
                     set(UNITS))
        for team, units in zip(self.teams, uses, strict=True):
            team.computes = bool(about & units)

    def _prepare(self, team: Team) -> None:
        """Count what the team gives to each ring and which barriers it comes to."""
        waits: dict[Key, int] = {}
        cta = self.cta[team.number]
        team.turns = frozenset(op.about.number for op in team.operations if op.kind == Kind.RING_WAIT and op.about)
        for op in team.operations:
            if op.kind == Kind.NEXT:
                cta = cta[0], cta[1] + 1
            elif op.kind == Kind.BARRIER:
                self.members.setdefault((cta, op.about[0]), {})[team.number] = op.width
            elif op.about is not None and op.kind in _GIVES:
                for key in self._keys(team, cta, op):
                    phases = self.rings.setdefault(key, Phases())
                    phases.given[team.number] = phases.given.get(team.number, 0) + 1
            elif op.about is not None and op.kind == Kind.RING_WAIT:
                waits[cta, op.about.number] = waits.get((cta, op.about.number), 0) + 1
        for key, count in waits.items():
            phases = self.rings.setdefault(key, Phases())
            phases.expects = max(phases.expects, count)

    def _keys(self, team: Team, cta: tuple[int, int], op: Operation) -> list[Key]:
        """The rings that an operation completes something of: that of its own CTA, or of all of the cluster. A turn,
        which the team itself waits for, is passed on to the next CTA."""
        if not op.everywhere:
            return [(cta, op.about.number)]
        first, number = cta[0] - team.rank, cta[1]
        if op.kind == Kind.ARRIVE and op.about.number in team.turns:
            return [((first + (team.rank + 1) % self.sms, number), op.about.number)]
        return [((first + rank, number), op.about.number) for rank in range(self.sms)]

    def run(self) -> Run:
        for phases in self.rings.values():
            phases.parts = {team: max(1, round(count / phases.expects)) for team, count in phases.given.items()}
            phases.given = dict.fromkeys(phases.given, 0)
            phases.done = []
        self.times: dict[Key, list[list[float]]] = {}
        ready = [(0.0, team.number) for team in self.teams]
        self.ready = ready
        while True:
            while ready:
                _, number = heappop(ready)
                self._advance(self.teams[number])
            if not self._unblock():
                break
        extra = max(team.extra for team in self.teams)
        self.result.replayed = max(team.now for team in self.teams)
        self.result.cycles = end = self.result.replayed + extra
        self.result.drained = max(end, *(max(free.values()) + extra for free in self.free))
        return self.result

    # one team -------------------------------------------------------------------------------------------------------

    def _advance(self, team: Team) -> None:
        """Go on until the clock is ahead of another team's, the team has to wait for others, or it is done."""
        ready, operations, free, busy = self.ready, team.operations, self.free[team.rank], self.result.busy
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
                    self._lose(team, why, now, there)
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
                begin = max(start, free[op.unit])
                if self.log is not None:
                    self.log.append(Span(-1 - team.rank, op.unit, begin, begin + op.cycles))
                free[op.unit] = begin + op.cycles
                busy[op.unit] += op.cycles
                end = begin + op.cycles
                if op.unit == "shared" and begin < self.operands[team.rank]:
                    self.operands[team.rank] += op.cycles       # in between, and theirs come later
                if kind == Kind.PLAIN or kind == Kind.LOAD or kind == Kind.STORE or kind == Kind.COPY:
                    start = max(start, begin - 8)               # a queue in front of the unit, not endless
            if kind == Kind.PLAIN:
                done = end + op.latency
                if op.write >= 0:
                    scoreboards[op.write] = done, _CAUSES.get(op.unit, "fixed latencies")
                if op.read >= 0:
                    scoreboards[op.read] = end + 8, "operands read"
            else:
                self._special(team, op, start, end)
            team.now = start + op.stall
            team.at += 1
        self._finish(team)

    def _special(self, team: Team, op: Operation, start: float, end: float) -> None:
        kind, scoreboards = op.kind, team.scoreboards
        if kind == Kind.LOAD:
            done = self._read(team.rank, op.bytes, end, self.memory.load_cycles)
            if op.write >= 0:
                scoreboards[op.write] = done, "global loads"
        elif kind == Kind.STORE:
            self._write(team.rank, op.bytes, end)
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "stores"
        elif kind == Kind.COPY:
            done = self._read(team.rank, op.bytes, end, self.memory.load_cycles)
            done = max(done, self._occupy(team.rank, "shared", op.shared, end))
            team.pending = max(team.pending, done)
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "copies"
        elif kind == Kind.COPY_BULK:
            done = self._read(team.rank, op.bytes, end, self.memory.copy_cycles)
            for rank in range(self.sms) if op.sms > 1 else (team.rank,):
                self._arrives(rank, op.shared, done)
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "copies"
            self._give(team, op, done)
        elif kind == Kind.STORE_BULK:
            done = self._occupy(team.rank, "shared", op.shared, end)
            self._write(team.rank, op.bytes, done)
            team.pending = max(team.pending, done)          # read; whether it was written, few ask
            if op.read >= 0:
                scoreboards[op.read] = end + 8, "copies"
        elif kind == Kind.COMMIT:
            team.groups.append(team.pending)
        elif kind == Kind.PRODUCT:
            done = max(end, self._operands(team.rank, op.shared, end - op.cycles))
            team.ends = max(team.ends, done)
            if op.about:
                team.products.append(team.ends)
        elif kind == Kind.PRODUCT_TENSOR:
            team.ends = max(team.ends, end)
        elif kind == Kind.ARRIVE:
            self._give(team, op, start)
        elif kind == Kind.ARRIVE_AFTER_TENSOR:
            self._give(team, op, team.ends + self.constants.product_cycles)
        elif kind == Kind.ARRIVE_AFTER_COPIES:
            self._give(team, op, max(start, team.pending))
        elif kind == Kind.RING_WAIT and op.write >= 0:
            scoreboards[op.write] = start + op.latency, "the test of an mbarrier"

    def _occupy(self, rank: int, unit: str, cycles: float, start: float) -> float:
        """Time when a unit is done that is asked besides."""
        if not cycles:
            return start
        free = self.free[rank]
        if unit == "shared" and max(start, free[unit]) < self.operands[rank]:
            self.operands[rank] += cycles
        if self.log is not None:
            begin = max(start, free[unit])
            self.log.append(Span(-1 - rank, unit, begin, begin + cycles))
        free[unit] = max(start, free[unit]) + cycles
        self.result.busy[unit] += cycles
        return free[unit]

    def _operands(self, rank: int, cycles: float, start: float) -> float:
        """Time when a product that starts then has read its operands: products queue, and what instructions ask of
        shared memory meanwhile goes in between. What copies bring comes through the port, little by little: it takes
        the share of shared memory's time that it took lately."""
        if not cycles:
            return start
        begin = max(start, self.operands[rank])
        arrivals = self.arrivals[rank]
        while arrivals and arrivals[0][0] < begin - LATELY:
            arrivals.popleft()
        taken = sum(cycles for time, cycles in arrivals if time <= begin) / LATELY
        cycles /= 1 - min(taken, 0.75)
        if self.log is not None:
            self.log.append(Span(-1 - rank, "shared", begin, begin + cycles))
        self.operands[rank] = begin + cycles
        self.result.busy["shared"] += cycles
        return begin + cycles

    def _arrives(self, rank: int, cycles: float, time: float) -> None:
        """A copy has written so many cycles' worth of shared memory by then."""
        self.arrivals[rank].append((time, cycles))
        self.result.busy["shared"] += cycles
        if self.log is not None:
            self.log.append(Span(-1 - rank, "shared", time - cycles, time))

    def _read(self, rank: int, size: float, start: float, cycles: float) -> float:
        """Time when so many bytes are there."""
        if not size:
            return start + self.constants.shared_cycles         # L1 has them
        done = self._occupy(rank, "l2", size / self.memory.port, start)
        slow = self._occupy(rank, "dram", size * self.memory.from_dram / self.memory.dram, start)
        return max(done, slow) + cycles

    def _write(self, rank: int, size: float, start: float) -> None:
        self._occupy(rank, "l2", size / self.memory.port, start)
        self._occupy(rank, "dram", size * self.memory.to_dram / self.memory.dram, start)

    def _lose(self, team: Team, why: str, start: float, end: float) -> None:
        if team.computes and why:
            self.result.lost[why] = self.result.lost.get(why, 0.0) + end - start
        if self.log is not None:
            self.log.append(Span(team.number, why or "fixed latencies", start, end))

    # waits ----------------------------------------------------------------------------------------------------------

    def _wait(self, team: Team, op: Operation, start: float) -> float | None:
        """Time when it may go on; None: that is not known yet, it is put to sleep."""
        kind = op.kind
        if kind == Kind.WAIT:
            return self._groups(team, team.groups, op.about, start, "copies", op.latency)
        if kind == Kind.PRODUCT_WAIT:
            return self._groups(team, team.products, op.about, start, "matrix products", op.latency)
        if kind == Kind.BARRIER:
            return self._barrier(team, op, start)
        if op.about is None:
            return start
        ring = op.about
        key = self.cta[team.number], ring.number
        phases = self.rings[key]
        asked = team.waits.get(ring.number, 0)
        phase = asked - (ring.stages if ring.starts_free else 0)
        if phase >= len(phases.done) and phases.parts:
            phases.sleepers.append((team, phase))
            self.asleep.setdefault(team.number, start)
            return None
        team.waits[ring.number] = asked + 1
        if phase < 0 or not phases.parts:
            return start
        slept = self.asleep.pop(team.number, start)
        if self.log is not None and slept < start:
            self.log.append(Span(team.number, _words(ring), slept, start))
        over = phases.done[phase]
        if over > start:
            self._lose(team, _words(ring), start, over)
        return max(start, over)

    def _groups(self, team: Team, groups: list[float], left: int, start: float, why: str, latency: float) -> float:
        """Wait until at most `left` groups are under way."""
        if len(groups) <= left:
            return start
        done = max(groups[:len(groups) - left]) + latency
        if done > start:
            self._lose(team, why, start, done)
        return max(start, done)

    def _barrier(self, team: Team, op: Operation, start: float) -> float | None:
        name, count, only_arrives = op.about
        cta = self.cta[team.number]
        members = self.members[cta, name]
        expected = min(count or TEAM * len(members), sum(members.values()))
        if expected <= op.width:
            return start + self.constants.barrier_cycles
        come = self.barriers.setdefault((cta, name), {})
        if team.number in come:                                 # it was here: nobody else will come
            come.pop(team.number)
            return start
        come[team.number] = start, not only_arrives
        if sum(members[number] for number in come) < expected:
            return start if only_arrives else None
        latest = max(time for time, _ in come.values())
        del self.barriers[cta, name]
        for number, (time, sleeps) in come.items():
            other = self.teams[number]
            if other is not team and sleeps:
                self._lose(other, "the others at a barrier", time, latest)
                other.now = latest + self.constants.barrier_cycles
                other.at += 1
                heappush(self.ready, (other.now, other.number))
        return start if only_arrives else latest + self.constants.barrier_cycles

    def _give(self, team: Team, op: Operation, time: float) -> None:
        """A completion for the ring: who sleeps for a phase that is now known wakes."""
        if op.about is None:
            return
        cta = self.cta[team.number]
        for key in self._keys(team, cta, op):
            there = time if key[0] == cta else time + self.memory.remote_cycles
            phases = self.rings[key]
            number = phases.given[team.number]
            phases.given[team.number] = number + 1
            phase = number // phases.parts[team.number]
            times = self.times.setdefault(key, [])
            while len(times) <= phase:
                times.append([0.0])
            times[phase][0] = max(times[phase][0], there)
            self._settle(key, phases)

    def _settle(self, key: Key, phases: Phases) -> None:
        """Phases for which everybody has given, or can give no more."""
        times = self.times.get(key, [])
        while len(phases.done) < len(times):
            phase = len(phases.done)
            if any(phases.given[k] < (phase + 1) * part and self.teams[k].at < len(self.teams[k].operations)
                   and self.cta[k][1] <= key[0][1] for k, part in phases.parts.items()):
                break
            before = phases.done[-1] if phases.done else 0.0
            phases.done.append(max(before, times[phase][0]))
        if phases.sleepers:
            awake = [pair for pair in phases.sleepers if pair[1] < len(phases.done)]
            phases.sleepers = [pair for pair in phases.sleepers if pair[1] >= len(phases.done)]
            for team, _ in awake:
                heappush(self.ready, (team.now, team.number))

    def _finish(self, team: Team) -> None:
        """It gives no more to anybody."""
        if self.log is not None:
            self.log.append(Span(team.number, "", team.now, team.now))
        team.now = max(team.now, team.pending, team.ends)
        for key, phases in self.rings.items():
            if team.number in phases.parts:
                self._settle(key, phases)

    def _unblock(self) -> bool:
        """Nobody can go on although some are not done: shortened loops left one wait without its completion. The first
        goes on as if it had come; False: all are done."""
        asleep = [(team.now, team.number, phases) for phases in self.rings.values() for team, _ in phases.sleepers]
        if asleep:
            _, number, phases = min(asleep, key=lambda one: one[:2])
            latest = max(team.now for team in self.teams)
            phases.sleepers = [pair for pair in phases.sleepers if pair[0].number != number]
            phases.done.append(max(latest, phases.done[-1] if phases.done else 0.0))
            heappush(self.ready, (self.teams[number].now, number))
            return True
        waiting = [(time, number) for come in self.barriers.values() for number, (time, sleeps) in come.items()
                   if sleeps]
        if not waiting:
            return False
        _, number = min(waiting)
        heappush(self.ready, (self.teams[number].now, number))
        return True

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
        place, number = self.cta[team.number]
        self.cta[team.number] = place, number + 1
        for key, phases in self.rings.items():
            if key[0][1] == number and team.number in phases.parts:
                self._settle(key, phases)
        team.now += self.constants.start_cycles
        team.scoreboards[:] = [(0.0, "")] * 6
        for pending in (team.waits, team.groups, team.products):
            pending.clear()


_GIVES = frozenset((Kind.COPY_BULK, Kind.ARRIVE, Kind.ARRIVE_AFTER_TENSOR, Kind.ARRIVE_AFTER_COPIES))
_WAITS = frozenset((Kind.WAIT, Kind.PRODUCT_WAIT, Kind.RING_WAIT, Kind.BARRIER))
_CAUSES = {"shared": "shared memory", "mufu": "special functions", "tensor": "matrix products", "fp64": "f64",
           "tmem": "tensor memory"}


def _words(ring) -> str:
    if ring.starts_free:
        return "a free stage"
    return f"{ring.filled_by}, {ring.stages} stage{'s' * (ring.stages > 1)}" if ring.filled_by != "warps" else \
        "other warps"

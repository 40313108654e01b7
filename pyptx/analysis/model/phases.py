"""Waits for mbarriers as a max-plus system: a phase is over when the slowest of those who complete it is done.

The mbarriers of a pipeline are a ring; one of S stages lets a producer be S phases ahead. A team that waits for a phase
whose end is not known yet sleeps until it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush

from pyptx.analysis.model.replaystate import Cta, Record, Team
from pyptx.analysis.model.rings import Ring
from pyptx.analysis.model.steps import Kind, Operation

__all__ = ["Rings"]

Key = tuple[Cta, int]                   # a ring of a CTA, by its number
_GIVES = frozenset((Kind.COPY_BULK, Kind.ARRIVE, Kind.ARRIVE_AFTER_TENSOR, Kind.ARRIVE_AFTER_COPIES))


class Phases:
    """Phases of one ring of one CTA."""

    __slots__ = ("done", "given", "parts", "sleepers", "times")

    def __init__(self):
        self.parts: dict[int, int] = {}         # team -> completions it gives to a phase
        self.given: dict[int, int] = {}         # team -> completions so far
        self.times: list[float] = []            # of each phase, the latest completion so far
        self.done: list[float] = []             # when each phase is over, as far as is known
        self.sleepers: list[tuple[Team, int]] = []


class Rings:
    """The rings of all CTAs.

    Args:
        teams: all of them, by number.
        sms: CTAs of a cluster.
        ready: (time, team) of those that can go on; who wakes is pushed there.
        remote_cycles: from an arrival to the mbarrier of another CTA of the cluster.
        record: where waits are told.
    """

    def __init__(self, teams: Sequence[Team], sms: int, ready: list[tuple[float, int]], remote_cycles: float,
                 record: Record):
        self.teams, self.sms, self.ready, self.remote_cycles, self.record = teams, sms, ready, remote_cycles, record
        self.asleep: dict[int, float] = {}      # team -> since when
        self.rings: dict[Key, Phases] = {}
        expects: dict[Key, int] = {}
        for team in teams:
            for key, count in self._prepare(team).items():
                expects[key] = max(expects.get(key, 1), count)
        for key, phases in self.rings.items():
            phases.parts = {team: max(1, round(count / expects.get(key, 1))) for team, count in phases.given.items()}
            phases.given = dict.fromkeys(phases.given, 0)

    def _prepare(self, team: Team) -> dict[Key, int]:
        """Count what the team gives to each ring; how often it waits for each."""
        waits: dict[Key, int] = {}
        for cta, op in team.way():
            if op.about is not None and op.kind in _GIVES:
                for key in self._keys(team, cta, op):
                    phases = self.rings.setdefault(key, Phases())
                    phases.given[team.number] = phases.given.get(team.number, 0) + 1
            elif op.about is not None and op.kind == Kind.RING_WAIT:
                key = cta, op.about.number
                waits[key] = waits.get(key, 0) + 1
        for key in waits:
            self.rings.setdefault(key, Phases())
        return waits

    def _keys(self, team: Team, cta: Cta, op: Operation) -> list[Key]:
        """The rings that an operation completes something of: that of its own CTA, or of all of the cluster. A turn,
        which the team itself waits for, is passed on to the next CTA."""
        if not op.everywhere:
            return [(cta, op.about.number)]
        first, number = cta[0] - team.rank, cta[1]
        if op.kind == Kind.ARRIVE and op.about.number in team.turns:
            return [((first + (team.rank + 1) % self.sms, number), op.about.number)]
        return [((first + rank, number), op.about.number) for rank in range(self.sms)]

    def wait(self, team: Team, ring: Ring, start: float) -> float | None:
        """Time when the team may go on; None: that is not known yet, it sleeps."""
        phases = self.rings[team.cta, ring.number]
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
        if slept < start:
            self.record.waits(team, _words(ring), slept, start)
        over = phases.done[phase]
        if over > start:
            self.record.loses(team, _words(ring), start, over)
        return max(start, over)

    def give(self, team: Team, op: Operation, time: float) -> None:
        """A completion for the ring: who sleeps for a phase that is now known wakes."""
        if op.about is None:
            return
        for key in self._keys(team, team.cta, op):
            there = time if key[0] == team.cta else time + self.remote_cycles
            phases = self.rings[key]
            number = phases.given[team.number]
            phases.given[team.number] = number + 1
            phase = number // phases.parts[team.number]
            phases.times += [0.0] * (phase + 1 - len(phases.times))
            phases.times[phase] = max(phases.times[phase], there)
            self._settle(key, phases)

    def gives_no_more(self, team: Team, number: int | None = None) -> None:
        """The team is done, or (number) is so with the how manieth CTA of its place."""
        for key, phases in self.rings.items():
            if team.number in phases.parts and (number is None or key[0][1] == number):
                self._settle(key, phases)

    def _settle(self, key: Key, phases: Phases) -> None:
        """Phases for which everybody has given, or can give no more."""
        while len(phases.done) < len(phases.times):
            phase = len(phases.done)
            if any(phases.given[k] < (phase + 1) * part and not self.teams[k].over
                   and self.teams[k].cta[1] <= key[0][1] for k, part in phases.parts.items()):
                break
            before = phases.done[-1] if phases.done else 0.0
            phases.done.append(max(before, phases.times[phase]))
        if phases.sleepers:
            awake = [pair for pair in phases.sleepers if pair[1] < len(phases.done)]
            phases.sleepers = [pair for pair in phases.sleepers if pair[1] >= len(phases.done)]
            for team, _ in awake:
                heappush(self.ready, (team.now, team.number))

    def unblock(self) -> bool:
        """Nobody can go on although some sleep: shortened loops left one wait without its completion. The first goes
        on as if it had come; False: nobody sleeps here."""
        asleep = [(team.now, team.number, phases) for phases in self.rings.values() for team, _ in phases.sleepers]
        if not asleep:
            return False
        _, number, phases = min(asleep, key=lambda one: one[:2])
        latest = max(team.now for team in self.teams)
        phases.sleepers = [pair for pair in phases.sleepers if pair[0].number != number]
        phases.done.append(max(latest, phases.done[-1] if phases.done else 0.0))
        heappush(self.ready, (self.teams[number].now, number))
        return True


def _words(ring: Ring) -> str:
    if ring.starts_free:
        return "a free stage"
    return f"{ring.filled_by}, {ring.stages} stage{'s' * (ring.stages > 1)}" if ring.filled_by != "warps" else \
        "other warps"

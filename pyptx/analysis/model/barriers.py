"""bar.sync and bar.arrive: the last of the warps that a barrier expects lets the others go on."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush

from pyptx.analysis.model.replaystate import Cta, Record, Team
from pyptx.analysis.model.steps import Kind, Operation
from pyptx.analysis.model.trips import TEAM

__all__ = ["Barriers"]

Key = tuple[Cta, object]                # a barrier of a CTA, by its name


class Barriers:
    """The barriers of all CTAs.

    Args:
        teams: all of them, by number.
        ready: (time, team) of those that can go on; who wakes is pushed there.
        cycles: from the last that comes to the next instruction.
        record: where waits are told.
    """

    def __init__(self, teams: Sequence[Team], ready: list[tuple[float, int]], cycles: float, record: Record):
        self.teams, self.ready, self.cycles, self.record = teams, ready, cycles, record
        self.come: dict[Key, dict[int, tuple[float, bool]]] = {}        # team -> when it came, whether it sleeps
        self.members: dict[Key, dict[int, float]] = {}                  # team -> warps of it that come
        for team in teams:
            for cta, op in team.way():
                if op.kind == Kind.BARRIER:
                    self.members.setdefault((cta, op.about[0]), {})[team.number] = op.width

    def wait(self, team: Team, op: Operation, start: float) -> float | None:
        """Time when the team may go on; None: that is not known yet, it sleeps."""
        name, count, only_arrives = op.about
        key = team.cta, name
        members = self.members[key]
        expected = min(count or TEAM * len(members), sum(members.values()))
        if expected <= op.width:
            return start + self.cycles
        come = self.come.setdefault(key, {})
        if team.number in come:                                 # it was here: nobody else will come
            come.pop(team.number)
            return start
        come[team.number] = start, not only_arrives
        if sum(members[number] for number in come) < expected:
            return start if only_arrives else None
        latest = max(time for time, _ in come.values())
        del self.come[key]
        for number, (time, sleeps) in come.items():
            other = self.teams[number]
            if other is not team and sleeps:
                self.record.loses(other, "the others at a barrier", time, latest)
                other.now = latest + self.cycles
                other.at += 1
                heappush(self.ready, (other.now, other.number))
        return start if only_arrives else latest + self.cycles

    def unblock(self) -> bool:
        """Nobody can go on although some sleep: the first goes on alone; False: nobody sleeps here."""
        waiting = [(time, number) for come in self.come.values() for number, (time, sleeps) in come.items() if sleeps]
        if not waiting:
            return False
        _, number = min(waiting)
        heappush(self.ready, (self.teams[number].now, number))
        return True

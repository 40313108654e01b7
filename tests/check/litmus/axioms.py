"""An axiomatic checker of the PTX memory model for small programs, independent of the simulator.

It enumerates the candidate executions of a program (which write each read takes its value from, the coherence order, the
order of fence.sc), keeps those that satisfy the axioms of the PTX ISA (chapter "Memory Consistency Model"), and tells
whether one of them has a data race. Asynchronous operations take part in races but not in the choice of values.

Where the PTX ISA leaves a doubt, the strict reading is the text and the other one is what shipped kernels rely on: an
mbarrier instruction without a scope orders the threads of a cluster, and a proxy fence of any CTA counts for an
asynchronous operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product

from check.litmus.events import Event, Place, Program

__all__ = ["verdict"]

_RELEASES, _ACQUIRES = ("release", "acq_rel", "sc"), ("acquire", "acq_rel", "sc")
_WRITES, _READS = ("store", "atomic", "red"), ("load", "atomic", "red")
_RMW = ("atomic", "red")
Pairs = list[tuple[int, int]]


def verdict(program: Program) -> str:
    """Return "racy", "unproven" (racy by the strict reading only), or "clean"."""
    if _is_racy(program, strict=False):
        return "racy"
    return "unproven" if _is_racy(program, strict=True) else "clean"


def _is_racy(program: Program, strict: bool) -> bool:
    graph = _Graph(program, strict)
    return any(graph.has_race(cause, reached) for cause, reached in graph.executions())


@dataclass
class _Copy:
    """An access by an asynchronous operation: who issued it, and after which events it is complete."""

    location: str
    writes: bool
    proxy: str
    place: Place
    issue: int
    done: list[int] = field(default_factory=list)


class _Graph:
    """The events of a program, with the relations that are the same in every execution."""

    def __init__(self, program: Program, strict: bool):
        self.strict = strict
        self.events: list[Event] = []
        self.thread: list[int] = []
        self.places = program.places
        self.copies: list[_Copy] = []
        self.po: Pairs = []
        names = sorted({e.location for t in program.threads for e in t if e.kind in (*_WRITES, *_READS)})
        for name in names:
            self._add(Event("store", name), -1)
        for t, thread in enumerate(program.threads):
            first = len(self.events)
            for event in thread:
                self._add(event, t)
                if event.kind in ("bar.sync", "bar.warp.sync"):
                    self._add(Event("leave"), t)
            self.po += [(i, j) for i in range(first, len(self.events)) for j in range(i + 1, len(self.events))]
        n = len(self.events)
        self.po += [(i, j) for i in range(len(names)) for j in range(len(names), n)]
        self.before: list[set[int]] = [set() for _ in range(n)]  # in program order
        self.after: list[set[int]] = [set() for _ in range(n)]
        for i, j in self.po:
            if self.thread[i] == self.thread[j]:
                self.before[j].add(i)
                self.after[i].add(j)
        self.memory = [i for i, e in enumerate(self.events) if e.kind in (*_WRITES, *_READS)]
        self.writes = [i for i in self.memory if self.events[i].kind in _WRITES]
        self.reads = [i for i in self.memory if self.events[i].kind in _READS]
        self.ms = {(i, j) for i in range(n) for j in range(n) if i != j and self._morally_strong(i, j)}
        self.fixed = self._barrier_edges() + self._mbarrier_edges()
        self._add_copies()

    def _add(self, event: Event, thread: int) -> None:
        self.events.append(event)
        self.thread.append(thread)

    # morally strong pairs and synchronization that does not depend on values ------------------------------------------

    def _place(self, i: int) -> Place:
        return self.places[self.thread[i]]

    def _sem(self, i: int) -> str:
        event = self.events[i]
        if not event.sem:
            return "release" if event.kind == "arrive" else "acquire"
        return "relaxed" if event.sem == "volatile" else event.sem

    def _scope(self, i: int) -> str:
        event = self.events[i]
        if event.kind in ("arrive", "wait") and not event.scope:
            return "cta" if self.strict else "cluster"
        return event.scope or "sys"

    def _in_scope(self, i: int, j: int) -> bool:
        a, b = self._place(i), self._place(j)
        return a.reaches(b, self._scope(i)) and b.reaches(a, self._scope(j))

    def _morally_strong(self, i: int, j: int) -> bool:
        a, b = self.events[i], self.events[j]
        if a.location and b.location and a.location != b.location:
            return False
        if self.thread[i] == self.thread[j] or -1 in (self.thread[i], self.thread[j]):
            return True
        return "weak" not in (a.sem, b.sem) and self._in_scope(i, j)

    def _barrier_edges(self) -> Pairs:
        edges: Pairs = []
        for kind, share in (("bar", 2), ("bar.warp", 3), ("cluster", 1)):
            halves = [self._halves(t, kind) for t in range(len(self.places))]
            for t, (arrivals, _) in enumerate(halves):
                for u, (_, waits) in enumerate(halves):
                    if t == u or self.places[t][:share] != self.places[u][:share]:
                        continue
                    for arrival, wait in zip(arrivals, waits, strict=True):
                        if arrival is not None and wait is not None:
                            edges += [(head, wait) for head in self._heads_of_arrival(arrival)]
        return edges

    def _halves(self, t: int, kind: str) -> tuple[list[int | None], list[int | None]]:
        """Return the arrivals and waits of a thread at each use of a barrier; None where it has only the other half."""
        mine = [i for i in range(len(self.events)) if self.thread[i] == t]
        if kind == "cluster":
            return (
                [i for i in mine if self.events[i].kind == "cluster.arrive"],
                [i for i in mine if self.events[i].kind == "cluster.wait"],
            )
        uses = [i for i in mine if self.events[i].kind in (f"{kind}.sync", f"{kind}.arrive")]
        return list(uses), [i + 1 if self.events[i].kind.endswith("sync") else None for i in uses]

    def _heads_of_arrival(self, arrival: int) -> list[int]:
        if self.events[arrival].sem != "relaxed":
            return [arrival]
        fences = [i for i in self.before[arrival] if self.events[i].kind == "fence" and self._sem(i) in _RELEASES]
        return [i for i in fences if self._scope(i) != "cta"]  # the manual's example has .cluster

    def _heads(self, w: int) -> list[int]:
        """Return the heads of release patterns that end in a write."""
        if self._sem(w) == "weak":
            return []
        heads = [w] if self._sem(w) in _RELEASES else []
        for i in self.before[w]:
            event = self.events[i]
            same = event.kind in (*_WRITES, "arrive") and event.location == self.events[w].location
            if self._sem(i) in _RELEASES and (event.kind == "fence" or same):
                heads.append(i)
        return heads

    def _tails(self, r: int) -> list[int]:
        """Return the tails of acquire patterns that begin with a read."""
        if self._sem(r) == "weak" or self.events[r].kind == "red":
            return []
        tails = [r] if self._sem(r) in _ACQUIRES else []
        for i in self.after[r]:
            event = self.events[i]
            same = event.kind in ("load", "atomic", "wait") and event.location == self.events[r].location
            if self._sem(i) in _ACQUIRES and (event.kind == "fence" or same):
                tails.append(i)
        return tails

    def _mbarrier_edges(self) -> Pairs:
        """Return the edges of mbarriers: a wait observes all arrivals of the phase."""
        n = range(len(self.events))
        return [
            (h, t)
            for w in n
            for r in n
            if self.events[w].kind == "arrive" and self.events[r].kind == "wait" and (w, r) in self.ms
            for h in self._heads(w)
            for t in self._tails(r)
            if (h, t) in self.ms
        ]

    # asynchronous operations ------------------------------------------------------------------------------------------

    def _add_copies(self) -> None:
        for i, event in enumerate(self.events):
            if event.kind == "cp.async":
                done = [j for j in self.after[i] if self.events[j].kind == "cp.async.wait"]
                self.copies.append(_Copy(event.location, True, "generic", self._place(i), i, done))
            elif event.kind in ("bulk load", "bulk fetch"):
                waits = [
                    j for j, e in enumerate(self.events) if e.kind == "wait" and e.location == f"{event.location} bar"
                ]
                done = [tail for j in waits for tail in self._tails(j)]
                self.copies.append(_Copy(event.location, event.kind == "bulk load", "async", self._place(i), i, done))
            elif event.kind == "bulk store":
                complete = [j for j in self.after[i] if self.events[j].kind == "bulk.wait"]
                read = [j for j in self.after[i] if self.events[j].kind == "bulk.wait.read"]
                self.copies.append(_Copy(event.location, False, "async", self._place(i), i, complete + read))
                self.copies.append(_Copy(f"{event.location} copy", True, "async", self._place(i), i, complete))

    # executions -------------------------------------------------------------------------------------------------------

    def executions(self) -> Iterator[tuple[list[set[int]], list[set[int]]]]:
        """Yield allowed executions: for each event, the events that it causes, and those after it in base causality."""
        x = self.events
        names = sorted({x[i].location for i in self.memory})
        own = [w for w in self.writes if self.thread[w] >= 0]
        first = {x[i].location: i for i in self.writes if self.thread[i] < 0}
        orders = [list(permutations([w for w in own if x[w].location == name])) for name in names]
        fences = [i for i, e in enumerate(x) if e.kind == "fence" and e.sem == "sc"]
        sources = [[w for w in self.writes if x[w].location == x[r].location and w != r] for r in self.reads]
        for chosen in product(*sources):
            source = dict(zip(self.reads, chosen, strict=True))
            values = self._values(source)
            if values is None or any(x[r].expect not in (None, values[w]) for r, w in source.items()):
                continue
            rf = [(w, r) for r, w in source.items()]
            base = self._sync(rf)
            for co_orders in product(*orders):
                co = {(w, later) for order in co_orders for k, w in enumerate(order) for later in order[k + 1 :]}
                co |= {(first[x[w].location], w) for w in own}
                fr = [(r, w) for r, s in source.items() for before, w in co if before == s and w != r]
                if any(x[r].kind in _RMW and (w, r) in co for r, w in fr):
                    continue  # another write between the two halves of an atomic
                for order in permutations(fences):
                    sc = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :] if (a, b) in self.ms]
                    found = self._allowed(rf, co, fr, base, sc)
                    if found is not None:
                        yield found

    def _values(self, source: dict[int, int]) -> dict[int, int] | None:
        """Return the value of each write; None if atomics take their values from each other in a circle."""
        values: dict[int, int] = {}

        def value(write: int, seen: tuple[int, ...]) -> int | None:
            if write in seen:
                return None
            event = self.events[write]
            if event.kind == "store":
                return event.value
            before = value(source[write], (*seen, write))
            return None if before is None else before + event.value

        for write in self.writes:
            found = value(write, ())
            if found is None:
                return None
            values[write] = found
        return values

    def _sync(self, rf: Pairs) -> Pairs:
        """Return observation-based synchronization, preceded by the observations (as the list's own relation)."""
        obs = {pair for pair in rf if pair in self.ms}
        rmw = {i for i in self.reads if self.events[i].kind in _RMW}
        while more := {(a, d) for a, b in obs if b in rmw for c, d in obs if c == b} - obs:
            obs |= more
        self.obs = obs
        return [(h, t) for w, r in obs for h in self._heads(w) for t in self._tails(r) if (h, t) in self.ms]

    def _allowed(
        self, rf: Pairs, co: set[tuple[int, int]], fr: Pairs, base: Pairs, sc: Pairs
    ) -> tuple[list[set[int]], list[set[int]]] | None:
        n = len(self.events)
        reached = _closure(n, [*self.po, *self.fixed, *base, *sc])
        if any(i in reached[i] for i in range(n)):
            return None
        cause = [set(row) for row in reached]
        for a, b in self.obs:
            cause[a] |= reached[b]
        if any(self.events[a].location == self.events[b].location and a in cause[b] for a, b in co):
            return None  # Coherence
        if any(a in reached[b] for a, b in sc):
            return None  # Fence-SC
        if any(a in cause[b] for a, b in (*rf, *fr)):
            return None  # Causality
        local = [pair for pair in (*rf, *co, *fr) if pair in self.ms]
        memory = set(self.memory)
        same = [p for p in self.po if memory.issuperset(p) and self.events[p[0]].location == self.events[p[1]].location]
        rows = _closure(n, local + same)
        return None if any(i in rows[i] for i in range(n)) else (cause, reached)  # SC per location

    # races ------------------------------------------------------------------------------------------------------------

    def has_race(self, cause: Sequence[set[int]], reached: Sequence[set[int]]) -> bool:
        mine = [i for i in self.memory if self.thread[i] >= 0]
        for i in mine:
            for j in mine:
                if i < j and self.events[i].location == self.events[j].location and {i, j} & set(self.writes):
                    if (i, j) not in self.ms and j not in cause[i] and i not in cause[j]:
                        return True
        for k, copy in enumerate(self.copies):
            for i in mine:
                if self.events[i].location == copy.location and (copy.writes or self.events[i].kind in _WRITES):
                    if not self._precedes(i, copy, reached) and not any(i in reached[d] for d in copy.done):
                        return True
            for other in self.copies[:k]:
                if other.location == copy.location and (copy.writes or other.writes):
                    if not _follows(copy, other, reached) and not _follows(other, copy, reached):
                        return True
        return False

    def _precedes(self, i: int, copy: _Copy, reached: Sequence[set[int]]) -> bool:
        """Return whether an access precedes a copy; a write needs a fence before an access through the async proxy."""
        if copy.issue not in reached[i]:
            return False
        if copy.proxy == "generic" or self.events[i].kind == "load":
            return True
        return any(
            p in reached[i] and copy.issue in reached[p] and (not self.strict or self._place(p)[:2] == copy.place[:2])
            for p, event in enumerate(self.events)
            if event.kind == "proxy fence"
        )


def _follows(later: _Copy, earlier: _Copy, reached: Sequence[set[int]]) -> bool:
    return any(later.issue in reached[d] for d in earlier.done)


def _closure(n: int, pairs: Sequence[tuple[int, int]]) -> list[set[int]]:
    rows = [0] * n
    for i, j in pairs:
        rows[i] |= 1 << j
    for k in range(n):
        for i in range(n):
            if rows[i] >> k & 1:
                rows[i] |= rows[k]
    return [{j for j in range(n) if row >> j & 1} for row in rows]

"""The order of work, in random programs of streams, events and waits, against the graph of their calls."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx.cuda_device.server.footprints import ranges_of_rows
from pyptx.cuda_device.server.stream_order import Conflict, Operation, StreamOrder

LEGACY, BLOCKING, OTHER, MORE = 1, 2, 3, 4


class Judge:
    """The calls as a graph: what must precede each operation is reached by its edges."""

    def __init__(self):
        self.edges: list[set[int]] = []
        self.last: dict[int, set[int]] = {stream: set() for stream in (LEGACY, BLOCKING, OTHER, MORE)}
        self.host: set[int] = set()

    def frontier(self, stream: int) -> set[int]:
        also = {LEGACY: self.last[BLOCKING], BLOCKING: self.last[LEGACY]}.get(stream, set())
        return self.last[stream] | also | self.host

    def add(self, stream: int) -> int:
        self.edges.append(self.frontier(stream))
        self.last[stream] = {len(self.edges) - 1}
        return len(self.edges) - 1

    def precedes(self, one: int, other: int) -> bool:
        pending, seen = [other], set()
        while pending:
            node = pending.pop()
            if node == one:
                return True
            pending += self.edges[node] - seen
            seen |= self.edges[node]
        return False


@pytest.mark.parametrize("seed", range(4))
def test_conflicts_are_the_pairs_without_a_path(seed: int):
    random = np.random.default_rng(seed)
    for _ in range(25):
        found: list[Conflict] = []
        order, judge = StreamOrder(found.append, lambda address, size: np.zeros(size, np.uint8)), Judge()
        events, operations, numbers = {}, [], {}
        for _ in range(30):
            stream = int(random.choice([LEGACY, BLOCKING, OTHER, MORE]))
            clock = order.begin(stream, legacy=stream == LEGACY, blocking=stream == BLOCKING)
            choice = random.integers(0, 8)
            if choice < 4:
                made = Operation(f"operation {len(operations)}", stream)
                ranges = ranges_of_rows(int(random.integers(0, 4)), 1)
                setattr(made, "writes" if random.random() < 0.5 else "reads", ranges)
                numbers[made] = judge.add(stream)
                operations.append(made)
                order.submit(clock, stream, made)
            elif choice == 4:
                key = int(random.integers(0, 2))
                events[key] = dict(clock), judge.frontier(stream)
            elif choice == 5 and events:
                recorded, nodes = events[int(random.choice(list(events)))]
                order.wait(clock, recorded)
                judge.last[stream] = judge.last[stream] | nodes
            elif choice == 6 and random.random() < 0.3:
                order.host_waits(clock)
                judge.host |= judge.frontier(stream)
            elif random.random() < 0.1:
                order.host_waits()
                judge.host |= set().union(*judge.last.values())
        reported = {(c.first, c.second) for c in found}
        expected = {
            (one, other)
            for k, other in enumerate(operations)
            for one in operations[:k]
            if _touches(one, other) and not judge.precedes(numbers[one], numbers[other])
        }
        assert reported <= expected
        # a pair that is left out has an operation in between with which the later one conflicts, too
        assert {other for _, other in reported} == {other for _, other in expected}


def _touches(one: Operation, other: Operation) -> bool:
    mine, theirs = (set(r[:, 0].tolist()) for r in (one.writes, other.writes))
    return bool(mine & theirs | mine & set(other.reads[:, 0].tolist()) | theirs & set(one.reads[:, 0].tolist()))

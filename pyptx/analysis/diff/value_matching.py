"""Value correspondence: match the values of two functions whatever registers hold them and whatever their order.

Color refinement on the graph of instructions and values finds the seeds: initially an instruction's color is its shape;
in each round, a value takes a color from the instructions that access it, and an instruction from the values it
accesses. Instructions whose color is unique on both sides match. Late rounds distinguish more but are disturbed further
around a change, so they are used first, and early rounds fill in near the change.

Propagation extends the correspondence along the data flow: corresponding values are accessed by corresponding
instructions. When only one instruction on each side accesses them in one way (same shape, same operand, same other values
as far as known), the two match, and so do their other values. A change stops propagation only locally: values around it
are reached from elsewhere.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence

__all__ = ["Propagation", "refinement_matches"]

ROUNDS = 8


def refinement_matches(
    a: Sequence[int], b: Sequence[int], webs_a: Sequence[Sequence[int]], webs_b: Sequence[Sequence[int]]
) -> Iterator[tuple[int, int]]:
    """Yield pairs (left line, right line), most certain first. A line may occur twice: the caller resolves conflicts.

    Args:
        a, b: initial colors, equal for equal shapes.
        webs_a, webs_b: the values that each line accesses.
    """
    rounds = _rounds(a, b, webs_a, webs_b)
    done_a: set[int] = set()
    done_b: set[int] = set()
    for colors_a, colors_b in reversed(rounds):
        only_a, only_b = _only(colors_a, done_a), _only(colors_b, done_b)
        for color, i in only_a.items():
            j = only_b.get(color, -1)
            if i >= 0 and j >= 0:
                done_a.add(i)
                done_b.add(j)
                yield i, j


def _rounds(
    a: Sequence[int], b: Sequence[int], webs_a: Sequence[Sequence[int]], webs_b: Sequence[Sequence[int]]
) -> list[tuple[list[int], list[int]]]:
    """Return the colors of both sides after each round, in order, until the partition is stable."""
    found = [(list(a), list(b))]
    count = len({*a, *b})
    for _ in range(ROUNDS):
        both = _refined(found[-1][0], webs_a), _refined(found[-1][1], webs_b)
        more = len({*both[0], *both[1]})
        if more == count:
            break
        found.append(both)
        count = more
    return found


def _refined(colors: Sequence[int], webs_of: Sequence[Sequence[int]]) -> list[int]:
    touched: dict[int, list[int]] = defaultdict(list)
    for color, webs in zip(colors, webs_of, strict=True):
        for slot, web in enumerate(webs):
            touched[web].append(hash((color, slot)))
    of_web = {web: hash(tuple(sorted(marks))) for web, marks in touched.items()}
    return [hash((color, *map(of_web.__getitem__, webs))) for color, webs in zip(colors, webs_of, strict=True)]


def _only(colors: Sequence[int], done: set[int]) -> dict[int, int]:
    """Return color -> the only line with it, -1 for several; lines in `done` are ignored."""
    found: dict[int, int] = {}
    for number, color in enumerate(colors):
        if number not in done:
            found[color] = -1 if color in found else number
    return found


Webs = Sequence[Sequence[int]]


class Propagation:
    """Propagation of a value correspondence along the data flow.

    Args:
        keys_a, keys_b: shapes of the lines.
        webs_a, webs_b: the values that each line accesses.
        other: other(x, y) is true when two values are known to differ.
    Attributes:
        forward: values of the left -> values of the right, one to one.
    """

    def __init__(
        self,
        keys_a: Sequence[Hashable],
        keys_b: Sequence[Hashable],
        webs_a: Webs,
        webs_b: Webs,
        other: Callable[[int, int], bool],
    ):
        self.other = other
        self.keys, self.webs = (keys_a, keys_b), (webs_a, webs_b)
        self.forward: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.done: tuple[set[int], set[int]] = set(), set()
        self.touching = _touching(webs_a), _touching(webs_b)
        self.fresh: deque[tuple[int, int]] = deque()  # matched values whose lines are not yet processed
        self.open: list[tuple[int, int]] = []  # matched values with ambiguous lines

    def match_values(self, a: Sequence[int], b: Sequence[int]) -> bool:
        """Match the values of two lines and propagate, unless that contradicts the correspondence."""
        if len(a) != len(b) or not self._fit(a, b):
            return False
        self._bind(a, b)
        self._follow()
        return True

    def guess(self) -> None:
        """Match ambiguous lines in order, where both sides have equally many."""
        waiting, self.open = self.open, []
        for x, y in waiting:
            left, right = self._ways(x, y)
            for way, lines in left.items():
                others = right.get(way, [])
                if len(lines) == len(others):
                    for i, j in zip(lines, others, strict=True):
                        self._pair(i, j)
                    self._follow()

    def _fit(self, a: Sequence[int], b: Sequence[int]) -> bool:
        return all(
            self.forward.get(x, y) == y and self.back.get(y, x) == x and not self.other(x, y)
            for x, y in zip(a, b, strict=True)
        ) and len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))

    def _bind(self, a: Sequence[int], b: Sequence[int]) -> None:
        for x, y in zip(a, b, strict=True):
            if x not in self.forward:
                self.forward[x], self.back[y] = y, x
                self.fresh.append((x, y))

    def _pair(self, i: int, j: int) -> None:
        a, b = self.webs[0][i], self.webs[1][j]
        if i not in self.done[0] and j not in self.done[1] and self._fit(a, b):
            self.done[0].add(i)
            self.done[1].add(j)
            self._bind(a, b)

    def _follow(self) -> None:
        while self.fresh:
            x, y = self.fresh.popleft()
            left, right = self._ways(x, y)
            for way, lines in left.items():
                others = right.get(way, [])
                if len(lines) == len(others) == 1:
                    self._pair(lines[0], others[0])
                elif others:
                    self.open.append((x, y))

    def _ways(self, x: int, y: int) -> tuple[dict[tuple, list[int]], dict[tuple, list[int]]]:
        """Return the unmatched lines that access two values, by shape and known values."""
        return (
            self._by_way(0, x, lambda web: self.forward.get(web, -1)),
            self._by_way(1, y, lambda web: web if web in self.back else -1),
        )

    def _by_way(self, side: int, web: int, known) -> dict[tuple, list[int]]:
        found: dict[tuple, list[int]] = defaultdict(list)
        keys, webs, done = self.keys[side], self.webs[side], self.done[side]
        for number in self.touching[side].get(web, ()):
            if number not in done:
                found[keys[number], *map(known, webs[number])].append(number)
        return found


def _touching(webs: Webs) -> dict[int, list[int]]:
    """Return value -> the lines that access it, in order."""
    found: dict[int, list[int]] = defaultdict(list)
    for number, own in enumerate(webs):
        for web in dict.fromkeys(own):
            found[web].append(number)
    return found

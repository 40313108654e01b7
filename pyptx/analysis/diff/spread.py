"""What is known of two functions' values, spread along the data flow: from lines that are surely the same to those that
make what they take, and to those that take what they make.

Two values that correspond are touched by corresponding lines. Where only one line on each side touches them in one way
(the same shape, the same operand, the same other values as far as they are known), those two are a pair, and what else
they touch corresponds too. A change stops this only where it is: around it the values are reached from elsewhere.
`colours.py` gives the beginnings.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence

__all__ = ["Spread"]

Webs = Sequence[Sequence[int]]


class Spread:
    """Attributes:
        forth: webs of the left -> webs of the right, one to one.
    """

    def __init__(self, keys_a: Sequence[Hashable], keys_b: Sequence[Hashable], webs_a: Webs, webs_b: Webs,
                 other: Callable[[int, int], bool]):
        """`keys_a`, `keys_b`: shapes of the lines; `webs_a`, `webs_b`: the values that each touches; `other(x, y)`:
        whether two values surely are not the same."""
        self.other = other
        self.keys, self.webs = (keys_a, keys_b), (webs_a, webs_b)
        self.forth: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.done: tuple[set[int], set[int]] = set(), set()
        self.touching = _touching(webs_a), _touching(webs_b)
        self.fresh: deque[tuple[int, int]] = deque()    # pairs of values whose lines have not been looked at
        self.open: list[tuple[int, int]] = []           # those that left lines of which there are several alike

    def values(self, a: Sequence[int], b: Sequence[int]) -> bool:
        """Take the values of two lines for the same, unless that contradicts what is known; then follow them."""
        if len(a) != len(b) or not self._fit(a, b):
            return False
        self._bind(a, b)
        self._follow()
        return True

    def guess(self) -> None:
        """Where as many lines on both sides touch a value in the same way, take them as they come."""
        waiting, self.open = self.open, []
        for x, y in waiting:
            left, right = self._ways(x, y)
            for way, lines in left.items():
                others = right.get(way, ())
                if len(lines) == len(others):
                    for i, j in zip(lines, others, strict=True):
                        self._pair(i, j)
                    self._follow()

    def _fit(self, a: Sequence[int], b: Sequence[int]) -> bool:
        return all(self.forth.get(x, y) == y and self.back.get(y, x) == x and not self.other(x, y)
                   for x, y in zip(a, b, strict=True)) and \
            len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))

    def _bind(self, a: Sequence[int], b: Sequence[int]) -> None:
        for x, y in zip(a, b, strict=True):
            if x not in self.forth:
                self.forth[x], self.back[y] = y, x
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
                others = right.get(way, ())
                if len(lines) == len(others) == 1:
                    self._pair(lines[0], others[0])
                elif others:
                    self.open.append((x, y))

    def _ways(self, x: int, y: int) -> tuple[dict[tuple, list[int]], dict[tuple, list[int]]]:
        """The lines that touch two values and are in no pair yet, by how: shape, and which of its values are known."""
        return (self._by_way(0, x, lambda web: self.forth.get(web, -1)),
                self._by_way(1, y, lambda web: web if web in self.back else -1))

    def _by_way(self, side: int, web: int, known) -> dict[tuple, list[int]]:
        found: dict[tuple, list[int]] = defaultdict(list)
        keys, webs, done = self.keys[side], self.webs[side], self.done[side]
        for number in self.touching[side].get(web, ()):
            if number not in done:
                found[keys[number], *map(known, webs[number])].append(number)
        return found


def _touching(webs: Webs) -> dict[int, list[int]]:
    """Web -> the lines that touch it, in order."""
    found: dict[int, list[int]] = defaultdict(list)
    for number, own in enumerate(webs):
        for web in dict.fromkeys(own):
            found[web].append(number)
    return found


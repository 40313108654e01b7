"""Which values of two functions correspond, whatever registers hold them and in whatever order they are computed.

Colour refinement on the graph of instructions and values: at first an instruction's colour is its shape; each round, a
value takes a colour from the instructions that touch it and an instruction from the values it touches. Instructions
whose colour is the only one of its kind on both sides are the same. Late rounds tell more apart and are upset further
around a change, so they come first and early ones fill in near the change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

__all__ = ["matches"]

ROUNDS = 8


def matches(a: Sequence[int], b: Sequence[int], webs_a: Sequence[Sequence[int]],
            webs_b: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Pairs (line of the left, line of the right), surest first. A line may come up twice: the caller keeps what fits
    together.

    Args:
        a, b: the first colours, equal for equal shapes.
        webs_a, webs_b: the values that each line touches.
    """
    rounds = _rounds(a, b, webs_a, webs_b)
    done_a: set[int] = set()
    done_b: set[int] = set()
    for colours_a, colours_b in reversed(rounds):
        only_a, only_b = _only(colours_a, done_a), _only(colours_b, done_b)
        for colour, i in only_a.items():
            j = only_b.get(colour, -1)
            if i >= 0 and j >= 0:
                done_a.add(i)
                done_b.add(j)
                yield i, j


def _rounds(a: Sequence[int], b: Sequence[int], webs_a: Sequence[Sequence[int]],
            webs_b: Sequence[Sequence[int]]) -> list[tuple[list[int], list[int]]]:
    """The colours of both sides after each round, the first ones in front; until no round tells more apart."""
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


def _refined(colours: Sequence[int], webs_of: Sequence[Sequence[int]]) -> list[int]:
    touched: dict[int, list[int]] = defaultdict(list)
    for colour, webs in zip(colours, webs_of, strict=True):
        for slot, web in enumerate(webs):
            touched[web].append(hash((colour, slot)))
    of_web = {web: hash(tuple(sorted(marks))) for web, marks in touched.items()}
    return [hash((colour, *map(of_web.__getitem__, webs))) for colour, webs in zip(colours, webs_of, strict=True)]


def _only(colours: Sequence[int], done: set[int]) -> dict[int, int]:
    """Colour -> the line that alone has it, -1 where several do; lines done with do not count."""
    found: dict[int, int] = {}
    for number, colour in enumerate(colours):
        if number not in done:
            found[colour] = -1 if colour in found else number
    return found

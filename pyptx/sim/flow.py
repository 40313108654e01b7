"""Control flow of an entry: blocks, where the lanes of a branch meet again, which registers start undefined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyptx.sim.actions import Branch, Exit, Jump, Return, Trap

__all__ = ["live_at_entry", "reconvergence"]


_LEAVING = frozenset((Branch, Jump, Exit, Return, Trap))


def successors(actions: Sequence[object], guarded: Sequence[bool]) -> list[tuple[int, ...]]:
    """For each instruction the instructions that may follow; `len(actions)` is the end."""
    result = []
    for i, action in enumerate(actions):
        if action.__class__ not in _LEAVING:
            result.append((i + 1,))
            continue
        after: tuple[int, ...]
        match action:
            case Branch(target):
                after = (target,)
            case Jump(_, targets):
                after = tuple(dict.fromkeys(targets))
            case _:
                after = (len(actions),)
        result.append(after if not guarded[i] or i + 1 in after else (*after, i + 1))
    return result


def _blocks(following: Sequence[tuple[int, ...]]) -> tuple[list[int], list[int]]:
    """First instructions of the blocks, in order, and the block of each instruction."""
    leaders = {0}
    for i, after in enumerate(following):
        if after != (i + 1,):
            leaders.update(after)
            leaders.add(i + 1)
    starts = sorted(s for s in leaders if s < len(following))
    block_of, block = [], -1
    marks = set(starts)
    for i in range(len(following)):
        block += i in marks
        block_of.append(block)
    return starts, block_of


def reconvergence(actions: Sequence[object], guarded: Sequence[bool]) -> list[int | None]:
    """For each instruction that can split a warp: the first instruction all its lanes come to again (the immediate
    post-dominator), None when they only meet at the end. None for all others.
    """
    following = successors(actions, guarded)
    n = len(actions)
    starts, block_of = _blocks(following)
    end = len(starts)
    after: list[list[int]] = [[] for _ in range(end + 1)]
    before: list[list[int]] = [[] for _ in range(end + 1)]
    for b in range(end):
        last = (starts[b + 1] if b + 1 < end else n) - 1
        after[b] = [block_of[s] if s < n else end for s in following[last]]
        for s in after[b]:
            before[s].append(b)
    dominator = _post_dominators(after, before, end)
    result: list[int | None] = [None] * n
    for i, targets in enumerate(following):
        if len(targets) > 1:
            d = dominator[block_of[i]]
            result[i] = starts[d] if d is not None and d != end else None
    return result


def _post_dominators(after: list[list[int]], before: list[list[int]], end: int) -> list[int | None]:
    """Immediate post-dominators (Cooper, Harvey, Kennedy), walking backwards from `end`."""
    order, seen, stack = [], {end}, [(end, iter(before[end]))]
    while stack:
        node, rest = stack[-1]
        for b in rest:
            if b not in seen:
                seen.add(b)
                stack.append((b, iter(before[b])))
                break
        else:
            order.append(node)
            stack.pop()
    rank = {b: k for k, b in enumerate(order)}
    dominator: list[int | None] = [None] * (end + 1)
    dominator[end] = end
    changed = True
    while changed:
        changed = False
        for b in reversed(order):
            if b == end:
                continue
            new = None
            for s in after[b]:
                if s in rank and dominator[s] is not None:
                    new = s if new is None else _meet(s, new, dominator, rank)
            if new is not None and dominator[b] != new:
                dominator[b] = new
                changed = True
    return dominator


def _meet(a: int, b: int, dominator: list[int | None], rank: dict[int, int]) -> int:
    while a != b:
        while rank[a] < rank[b]:
            a = dominator[a]                    # type: ignore[assignment]
        while rank[b] < rank[a]:
            b = dominator[b]                    # type: ignore[assignment]
    return a


def live_at_entry(actions: Sequence[object], guarded: Sequence[bool], reads: Sequence[Iterable[int]],
                  writes: Sequence[Iterable[int]], entries: Sequence[int] = (0,)) -> set[int]:
    """Registers some path from one of the `entries` reads before it writes them; a guarded write does not count."""
    following = successors(actions, guarded)
    n = len(actions)
    starts, block_of = _blocks(following)
    uses: list[set[int]] = []
    kills: list[set[int]] = []
    for start, stop in zip(starts, [*starts[1:], n], strict=True):
        used: set[int] = set()
        killed: set[int] = set()
        for i in range(start, stop):
            used.update([r for r in reads[i] if r not in killed])
            if not guarded[i]:
                killed.update(writes[i])
        uses.append(used)
        kills.append(killed)
    exposed = set().union(*uses)
    live = [set(used) for used in uses]
    ends = [(starts[b + 1] if b + 1 < len(starts) else n) - 1 for b in range(len(starts))]
    passed = [exposed - killed for killed in kills]
    changed = True
    while changed:
        changed = False
        for b in range(len(starts) - 1, -1, -1):
            before = len(live[b])
            for s in following[ends[b]]:
                if s < n:
                    live[b] |= live[block_of[s]] & passed[b]
            changed |= len(live[b]) != before
    return set().union(*(live[block_of[entry]] for entry in entries)) if live else set()

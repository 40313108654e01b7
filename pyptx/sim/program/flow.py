"""Control flow of an entry: blocks, where the lanes of a branch meet again, which registers start undefined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyptx._dominators import dominators, postorder
from pyptx._value import value
from pyptx.sim.actions.basic import Branch, Exit, Jump, Return, Trap

__all__ = ["Flow", "flow"]


_LEAVING = frozenset((Branch, Jump, Exit, Return, Trap))


@value
class Flow:
    """The blocks of a program.

    Attributes:
        starts: the first instruction of each block, in order, and at last the end.
        after: the blocks that may follow each; `len(after)` is the end.
        splits: for each instruction that can split a warp, its block.
    """

    starts: list[int]
    after: list[list[int]]
    splits: dict[int, int]

    def meets(self) -> list[int | None]:
        """For each instruction that can split a warp: the first instruction all its lanes come to again (the immediate
        post-dominator), None when they only meet at the end. None for all others.
        """
        end = len(self.after)
        result: list[int | None] = [None] * self.starts[-1]
        if not self.splits:
            return result
        before: list[list[int]] = [[] for _ in range(end + 1)]
        for block, following in enumerate(self.after):
            for other in following:
                before[other].append(block)
        dominator = dominators(postorder(before, end), [*self.after, []])
        for i, block in self.splits.items():
            d = dominator.get(block)
            result[i] = self.starts[d] if d is not None and d != end else None
        return result

    def live_at(self, entries: Iterable[int], uses: Sequence[set[int]], kills: Sequence[set[int]]) -> set[int]:
        """Registers that a path from one of the `entries` (first instructions of blocks) reads before it writes them.

        `uses`: what each block reads before it writes it; `kills`: what it writes in all lanes.
        """
        exposed = set().union(*uses)
        live = [set(used) for used in uses]
        passed = [exposed - killed for killed in kills]
        changed = True
        while changed:
            changed = False
            for block in range(len(live) - 1, -1, -1):
                before = len(live[block])
                for other in self.after[block]:
                    if other < len(live):
                        live[block] |= live[other] & passed[block]
                changed |= len(live[block]) != before
        block_at = {start: block for block, start in enumerate(self.starts[:-1])}
        return set().union(*(live[block_at[entry]] for entry in entries if entry in block_at))


def flow(actions: Sequence[object], guards: Sequence[object | None], entries: Iterable[int] = (0,)) -> Flow:
    """The blocks of instructions; `guards` are None where there is none, `entries` begin blocks."""
    n, leaving = len(actions), []
    leaders = {0, n, *entries}
    for i, action in enumerate(actions):
        if action.__class__ not in _LEAVING:
            continue
        match action:
            case Branch(target):
                following: tuple[int, ...] = (target,)
            case Jump(_, targets):
                following = tuple(dict.fromkeys(targets))
            case _:
                following = (n,)
        if guards[i] is not None and i + 1 not in following:
            following = *following, i + 1
        leaving.append((i, following))
        if following != (i + 1,):
            leaders.update(following)
            leaders.add(i + 1)
    starts = sorted(leaders)
    block_at = {start: block for block, start in enumerate(starts)}
    after = [[block + 1] for block in range(len(starts) - 1)]
    splits, block = {}, 0
    for i, following in leaving:
        while starts[block + 1] <= i:
            block += 1
        if i + 1 == starts[block + 1]:
            after[block] = [block_at[other] for other in following]
        if len(following) > 1:
            splits[i] = block
    return Flow(starts, after, splits)

"""Control flow graph: basic blocks, reconvergence points of divergent branches, registers live at entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyptx._dominators import dominators, postorder
from pyptx._frozen import frozen
from pyptx.sim.actions import Branch, Exit, Jump, Return, Trap

__all__ = ["ControlFlow", "control_flow"]


_LEAVING = frozenset((Branch, Jump, Exit, Return, Trap))


@frozen
class ControlFlow:
    """Basic blocks of a program.

    Attributes:
        starts: first instruction of each block, in order, followed by the end of the program.
        after: successors of each block; `len(after)` is the end.
        splits: block of each instruction that can split a warp.
    """

    starts: list[int]
    after: list[list[int]]
    splits: dict[int, int]

    def reconvergence(self) -> list[int | None]:
        """Return, for each instruction that can split a warp, the instruction where its lanes reconverge.

        That is the immediate post-dominator; None if they reconverge at the end only, and for all other instructions.
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
        """Return the registers that are live at the entries.

        Args:
            entries: first instructions of blocks.
            uses: registers each block reads before it writes them.
            kills: registers each block writes in all lanes.
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


def control_flow(
    actions: Sequence[object], guards: Sequence[object | None], entries: Iterable[int] = (0,)
) -> ControlFlow:
    """Build the control flow graph.

    Args:
        actions: steps of the program; only branches, jumps and ends are looked at.
        guards: None for an instruction without a guard.
        entries: further instructions that start a block.
    """
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
    return ControlFlow(starts, after, splits)

"""Structure in the flow of control: statements between a label and the jump back, between a jump and its label.

Only what the DSL writes for `ptx.loop`, `ptx.if_` and `ptx.else_` is recognised: a jump and a label with statements
between them. Labels that others name stay, so that no other jump changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pyptx.ir.formatting import integer
from pyptx.ir.nodes import Block, BranchTargets, Instruction, Label, LabelOperand, Loc, Predicate, Statement
from pyptx.ir.visit import leaves

__all__ = ["If", "Item", "Loop", "Region", "jump", "references", "structured", "without_idle_jumps"]

_MOST = 1 << 16                                         # labels that `L<n>` stands for
DEEPEST = 14                                            # Python takes 20 `with` inside one another


@dataclass(slots=True)
class Loop:
    """`label: body; @predicate bra label;`"""

    label: str
    predicate: Predicate | None
    body: list[Item]


@dataclass(slots=True)
class If:
    """`@skip bra past; then; past:`, or with `otherwise` between two labels. `skip` holds where `then` is skipped."""

    skip: Predicate
    then: list[Item]
    otherwise: list[Item] = field(default_factory=list)


@dataclass(slots=True)
class Region:
    """A `{ }` scope."""

    body: list[Item]


Item = Statement | Loop | If | Region


def without_idle_jumps(statements: list[Statement]) -> list[Statement]:
    """The statements without jumps to the label that comes right behind them."""
    out: list[Statement] = []
    for i, node in enumerate(statements):
        if isinstance(node, Block):
            node = Block(tuple(without_idle_jumps(list(node.body))))
        target = jump(node)
        if target is not None and node.predicate is None:
            behind = i + 1
            while behind < len(statements) and isinstance(statements[behind], Label):
                if statements[behind].name == target:
                    break
                behind += 1
            else:
                out.append(node)
            continue
        out.append(node)
    return out


def structured(body: Iterable[Statement], take: Callable[[str], bool]) -> list[Item]:
    """The statements with what can be structured structured.

    Args:
        take: asked before each rewrite, with its kind.
    """
    statements = [s for s in body if not isinstance(s, Loc)]
    return _Structurer(statements, take).items(0, len(statements), 0)


def jump(node: object) -> str | None:
    """The label a plain `bra` goes to."""
    match node:
        case Instruction("bra", () | (".uni",), (LabelOperand(target),)):
            return target
    return None


class _Structurer:
    def __init__(self, statements: list[Statement], take: Callable[[str], bool]):
        self.statements, self.take = statements, take
        self.at = {s.name: i for i, s in enumerate(statements) if isinstance(s, Label)}
        self.named = references(statements)
        self.loops: dict[int, int] = {}                 # label -> the last jump back to it
        self.ifs: dict[int, tuple[int, int]] = {}       # jump -> its label, and the label behind an else
        self._find()

    def _find(self) -> None:
        taken: list[tuple[int, int]] = []               # twice the place of first and last statement; a loop's is odd
        last: dict[int, int] = {}
        for i, node in enumerate(self.statements):
            target = self.at.get(jump(node) or "")
            if target is not None and target < i and (node.predicate is None or node.modifiers == ()):
                last[target] = i
        for start, end in sorted(last.items(), key=lambda item: item[1] - item[0]):
            if not _crosses(taken, 2 * start, 2 * end - 1) and self.take("loop"):
                taken.append((2 * start, 2 * end - 1))
                self.loops[start] = end
        jumps = []
        for i, node in enumerate(self.statements):
            target = self.at.get(jump(node) or "")
            if target is not None and target > i + 1 and node.predicate is not None and node.modifiers == ():
                jumps.append((target - i, i, target))
        for _, start, end in sorted(jumps):
            if _crosses(taken, 2 * start, 2 * end - 2) or not self.take("if"):
                continue
            other = self._else(start, end, taken)
            self.ifs[start] = (end, other)
            taken.append((2 * start, 2 * max(end, other) - 2))

    def _else(self, start: int, end: int, taken: list[tuple[int, int]]) -> int:
        """The label behind an else part, or -1."""
        node = self.statements[end - 1]
        target = self.at.get(jump(node) or "")
        if target is None or target <= end + 1 or node.predicate is not None or end - 1 == start:
            return -1
        behind = (jump(self.statements[start]), self.statements[end])
        if behind[1].name != behind[0] or _crosses(taken, 2 * start, 2 * target - 2) or not self.take("else"):
            return -1
        return target

    def items(self, first: int, stop: int, depth: int) -> list[Item]:
        """Statements first..stop-1, structured."""
        out: list[Item] = []
        i = first
        while i < stop:
            node = self.statements[i]
            if depth < DEEPEST and i in self.loops and self.loops[i] < stop:
                end = self.loops[i]
                out.append(Loop(node.name, self.statements[end].predicate, self.items(i + 1, end, depth + 1)))
                i = end + 1
            elif depth < DEEPEST and i in self.ifs and max(self.ifs[i]) <= stop:
                i = self._branch(i, stop, out, depth)
            elif isinstance(node, Block):
                out.append(Region(structured(node.body, self.take)) if depth < DEEPEST else node)
                i += 1
            elif isinstance(node, Label) and self.named.get(node.name, 0) == 0:
                i += 1                                  # nothing goes there
            else:
                out.append(node)
                i += 1
        return out

    def _branch(self, i: int, stop: int, out: list[Item], depth: int) -> int:
        end, other = self.ifs[i]
        node = If(self.statements[i].predicate, [])
        out.append(node)
        label = self.statements[end].name
        if other < 0:
            node.then = self.items(i + 1, end, depth + 1)
            return self._past(end, stop, out)
        node.then = self.items(i + 1, end - 1, depth + 1)
        self.named[label] -= 1
        if self.named[label]:
            node.otherwise.append(self.statements[end])
        node.otherwise += self.items(end + 1, other, depth + 1)
        return self._past(other, stop, out)

    def _past(self, end: int, stop: int, out: list[Item]) -> int:
        """One jump to the label less; it stays where others name it. At the stretch's end it belongs to the outer."""
        label = self.statements[end]
        self.named[label.name] -= 1
        if end == stop:
            return stop
        if self.named[label.name]:
            out.append(label)
        return end + 1


def references(statements: Iterable[Statement]) -> dict[str, int]:
    """How often each label is named, inside blocks too."""
    found: dict[str, int] = {}
    for node in statements:
        if isinstance(node, Block):
            for name, count in references(node.body).items():
                found[name] = found.get(name, 0) + count
        elif isinstance(node, BranchTargets):
            for name in node.labels:
                base, _, count = name.partition("<")
                for one in [f"{base}{k}" for k in range(min(integer(count[:-1]) or 0, _MOST))] if count else [name]:
                    found[one] = found.get(one, 0) + 1
        elif isinstance(node, Instruction):
            for operand in node.operands:
                for leaf in leaves(operand):
                    if isinstance(leaf, LabelOperand):
                        found[leaf.name] = found.get(leaf.name, 0) + 1
    return found


def _crosses(intervals: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether start..end overlaps one of the intervals without one holding the other."""
    return any(a < start <= b < end or start < a <= end < b for a, b in intervals)

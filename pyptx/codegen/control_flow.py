"""Structured control flow: loops and conditionals recovered from labels and branches.

Recognizes the shapes the DSL emits for `ptx.loop`, `ptx.if_` and `ptx.else_`: a branch and a label with statements in
between. Labels with other references stay, so that no other branch changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import NamedTuple

from pyptx.codegen.items import If, Item, Loop, Region
from pyptx.ir.formatting import integer
from pyptx.ir.nodes import Block, BranchTargets, Instruction, Label, LabelOperand, Loc, Predicate, Statement
from pyptx.ir.visit import leaves

__all__ = [
    "Branch",
    "as_branch",
    "count_label_references",
    "structure_control_flow",
    "drop_fallthrough_branches",
]

_MAX_TARGETS = 1 << 16  # labels that `L<n>` expands to
MAX_DEPTH = 14  # Python allows 20 nested `with` statements


def drop_fallthrough_branches(statements: list[Statement], allow: Callable[[str], bool]) -> list[Statement]:
    """Return the statements without branches to the label that follows them.

    Args:
        statements: the body, or part of it.
        allow: consulted before each branch is dropped.
    """
    out: list[Statement] = []
    for i, node in enumerate(statements):
        if isinstance(node, Block):
            node = Block(tuple(drop_fallthrough_branches(list(node.body), allow)))
        branch = as_branch(node)
        if branch is not None and branch.predicate is None and branch.target in _labels_at(statements, i + 1):
            if allow("jump"):
                continue
        out.append(node)
    return out


def _labels_at(statements: list[Statement], i: int) -> list[str]:
    """Return the names of the adjacent labels from index i on."""
    names = []
    while i < len(statements) and isinstance(label := statements[i], Label):
        names.append(label.name)
        i += 1
    return names


def structure_control_flow(body: Iterable[Statement], allow: Callable[[str], bool]) -> list[Item]:
    """Return the statements with loops and conditionals recovered.

    Args:
        body: the statements.
        allow: consulted before each rewrite, with its kind.
    """
    statements: list[Statement] = [s for s in body if not isinstance(s, Loc)]
    return _Structurer(statements, allow).items(0, len(statements), 0)


class Branch(NamedTuple):
    """A `bra` or `bra.uni` to a label."""

    target: str
    predicate: Predicate | None
    modifiers: tuple[str, ...]


def as_branch(node: object) -> Branch | None:
    """Return a `bra` or `bra.uni` as a Branch; None for any other node."""
    match node:
        case Instruction("bra", () | (".uni",) as modifiers, (LabelOperand(target),), predicate):
            return Branch(target, predicate, modifiers)
    return None


class _Structurer:
    def __init__(self, statements: list[Statement], allow: Callable[[str], bool]):
        self.statements, self.allow = statements, allow
        self.at = {s.name: i for i, s in enumerate(statements) if isinstance(s, Label)}
        self.labels = sorted(self.at.values())
        self.named = count_label_references(statements)
        self.sources = {i: (i, i) for i in self.labels}  # label -> first and last statement that references it
        for i, node in enumerate(statements):
            for name in count_label_references((node,)):
                target = self.at.get(name)
                if target is not None:
                    first, last = self.sources[target]
                    self.sources[target] = (i, i) if first == last == target else (min(first, i), max(last, i))
        self.loops: dict[int, int] = {}  # index of a label -> index of the last branch back to it
        self.ifs: dict[int, tuple[int, int]] = {}  # index of a branch -> its label, and the label after the else part
        self._find()

    def _find(self) -> None:
        taken: list[tuple[int, int]] = []  # twice the index of first and last statement; odd for loops
        last: dict[int, int] = {}
        for i, node in enumerate(self.statements):
            branch = as_branch(node)
            if branch is not None and (branch.predicate is None or branch.modifiers == ()):
                target = self.at.get(branch.target, i)
                if target < i:
                    last[target] = i
        for start, end in sorted(last.items(), key=lambda item: item[1] - item[0]):
            if not _crosses(taken, 2 * start, 2 * end - 1) and self.allow("loop"):
                taken.append((2 * start, 2 * end - 1))
                self.loops[start] = end
        branches = []
        for i, node in enumerate(self.statements):
            branch = as_branch(node)
            if branch is not None and branch.predicate is not None and branch.modifiers == ():
                target = self.at.get(branch.target, i)
                if target > i + 1:
                    branches.append((target - i, i, target))
        for _, start, end in sorted(branches):
            if _crosses(taken, 2 * start, 2 * end - 2) or self._is_entered(start + 1, end - 1) or not self.allow("if"):
                continue
            other = self._else(start, end, taken)
            self.ifs[start] = (end, other)
            taken.append((2 * start, 2 * max(end, other) - 2))

    def _else(self, start: int, end: int, taken: list[tuple[int, int]]) -> int:
        """Return the index of the label after an else part, or -1."""
        skip, last = as_branch(self.statements[start]), as_branch(self.statements[end - 1])
        if skip is None or last is None or last.predicate is not None or end - 1 == start:
            return -1
        target = self.at.get(last.target, end)
        if target <= end + 1 or self._label(end).name != skip.target or self.sources[end] != (start, start):
            return -1
        if self._is_entered(end + 1, target - 1):
            return -1
        return -1 if _crosses(taken, 2 * start, 2 * target - 2) or not self.allow("else") else target

    def _is_entered(self, first: int, last: int) -> bool:
        """Return True if a branch from outside statements first..last targets a label among them."""
        inside = self.labels[bisect_left(self.labels, first) : bisect_right(self.labels, last)]
        return any(self.sources[i][0] < first or self.sources[i][1] > last for i in inside)

    def _label(self, i: int) -> Label:
        """Return the label at index i."""
        label = self.statements[i]
        assert isinstance(label, Label), f"statement {i} is not a label"
        return label

    def items(self, first: int, stop: int, depth: int) -> list[Item]:
        """Return statements first..stop-1 as items."""
        out: list[Item] = []
        i = first
        while i < stop:
            node = self.statements[i]
            if depth < MAX_DEPTH and i in self.loops and self.loops[i] < stop:
                end = self.loops[i]
                back = as_branch(self.statements[end])
                assert back is not None, f"statement {end} is not a branch"
                out.append(Loop(self._label(i).name, back.predicate, self.items(i + 1, end, depth + 1)))
                i = end + 1
            elif depth < MAX_DEPTH and i in self.ifs and max(self.ifs[i]) <= stop:
                i = self._branch(i, stop, out, depth)
            elif isinstance(node, Block):
                out.append(Region(structure_control_flow(node.body, self.allow)) if depth < MAX_DEPTH else node)
                i += 1
            elif isinstance(node, Label) and self.named.get(node.name, 0) == 0:
                i += 1  # unreferenced
            else:
                out.append(node)
                i += 1
        return out

    def _branch(self, i: int, stop: int, out: list[Item], depth: int) -> int:
        end, other = self.ifs[i]
        branch = as_branch(self.statements[i])
        assert branch is not None and branch.predicate is not None, f"statement {i} is not a conditional branch"
        node = If(branch.predicate, [])
        out.append(node)
        label = self._label(end).name
        if other < 0:
            node.then = self.items(i + 1, end, depth + 1)
            return self._past(end, stop, out)
        node.then = self.items(i + 1, end - 1, depth + 1)
        self.named[label] -= 1
        if self.named[label]:
            node.otherwise.append(self._label(end))
        node.otherwise += self.items(end + 1, other, depth + 1)
        return self._past(other, stop, out)

    def _past(self, end: int, stop: int, out: list[Item]) -> int:
        """Drop one reference to the label; emit it if others remain, unless it belongs to the enclosing range."""
        label = self._label(end)
        self.named[label.name] -= 1
        if end == stop:
            return stop
        if self.named[label.name]:
            out.append(label)
        return end + 1


def count_label_references(statements: Iterable[Statement]) -> dict[str, int]:
    """Count the references to each label, nested blocks included."""
    found: dict[str, int] = {}
    for node in statements:
        if isinstance(node, Block):
            for name, count in count_label_references(node.body).items():
                found[name] = found.get(name, 0) + count
        elif isinstance(node, BranchTargets):
            for name in node.labels:
                base, _, count = name.partition("<")
                for one in (
                    [f"{base}{k}" for k in range(min(integer(count[:-1]) or 0, _MAX_TARGETS))] if count else [name]
                ):
                    found[one] = found.get(one, 0) + 1
        elif isinstance(node, Instruction):
            for operand in node.operands:
                for leaf in leaves(operand):
                    if isinstance(leaf, LabelOperand):
                        found[leaf.name] = found.get(leaf.name, 0) + 1
    return found


def _crosses(intervals: list[tuple[int, int]], start: int, end: int) -> bool:
    """Return True if start..end overlaps one of the intervals without nesting."""
    return any(a < start <= b < end or start < a <= end < b for a, b in intervals)

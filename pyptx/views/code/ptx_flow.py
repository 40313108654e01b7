"""Basic blocks, loops and label links of PTX text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pyptx._frozen import frozen
from pyptx.analysis.control_flow import BlockEnd, ControlFlow, find_control_flow
from pyptx.analysis.ptx_rows import statement_rows
from pyptx.ir.nodes import (
    Block,
    BranchTargets,
    CompoundExpr,
    Function,
    Instruction,
    IntrinsicScope,
    Label,
    Module,
    Statement,
)
from pyptx.ir.operands import LabelOperand

__all__ = ["ptx_flow"]


def ptx_flow(module: Module, ptx: Sequence[str]) -> tuple[ControlFlow, tuple[tuple[int, str, int], ...]]:
    """Return the control flow of PTX text and its links, (row, name, row of the definition).

    Names are labels in branches and branch tables, and called functions. Both results are empty for a module without
    functions.
    """
    if not module.functions:
        return ControlFlow(), ()
    rows = iter(statement_rows(module, ptx))
    heads = _function_rows(module, ptx)
    named: dict[tuple[int, str, int], None] = {}
    endings: dict[int, BlockEnd] = {}
    functions = []
    for directive in module.directives:
        if isinstance(directive, Function):
            scope = _Scope.of(directive.body, rows)
            if own := list(scope.rows()):
                functions.append((min(own), max(own) + 1))
                _read(scope, heads, named, endings)
        elif isinstance(directive, Instruction):
            next(rows)
    links = {(_row_of(word, row, ptx), word, target) for row, word, target in named}
    return find_control_flow(len(ptx), sorted(functions), endings), tuple(sorted(links))


def _row_of(word: str, row: int, ptx: Sequence[str]) -> int:
    """Return the row of a statement that contains a name: a call may span rows; a branch table is a separate statement."""
    for at in range(row, len(ptx)):
        if word in re.findall(r"[\w$%]+", ptx[at]):
            return at
        if ";" in ptx[at]:
            break
    return row


@frozen
class _Scope:
    """A brace-delimited scope with the row of each instruction; its labels are visible in nested scopes, too."""

    parts: list[tuple[Instruction, int] | _Scope]
    labels: dict[str, int]
    tables: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, body: Iterable[Statement], rows: Iterator[int]) -> _Scope:
        scope = cls([], {}, {})
        scope._take(body, rows)
        return scope

    def _take(self, body: Iterable[Statement], rows: Iterator[int]) -> None:
        for node in body:
            match node:
                case Instruction():
                    self.parts.append((node, next(rows)))
                case Label(name):
                    self.labels[name] = next(rows)
                case BranchTargets(name, labels):
                    self.tables[name] = labels
                case Block(inner):
                    self.parts.append(_Scope.of(inner, rows))
                case IntrinsicScope() | CompoundExpr():
                    self._take(node.body, rows)

    def rows(self) -> Iterator[int]:
        yield from self.labels.values()
        for part in self.parts:
            if isinstance(part, _Scope):
                yield from part.rows()
            else:
                yield part[1]


def _read(
    scope: _Scope, heads: dict[str, int], links: dict[tuple[int, str, int], None], endings: dict[int, BlockEnd]
) -> None:
    for part in scope.parts:
        if isinstance(part, _Scope):
            inner = _Scope(part.parts, scope.labels | part.labels, scope.tables | part.tables)
            _read(inner, heads, links, endings)
            continue
        node, row = part
        named = [operand.name for operand in node.operands if isinstance(operand, LabelOperand)]
        if node.opcode in ("bra", "brx"):
            words = [label for name in named for label in scope.tables.get(name, (name,)) if label in scope.labels]
            endings[row] = BlockEnd(tuple(scope.labels[word] for word in words), node.predicate is not None)
            links.update(dict.fromkeys((row, word, scope.labels[word]) for word in words))
        elif node.opcode in ("ret", "exit", "trap"):
            endings[row] = BlockEnd((), node.predicate is not None)
        elif node.opcode == "call":
            links.update(dict.fromkeys((row, name, heads[name]) for name in named if name in heads))


def _function_rows(module: Module, ptx: Sequence[str]) -> dict[str, int]:
    """Return the row of each function's definition, or of its declaration if it is not defined."""
    names = {function.name for function in module.functions}
    found: dict[str, int] = {}
    opened = False
    for row, line in enumerate(ptx):
        opened = opened or ".func" in line or ".entry" in line
        if opened and (name := names.intersection(re.findall(r"[\w$%]+", line))):
            found.update(dict.fromkeys(name, row))
            opened = False
    return found

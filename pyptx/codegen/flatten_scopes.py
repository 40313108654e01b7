"""Scope flattening: registers and labels get names unique in the function, declared in front.

Scopes that declare variables, such as the parameters of a call, are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from pyptx.codegen.canonical import strip_comments
from pyptx.ir.nodes import (
    AddressOperand,
    Block,
    BranchTargets,
    CallPrototype,
    Instruction,
    Label,
    LabelOperand,
    NegatedOperand,
    NegativeOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    Predicate,
    RegDecl,
    RegisterOperand,
    Statement,
    SubscriptOperand,
    VarDecl,
    VectorOperand,
)

__all__ = ["flatten_scopes", "shorten_labels", "rename_registers"]

Rename = Callable[[str], str]
_NAME = re.compile(r"%?[A-Za-z_$][\w$]*")


def flatten_scopes(body: Iterable[Statement]) -> tuple[list[RegDecl], list[Statement]]:
    """Return the register declarations and the other statements of a body, scopes dissolved."""
    worker = _ScopeFlattener()
    out = worker.scope(list(strip_comments(body)), lambda name: name, outermost=True)
    return worker.declared, out


class _ScopeFlattener:
    def __init__(self):
        self.declared: list[RegDecl] = []
        self.taken: set[str] = set()
        self.bases: dict[str, tuple[str, int]] = {}

    def scope(self, nodes: list[Statement], outer: Rename, *, outermost: bool = False) -> list[Statement]:
        names: dict[str, str] = {}
        bases: dict[str, tuple[str, int]] = {}
        for node in nodes:
            if isinstance(node, RegDecl):
                fresh = self._fresh(node.name, "_" if node.count is not None else "", inner=not outermost)
                if node.count is None:
                    names[node.name] = fresh
                else:
                    bases[node.name] = self.bases[fresh] = (fresh, node.count)
                self.declared.append(replace(node, name=fresh, formatting=None))
            elif isinstance(node, (Label, BranchTargets, CallPrototype)):
                names[node.name] = self._fresh(node.name)

        known: dict[str, str] = {}

        def rename(name: str) -> str:
            found = known.get(name)
            if found is None:
                found = known[name] = _resolved(name, names, bases) or outer(name)
            return found

        out: list[Statement] = []
        for node in nodes:
            if isinstance(node, RegDecl):
                continue
            if isinstance(node, Block):
                inside = self.scope(list(strip_comments(node.body)), rename)
                if any(isinstance(n, VarDecl) for n in inside):
                    out.append(Block(tuple(inside)))
                else:
                    out += inside
            else:
                out.append(rename_registers(node, rename))
        return out

    def _fresh(self, name: str, end: str = "", *, inner: bool = False) -> str:
        found, count = name, 0
        while found in self.taken or (inner and _resolved(found, {}, self.bases)):
            count += 1
            found = f"{name}_{count}{end}"
        self.taken.add(found)
        return found


def _resolved(name: str, names: dict[str, str], bases: dict[str, tuple[str, int]]) -> str | None:
    if name in names:
        return names[name]
    stem = name.rstrip("0123456789")
    for cut in range(len(stem), len(name)):
        base = bases.get(name[:cut])
        if base is not None and int(name[cut:]) < base[1]:
            return base[0] + name[cut:]
    return None


def rename_registers(node: Statement, rename: Rename) -> Statement:
    """Return the statement with registers and labels renamed."""
    match node:
        case Instruction(opcode, modifiers, operands, predicate):
            guard = predicate and Predicate(rename(predicate.register), predicate.negated)
            return Instruction(opcode, modifiers, tuple(_operand(o, rename) for o in operands), guard)
        case Label(name):
            return Label(rename(name))
        case BranchTargets(name, labels):
            return BranchTargets(rename(name), tuple(map(rename, labels)))
        case CallPrototype(name):
            return replace(node, name=rename(name), formatting=None)
    return replace(node, formatting=None) if getattr(node, "formatting", None) is not None else node


def _operand(node: Operand, rename: Rename) -> Operand:
    match node:
        case RegisterOperand(name):
            base, dot, selector = name.partition(".")
            return RegisterOperand(rename(base) + dot + selector)
        case LabelOperand(name):
            return LabelOperand(_text(name, rename))
        case AddressOperand(base, offset, suffix=suffix):
            rendered = None if offset in (None, "0") else _text(offset, rename)
            return AddressOperand(_text(base, rename), rendered, suffix=suffix)
        case VectorOperand(elements):
            return VectorOperand(tuple(_operand(e, rename) for e in elements))
        case ParenthesizedOperand(elements):
            return ParenthesizedOperand(tuple(_operand(e, rename) for e in elements))
        case PipeOperand(left, right):
            return PipeOperand(_operand(left, rename), _operand(right, rename))
        case NegatedOperand(inner):
            return NegatedOperand(_operand(inner, rename))
        case NegativeOperand(inner):
            return NegativeOperand(_operand(inner, rename))
        case SubscriptOperand(name, index):
            return SubscriptOperand(rename(name), index)
    return replace(node, layout=None)


def _text(text: str, rename: Rename) -> str:
    return _NAME.sub(lambda m: rename(m[0]), text) if not text.isidentifier() else rename(text)


_LABEL = re.compile(r"\$L__(BB\d+_\d+|[A-Za-z]\w*)|\$([A-Za-z_]\w*)")


def shorten_labels(body: list[Statement]) -> list[Statement]:
    """Return the statements with labels shortened where that is unambiguous: `$L__BB0_2` becomes `BB0_2`."""
    labels = _labels(body)
    short = {name: next(filter(None, m.groups())) if (m := _LABEL.fullmatch(name)) else name for name in labels}
    counts: dict[str, int] = {}
    for name in short.values():
        counts[name] = counts.get(name, 0) + 1
    one = {m[1] for name in labels if (m := re.fullmatch(r"\$L__BB(\d+)_\d+", name))}
    if len(one) == 1:
        short = {k: re.sub(r"^BB\d+_", "BB", v) for k, v in short.items()}
    final = {k: v for k, v in short.items() if list(short.values()).count(v) == 1} if len(short) < 2000 else {}
    return [_relabel(node, final) for node in body] if final else body


def _relabel(node: Statement, names: dict[str, str]) -> Statement:
    if isinstance(node, Block):
        return Block(tuple(_relabel(n, names) for n in node.body))
    return rename_registers(node, lambda name: names.get(name, name))


def _labels(body: Iterable[Statement]) -> list[str]:
    found = []
    for node in body:
        if isinstance(node, Block):
            found += _labels(node.body)
        elif isinstance(node, (Label, BranchTargets)):
            found.append(node.name)
    return found

"""Canonical form of a function: equal for two functions that differ only in register and label names.

Registers and labels are numbered in order of appearance; scopes are flattened. The form also identifies spellings that
every assembler must treat alike:

* a branch to the next statement is dropped, as are labels that nothing references;
* `@p bra A; bra B; A:` is `@!p bra B; A:`, and an unconditional `bra.uni` is `bra`;
* instructions whose result has the same bits for signed, unsigned and untyped operands (sub, mul.lo, and, mov, ...),
  if ptxas produces the same machine code for them (it does not always for add.s64 and add.u64, for instance);
* `.shared` is `.shared::cta`, and `[a+0]` is `[a]`.

While it is computed, a statement is a list: `["label", name]`, `["", guard, negated, mnemonic, operand, ...]` for an
instruction, and similar for other nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from pyptx.ir.nodes import (
    SILENT,
    AddressOperand,
    Block,
    BranchTargets,
    CallPrototype,
    CompoundExpr,
    Function,
    Instruction,
    IntrinsicScope,
    Label,
    LabelOperand,
    NegatedOperand,
    NegativeOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    RegDecl,
    RegisterOperand,
    Statement,
    SubscriptOperand,
    VarDecl,
    VectorOperand,
)
from pyptx.isa import _types

__all__ = ["canonical_form", "canonical_mnemonic", "strip_comments"]


def canonical_form(function: Function) -> list[tuple]:
    """Return the function as a list of tuples that does not depend on the names of its registers and labels."""
    flat = remove_fallthrough_jumps(_flat(function.body))
    numbers: dict[str, tuple] = {}

    def canonical(name: str) -> object:
        if name[:1] != "\0":
            return name
        found = numbers.get(name)
        if found is None:
            kind = name[1:].partition("\0")[0]
            found = numbers[name] = (kind, len(numbers))
        return found

    return [tuple(canonical(part) if type(part) is str else part for part in item) for item in flat]


class _Scope:
    """Unique placeholders for the names a scope declares: "\\0<kind>\\0<number>"."""

    def __init__(self, outer: _Scope | None, counter: list[int]):
        self.outer, self.counter = outer, counter
        self.names: dict[str, str] = {}
        self.bases: dict[str, tuple[str, int]] = {}
        self.known: dict[str, str] = {}

    def fresh(self, kind: str) -> str:
        self.counter[0] += 1
        return f"\0{kind}\0{self.counter[0]}"

    def find(self, name: str) -> str:
        """Return the placeholder of a name; the name itself if no scope declares it."""
        try:
            return self.known[name]
        except KeyError:
            found = self.known[name] = self._find(name)
            return found

    def _find(self, name: str) -> str:
        if name in self.names:
            return self.names[name]
        stem = name.rstrip("0123456789")
        for cut in range(len(stem), len(name)):
            base = self.bases.get(name[:cut])
            if base is not None and int(name[cut:]) < base[1]:
                found = self.names[name] = self.fresh(base[0])
                return found
        return self.outer.find(name) if self.outer else name


def _register_class(type_name: str) -> str:
    """Return "pred" or the width in bits: registers of one class are interchangeable."""
    return type_name if type_name == "pred" else str(_types.width(type_name))


def _flat(body: Iterable[Statement]) -> list[list]:
    """Return one list per statement, with declared names replaced by their placeholders."""
    counter, out = [0], []

    def scope(nodes: Iterable[Statement], outer: _Scope | None) -> None:
        here = _Scope(outer, counter)
        nodes = list(strip_comments(nodes))
        for node in nodes:
            if isinstance(node, RegDecl):
                kind = f"{_register_class(node.type.value)}{f'v{node.vector}' if node.vector else ''}"
                if node.count is None:
                    here.names[node.name] = here.fresh(kind)
                else:
                    here.bases[node.name] = (kind, node.count)
            elif isinstance(node, (Label, BranchTargets, CallPrototype)):
                here.names[node.name] = here.fresh("label")
            elif isinstance(node, VarDecl) and outer is not None:
                here.names[node.symbol] = here.fresh("variable")
        variables = []
        for node in nodes:
            if isinstance(node, RegDecl):
                continue
            if isinstance(node, VarDecl):
                item = ["variable", here.find(node.symbol), repr(replace(node, name=node.name[len(node.symbol) :]))]
                (variables if outer is None else out).append(item)
            elif isinstance(node, Block):
                scope(node.body, here)
            elif isinstance(node, Label):
                out.append(["label", here.find(node.name)])
            elif isinstance(node, Instruction):
                out.append(_instruction(node, here.find))
            elif isinstance(node, BranchTargets):
                out.append(["targets", here.find(node.name), *(here.find(t) for t in node.labels)])
            elif isinstance(node, CallPrototype):
                out.append(["prototype", here.find(node.name), repr(replace(node, name=""))])
            else:
                out.append([repr(node)])
        if outer is None:
            out[:0] = sorted(variables)

    scope(body, None)
    return out


def _instruction(node: Instruction, find: Callable[[str], str]) -> list:
    item: list = [
        "",
        "" if node.predicate is None else find(node.predicate.register),
        bool(node.predicate and node.predicate.negated),
        canonical_mnemonic(node),
    ]
    for operand in node.operands:
        _operand(operand, find, item)
    return item


_NAME = re.compile(r"%?[A-Za-z_$][\w$]*|\d[\w$.]*|[^\w\s]")


def _operand(node: Operand, find: Callable[[str], str], out: list) -> None:
    match node:
        case RegisterOperand(name):
            register, dot, selector = name.partition(".")
            found = find(register)
            out.extend((found, dot + selector) if found[:1] == "\0" and dot else (find(name),))
        case LabelOperand(name):
            _text(name, find, out) if "+" in name or "(" in name or "." in name else out.append(find(name))
        case AddressOperand(base, offset, suffix=suffix):
            out.append("[")
            _text(base, find, out)
            if offset is not None and offset != "0":
                out.append("+")
                _text(offset, find, out)
            out.append("]" + suffix)
        case VectorOperand(elements) | ParenthesizedOperand(elements):
            out.append("{" if isinstance(node, VectorOperand) else "(")
            for element in elements:
                _operand(element, find, out)
            out.append("}" if isinstance(node, VectorOperand) else ")")
        case PipeOperand(left, right):
            _operand(left, find, out)
            out.append("|")
            _operand(right, find, out)
        case NegatedOperand(inner) | NegativeOperand(inner):
            out.append("!" if isinstance(node, NegatedOperand) else "-")
            _operand(inner, find, out)
        case SubscriptOperand(name, index):
            out += [find(name), "[", index]
        case _:
            out.append(repr(node))


def _text(text: str, find: Callable[[str], str], out: list) -> None:
    """Append the tokens of an address or sum, its names replaced."""
    out.extend(find(word) for word in _NAME.findall(text))


# instructions whose result bits do not depend on signedness: opcode -> modifiers before the type
_UNSIGNED = {
    "sub": (),
    "mul": (".lo",),
    "mad": (".lo",),
    "and": (),
    "or": (),
    "xor": (),
    "not": (),
    "shl": (),
    "mov": (),
    "selp": (),
    "neg": (),
}
_BITS = {f".{kind}{bits}": f".b{bits}" for bits in (16, 32, 64) for kind in "bus"}
_WORDS = {".u32": ".b32", ".s32": ".b32"}
_MOVED = {**_BITS, ".f32": ".b32", ".f64": ".b64", ".f16": ".b16"}


def canonical_mnemonic(node: Instruction) -> str:
    words = tuple(".shared::cta" if m == ".shared" else m for m in node.modifiers)
    opcode = node.opcode
    if opcode == "bra" and node.predicate is None and words == (".uni",):
        return "bra"
    if opcode in _UNSIGNED and words and words[:-1] == _UNSIGNED[opcode]:
        same = _MOVED if opcode in ("mov", "selp") else _WORDS if opcode in ("mul", "mad") else _BITS
        return f"{opcode}{''.join(words[:-1])}{same.get(words[-1], words[-1])}"
    if opcode == "setp" and len(words) == 2 and words[0] in (".eq", ".ne") and words[1][1:2] == "b":
        return f"setp{words[0]}.u{words[1][2:]}"
    if opcode in ("ld", "st") and words and words[-1] in _MOVED:
        words = (*words[:-1], _MOVED[words[-1]])
    return opcode + "".join(words)


def strip_comments(body: Iterable[Statement]) -> Iterator[Statement]:
    for node in body:
        if isinstance(node, Block):
            yield Block(tuple(strip_comments(node.body)))
        elif isinstance(node, IntrinsicScope):
            yield from strip_comments(node.body)
        elif isinstance(node, CompoundExpr):
            yield from node.instructions
        elif not isinstance(node, SILENT):
            yield node


def remove_fallthrough_jumps(items: list[list]) -> list[list]:
    """Return the statements without branches to the next statement and without unreferenced labels."""
    changed = True
    while changed:
        changed = False
        used = _named(items)
        items = [item for item in items if item[0] != "label" or item[1] in used]
        out: list[list] = []
        for i, item in enumerate(items):
            if item[0] == "" and item[3] == "bra" and len(item) == 5:
                behind = _labels_at(items, i + 1)
                if item[4] in behind:
                    changed = True
                    continue
                if item[1] and i + 1 < len(items):
                    after = items[i + 1]
                    if (
                        after[0] == ""
                        and after[3] == "bra"
                        and not after[1]
                        and len(after) == 5
                        and item[4] in _labels_at(items, i + 2)
                    ):
                        out.append(["", item[1], not item[2], "bra", after[4]])
                        items[i + 1] = ["nothing"]
                        changed = True
                        continue
            if item[0] != "nothing":
                out.append(item)
        items = out
    used = _named(items)
    first: dict[str, str] = {}
    previous: str | None = None
    out = []
    for item in items:
        if item[0] == "label":
            if item[1] not in used:
                continue
            if previous is not None:  # adjacent labels are one label
                first[item[1]] = previous
                continue
            previous = item[1]
        else:
            previous = None
        out.append(item)
    return [[item[0], *(first.get(p, p) if type(p) is str else p for p in item[1:])] for item in out] if first else out


def _named(items: list[list]) -> set[str]:
    """Return every name referenced in the statements; a label does not reference itself."""
    return {part for item in items if item[0] != "label" for part in item[1:] if type(part) is str}


def _labels_at(items: list[list], i: int) -> set[str]:
    found = set()
    while i < len(items) and items[i][0] in ("label", "nothing"):
        if items[i][0] == "label":
            found.add(items[i][1])
        i += 1
    return found

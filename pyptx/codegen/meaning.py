"""What a function does, up to the names of its registers and labels.

Registers and labels are numbered as they come; scopes are dissolved, each with its own names. Besides, these count as
the same, because every assembler must treat them so:

* a jump to the place right behind it is left out, as are labels that nothing names;
* `@p bra A; bra B; A:` is `@!p bra B; A:`, and an unconditional `bra.uni` is `bra`;
* instructions whose result is the same bits for signed, unsigned and untyped operands (sub, mul.lo, and, mov ...),
  where ptxas makes the same machine code of them (of add.s64 and add.u64, for instance, it does not always);
* `.shared` is `.shared::cta`, and `[a+0]` is `[a]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from pyptx.codegen.jumps import without_jumps
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

__all__ = ["meaning", "mnemonic", "without_comments"]


def meaning(function: Function) -> list[tuple]:
    """The function as a list of tuples that is the same for every way to name its registers and labels."""
    flat = without_jumps(_flat(function.body))
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
    """Unique stand-ins for the names a scope declares: "\\0<kind>\\0<number>"."""

    def __init__(self, outer: _Scope | None, counter: list[int]):
        self.outer, self.counter = outer, counter
        self.names: dict[str, str] = {}
        self.bases: dict[str, tuple[str, int]] = {}
        self.known: dict[str, str] = {}

    def fresh(self, kind: str) -> str:
        self.counter[0] += 1
        return f"\0{kind}\0{self.counter[0]}"

    def find(self, name: str) -> str:
        """The stand-in for a name; itself when no scope declares it."""
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


_WIDTHS = {"pred": "pred", **{t: t.lstrip("busfx") for t in "b8 u8 s8 b16 u16 s16 f16 b32 u32 s32 f32 b64 u64 s64 f64 "
                              "b128".split()}, "f16x2": "32", "bf16": "16", "bf16x2": "32", "tf32": "32"}


def _flat(body: Iterable[Statement]) -> list[list]:
    """One list a statement; names that are declared are replaced by their stand-ins."""
    counter, out = [0], []

    def scope(nodes: Iterable[Statement], outer: _Scope | None) -> None:
        here = _Scope(outer, counter)
        nodes = list(without_comments(nodes))
        for node in nodes:
            if isinstance(node, RegDecl):
                kind = f"{_WIDTHS.get(node.type.value, node.type.value)}{f'v{node.vector}' if node.vector else ''}"
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
                item = ["variable", here.find(node.symbol), repr(replace(node, name=node.name[len(node.symbol):]))]
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
    item: list = ["", "" if node.predicate is None else find(node.predicate.register),
                  bool(node.predicate and node.predicate.negated), mnemonic(node)]
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
    """Names inside text: an address, a sum."""
    out.extend(find(word) for word in _NAME.findall(text))


# instructions whose bits do not depend on the sign, or on what the bits are called: opcode -> words before the type
_UNSIGNED = {"sub": (), "mul": (".lo",), "mad": (".lo",), "and": (), "or": (), "xor": (), "not": (),
             "shl": (), "mov": (), "selp": (), "neg": ()}
_BITS = {f".{kind}{bits}": f".b{bits}" for bits in (16, 32, 64) for kind in "bus"}
_WORDS = {".u32": ".b32", ".s32": ".b32"}
_MOVED = {**_BITS, ".f32": ".b32", ".f64": ".b64", ".f16": ".b16"}


def mnemonic(node: Instruction) -> str:
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


def without_comments(body: Iterable[Statement]) -> Iterator[Statement]:
    for node in body:
        if isinstance(node, Block):
            yield Block(tuple(without_comments(node.body)))
        elif isinstance(node, IntrinsicScope):
            yield from without_comments(node.body)
        elif isinstance(node, CompoundExpr):
            yield from node.instructions
        elif not isinstance(node, SILENT):
            yield node

"""The type each register gets in Python: the one that lets most instructions on it be operators.

A register declared `.b32` may as well be `.u32`, `.s32` or `.f32`, if every instruction that names it takes that.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyptx.codegen.flow import If, Item, Loop, Region
from pyptx.codegen.helpers import Helper
from pyptx.codegen.idioms import Range, Wait
from pyptx.codegen.rolls import Roll
from pyptx.ir.nodes import AddressOperand, Instruction, LabelOperand, Operand, RegisterOperand
from pyptx.ir.types import ScalarType
from pyptx.ir.visit import leaves

__all__ = ["instructions_of", "register_kinds"]

_TYPES = {f".{t.value}" for t in ScalarType}
_TELLING = {"add", "setp", "shr", "min", "max", "div", "rem", "abs", "neg", "cvt", "sub", "mul", "mad", "fma", "set",
            "selp", "ld", "st"}                         # opcodes whose type says what the operands are
_SIGN_SAYS_NOTHING = {"sub", "mul", "mad", "selp", "ld", "st"}
_HANDED_ON = {"add", "sub", "mul", "mad", "shl", "and", "or", "xor", "mov"}     # what the result is, the left is too
_INTEGERS = frozenset("bus")
_ANY = frozenset("busf")
_ADDRESS = frozenset("bu")


def instructions_of(items: Iterable[Item]) -> Iterable[Instruction]:
    """Every instruction in order of text; a rolled group once."""
    for item in items:
        match item:
            case Instruction():
                yield item
            case Loop(body=body) | Region(body=body):
                yield from instructions_of(body)
            case If(then=then, otherwise=otherwise):
                yield from instructions_of(then)
                yield from instructions_of(otherwise)
            case Roll(group=group):
                yield from group
            case Wait(node):
                yield node
            case Range(body=body, nodes=[mov, setp, bra, add]):
                yield from (mov, setp, bra)
                yield from instructions_of(body)
                yield add
            case Helper(nodes=nodes):
                yield from nodes


def register_kinds(declared: dict[str, str],
                   items: Iterable[Item]) -> tuple[dict[str, str], dict[str, frozenset[str]]]:
    """Types by register, and for some the first letters of all types it might have."""
    allowed: dict[str, frozenset[str]] = {}
    votes: dict[str, dict[str, int]] = {}
    nodes = list(instructions_of(items))
    for node in nodes:
        for place, operand in enumerate(node.operands):
            word = _word(node, place)
            takes = (_taken(word) if not isinstance(operand, AddressOperand)
                     else _ADDRESS if node.opcode in ("ld", "st", "atom", "red") else frozenset("b"))
            if place == 0 and _is_symbol(node, declared):
                takes = _ADDRESS
            for name in _registers(operand):
                if declared.get(name, "p") in ("b32", "b64"):
                    allowed[name] = allowed.get(name, _ANY) & takes
                    if word is not None and node.opcode in _TELLING and word[2:] == declared[name][1:]:
                        _vote(votes, name, word[1:], 0 if word[1] in "us" and node.opcode in _SIGN_SAYS_NOTHING else 2)
    for node in reversed(nodes):
        if node.opcode in _HANDED_ON and len(node.operands) > 1 and ".wide" not in node.modifiers:
            result, left = (getattr(o, "name", "") for o in node.operands[:2])
            if declared.get(left, "p") in ("b32", "b64"):
                for word, weight in votes.get(result, {}).items():
                    if word[0] in "us" and word[1:] == declared[left][1:]:
                        _vote(votes, left, word, min(weight, 1))
    kinds = {name: _chosen(kind, votes.get(name, {}), allowed.get(name, _ANY)) if kind in ("b32", "b64") else kind
             for name, kind in declared.items()}
    return kinds, allowed


def _vote(votes: dict[str, dict[str, int]], name: str, word: str, weight: int) -> None:
    found = votes.setdefault(name, {})
    found[word] = found.get(word, 0) + weight


def _chosen(declared: str, votes: dict[str, int], allowed: frozenset[str]) -> str:
    bits = declared[1:]
    floats, signed, unsigned = (votes.get(f"{k}{bits}", 0) for k in "fsu")
    if floats and "f" in allowed:
        return f"f{bits}"
    if "s" in allowed and signed > unsigned:
        return f"s{bits}"
    return f"u{bits}" if "u" in allowed and unsigned else declared


def _is_symbol(node: Instruction, declared: dict[str, str]) -> bool:
    """Whether an instruction takes the address of a variable, which is unsigned."""
    return (node.opcode == "mov" and len(node.operands) == 2 and isinstance(node.operands[1], LabelOperand)
            and node.operands[1].name not in declared)


def _registers(operand: Operand) -> Iterable[str]:
    if isinstance(operand, AddressOperand):
        yield operand.base
        if operand.offset:
            yield from operand.offset.replace("{", " ").replace("}", " ").replace(",", " ").replace("+", " ").split()
        return
    for leaf in leaves(operand):
        if isinstance(leaf, (RegisterOperand, LabelOperand)):
            yield leaf.name


def _word(node: Instruction, place: int) -> str | None:
    """The type word that is said of an operand; "" when it is none that can be told, None when there is none."""
    words = [m for m in node.modifiers if m in _TYPES]
    if not words:
        return None
    if node.opcode == "cvt":
        return words[min(place, 1)] if len(words) == 2 and not (place > 1 and ".rs" in node.modifiers) else ""
    if len(words) == 1:
        if node.opcode in ("mul", "mad") and ".wide" in node.modifiers:
            return words[0] if place in (1, 2) else ".b64"
        if node.opcode in ("shl", "shr") and place == 2:
            return ".u32"
        return words[0]
    return ""


def _taken(word: str | None) -> frozenset[str]:
    """First letters of the types a word takes."""
    if not word:
        return frozenset("b")
    if word[1] == "b" and word[2:].isdigit():
        return _ANY
    if word in (".f32", ".f64"):
        return frozenset("bf")
    return _INTEGERS if word[1] in "us" else frozenset("b")

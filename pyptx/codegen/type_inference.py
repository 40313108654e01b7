"""Type inference for registers: the type that lets most instructions on a register be Python operators.

A register declared `.b32` can be `.u32`, `.s32` or `.f32` if every instruction that uses it accepts that.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyptx.codegen.items import Item
from pyptx.codegen.register_uses import instructions_of
from pyptx.ir.nodes import AddressOperand, Instruction, LabelOperand, Operand, RegisterOperand
from pyptx.ir.types import ScalarType
from pyptx.ir.visit import leaves

__all__ = ["infer_types"]

_TYPES = {f".{t.value}" for t in ScalarType}
_TYPED = {
    "add",
    "setp",
    "shr",
    "min",
    "max",
    "div",
    "rem",
    "abs",
    "neg",
    "cvt",
    "sub",
    "mul",
    "mad",
    "fma",
    "set",
    "selp",
    "ld",
    "st",
}  # opcodes whose type modifier implies the type of the operands
_SIGN_AGNOSTIC = {"sub", "mul", "mad", "selp", "ld", "st"}
_SAME_TYPE = {
    "add",
    "sub",
    "mul",
    "mad",
    "shl",
    "and",
    "or",
    "xor",
    "mov",
}  # the left operand has the type of the result
_INTEGERS = frozenset("bus")
_ANY = frozenset("busf")
_ADDRESS = frozenset("bu")


def infer_types(declared: dict[str, str], items: Iterable[Item]) -> tuple[dict[str, str], dict[str, frozenset[str]]]:
    """Return the type of each register, and for some the first letters of all types they could have.

    Args:
        declared: register name -> declared type.
        items: the body.
    """
    allowed: dict[str, frozenset[str]] = {}
    votes: dict[str, dict[str, int]] = {}
    nodes = list(instructions_of(items))
    for node in nodes:
        for place, operand in enumerate(node.operands):
            word = _word(node, place)
            takes = (
                _accepted(word)
                if not isinstance(operand, AddressOperand)
                else _ADDRESS
                if node.opcode in ("ld", "st", "atom", "red")
                else frozenset("b")
            )
            if place == 0 and _is_symbol(node, declared):
                takes = _ADDRESS
            for name in _registers(operand):
                if declared.get(name, "p") in ("b32", "b64"):
                    allowed[name] = allowed.get(name, _ANY) & takes
                    if word is not None and node.opcode in _TYPED and word[2:] == declared[name][1:]:
                        _vote(votes, name, word[1:], 0 if word[1] in "us" and node.opcode in _SIGN_AGNOSTIC else 2)
    for node in reversed(nodes):
        if node.opcode in _SAME_TYPE and len(node.operands) > 1 and ".wide" not in node.modifiers:
            result, left = (getattr(o, "name", "") for o in node.operands[:2])
            if declared.get(left, "p") in ("b32", "b64"):
                for word, weight in votes.get(result, {}).items():
                    if word[0] in "us" and word[1:] == declared[left][1:]:
                        _vote(votes, left, word, min(weight, 1))
    dtypes = {
        name: _chosen(dtype, votes.get(name, {}), allowed.get(name, _ANY)) if dtype in ("b32", "b64") else dtype
        for name, dtype in declared.items()
    }
    return dtypes, allowed


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
    """Return True for a mov of a variable's address, which is unsigned."""
    return (
        node.opcode == "mov"
        and len(node.operands) == 2
        and isinstance(node.operands[1], LabelOperand)
        and node.operands[1].name not in declared
    )


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
    """Return the type modifier that applies to operand `place`; "" if ambiguous, None if the mnemonic has no type."""
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


def _accepted(word: str | None) -> frozenset[str]:
    """Return the first letters of the register types a type modifier accepts."""
    if not word:
        return frozenset("b")
    if word[1] == "b" and word[2:].isdigit():
        return _ANY
    if word in (".f32", ".f64"):
        return frozenset("bf")
    return _INTEGERS if word[1] in "us" else frozenset("b")

"""The operands of a form laid over those of an instruction, by kind; of types only predicates count here."""

from __future__ import annotations

from pyptx import isa
from pyptx._value import value
from pyptx.ir.operands import AddressOperand, Operand
from pyptx.isa import Form, Match
from pyptx.isa._syntax import Item, Part
from pyptx.validate._tokens import NUMBERS, REGISTER_TYPES, address_parts

__all__ = ["Leaf", "align", "counts_of", "fit", "follow", "items_of"]


# ptxas makes code of its own for these, for some targets, and refuses special registers there
_EXPANDED = frozenset(("mma", "wmma", "wgmma", "tcgen05", "spcompress", "spdecompress"))


@value
class Leaf:
    """Where an operand of a form is in an instruction, and what stands there; `alone`: without the form's braces."""

    name: str
    path: tuple[int | str, ...]
    tokens: tuple
    alone: bool = False


def follow(operands: tuple[Operand, ...], path: tuple[int | str, ...]) -> Operand:
    """The operand that a path leads to."""
    at = operands[path[0]]
    for step in path[1:]:
        if step == "left":
            at = at.left
        elif step == "right":
            at = at.right
        elif isinstance(at, AddressOperand):
            at = address_parts(at.offset)[1][step - 1]
        else:
            at = at.elements[step]
    return at


def items_of(match: Match) -> list[Item]:
    """The operands of a form that its choices leave there."""
    present = {"." + word for word in match.choices.values() if word}
    present |= {w.text for w in match.form.words if not w.optional and w.slot is None}
    return [item for item in match.form.items if not item.condition or item.condition in present]


def counts_of(items: list[Item]) -> range:
    """How many operands may be written."""
    return range(sum(1 for item in items if not item.optional or item.condition), len(items) + 1)


def align(match: Match, tokens: tuple) -> tuple[Leaf, ...] | None:
    """The operands of a form laid over tokens by kind; None when they do not fit. Of types, only predicates count."""
    form, choices = match.form, match.choices
    items = items_of(match)
    if len(tokens) not in counts_of(items):
        return None

    def place(i: int, at: int) -> list[Leaf] | None:
        if i == len(items):
            return [] if at == len(tokens) else None
        item = items[i]
        if at < len(tokens):
            leaves = fit(item.part, tokens[at], (at,), form, choices)
            if leaves is not None:
                rest = place(i + 1, at + 1)
                if rest is not None:
                    return leaves + rest
        if item.optional and not item.condition:
            return place(i + 1, at)
        return None

    leaves = place(0, 0)
    if leaves is None:
        return None
    merged: dict[str, Leaf] = {}
    for leaf in leaves:
        known = merged.get(leaf.name)
        merged[leaf.name] = leaf if known is None else Leaf(leaf.name, known.path, known.tokens + leaf.tokens)
    return tuple(merged.values())


def fit(part: Part, tok, path: tuple, form: Form, choices: dict) -> list[Leaf] | None:
    """Leaves of a part of a form that a token fits; None when it does not."""
    kind = part.kind
    if kind == "operand":
        return [Leaf(part.name, path, (tok,))] if _fits(form.operands[part.name], tok, form, choices) else None
    if kind == "literal":
        return [] if tok == "_" and part.name == "_" else None
    if kind == "pair":
        if tok.__class__ is tuple and tok[0] == "|":
            left = fit(part.parts[0], tok[1], (*path, "left"), form, choices)
            right = fit(part.parts[1], tok[2], (*path, "right"), form, choices)
            return left + right if left is not None and right is not None else None
        return fit(part.parts[0], tok, path, form, choices) if part.optional else None
    if kind == "vector" and part.count and form.operands[part.parts[0].name].alone and tok in REGISTER_TYPES:
        operand = form.operands[part.parts[0].name]
        return [Leaf(operand.name, path, (tok,), True)] if _fits(operand, tok, form, choices) else None
    if tok.__class__ is not tuple:
        return None
    if kind == "vector" and tok[0] == "{":
        return _fit_vector(part, tok, path, form, choices)
    if kind == "address" and tok[0] in ("[", "[]") and not part.suffix:
        return _fit_address(part, tok, path, form, choices)
    if kind == "list" and tok[0] == "(":
        return [Leaf(part.parts[0].name, path, (tok,))]
    return None


def _fit_vector(part: Part, tok: tuple, path: tuple, form: Form, choices: dict) -> list[Leaf] | None:
    special = any(inner.__class__ is tuple and inner[0] == "%" for inner in tok[1:])
    if special and any(inner in NUMBERS for inner in tok[1:]):
        return None
    if not part.count:
        if len(tok) - 1 != len(part.parts):
            return None
        leaves = []
        for i, (element, inner) in enumerate(zip(part.parts, tok[1:], strict=True)):
            found = fit(element, inner, (*path, i), form, choices)
            if found is None:
                return None
            leaves += found
        return leaves
    operand = form.operands[part.parts[0].name]
    if len(tok) - 1 != form.count(operand, choices):
        return None
    other = "int" if operand.role != "write" else "_" if form.effect != "async" else None   # wgmma reads its sum
    register = any(inner in REGISTER_TYPES for inner in tok[1:])
    for inner in tok[1:]:
        if inner.__class__ is tuple and inner[0] == "{":
            return None
        if not (_fits(operand, inner, form, choices) or (register and inner == other)):
            return None
    if not register and not special and not _numbers_fit(operand, form, choices):
        return None
    return [Leaf(operand.name, path, tok[1:])]


def _numbers_fit(operand: isa.Operand, form: Form, choices: dict) -> bool:
    """Whether a vector may hold numbers only: not where ptxas takes the type from it, a fragment of .b32 or .f32."""
    if form.op.opcode == "mov" or operand.type in choices or form.effect.startswith(("load", "atomic", "reduce")):
        return True
    matrix = form.effect.startswith(("mma", "store"))
    return form.type_of(operand, choices) not in (("b32", "f32") if matrix else ("b32",))


def _fit_address(part: Part, tok: tuple, path: tuple, form: Form, choices: dict) -> list[Leaf] | None:
    if len(tok) - 1 != len(part.parts) or (form.operands[part.parts[0].name].kind != "address" and tok[1] == "int"):
        return None
    leaves = [Leaf(part.parts[0].name, path, (tok[1],))]
    for i, (element, inner) in enumerate(zip(part.parts[1:], tok[2:], strict=True), 1):
        found = fit(element, inner, (*path, i), form, choices)
        if found is None:
            return None
        leaves += found
    return leaves


def _fits(operand: isa.Operand, tok, form: Form, choices: dict) -> bool:
    """Whether a token is of the operand's kind; for registers only predicate or not."""
    kind = operand.kind
    if kind in ("register", "vector"):
        predicate = form.type_of(operand, choices) == "pred"
        if tok.__class__ is tuple:
            if tok[0] == "!":
                return operand.negatable and predicate and tok[1] in ("pred", "?")
            if tok[0] == "-":
                return (form.op.opcode == "vmad" and operand.role == "read" and tok[1] != "int"
                        and _fits(operand, tok[1], form, choices))
            if tok[0] == ".":
                return operand.selects(tok[2])
            if tok[0] == "%":
                return tok[1] != "" and operand.role == "read" and not predicate and \
                    form.op.opcode not in _EXPANDED and form.op.name != "tex.grad"
            data = form.effect.startswith(("load", "store")) and (operand.role == "write" or operand.type in choices)
            return tok[0] == "{" and len(tok) == 2 and not predicate and (data or form.op.opcode == "mma") and \
                _fits(operand, tok[1], form, choices)
        if not operand.bare:
            return False
        if tok in REGISTER_TYPES:
            return tok == "?" or (tok == "pred") == predicate
        if tok == "_":
            return operand.sink
        if tok == "%":
            return operand.special
        return operand.imm and tok in NUMBERS
    if kind == "imm":
        return tok == "int" if operand.values != "float" else tok in ("float", "hex")
    if kind == "special":
        return tok == "%"
    return tok == "name" or (tok == ("[]", "name") and kind == "symbol")

"""Which types of registers and numbers an operand takes, and what is wrong with others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from pyptx.ir.nodes import Instruction
from pyptx.ir.operands import operand_text
from pyptx.isa import Form, Match, Operand, _types
from pyptx.validate._align import Leaf, follow
from pyptx.validate._problem import Problem, either_of
from pyptx.validate._tokens import NUMBERS

__all__ = ["type_problem"]

_FLOAT_TYPES = frozenset({"f16", "f32", "f64", "bf16", "tf32", "f16x2", "bf16x2", "f32x2"})
_ADDRESS_64, _ADDRESS_32 = frozenset({"b64", "u64", "s64"}), frozenset({"b32", "u32", "s32"})
_ADDRESS_SMALL = frozenset({"b16", "u16", "s16", "b8", "u8", "s8"})         # ptxas takes them, zero-extended
_UNDECLARED = "register {operand} is not declared"
_DECLARE = "declare it in this scope or one around it: reg.scalar(dtype) in Python, .reg in PTX text"


def type_problem(match: Match, leaves: tuple[Leaf, ...]) -> Problem | None:
    """What is wrong with the types of operands that are of the right kind; None when nothing is."""
    form = match.form
    for leaf in leaves:
        operand = form.operands[leaf.name]
        untyped = operand.kind == "vector" and any(tok.__class__ is str and tok[0] == "b" for tok in leaf.tokens)
        if leaf.alone:                                  # just the type of the mnemonic: braces would take any bits
            operand, untyped = replace(operand, rule=""), False
        for n, tok in enumerate(leaf.tokens):
            problem = _leaf_problem(match, operand, tok, untyped)
            if problem is None and n and operand.kind == "vector":
                problem = _mixed_problem(operand, leaf.tokens[:n], tok)
            if problem is not None:
                hint = _DECLARE if problem is _UNDECLARED else f"the form is {form.syntax}"
                return Problem(problem, hint, _leaf_text(leaf.path, n, len(leaf.tokens)))
    return None


def _kind(register_type: str) -> str:
    return {"u": "int", "s": "int", "b": ""}.get(register_type[0], register_type)


def _mixed_problem(operand: Operand, before: tuple, tok) -> str | None:
    """Elements of a vector must be registers of one width, and of one kind: b goes with every other."""
    tok = _unspecial(tok)
    if tok.__class__ is tuple or tok not in _types.DECLARABLE:
        return None
    for other in map(_unspecial, before):
        if other.__class__ is tuple or other not in _types.DECLARABLE:
            continue
        kinds = {_kind(other), _kind(tok)} - {""}
        if _types.DECLARABLE[other] != _types.DECLARABLE[tok] or len(kinds) > 1:
            return f"a vector holds registers of one type; {{operand}} is .{tok}, another of {operand.name} is .{other}"
    return None


def _unspecial(tok):
    return tok[1] if tok[0] == "%" and tok != "%" else tok


def _leaf_text(path: tuple, n: int, count: int) -> Callable[[Instruction], str]:
    def text(instruction: Instruction) -> str:
        operand = follow(instruction.operands, path)
        if count > 1 or type(operand).__name__ == "VectorOperand":
            elements = getattr(operand, "elements", (operand,))
            operand = elements[n] if n < len(elements) else operand
        if hasattr(operand, "base"):
            return operand.base
        return operand_text(operand)
    return text


def _leaf_problem(match: Match, operand: Operand, tok, untyped: bool) -> str | None:
    """`untyped`: the register is in a vector with bN registers, which make ptxas take the whole vector as bits."""
    while tok.__class__ is tuple:
        if tok[0] in ("(", "["):
            return None
        tok = tok[1]
    if tok == "name" and operand.kind != "address":
        return None
    if tok == "?":
        return _UNDECLARED
    if tok == "special":
        return "{operand} is a special register; an address is in one of your own: mov it first"
    if operand.kind == "address":
        return _address_problem(match.form, match.choices, operand, tok)
    if operand.kind not in ("register", "vector") or tok in ("_", "%"):
        return None
    type_name = match.form.type_of(operand, match.choices)
    if tok in NUMBERS:
        return _number_problem(match, operand, type_name, tok)
    allowed = _types.registers_of(operand.rule_for(type_name), type_name)
    as_bits = untyped and any(t[0] == "b" and _types.DECLARABLE[tok] == _types.DECLARABLE[t] for t in allowed)
    if tok not in allowed and not as_bits:
        wanted = either_of("." + t for t in _ordered(allowed))
        return f"{operand.name} is .{type_name}, which takes {wanted} registers; {{operand}} is .{tok}"
    return None


def _ordered(types: Iterable[str]) -> list[str]:
    return sorted(types, key=lambda t: (_types.DECLARABLE[t], t))


def _number_problem(match: Match, operand: Operand, type_name: str, tok: str) -> str | None:
    if type_name == "pred":
        return None if tok == "int" else "{operand} cannot stand for a predicate; expected 0 or 1"
    if not _types.takes_number(type_name) and not operand.imm_forced and operand.kind != "vector":
        return f"{operand.name} is .{type_name}, for which no number may stand; expected a register"
    if type_name in _FLOAT_TYPES:
        if tok != "int":
            return None
        return f"{{operand}} is an integer, {operand.name} is .{type_name}; write {{operand}}.0"
    if tok == "int":
        return None
    if (tok == "hex" and type_name == "b32") or (tok in ("hex64", "float") and type_name == "b64"):
        return None
    return f"{{operand}} is a float, {operand.name} is .{type_name}; expected an integer"


def _address_problem(form: Form, choices: dict, operand: Operand, tok: str) -> str | None:
    if tok == "bad offset":
        return "an address is [register+number]; add registers before, in Python ptx.addr(pointer + offset)"
    if tok == "name":
        return "{operand} is a name; an address in tensor memory is in a .b32 register" \
            if operand.type in ("addr32", "addrb32") else None
    if tok == "offset and parts":
        return "an address with coordinates or more registers has no offset; add it to the register before"
    if tok == "bad base":
        return "an address is [register+number] or [name+number]"
    if tok in NUMBERS:
        local = tok == "int" and choices.get("space") == "local"
        return None if local else "{operand} is no address; a number may be one in local memory only"
    wanted = _address_registers(form, choices, operand)
    if tok in wanted:
        return None
    return f"an address takes {either_of('.' + t for t in _ordered(wanted))} registers here; {{operand}} is .{tok}"


_NARROW = ("shared", "local", "const", "param")
_PLAIN = ("load", "store", "atomic", "reduce", "mbarrier", "cache")
_MATRICES = ("load:shared", "store:shared", "load:generic", "store:generic")


def _address_registers(form: Form, choices: dict, operand: Operand) -> frozenset[str]:
    """Registers an address may be in: 64 bits, and 32 where the memory is that small."""
    if operand.type == "addrb32":
        return frozenset({"b32"})
    if operand.type == "addr32":
        return _ADDRESS_32 if form.op.name != "tcgen05.cp" else _ADDRESS_32 | _ADDRESS_64
    words = (choices.get(w.slot) if w.slot else
             "" if w.optional and w.text[1:] not in choices.values() else w.text[1:] for w in form.words)
    space = next((word for word in words if word and word.startswith((*_NARROW, "global"))), "")
    if form.effect in _MATRICES:                        # ptxas moves these to 64 bits itself, but where it need not
        plain = form.op.opcode in ("ldmatrix", "stmatrix") and space
        return _ADDRESS_64 | _ADDRESS_32 | (_ADDRESS_SMALL if plain else frozenset())
    if form.effect.startswith(_PLAIN) and not space.startswith(_NARROW):
        return _ADDRESS_64
    return _ADDRESS_64 | _ADDRESS_32 | (_ADDRESS_SMALL if form.op.name != "st.async" else frozenset())

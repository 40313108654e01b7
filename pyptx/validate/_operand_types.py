"""Type checks of operands: which registers and numbers an operand of a form accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from pyptx.ir.nodes import Instruction
from pyptx.ir.operands import AddressOperand, ParenthesizedOperand, VectorOperand, operand_text
from pyptx.isa import Form, Match, Operand, _types
from pyptx.validate._messages import Problem, alternatives_text
from pyptx.validate._operand_kinds import NUMBER_KINDS, Kind
from pyptx.validate._operand_matching import Choices, MatchedOperand, Path, operand_at

__all__ = ["type_problem"]

_FLOAT_TYPES = frozenset({"f16", "f32", "f64", "bf16", "tf32", "f16x2", "bf16x2", "f32x2"})
_ADDRESS_64, _ADDRESS_32 = frozenset({"b64", "u64", "s64"}), frozenset({"b32", "u32", "s32"})
_ADDRESS_SMALL = frozenset({"b16", "u16", "s16", "b8", "u8", "s8"})  # ptxas accepts them, zero-extended
_UNDECLARED = "register {operand} is not declared"
_DECLARE = "declare it in this scope or an enclosing one: reg.scalar(dtype) in Python, .reg in PTX"


def type_problem(match: Match, matched: tuple[MatchedOperand, ...]) -> Problem | None:
    """Return the first type error of operands whose kinds fit the form; None without one."""
    form = match.form
    for found in matched:
        operand = form.operands[found.name]
        bits = operand.kind == "vector" and any(isinstance(k, str) and k[0] == "b" for k in found.kinds)
        if found.bare:  # exactly the type of the mnemonic; in braces any type of the same width would do
            operand, bits = replace(operand, rule=""), False
        accepted: dict[Kind, None] = {}  # in order; vectors of 128 registers have one or two kinds
        for n, kind in enumerate(found.kinds):
            if kind in accepted:
                continue
            message = _operand_problem(match, operand, kind, bits)
            if message is None and n and operand.kind == "vector":
                message = _vector_problem(operand, accepted, kind)
            accepted[kind] = None
            if message is not None:
                hint = _DECLARE if message is _UNDECLARED else f"the form is {form.syntax}"
                return Problem(message, hint, _text_of(found.path, n, len(found.kinds)))
    return None


def _class_of(register_type: str) -> str:
    return {"u": "int", "s": "int", "b": ""}.get(register_type[0], register_type)


def _vector_problem(operand: Operand, before: Iterable[Kind], kind: Kind) -> str | None:
    """Check that the elements of a vector have one width and one class; bit types combine with every class."""
    kind = _register_type(kind)
    if isinstance(kind, tuple) or kind not in _types.DECLARABLE:
        return None
    for other in map(_register_type, before):
        if isinstance(other, tuple) or other not in _types.DECLARABLE:
            continue
        classes = {_class_of(other), _class_of(kind)} - {""}
        if _types.DECLARABLE[other] != _types.DECLARABLE[kind] or len(classes) > 1:
            return (
                f"the registers of a vector must have one type; {{operand}} is .{kind}, another register of "
                f"{operand.name} is .{other}"
            )
    return None


def _register_type(kind: Kind) -> Kind:
    return kind[1] if isinstance(kind, tuple) and kind[0] == "%" else kind


def _text_of(path: Path, n: int, count: int) -> Callable[[Instruction], str]:
    """Return a function to the text of element `n` of the operand at `path`."""

    def text(instruction: Instruction) -> str:
        operand = operand_at(instruction.operands, path)
        if isinstance(operand, (VectorOperand, ParenthesizedOperand)) and n < len(operand.elements):
            if count > 1 or isinstance(operand, VectorOperand):
                operand = operand.elements[n]
        return operand.base if isinstance(operand, AddressOperand) else operand_text(operand)

    return text


def _operand_problem(match: Match, operand: Operand, kind: Kind, bits: bool) -> str | None:
    """Return the type error of one register or number.

    `bits` is True in a vector with bN registers, which make ptxas treat the whole vector as bits.
    """
    while isinstance(kind, tuple):
        if kind[0] in ("(", "["):
            return None
        kind = kind[1]
    if kind == "name" and operand.kind != "address":
        return None
    if kind == "?":
        return _UNDECLARED
    if kind == "special":
        return "{operand} is a special register, which cannot hold an address; mov it to a register first"
    if operand.kind == "address":
        return _address_problem(match.form, match.choices, operand, kind)
    if operand.kind not in ("register", "vector") or kind in ("_", "%"):
        return None
    type_name = match.form.type_of(operand, match.choices)
    if kind in NUMBER_KINDS:
        return _number_problem(operand, type_name, kind)
    allowed = _types.registers_of(operand.rule_for(type_name), type_name)
    as_bits = bits and any(t[0] == "b" and _types.DECLARABLE[kind] == _types.DECLARABLE[t] for t in allowed)
    if kind not in allowed and not as_bits:
        expected = alternatives_text("." + t for t in _ordered(allowed))
        return f"{operand.name} is .{type_name} and takes {expected} registers; {{operand}} is .{kind}"
    return None


def _ordered(types: Iterable[str]) -> list[str]:
    return sorted(types, key=lambda t: (_types.DECLARABLE[t], t))


def _number_problem(operand: Operand, type_name: str, kind: str) -> str | None:
    if type_name == "pred":
        return None if kind == "int" else "{operand} is not a predicate; expected 0 or 1"
    if not _types.takes_number(type_name) and not operand.imm_forced and operand.kind != "vector":
        return f"{operand.name} is .{type_name} and does not accept a number; expected a register"
    if type_name in _FLOAT_TYPES:
        if kind != "int":
            return None
        return f"{{operand}} is an integer, {operand.name} is .{type_name}; write {{operand}}.0"
    if kind == "int":
        return None
    if (kind == "hex" and type_name == "b32") or (kind in ("hex64", "float") and type_name == "b64"):
        return None
    return f"{{operand}} is a float, {operand.name} is .{type_name}; expected an integer"


def _address_problem(form: Form, choices: Choices, operand: Operand, kind: str) -> str | None:
    if kind == "bad offset":
        return "an address is [register+number]; add registers before, in Python ptx.addr(pointer + offset)"
    if kind == "name":
        return (
            "{operand} is a name; an address in tensor memory must be in a .b32 register"
            if operand.type in ("addr32", "addrb32")
            else None
        )
    if kind == "offset and parts":
        return "an address with coordinates or further registers takes no offset; add it to the register before"
    if kind == "bad base":
        return "an address is [register+number] or [name+number]"
    if kind in NUMBER_KINDS:
        local = kind == "int" and choices.get("space") == "local"
        return None if local else "{operand} is not an address; a number is allowed only in local memory"
    expected = _address_registers(form, choices, operand)
    if kind in expected:
        return None
    return (
        f"this address takes {alternatives_text('.' + t for t in _ordered(expected))} registers; {{operand}} is .{kind}"
    )


_NARROW = ("shared", "local", "const", "param")
_PLAIN = ("load", "store", "atomic", "reduce", "mbarrier", "cache")
_MATRICES = ("load:shared", "store:shared", "load:generic", "store:generic")


def _address_registers(form: Form, choices: Choices, operand: Operand) -> frozenset[str]:
    """Return the register types that may hold an address: 64 bits, or 32 in a state space that is small enough."""
    if operand.type == "addrb32":
        return frozenset({"b32"})
    if operand.type == "addr32":
        return _ADDRESS_32 if form.op.name != "tcgen05.cp" else _ADDRESS_32 | _ADDRESS_64
    words = (
        choices.get(w.slot) if w.slot else "" if w.optional and w.text[1:] not in choices.values() else w.text[1:]
        for w in form.words
    )
    space = next((word for word in words if word and word.startswith((*_NARROW, "global"))), "")
    if form.effect in _MATRICES:  # ptxas widens these addresses itself
        plain = form.op.opcode in ("ldmatrix", "stmatrix") and space
        return _ADDRESS_64 | _ADDRESS_32 | (_ADDRESS_SMALL if plain else frozenset())
    if form.effect.startswith(_PLAIN) and not space.startswith(_NARROW):
        return _ADDRESS_64
    return _ADDRESS_64 | _ADDRESS_32 | (_ADDRESS_SMALL if form.op.name != "st.async" else frozenset())

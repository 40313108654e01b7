"""Instructions of one shape share their decoding.

A shape is what is common to instructions with the same opcode, modifiers, and operand kinds and types: `add.f32` over
three f32 registers is decoded once, every further one only puts its registers and numbers in. Whatever depends on more
than that (labels, variables, special registers, the carry flag, numbers a form limits to a range) has no shape and is
decoded by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    Instruction,
    NegatedOperand,
    Operand,
    RegisterOperand,
    VectorOperand,
)
from pyptx.sim.actions import Action, Address, Compute, Const, Load, Reg, Store, Value
from pyptx.sim.decode import DECODERS
from pyptx.sim.decode.compute import compute
from pyptx.sim.literals import bits_of
from pyptx.sim.means import Apply, Leaf, Node, walk
from pyptx.sim.operands import Operands
from pyptx.sim.scope import Scope
from pyptx.validate import Bound, bind
from pyptx.validate._tokens import literal

__all__ = ["ComputeShape", "Shaped", "known", "parts", "record"]

_DECODED = frozenset(("mov", "cvta", "ld", "ldu", "st"))         # opcodes with a decoder whose actions have shapes
Key = tuple[str, tuple[str, ...], tuple]


@dataclass(frozen=True, slots=True, eq=False)
class ComputeShape:
    """An assignment over slots: slot k is `Reg(-1 - k, ...)` or `Const(-1 - k, ...)` and stands for operand k.

    Attributes:
        reads, writes: slots of registers.      numbers: slot, type and width in bits of literals.
    """

    target: Reg
    expression: Node
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    numbers: tuple[tuple[int, str, int], ...]

    def action(self, found: list) -> Shaped:
        for slot, type_name, width in self.numbers:
            found[slot] = _constant(found[slot], type_name, width)
        return Shaped(self, found)

    def over(self, values: list[Value]) -> tuple[tuple[Reg, Node], ...]:
        """The assignments with these values in the slots."""
        return ((_slotted(self.target, values), _filled(self.expression, values)),)


class Shaped(Compute):
    """A Compute as a shape and what stands in its slots; its assignments are made when somebody asks."""

    __slots__ = ("shape", "slots")
    __setattr__ = object.__setattr__            # plain stores in __init__; there is one of these for each instruction

    def __init__(self, shape: ComputeShape, slots: list[Value]):
        self.shape, self.slots = shape, slots

    @property
    def assignments(self) -> tuple[tuple[Reg, Node], ...]:
        return self.shape.over(self.slots)


@dataclass(frozen=True, slots=True, eq=False)
class _AccessShape:
    """A load or store between registers and an address in a register; slots of the address and the data."""

    prototype: Load | Store
    address: int
    data: int

    def action(self, found: list) -> Load | Store:
        p, at, data = self.prototype, found[self.address], found[self.data]
        if data.__class__ is not tuple:
            data = (data,)
        address = Address(p.address.space, at[0], at[1])
        if p.__class__ is Load:
            return Load(address, p.size, p.count, p.signed, data)
        return Store(address, p.size, p.count, data)


_shapes: dict[Key, ComputeShape | _AccessShape | None] = {}


def parts(instruction: Instruction, scope: Scope) -> tuple[Key, list] | None:
    """The key of an instruction's shape and what its operands are: a register, the text of a number, the base and
    offset of an address, the registers of a vector. None where an operand is something else.
    """
    tokens: list = []
    found: list = []
    registers = scope.registers
    for operand in instruction.operands:
        kind = operand.__class__
        if kind is RegisterOperand:
            register = registers.get(operand.name) or scope.register(operand.name)
            if register is None:
                return None
            found.append(register[0])
            tokens.append(register[1])
        elif kind is ImmediateOperand:
            token = literal(operand.text)
            if token == "name":
                return None
            found.append(operand.text)
            tokens.append(token)
        elif kind is AddressOperand:
            register = registers.get(operand.base) or scope.register(operand.base)
            offset = _offset(operand.offset)
            if register is None or offset is None or operand.suffix:
                return None
            found.append((register[0], offset))
            tokens.append(("[", register[1]))
        elif kind is VectorOperand or (kind is NegatedOperand and operand.operand.__class__ is RegisterOperand):
            elements = operand.elements if kind is VectorOperand else (operand.operand,)
            registered = _registers(elements, scope)
            if registered is None:
                return None
            found.append(tuple([r[0] for r in registered]) if kind is VectorOperand else registered[0][0])
            tokens.append(("{" if kind is VectorOperand else "!", *[r[1] for r in registered]))
        else:
            return None
    return (instruction.opcode, instruction.modifiers, tuple(tokens)), found


def known(key: Key, found: list) -> Action | None:
    """The action of an instruction whose shape was recorded and is one."""
    shape = _shapes.get(key)
    return None if shape is None else shape.action(found)


def record(key: Key, instruction: Instruction, scope: Scope, type_of: Callable[[str], str | None]) -> None:
    """Find out, once, whether instructions with this key have a shape, and which."""
    if key not in _shapes:
        # Slots are told apart by the identity of their nodes, and `add.f32 %f0, %f0, %f1` may hold one node twice.
        apart = replace(instruction, operands=tuple(replace(operand) for operand in instruction.operands))
        _shapes[key] = _shape(apart, scope, bind(apart, type_of))


def _shape(instruction: Instruction, scope: Scope, bound: Bound) -> ComputeShape | _AccessShape | None:
    opcode = instruction.opcode
    if (opcode in DECODERS and opcode not in _DECODED) or _limited(instruction, bound):
        return None
    slots = _Slots(instruction, scope, bound)
    try:
        if opcode in DECODERS:
            action = DECODERS[opcode](slots)
        else:
            action = compute(slots) if bound.form.means else None
    except _NoShape:
        return None
    if isinstance(action, (Load, Store)):
        places = {kind: k for k, kind in enumerate(type(o) for o in instruction.operands)}
        address = places.get(AddressOperand)
        if address is None or len(instruction.operands) != 2 or ImmediateOperand in places:
            return None
        return _AccessShape(action, address, 1 - address)
    if not isinstance(action, Compute) or len(action.assignments) != 1:
        return None
    [(target, expression)] = action.assignments
    leaves = [n.value for n in walk(expression) if isinstance(n, Leaf)]
    reads = tuple(dict.fromkeys(-1 - v.index for v in leaves if isinstance(v, Reg)))
    if target is None or target.index >= 0 or min(reads, default=0) < 0:
        return None
    return ComputeShape(target, expression, reads, (-1 - target.index,), tuple(slots.numbers.values()))


def _limited(instruction: Instruction, bound: Bound) -> bool:
    """Whether a number among the operands must be one of a range, which `bind` checks for each instruction."""
    return any(isinstance(operand, (ImmediateOperand, VectorOperand))
               and bound.form.operands[name].values not in ("", "float") for name, operand in bound.operands.items())


class _NoShape(Exception):
    """The meaning depends on more than the key."""


class _Slots(Operands):
    """Operands of which every register and number is a slot."""

    def __init__(self, instruction: Instruction, scope: Scope, bound: Bound):
        super().__init__(instruction, None, bound)
        self.real = scope
        self.place = {id(operand): k for k, operand in enumerate(instruction.operands)}
        self.numbers: dict[int, tuple[int, str, int]] = {}

    @property
    def scope(self) -> Scope:
        raise _NoShape

    @scope.setter
    def scope(self, _nothing: None) -> None:
        pass

    def number(self, name: str) -> int:
        raise _NoShape

    def as_target(self, operand: Operand) -> Reg:
        return self.as_value(operand, "")

    def as_value(self, operand: Operand, type_name: str) -> Value:
        place = self.place.get(id(operand))
        if isinstance(operand, NegatedOperand):
            operand = operand.operand
        if isinstance(operand, ImmediateOperand) and place is not None:
            number = super().as_value(operand, type_name)
            if self.numbers.setdefault(place, (place, type_name, number.width))[1] != type_name:
                raise _NoShape
            return Const(-1 - place, number.width)
        if isinstance(operand, RegisterOperand):
            register = self.real.register(operand.name)[0]
            return register if place is None else Reg(-1 - place, register.width, f"operand {place}")
        raise _NoShape

    def address(self, name: str, space: str) -> Address:
        if space == "param":
            raise _NoShape
        return Address(space or "generic", Reg(0, 64, ""), 0)


def _registers(elements: Iterable[Operand], scope: Scope) -> list[tuple[Reg, str]] | None:
    registered = []
    for element in elements:
        register = scope.register(element.name) if element.__class__ is RegisterOperand else None
        if register is None:
            return None
        registered.append(register)
    return registered


@lru_cache(maxsize=8192)
def _offset(text: str | None) -> int | None:
    """A plain decimal offset; None for any other."""
    if text is None:
        return 0
    digits = text.removeprefix("-")
    return int(text) if digits.isdigit() and digits.isascii() and (digits == "0" or digits[0] != "0") else None


@lru_cache(maxsize=8192)
def _constant(text: str, type_name: str, width: int) -> Const:
    return Const(bits_of(text, type_name, width), width)


def _slotted(value: Value, values: list[Value]) -> Value:
    if value.__class__ is Reg:
        return values[-1 - value.index]
    return values[-1 - value.bits] if value.__class__ is Const and value.bits < 0 else value


def _filled(node: Node, values: list[Value]) -> Node:
    if isinstance(node, Leaf):
        return Leaf(_slotted(node.value, values), node.type, node.negated)
    return Apply(node.op, tuple(_filled(a, values) for a in node.args), node.type, node.result, node.flags, node.number)

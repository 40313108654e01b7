"""Instructions of one shape share their decoding.

A shape is what is common to instructions with the same opcode, modifiers, and operand kinds and types: `add.f32` over
three f32 registers is decoded once, every further one only puts its registers, numbers and offsets in. Whatever depends
on more than that (labels, functions) has no shape and is decoded by itself. What uses the carry flag has it in its last
slot. Where the meaning of a number matters to the decoding (an immediate that a form limits to a range), each number
makes a shape of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache

from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    Instruction,
    LabelOperand,
    NegatedOperand,
    NegativeOperand,
    Operand,
    PipeOperand,
    RegisterOperand,
    VectorOperand,
)
from pyptx.isa import registers as special_registers
from pyptx.sim.actions.basic import Action, Address, Branch, Compute, Const, Exit, Jump, Move, Reg, Return, Trap, Value
from pyptx.sim.actions.means import Apply, Leaf
from pyptx.sim.actions.uses import targets, values
from pyptx.sim.decode import DECODERS
from pyptx.sim.decode.compute import compute
from pyptx.sim.symbols.literals import bits_of
from pyptx.sim.symbols.operands import Operands
from pyptx.sim.symbols.scope import Scope, Variable
from pyptx.validate import Bound, bind
from pyptx.validate._tokens import literal

__all__ = ["OFFSET", "Shape", "Shaped", "known", "parts", "record"]

OFFSET = 0x7A5E0000_7A5E0000                    # plus a slot: the offset that stands in that slot
_LEAVING = (Branch, Exit, Jump, Return, Trap)   # control flow looks at these themselves
_MOST = 1 << 16                                 # shapes kept
Key = tuple
Slot = Reg | str | int                          # a register, the text of a number, an offset as 64 bits


@dataclass(slots=True, eq=False)
class Shape:
    """An action over slots: `Reg(-1 - k, ...)`, `Const(-1 - k, ...)` and the offset `OFFSET + k` stand for slot k.

    Attributes:
        reads, writes: slots of registers.      numbers: slot, type and width in bits of literals.
        offsets: slots of offsets.              apart: different slots must hold different registers.
        codes: what the core's encoder keeps with it.
    """

    action: Action
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    numbers: tuple[tuple[int, str, int], ...]
    offsets: tuple[int, ...]
    apart: bool
    codes: dict = field(default_factory=dict)

    def over(self, slots: list[Slot]) -> Action:
        """The action with these in the slots."""
        found: list = list(slots)
        for slot, type_name, width in self.numbers:
            found[slot] = _constant(found[slot], type_name, width)
        action = self.action
        return action.__class__(*[_filled(getattr(action, name), found) for name in _fields(action.__class__)])


class Shaped:
    """An instruction's action as a shape and what stands in its slots."""

    __slots__ = ("shape", "slots")

    def __init__(self, shape: Shape, slots: list[Slot]):
        self.shape, self.slots = shape, slots

    @property
    def action(self) -> Action:
        return self.shape.over(self.slots)


_EACH = object()                                # each number makes a shape of its own
_shapes: dict[Key, Shape | Action | object | None] = {}


def known(key: Key, slots: list[Slot]) -> Shaped | Action | None:
    """What an instruction does whose shape was recorded and is one."""
    shape = _shapes.get(key)
    if shape is _EACH:
        shape = _shapes.get((key, *[s for s in slots if s.__class__ is str]))
    if shape.__class__ is Shape:
        return Shaped(shape, slots)
    return shape


def record(key: Key, instruction: Instruction, scope: Scope, type_of: Callable[[str], str | None]) -> None:
    """Find out, once, whether instructions with this key have a shape, and which."""
    if len(_shapes) > _MOST:
        _shapes.clear()
    if key not in _shapes:
        _shapes[key] = _shape(instruction, scope, type_of, each=False)
    if _shapes[key] is _EACH:
        each = key, *[s for s in parts(instruction, scope)[1] if s.__class__ is str]
        if each not in _shapes:
            _shapes[each] = _shape(instruction, scope, type_of, each=True)


# operands as tokens and slots ---------------------------------------------------------------------------------------

def parts(instruction: Instruction, scope: Scope) -> tuple[Key, list[Slot]] | None:
    """The key of an instruction's shape and what stands in its slots; None where an operand allows no shape."""
    cached = scope.parts
    found = [cached.get(id(operand)) or _noted(operand, scope) for operand in instruction.operands]
    if _NO_PART in found:
        return None
    if instruction.opcode in _CARRYING and (instruction.opcode[-1] == "c" or ".cc" in instruction.modifiers):
        found.append(("carry", (scope.names.carry(),)))
    return ((scope.target, instruction.opcode, instruction.modifiers, *[token for token, _ in found]),
            [slot for _, slots in found for slot in slots])


def _noted(operand: Operand, scope: Scope) -> tuple:
    """Token and slots of an operand, kept for the next time it occurs."""
    part = None
    if operand.__class__ is RegisterOperand:
        register = scope.registers.get(operand.name) or scope.register(operand.name)
        if register is not None:
            part = register[1], (register[0],)
    if part is None:
        part = _part(operand, scope)
    if not scope.body.vectors:                                  # their operands are made for the moment
        scope.parts[id(operand)] = part
    return part


_NO_PART = None, ()
_CARRYING = frozenset(("add", "sub", "mad", "addc", "subc", "madc"))


def _part(operand: Operand, scope: Scope) -> tuple:
    """Token and slots of an operand; the token is None where it allows no shape."""
    match operand:
        case RegisterOperand(name) | LabelOperand(name):
            return _named(name, scope)
        case ImmediateOperand(text):
            token = literal(text)
            return _NO_PART if token == "name" else (token, (text,))
        case AddressOperand(base, _):
            offset = _offset(operand.offset)
            register = scope.register(base)
            if offset is None or operand.suffix:
                return _NO_PART
            if register is not None:
                return ("[", register[1]), (register[0], offset & (1 << 64) - 1)
            variable = _fixed(scope.find("variables", base))
            return _NO_PART if variable is None else (("[", variable.space, variable.address + offset), ())
        case VectorOperand(elements):
            return _several("{", elements, scope)
        case NegatedOperand(inner):
            return _several("!", (inner,), scope)
        case NegativeOperand(inner):
            return _several("-", (inner,), scope)
        case PipeOperand(left, right):
            return _several("|", (left, right), scope)
    return _NO_PART


def _several(mark: str, operands: tuple[Operand, ...], scope: Scope) -> tuple:
    registers = scope.registers
    known = [registers.get(o.name) or scope.register(o.name) if o.__class__ is RegisterOperand else None
             for o in operands]
    if None not in known:
        return (mark, *[type_name for _, type_name in known]), tuple([register for register, _ in known])
    found = [_part(operand, scope) for operand in operands]
    if any(token is None for token, _ in found):
        return _NO_PART
    return (mark, *[token for token, _ in found]), tuple(s for _, slots in found for s in slots)


def _named(name: str, scope: Scope) -> tuple:
    register = scope.register(name)
    if register is not None:
        return register[1], (register[0],)
    if name == "_":
        return "_", ()
    variable = _fixed(scope.find("variables", name))
    if variable is not None:
        return (variable.space, variable.address), ()
    return (("%", name), ()) if special_registers.lookup(name) is not None else _NO_PART


def _fixed(variable: Variable | None) -> Variable | None:
    """A variable that has an address known before the launch."""
    fits = variable is not None and variable.stack is None and not variable.problem and variable.address is not None
    return variable if fits else None


# from an instruction to its shape -----------------------------------------------------------------------------------

def _shape(instruction: Instruction, scope: Scope, type_of, *, each: bool) -> Shape | Action | object | None:
    apart = replace(instruction, operands=tuple(map(_apart, instruction.operands)))
    bound = bind(apart, type_of)
    slots = _Slots(apart, scope, bound, each)
    if slots.numbered and not each and _limited(apart, bound):
        return _EACH
    decoder = DECODERS.get(instruction.opcode)
    try:
        action = decoder(slots) if decoder is not None else compute(slots) if bound.form.means else None
    except _NoShape:
        return None
    except _EachNumber:
        return _EACH
    if action is None or isinstance(action, _LEAVING):
        return None
    single = isinstance(action, Compute) and len(action.assignments) == 1
    if slots.numbered and not single and not each:
        return _EACH
    reads = tuple(dict.fromkeys(-1 - v.index for v in values(action) if isinstance(v, Reg)))
    writes = tuple(dict.fromkeys(-1 - v.index for v in targets(action)))
    if min((*reads, *writes), default=0) < 0 or (isinstance(action, Compute) and any(t is None for t, _ in
                                                                                     action.assignments)):
        return None
    return Shape(action, reads, writes, tuple(slots.numbers.values()), tuple(slots.offsets),
                 isinstance(action, Compute | Move) and not single)


def _apart(operand: Operand) -> Operand:
    """A copy in which no node occurs twice: slots are told apart by the identity of their nodes."""
    match operand:
        case VectorOperand(elements):
            return replace(operand, elements=tuple(map(_apart, elements)))
        case NegatedOperand(inner) | NegativeOperand(inner):
            return replace(operand, operand=_apart(inner))
        case PipeOperand(left, right):
            return replace(operand, left=_apart(left), right=_apart(right))
    return replace(operand)


def _limited(instruction: Instruction, bound: Bound) -> bool:
    """Whether a number among the operands must be one of a range, which `bind` checks for each instruction."""
    return any(isinstance(operand, (ImmediateOperand, VectorOperand))
               and bound.form.operands[name].values not in ("", "float") for name, operand in bound.operands.items())


class _NoShape(Exception):
    """The meaning depends on more than the key."""


class _EachNumber(Exception):
    """The meaning depends on a number itself."""


class _Slots(Operands):
    """Operands of which every register, number and offset is a slot; with `each`, numbers are what they are."""

    def __init__(self, instruction: Instruction, scope: Scope, bound: Bound, each: bool):
        super().__init__(instruction, None, bound)
        self.real, self.each = scope, each
        self.numbers: dict[int, tuple[int, str, int]] = {}
        self.offsets: list[int] = []
        self.place: dict[int, int] = {}                         # node -> its first slot, -1 where it has none
        self.count, self.numbered = 0, False
        for operand in instruction.operands:
            self._number(operand)

    def _number(self, operand: Operand) -> None:
        inner: tuple = ()
        match operand:
            case VectorOperand(elements):
                inner = elements
            case NegatedOperand(only) | NegativeOperand(only):
                inner = (only,)
            case PipeOperand(left, right):
                inner = (left, right)
        if inner:
            self.place[id(operand)] = self.count
            for element in inner:
                self._number(element)
            return
        _, slots = _part(operand, self.real)
        self.numbered |= isinstance(operand, ImmediateOperand)
        self.place[id(operand)] = self.count if slots else -1
        self.count += len(slots)

    @property
    def scope(self) -> Scope:
        raise _NoShape

    @scope.setter
    def scope(self, _nothing: None) -> None:
        pass

    def carry(self) -> Reg:
        return Reg(-1 - self.count, 1, f"slot {self.count}")

    @property
    def target_name(self) -> str:
        return self.real.target

    def in_frame(self, operand: Operand) -> Variable | None:
        if id(operand) not in self.place:
            raise _NoShape
        return None

    def number(self, name: str) -> int:
        if not self.each:
            raise _EachNumber
        return super().number(name)

    def as_target(self, operand: Operand) -> Reg | None:
        if isinstance(operand, RegisterOperand | LabelOperand) and operand.name == "_":
            return None
        return self.as_value(operand, "")

    def as_value(self, operand: Operand, type_name: str) -> Value:
        if isinstance(operand, NegatedOperand | NegativeOperand):
            operand = operand.operand
        place = self.place.get(id(operand))
        if place is None:
            raise _NoShape
        if isinstance(operand, ImmediateOperand):
            number = super().as_value(operand, type_name)
            if self.each:
                return number
            if self.numbers.setdefault(place, (place, type_name, number.width))[1] != type_name:
                raise _NoShape
            return Const(-1 - place, number.width)
        if place < 0:
            return Operands(self.instruction, self.real, self.bound).as_value(operand, type_name)
        if isinstance(operand, RegisterOperand | LabelOperand):
            register = self.real.register(operand.name)[0]
            return Reg(-1 - place, register.width, f"slot {place}")
        raise _NoShape

    def address(self, name: str, space: str) -> Address:
        operand = self.operand(name)
        place = self.place.get(id(operand))
        if place is None or not isinstance(operand, AddressOperand):
            raise _NoShape
        if place < 0:
            return Operands(self.instruction, self.real, self.bound).address(name, space)
        if space == "param":
            raise _NoShape
        self.offsets.append(place + 1)
        register = self.real.register(operand.base)[0]
        return Address(space or "generic", Reg(-1 - place, register.width, f"slot {place}"), OFFSET + place + 1)


@lru_cache(maxsize=8192)
def _offset(text: str | None) -> int | None:
    """A plain decimal offset; None for any other."""
    if text is None:
        return 0
    digits = text.removeprefix("-")
    return int(text) if digits.isdigit() and digits.isascii() and (digits == "0" or digits[0] != "0") else None


# from a shape to an action ------------------------------------------------------------------------------------------

@lru_cache(maxsize=8192)
def _constant(text: str, type_name: str, width: int) -> Const:
    return Const(bits_of(text, type_name, width), width)


def _filled(item, slots: list):
    """A part of a shape's action with what stands in its slots."""
    if item.__class__ is Reg:
        return slots[-1 - item.index]
    if item.__class__ is Const:
        return slots[-1 - item.bits] if item.bits < 0 else item
    if item.__class__ is Address:
        slot = item.offset - OFFSET
        if not 0 <= slot < len(slots):
            return Address(item.space, _filled(item.base, slots), item.offset)
        return Address(item.space, _filled(item.base, slots), slots[slot] - (slots[slot] >> 63 << 64))
    if isinstance(item, tuple):
        inner = [_filled(part, slots) for part in item]
        return tuple(inner) if item.__class__ is tuple else item.__class__(*inner)
    if item.__class__ in (Leaf, Apply):
        return item.__class__(*[_filled(getattr(item, name), slots) for name in _fields(item.__class__)])
    return item


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))

"""Action templates: instructions that differ only in registers, numbers and offsets are decoded once.

A template is the action of all instructions with the same opcode, modifiers, and operand kinds and types: `add.f32` of
three f32 registers is decoded once; every other one fills its registers, numbers and offsets into the template.
Instructions whose action depends on more than that (labels, functions) have no template. If an instruction uses the
carry flag, the flag is its last slot. If a form limits an immediate to a range, each number has a template of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from typing import Any

from pyptx.ir.constants import literal_kind
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
from pyptx.sim.actions import (
    Action,
    Address,
    Apply,
    Branch,
    Compute,
    Const,
    Exit,
    Jump,
    Leaf,
    Move,
    Reg,
    Return,
    Trap,
    Value,
)
from pyptx.sim.actions.dataflow import targets, values
from pyptx.sim.decode import decode
from pyptx.sim.symbols.literals import bits_of
from pyptx.sim.symbols.operands import Operands
from pyptx.sim.symbols.scopes import Scope, Variable
from pyptx.validate import Bound, bind

__all__ = ["OFFSET", "ActionTemplate", "TemplateInstance", "instantiate", "record", "split"]

OFFSET = 0x7A5E0000_7A5E0000  # plus a slot: placeholder for the offset in that slot
_CONTROL_FLOW = (Branch, Exit, Jump, Return, Trap)  # these have no template
_MAX_TEMPLATES = 1 << 16

Key = tuple[Any, ...]
Slot = Reg | str | int  # a register, the text of a number, an offset as 64 bits


@dataclass(slots=True, eq=False)
class ActionTemplate:
    """An action with placeholders: `Reg(-1 - k, ...)`, `Const(-1 - k, ...)` and the offset `OFFSET + k` for slot k.

    Attributes:
        reads, writes: slots of registers that the action reads and writes.
        numbers: slot, type and width in bits of each literal.
        offsets: slots of offsets.
        distinct: whether different slots must hold different registers.
        codes: cache of the C core's encoder.
    """

    action: Action
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    numbers: tuple[tuple[int, str, int], ...]
    offsets: tuple[int, ...]
    distinct: bool
    codes: dict[Any, Any] = field(default_factory=dict)

    def fill(self, slots: list[Slot]) -> Action:
        """Return the action with the slots filled in."""
        filled: list[Any] = list(slots)
        for slot, type_name, width in self.numbers:
            filled[slot] = _constant(filled[slot], type_name, width)
        action = self.action
        kind: Any = action.__class__  # its parameters are its fields
        return kind(*[_filled(getattr(action, name), filled) for name in _fields(action.__class__)])


class TemplateInstance:
    """The action of an instruction, as a template and the contents of its slots."""

    __slots__ = ("slots", "template")
    slots: list[Slot]
    template: ActionTemplate

    def __init__(self, template: ActionTemplate, slots: list[Slot]):
        self.template, self.slots = template, slots

    @property
    def action(self) -> Action:
        """The action itself."""
        return self.template.fill(self.slots)

    def reads(self) -> list[int]:
        """Return the indices of the registers that it reads."""
        slots: list[Any] = self.slots
        return [slots[k].index for k in self.template.reads]

    def writes(self) -> list[int]:
        """Return the indices of the registers that it writes."""
        slots: list[Any] = self.slots
        return [slots[k].index for k in self.template.writes]


class _PerNumber:
    """Marker for a key whose templates depend on the numbers too."""


_templates: dict[Key, ActionTemplate | type[_PerNumber] | None] = {}


def instantiate(key: Key, slots: list[Slot]) -> TemplateInstance | None:
    """Return the template instance for a key and slots; None if no template is recorded."""
    template = _templates.get(key)
    if template is _PerNumber:
        template = _templates.get((key, *[s for s in slots if s.__class__ is str]))
    return TemplateInstance(template, slots) if isinstance(template, ActionTemplate) else None


def record(
    key: Key, slots: list[Slot], instruction: Instruction, scope: Scope, type_of: Callable[[str], str | None]
) -> None:
    """Determine, once per key, the template of instructions with this key, if they have one."""
    if len(_templates) > _MAX_TEMPLATES:
        _templates.clear()
    if key not in _templates:
        _templates[key] = _template(instruction, scope, type_of, each=False)
    if _templates[key] is _PerNumber:
        each = key, *[s for s in slots if s.__class__ is str]
        if each not in _templates:
            _templates[each] = _template(instruction, scope, type_of, each=True)


# operands as tokens and slots ---------------------------------------------------------------------------------------

_Part = tuple[object, tuple[Slot, ...]]  # token (None: no template) and slots of an operand
_NO_PART: _Part = None, ()
_CARRYING = frozenset(("add", "sub", "mad", "addc", "subc", "madc"))


def split(instruction: Instruction, scope: Scope) -> tuple[Key, list[Slot]] | None:
    """Split an instruction into the key of its template and its slots; None if an operand allows no template."""
    cached = scope.parts
    found = [cached.get(id(operand)) or _cached_part(operand, scope) for operand in instruction.operands]
    if _NO_PART in found:
        return None
    if instruction.opcode in _CARRYING and (instruction.opcode[-1] == "c" or ".cc" in instruction.modifiers):
        found.append(("carry", (scope.symbols.carry(),)))
    return (
        (scope.target, instruction.opcode, instruction.modifiers, *[token for token, _ in found]),
        [slot for _, slots in found for slot in slots],
    )


def _cached_part(operand: Operand, scope: Scope) -> _Part:
    part = None
    if isinstance(operand, RegisterOperand):
        register = scope.register(operand.name)
        if register is not None:
            part = register[1], (register[0],)
    if part is None:
        part = _part(operand, scope)
    if not scope.function.vectors:  # operands with vectors are temporary nodes
        scope.parts[id(operand)] = part
    return part


def _part(operand: Operand, scope: Scope) -> _Part:
    match operand:
        case RegisterOperand(name) | LabelOperand(name):
            return _name_part(name, scope)
        case ImmediateOperand(text):
            token = literal_kind(text)
            return _NO_PART if token == "name" else (token, (text,))
        case AddressOperand(base, _):
            offset = _offset(operand.offset)
            register = scope.register(base)
            if offset is None or operand.suffix:
                return _NO_PART
            if register is not None:
                return ("[", register[1]), (register[0], offset & (1 << 64) - 1)
            variable = scope.variable(base)
            if variable is None or variable.fixed_address is None:
                return _NO_PART
            return ("[", variable.space, variable.fixed_address + offset), ()
        case VectorOperand(elements):
            return _compound_part("{", elements, scope)
        case NegatedOperand(inner):
            return _compound_part("!", (inner,), scope)
        case NegativeOperand(inner):
            return _compound_part("-", (inner,), scope)
        case PipeOperand(left, right):
            return _compound_part("|", (left, right), scope)
    return _NO_PART


def _compound_part(mark: str, operands: tuple[Operand, ...], scope: Scope) -> _Part:
    registers = [scope.register(o.name) if isinstance(o, RegisterOperand) else None for o in operands]
    known = [r for r in registers if r is not None]
    if len(known) == len(operands):
        return (mark, *[type_name for _, type_name in known]), tuple([register for register, _ in known])
    found = [_part(operand, scope) for operand in operands]
    if any(token is None for token, _ in found):
        return _NO_PART
    return (mark, *[token for token, _ in found]), tuple(s for _, slots in found for s in slots)


def _name_part(name: str, scope: Scope) -> _Part:
    register = scope.register(name)
    if register is not None:
        return register[1], (register[0],)
    if name == "_":
        return "_", ()
    variable = scope.variable(name)
    if variable is not None and variable.fixed_address is not None:
        return (variable.space, variable.fixed_address), ()
    return (("%", name), ()) if special_registers.lookup(name) is not None else _NO_PART


# from an instruction to its template --------------------------------------------------------------------------------


def _template(
    instruction: Instruction, scope: Scope, type_of: Callable[[str], str | None], *, each: bool
) -> ActionTemplate | type[_PerNumber] | None:
    unshared = replace(instruction, operands=tuple(map(_copied, instruction.operands)))
    bound = bind(unshared, type_of)
    slots = _Placeholders(unshared, scope, bound, each)
    if slots.numbered and not each and _has_limited_number(bound):
        return _PerNumber
    try:
        action = decode(slots)
    except _NoTemplateError:
        return None
    except _NumberNeededError:
        return _PerNumber
    if action is None or isinstance(action, _CONTROL_FLOW):
        return None
    single = isinstance(action, Compute) and len(action.assignments) == 1
    if slots.numbered and not single and not each:
        return _PerNumber
    reads = tuple(dict.fromkeys(-1 - v.index for v in values(action) if isinstance(v, Reg)))
    writes = tuple(dict.fromkeys(-1 - v.index for v in targets(action)))
    if min((*reads, *writes), default=0) < 0 or (
        isinstance(action, Compute) and any(t is None for t, _ in action.assignments)
    ):
        return None
    return ActionTemplate(
        action,
        reads,
        writes,
        tuple(slots.numbers.values()),
        tuple(slots.offsets),
        isinstance(action, Compute | Move) and not single,
    )


def _copied(operand: Operand) -> Operand:
    """Copy an operand so that no node occurs twice: slots are distinguished by the identity of their nodes."""
    match operand:
        case VectorOperand(elements):
            return replace(operand, elements=tuple(map(_copied, elements)))
        case NegatedOperand(inner) | NegativeOperand(inner):
            return replace(operand, operand=_copied(inner))
        case PipeOperand(left, right):
            return replace(operand, left=_copied(left), right=_copied(right))
    return replace(operand)


def _has_limited_number(bound: Bound) -> bool:
    """Return whether a number among the operands must be in a range, which `bind` checks for each instruction."""
    return any(
        isinstance(operand, (ImmediateOperand, VectorOperand)) and bound.form.operands[name].values not in ("", "float")
        for name, operand in bound.operands.items()
    )


class _NoTemplateError(Exception):
    """The action depends on more than the key."""


class _NumberNeededError(Exception):
    """The action depends on the value of a number."""


class _Placeholders(Operands):
    """Operands whose registers, numbers and offsets are placeholders; with `each`, numbers have their values."""

    def __init__(self, instruction: Instruction, scope: Scope, bound: Bound, each: bool):
        super().__init__(instruction, scope, bound)
        self.each = each
        self.numbers: dict[int, tuple[int, str, int]] = {}
        self.offsets: list[int] = []
        self.first_slot: dict[int, int] = {}  # by id of the node; -1 for a node without slots
        self.count, self.numbered = 0, False
        for operand in instruction.operands:
            self._number(operand)

    def _number(self, operand: Operand) -> None:
        inner: tuple[Operand, ...] = ()
        match operand:
            case VectorOperand(elements):
                inner = elements
            case NegatedOperand(only) | NegativeOperand(only):
                inner = (only,)
            case PipeOperand(left, right):
                inner = (left, right)
        if inner:
            self.first_slot[id(operand)] = self.count
            for element in inner:
                self._number(element)
            return
        _, slots = _part(operand, self._real_scope)
        self.numbered |= isinstance(operand, ImmediateOperand)
        self.first_slot[id(operand)] = self.count if slots else -1
        self.count += len(slots)

    @property
    def scope(self) -> Scope:
        """Unavailable: an action that depends on the scope has no template."""
        raise _NoTemplateError

    def _real(self) -> Operands:
        return Operands(self.instruction, self._real_scope, self.bound)

    def _register(self, name: str, slot: int) -> Reg:
        found = self._real_scope.register(name)
        if found is None:
            raise _NoTemplateError
        return Reg(-1 - slot, found[0].width, f"slot {slot}")

    def carry(self) -> Reg:
        return Reg(-1 - self.count, 1, f"slot {self.count}")

    @property
    def target_name(self) -> str:
        return self._real_scope.target

    def in_frame(self, operand: Operand) -> Variable | None:
        if id(operand) not in self.first_slot:
            raise _NoTemplateError
        return None

    def number(self, name: str) -> int:
        if not self.each:
            raise _NumberNeededError
        return super().number(name)

    def as_target(self, operand: Operand) -> Reg | None:
        if isinstance(operand, RegisterOperand | LabelOperand) and operand.name == "_":
            return None
        found = self.as_value(operand, "")
        if not isinstance(found, Reg):
            raise _NoTemplateError
        return found

    def as_value(self, operand: Operand, type_name: str) -> Value:
        if isinstance(operand, NegatedOperand | NegativeOperand):
            operand = operand.operand
        slot = self.first_slot.get(id(operand))
        if slot is None:
            raise _NoTemplateError
        if isinstance(operand, ImmediateOperand):
            number = super().as_value(operand, type_name)
            if self.each:
                return number
            if self.numbers.setdefault(slot, (slot, type_name, number.width))[1] != type_name:
                raise _NoTemplateError
            return Const(-1 - slot, number.width)
        if slot < 0:
            return self._real().as_value(operand, type_name)
        if isinstance(operand, RegisterOperand | LabelOperand):
            return self._register(operand.name, slot)
        raise _NoTemplateError

    def address(self, name: str, space: str) -> Address:
        operand = self.operand(name)
        slot = self.first_slot.get(id(operand))
        if slot is None or not isinstance(operand, AddressOperand):
            raise _NoTemplateError
        if slot < 0:
            return self._real().address(name, space)
        if space == "param":
            raise _NoTemplateError
        self.offsets.append(slot + 1)
        return Address(space or "generic", self._register(operand.base, slot), OFFSET + slot + 1)


@lru_cache(maxsize=8192)
def _offset(text: str | None) -> int | None:
    """Parse a plain decimal offset; None for any other."""
    if text is None:
        return 0
    digits = text.removeprefix("-")
    return int(text) if digits.isdigit() and digits.isascii() and (digits == "0" or digits[0] != "0") else None


# from a template to an action ---------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def _constant(text: str, type_name: str, width: int) -> Const:
    return Const(bits_of(text, type_name, width), width)


def _filled(item: Any, slots: list[Any]) -> Any:
    """Fill the slots into a part of a template's action."""
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

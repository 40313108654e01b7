"""Operations of an action template, encoded once for all programs and instantiated with other registers.

While a template is encoded, symbols stand for everything that depends on the program: registers, temporaries, rows of
constants, parameters and special registers, indices in the pool. A program links the result once; each instruction then
only fills in its registers and offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from pyptx.sim.abi import CONSTANTS, CTA_SPECIALS, PER_CTA, OpFlag
from pyptx.sim.actions import Action, Const, Reg, Special, Sum, Value
from pyptx.sim.core.encoding.encoder import ROW, TEMPORARY_PREDICATES, Encoder
from pyptx.sim.core.library import operations
from pyptx.sim.program.templates import OFFSET, ActionTemplate, TemplateInstance

__all__ = ["instantiate"]

_LISTS, _SYMBOLS, _TEMPORARIES, _PREDICATES, _SLOTS = (part << 24 for part in (0xA0, 0xB0, 0xC0, 0xD0, 0xE0))
_END = 0xF0 << 24
_PITCH = 2048  # more than the rows of any register
_GUARD, _FLIP, _INSTR = range(3)  # their indices among the values of an instruction
_HEAD = 3
_MAX_VARIANTS = 4096  # of one template, which differ in their numbers


class SymbolicEncoder(Encoder):
    """An encoder of one action whose registers are slots."""

    def __init__(self):
        self.codes = operations()
        self.rows, self.symbols, self.lists = [], [], []
        self.true, self.false = 0 | CONSTANTS, 4 | CONSTANTS
        self.guard, self.flip, self.instr, self.uncounted = self.true, 0, 0, True
        self.top, self.highest, self.predicates_used = 0, 0, 0

    def register(self, register: Reg) -> int:
        assert register.index < 0, register
        return _SLOTS + _PITCH * (-1 - register.index)

    def is_register(self, place: int) -> bool:
        return place >= _SLOTS

    def temporary(self, width: int) -> int:
        if width == 1:
            self.predicates_used += 1
            assert self.predicates_used <= TEMPORARY_PREDICATES
            return _PREDICATES + 4 * (self.predicates_used - 1)
        place, self.top = self.top, self.top + (ROW if width <= 32 else 2 * ROW)
        self.highest = max(self.highest, self.top)
        return _TEMPORARIES + place

    def constant(self, bits: int, width: int) -> int:
        if width == 1:
            return self.true if bits & 1 else self.false
        return self._symbol(Encoder.constant, bits, width)

    def parameter(self, offset: int, size: int, signed: bool, width: int) -> int:
        return self._symbol(Encoder.parameter, offset, size, signed, width)

    def has_parameter(self, offset: int, bytes_: int) -> bool:
        self._symbol(_needs_parameter, offset, bytes_)
        return True

    def special(self, name: str) -> int:
        if name in CTA_SPECIALS:
            return CTA_SPECIALS.index(name) * ROW | PER_CTA
        return self._symbol(Encoder.special, name)

    def table(self, key: tuple, build: Callable) -> int:
        return self._symbol(Encoder.table, key, build)

    def operand_list(self, operands) -> int:
        self.lists.append(list(operands))
        return _LISTS + _PITCH * (len(self.lists) - 1)

    def _symbol(self, *symbol) -> int:
        for k, other in enumerate(self.symbols):
            if other[: len(symbol)] == symbol and symbol[0] is not Encoder.table:
                return _SYMBOLS + _PITCH * k
        self.symbols.append(symbol)
        return _SYMBOLS + _PITCH * (len(self.symbols) - 1)

    def value(self, value: Value) -> int:
        match value:
            case Reg():
                return self.register(value)
            case Const(bits, width):
                assert bits >= 0, value
                return self.constant(bits, width)
            case Special(name):
                return self.special(name)
            case Sum():
                raise Unlinkable


class Unlinkable(Exception):
    """The encoded template does not apply to a program."""


def _needs_parameter(e: Encoder, offset: int, bytes_: int) -> int:
    if not e.has_parameter(offset, bytes_):
        raise Unlinkable
    return 0


class EncodedTemplate:
    """Operations and operand lists whose fields are selected from the values of an instruction:

        guard, flip, number | values of the slots | fixed numbers, linked symbols | indices of the operand lists

    Attributes:
        plain, guarded: for each operation, the selector of its fields, without and with a guard.
        lists: for each operand list, the indices of its operands.
    """

    def __init__(self, encoder: SymbolicEncoder, slots: int):
        self.slots, self.symbols, self.highest = slots, encoder.symbols, encoder.highest
        rows, lists = encoder.rows, encoder.lists
        collected = [c for row in rows for c in (*row[1:6], row[13], row[14])] + [c for one in lists for c in one]
        self._indices = {("place", c): 0 for c in sorted({c for c in collected if _LISTS <= c < _END})}
        offsets = [(row[12] - OFFSET) if 0 <= row[12] - OFFSET < slots else None for row in rows]
        for row, offset in zip(rows, offsets, strict=True):
            for number in (
                0,
                row[9],
                row[10],
                row[10] | OpFlag.GUARDED,
                row[11],
                *(() if offset is not None else (row[12],)),
            ):
                self._indices.setdefault(("number", number), 0)
        for c in collected:
            if not _LISTS <= c < _END:
                self._indices.setdefault(("number", c), 0)
        at = _HEAD + slots
        self.order = []
        for key in self._indices:
            kind, c = key
            if kind == "place" and _SLOTS <= c and (c - _SLOTS) % _PITCH == 0:
                self._indices[key] = _HEAD + (c - _SLOTS) // _PITCH
            elif kind == "place" and c < _SYMBOLS:
                continue
            else:
                self._indices[key], at = at, at + 1
                self.order.append(key)
        for key in self._indices:
            if key[0] == "place" and key[1] < _SYMBOLS:
                self._indices[key] = at + (key[1] - _LISTS) // _PITCH
        self.plain = [self._row(row, offset, 0) for row, offset in zip(rows, offsets, strict=True)]
        self.guarded = [self._row(row, offset, OpFlag.GUARDED) for row, offset in zip(rows, offsets, strict=True)]
        self.lists = [[self._index(c) for c in one] for one in lists]

    def _index(self, c: int) -> int:
        return self._indices["place" if _LISTS <= c < _END else "number", c]

    def _row(self, row: tuple, offset: int | None, guarded: int) -> itemgetter:
        _, *places, _, _, _, code, flags, mod, imm, aux, aux2 = row
        number = self._indices.__getitem__
        return itemgetter(
            number(("number", 0)),
            *map(self._index, places),
            _GUARD,
            _FLIP,
            _INSTR,
            number(("number", code)),
            number(("number", flags | guarded)),
            number(("number", mod)),
            _HEAD + offset if offset is not None else number(("number", imm)),
            self._index(aux),
            self._index(aux2),
        )

    def link(self, e: Encoder) -> tuple[list[int], list[tuple[int, int, int]]] | None:
        """The fixed values, and (index, slot, bytes) of those that are later rows of a register; None: not applicable."""
        try:
            symbols = [make(e, *arguments) for make, *arguments in self.symbols]
        except Unlinkable:
            return None
        fixed, later_rows = [], []
        for kind, c in self.order:
            if kind == "number":
                fixed.append(c)
            elif c >= _SLOTS:
                slot, rest = divmod(c - _SLOTS, _PITCH)
                later_rows.append((_HEAD + self.slots + len(fixed), slot, rest))
                fixed.append(0)
            elif c >= _PREDICATES:
                fixed.append(e.temporary_predicates + c - _PREDICATES)
            elif c >= _TEMPORARIES:
                fixed.append(e.temporaries + c - _TEMPORARIES)
            else:
                symbol, rest = divmod(c - _SYMBOLS, _PITCH)
                fixed.append(symbols[symbol] + rest)
        e.highest = max(e.highest, e.temporaries + self.highest)
        return fixed, later_rows


_UNLINKED = None, []


def instantiate(e: Encoder, instance: TemplateInstance, build: Callable[[Encoder, Action], None]) -> bool:
    """Emit the operations of the current instruction; False if `build` must encode it directly."""
    template, slots = instance.template, instance.slots
    found = template.codes.get(None) or encoded_template(template, slots, build)
    linked = e.linked.get(found)
    if linked is None:
        linked = e.linked[found] = found.link(e) or _UNLINKED
    fixed: list[int] | None = linked[0]
    later_rows: list[tuple[int, int, int]] = linked[1]
    if fixed is None or (template.distinct and _repeats_register(slots)):
        return False
    offsets = e.offsets
    values: list[Any] = [
        e.guard,
        e.flip,
        e.instr,
        *[offsets[v.index] if isinstance(v, Reg) else v for v in slots],
        *fixed,
    ]
    for index, slot, rest in later_rows:
        values[index] = values[_HEAD + slot] + rest
    for one in found.lists:
        values.append(len(e.pool))
        e.pool += [values[k] for k in one]
    for pick in found.plain if e.guard == e.true else found.guarded:
        e.rows.append(pick(values))
    return True


def _repeats_register(slots: list) -> bool:
    registers = [v.index for v in slots if v.__class__ is Reg]
    return len(set(registers)) != len(registers)


def encoded_template(
    template: ActionTemplate, slots: list, build: Callable[[Encoder, Action], None]
) -> EncodedTemplate:
    """The operations of a template with these numbers (and, if they matter, offsets) in its slots, cached."""
    codes = template.codes
    if not template.numbers and not template.offsets:
        key: object = None
    elif codes.get("free"):
        key = tuple([slots[k] for k, _, _ in template.numbers])
    else:
        key = (*[slots[k] for k, _, _ in template.numbers], *[slots[k] for k in template.offsets])
    found = codes.get(key)
    if found is None:
        if len(codes) > _MAX_VARIANTS:
            codes.clear()
        if "free" not in codes:
            codes["free"] = not template.offsets or _offsets_are_free(template, slots, build)
            return encoded_template(template, slots, build)
        found = codes[key] = _encode(template, slots, build, codes["free"])[1]
    return found


def _encode(template: ActionTemplate, slots: list, build, free: bool) -> tuple[SymbolicEncoder, EncodedTemplate]:
    symbolic = list(slots)
    for k in (*template.reads, *template.writes):
        symbolic[k] = Reg(-1 - k, slots[k].width, slots[k].name)
    if free:
        for k in template.offsets:
            symbolic[k] = OFFSET + k
    encoder = SymbolicEncoder()
    build(encoder, template.fill(symbolic))
    return encoder, EncodedTemplate(encoder, len(slots))


def _offsets_are_free(template: ActionTemplate, slots: list, build) -> bool:
    """Test whether the offsets of a template appear only in the operations themselves."""
    encoder, _ = _encode(template, slots, build, True)
    found = {row[12] - OFFSET for row in encoder.rows}
    constants = (symbol[1] for symbol in encoder.symbols if symbol[0] is Encoder.constant)
    return found >= set(template.offsets) and not any(
        bits >> 16 & 0xFFFF == OFFSET >> 16 & 0xFFFF for bits in constants
    )

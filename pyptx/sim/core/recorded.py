"""What the encoder emits for a shape, recorded once for all programs and repeated with other registers.

While a shape is recorded everything that depends on the program stands in: registers, temporaries, rows of constants,
parameters and special registers, places in the pool. A program links a recording once; then each instruction only puts
its registers and offsets in.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from pyptx.sim.actions.basic import Action, Const, Reg, Special, Value
from pyptx.sim.core.encode import CONSTANTS, PER_CTA, ROW, TEMPORARY_PREDICATES, Encoder, Flags
from pyptx.sim.core.library import operations
from pyptx.sim.program.shapes import OFFSET, Shape, Shaped
from pyptx.sim.special import CTA_ROWS

__all__ = ["replay"]

_LISTS, _SYMBOLS, _TEMPORARIES, _PREDICATES, _SLOTS = (part << 24 for part in (0xA0, 0xB0, 0xC0, 0xD0, 0xE0))
_END = 0xF0 << 24
_PITCH = 2048                                   # more than the rows of any register
_GUARD, _FLIP, _INSTR = range(3)                # where these lie among the cells of an instruction
_HEAD = 3
_MOST = 4096                                    # recordings of one shape, which differ in their numbers


class Recorder(Encoder):
    """An encoder of one action over slots."""

    def __init__(self):
        self.codes = operations()
        self.rows, self.symbols, self.lists = [], [], []
        self.true, self.false = 0 | CONSTANTS, 4 | CONSTANTS
        self.guard, self.flip, self.instr, self.fresh = self.true, 0, 0, True
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
        if name in CTA_ROWS:
            return CTA_ROWS.index(name) * ROW | PER_CTA
        return self._symbol(Encoder.special, name)

    def table(self, key: tuple, build: Callable) -> int:
        return self._symbol(Encoder.table, key, build)

    def operand_list(self, operands) -> int:
        self.lists.append(list(operands))
        return _LISTS + _PITCH * (len(self.lists) - 1)

    def _symbol(self, *symbol) -> int:
        for k, other in enumerate(self.symbols):
            if other[:len(symbol)] == symbol and symbol[0] is not Encoder.table:
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


class Unlinkable(Exception):
    """A program for which the recording does not hold."""


def _needs_parameter(e: Encoder, offset: int, bytes_: int) -> int:
    if not e.has_parameter(offset, bytes_):
        raise Unlinkable
    return 0


class Recording:
    """Rows and operand lists whose cells are chosen from those of an instruction:

        guard, flip, number | what stands in the slots | fixed numbers, linked symbols | places of the lists

    Attributes:
        plain, guarded: for each row, what picks its cells, for instructions without and with a guard.
        lists: the same for each operand list.
    """

    def __init__(self, recorder: Recorder, slots: int):
        self.slots, self.symbols, self.highest = slots, recorder.symbols, recorder.highest
        rows, lists = recorder.rows, recorder.lists
        collected = [c for row in rows for c in (*row[1:6], row[13], row[14])] + [c for one in lists for c in one]
        self._cells = {("place", c): 0 for c in sorted({c for c in collected if _LISTS <= c < _END})}
        offsets = [(row[12] - OFFSET) if 0 <= row[12] - OFFSET < slots else None for row in rows]
        for row, offset in zip(rows, offsets, strict=True):
            for number in (0, row[9], row[10], row[10] | Flags.GUARDED, row[11], *(() if offset is not None
                                                                                 else (row[12],))):
                self._cells.setdefault(("number", number), 0)
        for c in collected:
            if not _LISTS <= c < _END:
                self._cells.setdefault(("number", c), 0)
        at = _HEAD + slots
        self.order = []
        for key in self._cells:
            kind, c = key
            if kind == "place" and _SLOTS <= c and (c - _SLOTS) % _PITCH == 0:
                self._cells[key] = _HEAD + (c - _SLOTS) // _PITCH
            elif kind == "place" and c < _SYMBOLS:
                continue
            else:
                self._cells[key], at = at, at + 1
                self.order.append(key)
        for key in self._cells:
            if key[0] == "place" and key[1] < _SYMBOLS:
                self._cells[key] = at + (key[1] - _LISTS) // _PITCH
        self.plain = [self._row(row, offset, 0) for row, offset in zip(rows, offsets, strict=True)]
        self.guarded = [self._row(row, offset, Flags.GUARDED) for row, offset in zip(rows, offsets, strict=True)]
        self.lists = [[self._cell(c) for c in one] for one in lists]

    def _cell(self, c: int) -> int:
        return self._cells["place" if _LISTS <= c < _END else "number", c]

    def _row(self, row: tuple, offset: int | None, guarded: int) -> itemgetter:
        _, *places, _, _, _, code, flags, mod, imm, aux, aux2 = row
        number = self._cells.__getitem__
        return itemgetter(number(("number", 0)), *map(self._cell, places), _GUARD, _FLIP, _INSTR,
                          number(("number", code)), number(("number", flags | guarded)), number(("number", mod)),
                          _HEAD + offset if offset is not None else number(("number", imm)),
                          self._cell(aux), self._cell(aux2))

    def link(self, e: Encoder) -> tuple[list[int], list[tuple[int, int]]] | None:
        """The fixed part of the cells, and which of them are rows behind the first of a register: cell, slot, bytes."""
        try:
            symbols = [make(e, *arguments) for make, *arguments in self.symbols]
        except Unlinkable:
            return None
        fixed, behind = [], []
        for kind, c in self.order:
            if kind == "number":
                fixed.append(c)
            elif c >= _SLOTS:
                slot, rest = divmod(c - _SLOTS, _PITCH)
                behind.append((_HEAD + self.slots + len(fixed), slot, rest))
                fixed.append(0)
            elif c >= _PREDICATES:
                fixed.append(e.temporary_predicates + c - _PREDICATES)
            elif c >= _TEMPORARIES:
                fixed.append(e.temporaries + c - _TEMPORARIES)
            else:
                symbol, rest = divmod(c - _SYMBOLS, _PITCH)
                fixed.append(symbols[symbol] + rest)
        e.highest = max(e.highest, e.temporaries + self.highest)
        return fixed, behind


_UNLINKED = None, ()


def replay(e: Encoder, shaped: Shaped, build: Callable[[Encoder, Action], None]) -> bool:
    """Emit what `build` does for the current instruction; False where it must do it itself."""
    shape, slots = shaped.shape, shaped.slots
    found = shape.codes.get(None) or recording(shape, slots, build)
    linked = e.linked.get(found)
    if linked is None:
        linked = e.linked[found] = found.link(e) or _UNLINKED
    fixed, behind = linked
    if fixed is None or (shape.apart and _alike(slots)):
        return False
    offsets = e.offsets
    cells = [e.guard, e.flip, e.instr, *[offsets[v.index] if v.__class__ is Reg else v for v in slots], *fixed]
    for cell, slot, rest in behind:
        cells[cell] = cells[_HEAD + slot] + rest
    for one in found.lists:
        cells.append(len(e.pool))
        e.pool += [cells[k] for k in one]
    for pick in (found.plain if e.guard == e.true else found.guarded):
        e.rows.append(pick(cells))
    return True


def _alike(slots: list) -> bool:
    registers = [v.index for v in slots if v.__class__ is Reg]
    return len(set(registers)) != len(registers)


def recording(shape: Shape, slots: list, build: Callable[[Encoder, Action], None]) -> Recording:
    """What `build` emits for a shape with these numbers (and, where they matter, offsets) in its slots."""
    codes = shape.codes
    if not shape.numbers and not shape.offsets:
        key: object = None
    elif codes.get("free"):
        key = tuple([slots[k] for k, _, _ in shape.numbers])
    else:
        key = (*[slots[k] for k, _, _ in shape.numbers], *[slots[k] for k in shape.offsets])
    found = codes.get(key)
    if found is None:
        if len(codes) > _MOST:
            codes.clear()
        if "free" not in codes:
            codes["free"] = not shape.offsets or _free(shape, slots, build)
            return recording(shape, slots, build)
        found = codes[key] = _record(shape, slots, build, codes["free"])[1]
    return found


def _record(shape: Shape, slots: list, build, free: bool) -> tuple[Recorder, Recording]:
    standing = list(slots)
    for k in (*shape.reads, *shape.writes):
        standing[k] = Reg(-1 - k, slots[k].width, slots[k].name)
    if free:
        for k in shape.offsets:
            standing[k] = OFFSET + k
    recorder = Recorder()
    build(recorder, shape.over(standing))
    return recorder, Recording(recorder, len(slots))


def _free(shape: Shape, slots: list, build) -> bool:
    """Whether the offsets of a shape go nowhere but into the operations themselves."""
    recorder, _ = _record(shape, slots, build, True)
    found = {row[12] - OFFSET for row in recorder.rows}
    constants = (symbol[1] for symbol in recorder.symbols if symbol[0] is Encoder.constant)
    return found >= set(shape.offsets) and not any(bits >> 16 & 0xFFFF == OFFSET >> 16 & 0xFFFF for bits in constants)

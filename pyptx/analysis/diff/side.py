"""One function of a comparison: its lines, their shapes, webs and branch targets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyptx.analysis.diff.repeats import once, pure, steady
from pyptx.analysis.diff.scaled import scaled
from pyptx.analysis.diff.spelling import Spelled, name_constants, spell
from pyptx.analysis.diff.webs import Webs, find_webs
from pyptx.analysis.sass.registers import READ, READ_WRITE, WRITE, Shape, fields, shape

__all__ = ["Side"]

CALL_SETUP = 32                                         # lines before a call that may hold its return address

# What a load or a move takes from outside and nothing changes while the kernel runs
_FIXED = re.compile(r"c\[(?:[a-z][\w. ]*|param\+0x[0-9a-f]+)\]|SR_(?:CTAID|TID)\.[XYZ]|SR_LANEID")
_STEP = re.compile(r"(c\[param\+)(0x[0-9a-f]+)\]")
_BANK = re.compile(r"^U?R(?=,)")
_ADDRESS = re.compile(r"\[.*\]$")
_NAMES = re.compile(r"(?<![\w.])(UR|R)(\d+)")
_OFFSET = re.compile(r"\+?(-?0x[0-9a-f]+)\]$")


@dataclass(frozen=True, slots=True)
class Side:
    """Attributes:
        rows: index of each of its lines in the whole text.
        words: opcodes without modifiers, in the plainest spelling.
        raw: shapes of the lines as they stand, constants by their names.
        shapes: in the plainest spelling.
        spelled: opcode and operands that `shapes` are of.
        targets: where a branch goes, as a number of a line of this function; -1: nowhere, or elsewhere.
        webs: of the registers of `shapes`.
        fixed: webs that hold one value from outside as long as they live, and its name: `c[param+0x8]`, `SR_TID.X`.
    """

    lines: Sequence
    rows: range
    words: list[str]
    raw: list[Shape]
    shapes: list[Shape]
    spelled: list[Spelled]
    targets: list[int]
    webs: Webs
    fixed: dict[int, str]

    @classmethod
    def of(cls, lines: Sequence, rows: range, layout: str = "", *, fill: bool = False) -> Side:
        """One function of a listing.

        Args:
            layout: how constants are laid out, `spelling.generation` of the target.
            fill: write a register that holds one fixed value, such as a parameter, as that value in `shapes`.
        """
        lines = lines[rows.start:rows.stop]
        at = {line.address: number for number, line in enumerate(lines)}
        targets = [-1 if line.target_address is None else at.get(line.target_address, -1) for line in lines]
        words = [line.opcode.partition(".")[0] for line in lines]
        named = _returns(lines, words, [name_constants(line.operands, layout) for line in lines])
        raw = [shape(line.opcode, operands, line.predicate, target >= 0)
               for line, operands, target in zip(lines, named, targets, strict=True)]
        webs = find_webs(words, [line.predicate for line in lines], _uniform(lines, words, raw), targets)
        spelled = [spell(line.opcode, operands) for line, operands in zip(lines, named, strict=True)]
        fixed = _fixed(lines, spelled, raw, webs)
        if fill:
            spelled = _with_values(lines, named, spelled, raw, webs, fixed)
        shapes = [_free(shape(opcode, operands, line.predicate, target >= 0))
                  for line, (opcode, operands), target in zip(lines, spelled, targets, strict=True)]
        own = [_own(one, full, of) for one, full, of in zip(shapes, raw, webs.of, strict=True)]
        plain = [opcode.partition(".")[0] for opcode, _ in spelled]
        return cls(lines, rows, plain, raw, shapes, spelled, targets, replace(webs, of=own), fixed)

    def once(self) -> Side:
        """The same with one number for copies of one value."""
        return replace(self, webs=once(self.webs, self.values()))

    def scaled(self) -> Side:
        """The same with shifts in the addresses of shared memory, where it is written otherwise (`scaled.py`)."""
        found = scaled(self.words, self.spelled, self.shapes, self.webs, self.values())
        return self if found is None else replace(self, spelled=found[0], shapes=found[1], webs=found[2])

    def values(self) -> dict[int, int]:
        """Webs with one value wherever it is computed: web -> the first web with that value."""
        return steady(self.words, [line.predicate for line in self.lines], self.spelled, self.shapes, self.webs)

    def anywhere(self) -> list[bool]:
        """For each line whether it only makes such a value: in another basic block it would do the same."""
        values = self.values()
        return [not line.predicate and pure(word) and WRITE in one.roles and all(web in values for web in of)
                for line, word, one, of in zip(self.lines, self.words, self.shapes, self.webs.of, strict=True)]

    def loose(self) -> tuple[list[str], list[tuple[int, ...]]]:
        """Keys and webs of the lines that leave open how an address is computed: of its registers the first counts,
        and offsets are from the smallest that goes with it. Equal keys have as many webs."""
        bases, found = [], []
        least: dict[tuple, int] = {}
        for word, (_, operands), one, of in zip(self.words, self.spelled, self.shapes, self.webs.of, strict=True):
            address = next((operand for operand in operands if _ADDRESS.search(operand)), None)
            if address is None or word in ("LDC", "S2R"):
                bases.append(None)
                continue
            own = {name for match in _NAMES.finditer(address) for name in _units(match)}
            base = next((web for name, role, web in zip(one.registers, one.roles, of, strict=True)
                         if role == READ and name in own), -1)
            step = _OFFSET.search(address)
            bases.append((address, own, word, base, int(step[1], 16) if step else 0))
            group = word, base
            least[group] = min(least.get(group, 1 << 62), bases[-1][-1])
        for (opcode, operands), one, of, place in zip(self.spelled, self.shapes, self.webs.of, bases, strict=True):
            if place is None:
                found.append((one.key, of))
                continue
            address, own, word, base, offset = place
            data = [web for name, role, web in zip(one.registers, one.roles, of, strict=True)
                    if role != READ or name not in own]
            key = (opcode, len(operands), len(data), offset - least[word, base])
            found.append((str(key), (*data, base)))
        return [key for key, _ in found], [of for _, of in found]

    def other_value(self, other: Side) -> Callable[[int, int], bool]:
        """Whether a web of this side surely is not a web of the other: both sides have the two values, and these are
        not the same one. A value that only one side has may be what the other has in its place."""
        both = {*self.fixed.values()} & {*other.fixed.values()}
        ours, theirs = ({web: value for web, value in side.fixed.items() if value in both} for side in (self, other))
        return lambda x, y: x in ours and y in theirs and ours[x] != theirs[y]

    def opcode(self, number: int) -> str:
        return self.lines[number].opcode

    def control(self, number: int) -> tuple:
        return self.lines[number].control


def _returns(lines: Sequence, words: Sequence[str], named: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The operands with the addresses that calls return to as `<return>`: a move before the call holds them."""
    for call in (number for number, word in enumerate(words) if word == "CALL"):
        back = hex(lines[call].address + 16)
        for number in range(call - 1, max(-1, call - CALL_SETUP), -1):
            if named[number] and named[number][-1] == back and words[number] in ("MOV", "IMAD", "HFMA2"):
                named[number] = (*named[number][:-1], "<return>")
                break
    return named


def _uniform(lines: Sequence, words: Sequence[str], shapes: list[Shape]) -> list[Shape]:
    """The shapes without reads of what stood in registers before a loop that makes values uniform, lane by lane.

    ptxas writes `@P0 R2UR P1, UR8, R4` for that, `P1 = P1 & ...` before it, and enters with P0 true: whatever was in
    P1 and UR8 goes, and is no value that the loop takes.
    """
    found = list(shapes)
    for row, (line, word, one) in enumerate(zip(lines, words, shapes, strict=True)):
        guarded = word == "R2UR" and bool(line.predicate)
        asks = word == "PLOP3" and line.operands[-2:-1] == ("0xa2",) and line.operands[0] == line.operands[2] \
            and any(other == "R2UR" and following.predicate == line.operands[3]
                    for following, other in zip(lines[row + 1:row + 4], words[row + 1:row + 4], strict=True))
        if guarded or asks:
            roles = tuple(WRITE if role == READ_WRITE or (asks and name == line.operands[0]) else role
                          for name, role in zip(one.registers, one.roles, strict=True))
            found[row] = replace(one, roles=roles)
    return found


def _with_values(lines: Sequence, named: Sequence[tuple[str, ...]], plain: list[Spelled], raw: Sequence[Shape],
                 webs: Webs, fixed: dict[int, str]) -> list[Spelled]:
    return [spell(line.opcode, _filled(line, operands, one, of, fixed)) if any(web in fixed for web in of) else simple
            for line, operands, one, of, simple in zip(lines, named, raw, webs.of, plain, strict=True)]


def _fixed(lines: Sequence, plain: Sequence[Spelled], raw: Sequence[Shape], webs: Webs) -> dict[int, str]:
    """Webs that hold one fixed value from their only write on: `c[param+0x8]`, `SR_TID.X`."""
    writes: dict[int, int] = {}
    for one, of in zip(raw, webs.of, strict=True):
        for role, web in zip(one.roles, of, strict=True):
            if role != READ:
                writes[web] = writes.get(web, 0) + 1
    found = {}
    for line, (opcode, operands), one, of in zip(lines, plain, raw, webs.of, strict=True):
        if line.predicate or opcode not in ("LDC", "LDC.64", "LDC.128", "S2R") or not _FIXED.fullmatch(operands[-1]):
            continue
        units = [web for role, web in zip(one.roles, of, strict=True) if role == WRITE]
        for number, web in enumerate(units):
            if writes[web] == 1 and web not in webs.unset:
                found[web] = _at(operands[-1], number)
    return found


def _at(value: str, number: int) -> str:
    """The word `number` of a constant that takes several."""
    step = _STEP.fullmatch(value)
    return f"{step[1]}{int(step[2], 16) + 4 * number:#x}]" if step else f"{value}+{number}" if number else value


def _filled(line, operands: tuple[str, ...], one: Shape, of: tuple[int, ...], fixed: dict[int, str]) -> tuple[str, ...]:
    """The operands with the fixed values written in place of the registers that hold them."""
    parts, unit = list(operands), 0
    places = []
    for field in fields(line.opcode, operands, line.predicate):
        values = [fixed.get(web) for web in of[unit:unit + len(field.units)]]
        unit += len(field.units)
        if field.role == READ and values[0] and values == [_at(values[0], number) for number in range(len(values))]:
            places.append((field, values[0]))
    for field, value in reversed(places):
        text = parts[field.place]
        start, end = field.start, field.end
        if value == "c[memory]" and text[:start].endswith("desc[") and text[end:end + 1] == "]":
            parts[field.place] = text[:start - 5] + text[end + 1:]          # [R2.64], as earlier generations write it
        else:
            suffix = f".{field.suffix}" if field.suffix else ""
            parts[field.place] = f"{text[:start]}{value}{suffix}{text[end:]}"
    return tuple(parts)


def _units(match: re.Match[str]) -> tuple[str, str]:
    return match[0], f"{match[1]}{int(match[2]) + 1}"     # an address may take two


def _free(one: Shape) -> Shape:
    """A load of a fixed value is the same whichever bank of registers takes it."""
    opcode, _, rest = one.key.partition(" ")
    if opcode.partition(".")[0] in ("LDC", "S2R"):
        return replace(one, key=f"{opcode} {_BANK.sub('*', rest)}")
    return one


def _own(one: Shape, full: Shape, of: tuple[int, ...]) -> tuple[int, ...]:
    """The webs of the registers that are left, out of those of all registers."""
    if one.registers == full.registers:
        return of
    webs = {(name, role == WRITE): web for name, role, web in zip(full.registers, full.roles, of, strict=True)}
    return tuple(webs[name, role == WRITE] for name, role in zip(one.registers, one.roles, strict=True))

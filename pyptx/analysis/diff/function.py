"""A function prepared for comparison: lines, shapes, webs and branch targets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyptx.analysis.diff.canonical import Canonical, canonicalize, name_constants
from pyptx.analysis.diff.live_ranges import LiveRanges, find_live_ranges
from pyptx.analysis.diff.shared_addresses import fold_address_shifts
from pyptx.analysis.diff.value_numbering import is_pure, merge_equal_values, number_invariant_values
from pyptx.toolchain.sass_registers import READ, READ_WRITE, WRITE, InstructionShape, instruction_shape, register_fields

__all__ = ["DiffFunction"]

CALL_SETUP = 32  # lines before a call that may set its return address

# Sources of loads and moves that do not change during a kernel
_FIXED = re.compile(r"c\[(?:[a-z][\w. ]*|param\+0x[0-9a-f]+)\]|SR_(?:CTAID|TID)\.[XYZ]|SR_LANEID")
_STEP = re.compile(r"(c\[param\+)(0x[0-9a-f]+)\]")
_BANK = re.compile(r"^U?R(?=,)")
_ADDRESS = re.compile(r"\[.*\]$")
_NAMES = re.compile(r"(?<![\w.])(UR|R)(\d+)")
_OFFSET = re.compile(r"\+?(-?0x[0-9a-f]+)\]$")


@dataclass(frozen=True, slots=True)
class DiffFunction:
    """A function of a listing, in its original and its canonical form.

    Attributes:
        lines: its instructions.
        rows: indices of its lines in the whole listing.
        words: opcodes without modifiers, in canonical form.
        raw: shapes of the original lines, with names for constants.
        shapes: shapes of the canonical lines.
        canonical: opcode and operands of the canonical lines.
        targets: index of the line a branch goes to; -1 for other lines and external targets.
        webs: webs of the registers of `shapes`.
        fixed: webs that hold one external value, and its name: `c[param+0x8]`, `SR_TID.X`.
    """

    lines: Sequence
    rows: range
    words: list[str]
    raw: list[InstructionShape]
    shapes: list[InstructionShape]
    canonical: list[Canonical]
    targets: list[int]
    webs: LiveRanges
    fixed: dict[int, str]

    @classmethod
    def of(cls, lines: Sequence, rows: range, layout: str = "", *, fill: bool = False) -> DiffFunction:
        """Prepare one function of a listing.

        Args:
            lines: the listing.
            rows: rows of the function.
            layout: constant layout, `canonical.constant_layout` of the target.
            fill: replace registers that hold one external value, such as a parameter, by that value in `shapes`.
        """
        lines = lines[rows.start : rows.stop]
        at = {line.address: number for number, line in enumerate(lines)}
        targets = [-1 if line.target_address is None else at.get(line.target_address, -1) for line in lines]
        words = [line.opcode.partition(".")[0] for line in lines]
        named = _returns(lines, words, [name_constants(line.operands, layout) for line in lines])
        raw = [
            instruction_shape(line.opcode, operands, line.predicate, target >= 0)
            for line, operands, target in zip(lines, named, targets, strict=True)
        ]
        webs = find_live_ranges(words, [line.predicate for line in lines], _uniform(lines, words, raw), targets)
        canonical = [canonicalize(line.opcode, operands) for line, operands in zip(lines, named, strict=True)]
        fixed = _fixed(lines, canonical, raw, webs)
        if fill:
            canonical = _with_values(lines, named, canonical, raw, webs, fixed)
        shapes = [
            _free(instruction_shape(opcode, operands, line.predicate, target >= 0))
            for line, (opcode, operands), target in zip(lines, canonical, targets, strict=True)
        ]
        own = [_own(one, full, of) for one, full, of in zip(shapes, raw, webs.of, strict=True)]
        plain = [opcode.partition(".")[0] for opcode, _ in canonical]
        return cls(lines, rows, plain, raw, shapes, canonical, targets, replace(webs, of=own), fixed)

    def with_merged_values(self) -> DiffFunction:
        """Return the function with copies of invariant values merged."""
        return replace(self, webs=merge_equal_values(self.webs, self.invariant_values()))

    def with_folded_shifts(self) -> DiffFunction:
        """Return the function with shifts folded into shared memory addresses (`shared_addresses`)."""
        found = fold_address_shifts(self.words, self.canonical, self.shapes, self.webs, self.invariant_values())
        return self if found is None else replace(self, canonical=found[0], shapes=found[1], webs=found[2])

    def invariant_values(self) -> dict[int, int]:
        """Return webs with invariant values: web -> first web with that value."""
        return number_invariant_values(
            self.words, [line.predicate for line in self.lines], self.canonical, self.shapes, self.webs
        )

    def movable_lines(self) -> list[bool]:
        """Return for each line True when it only computes an invariant value and is valid in any basic block."""
        values = self.invariant_values()
        return [
            not line.predicate and is_pure(word) and WRITE in one.roles and all(web in values for web in of)
            for line, word, one, of in zip(self.lines, self.words, self.shapes, self.webs.of, strict=True)
        ]

    def address_insensitive_keys(self) -> tuple[list[str], list[tuple[int, ...]]]:
        """Return keys and webs of the lines that ignore how addresses are computed.

        Of an address, only the first register counts, and its offset relative to the smallest one with that register.
        Equal keys have equally many webs.
        """
        bases, found = [], []
        least: dict[tuple, int] = {}
        for word, (_, operands), one, of in zip(self.words, self.canonical, self.shapes, self.webs.of, strict=True):
            address = next((operand for operand in operands if _ADDRESS.search(operand)), None)
            if address is None or word in ("LDC", "S2R"):
                bases.append(None)
                continue
            own = {name for match in _NAMES.finditer(address) for name in _units(match)}
            base = next(
                (
                    web
                    for name, role, web in zip(one.registers, one.roles, of, strict=True)
                    if role == READ and name in own
                ),
                -1,
            )
            step = _OFFSET.search(address)
            bases.append((address, own, word, base, int(step[1], 16) if step else 0))
            group = word, base
            least[group] = min(least.get(group, 1 << 62), bases[-1][-1])
        for (opcode, operands), one, of, place in zip(self.canonical, self.shapes, self.webs.of, bases, strict=True):
            if place is None:
                found.append((one.key, of))
                continue
            address, own, word, base, offset = place
            data = [
                web
                for name, role, web in zip(one.registers, one.roles, of, strict=True)
                if role != READ or name not in own
            ]
            key = (opcode, len(operands), len(data), offset - least[word, base])
            found.append((str(key), (*data, base)))
        return [key for key, _ in found], [of for _, of in found]

    def other_value(self, other: DiffFunction) -> Callable[[int, int], bool]:
        """Return a predicate that is true for two webs known to differ: they hold different external values, both of which
        occur on both sides. A value that occurs on one side only may correspond to any value of the other."""
        both = {*self.fixed.values()} & {*other.fixed.values()}
        ours, theirs = ({web: value for web, value in side.fixed.items() if value in both} for side in (self, other))
        return lambda x, y: x in ours and y in theirs and ours[x] != theirs[y]

    def opcode(self, number: int) -> str:
        """Return the original opcode of a line."""
        return self.lines[number].opcode

    def control(self, number: int) -> tuple:
        """Return the scheduling bits of a line."""
        return self.lines[number].control


def _returns(lines: Sequence, words: Sequence[str], named: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Replace return addresses of calls by `<return>`: a move before the call sets them."""
    for call in (number for number, word in enumerate(words) if word == "CALL"):
        back = hex(lines[call].address + 16)
        for number in range(call - 1, max(-1, call - CALL_SETUP), -1):
            if named[number] and named[number][-1] == back and words[number] in ("MOV", "IMAD", "HFMA2"):
                named[number] = (*named[number][:-1], "<return>")
                break
    return named


def _uniform(lines: Sequence, words: Sequence[str], shapes: list[InstructionShape]) -> list[InstructionShape]:
    """Return the shapes without spurious reads before a loop that makes values uniform lane by lane.

    For such a loop ptxas writes `@P0 R2UR P1, UR8, R4`, with `P1 = P1 & ...` before it, and enters with P0 true: the
    previous contents of P1 and UR8 are overwritten and not an input of the loop.
    """
    found = list(shapes)
    for row, (line, word, one) in enumerate(zip(lines, words, shapes, strict=True)):
        guarded = word == "R2UR" and bool(line.predicate)
        asks = (
            word == "PLOP3"
            and line.operands[-2:-1] == ("0xa2",)
            and line.operands[0] == line.operands[2]
            and any(
                other == "R2UR" and following.predicate == line.operands[3]
                for following, other in zip(lines[row + 1 : row + 4], words[row + 1 : row + 4], strict=True)
            )
        )
        if guarded or asks:
            roles = tuple(
                WRITE if role == READ_WRITE or (asks and name == line.operands[0]) else role
                for name, role in zip(one.registers, one.roles, strict=True)
            )
            found[row] = replace(one, roles=roles)
    return found


def _with_values(
    lines: Sequence,
    named: Sequence[tuple[str, ...]],
    plain: list[Canonical],
    raw: Sequence[InstructionShape],
    webs: LiveRanges,
    fixed: dict[int, str],
) -> list[Canonical]:
    return [
        canonicalize(line.opcode, _filled(line, operands, one, of, fixed))
        if any(web in fixed for web in of)
        else simple
        for line, operands, one, of, simple in zip(lines, named, raw, webs.of, plain, strict=True)
    ]


def _fixed(
    lines: Sequence, plain: Sequence[Canonical], raw: Sequence[InstructionShape], webs: LiveRanges
) -> dict[int, str]:
    """Return webs with a single write of an external value, and its name: `c[param+0x8]`, `SR_TID.X`."""
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
            if writes[web] == 1 and web not in webs.undefined:
                found[web] = _at(operands[-1], number)
    return found


def _at(value: str, number: int) -> str:
    """Return the name of word `number` of a constant."""
    step = _STEP.fullmatch(value)
    return f"{step[1]}{int(step[2], 16) + 4 * number:#x}]" if step else f"{value}+{number}" if number else value


def _filled(
    line, operands: tuple[str, ...], one: InstructionShape, of: tuple[int, ...], fixed: dict[int, str]
) -> tuple[str, ...]:
    """Replace registers that hold external values by these values in the operands."""
    parts, unit = list(operands), 0
    places = []
    for field in register_fields(line.opcode, operands, line.predicate):
        values = [fixed.get(web) for web in of[unit : unit + len(field.units)]]
        unit += len(field.units)
        if field.role == READ and values[0] and values == [_at(values[0], number) for number in range(len(values))]:
            places.append((field, values[0]))
    for field, value in reversed(places):
        text = parts[field.place]
        start, end = field.start, field.end
        if value == "c[memory]" and text[:start].endswith("desc[") and text[end : end + 1] == "]":
            parts[field.place] = text[: start - 5] + text[end + 1 :]  # [R2.64], as earlier generations write it
        else:
            suffix = f".{field.suffix}" if field.suffix else ""
            parts[field.place] = f"{text[:start]}{value}{suffix}{text[end:]}"
    return tuple(parts)


def _units(match: re.Match[str]) -> tuple[str, str]:
    return match[0], f"{match[1]}{int(match[2]) + 1}"  # an address may be a register pair


def _free(one: InstructionShape) -> InstructionShape:
    """Remove the register bank from the key of a load of an external value."""
    opcode, _, rest = one.key.partition(" ")
    if opcode.partition(".")[0] in ("LDC", "S2R"):
        return replace(one, key=f"{opcode} {_BANK.sub('*', rest)}")
    return one


def _own(one: InstructionShape, full: InstructionShape, of: tuple[int, ...]) -> tuple[int, ...]:
    """Select the webs of the registers that remain in a canonical shape."""
    if one.registers == full.registers:
        return of
    webs = {(name, role == WRITE): web for name, role, web in zip(full.registers, full.roles, of, strict=True)}
    return tuple(webs[name, role == WRITE] for name, role in zip(one.registers, one.roles, strict=True))

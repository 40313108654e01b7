"""Population of a Form from its syntax line and cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from pyptx._lazy import pattern
from pyptx.errors import TableError
from pyptx.isa import _types
from pyptx.isa._form import Form, Operand, Slot
from pyptx.isa._syntax import Item, Part, Word, parse_mnemonic, parse_operands
from pyptx.isa.targets import ANYWHERE, Needs
from pyptx.isa.targets import needs as parse_needs

__all__ = ["RESERVED", "read_mnemonic", "read_operands", "slot_name"]

RESERVED = frozenset(
    {"needs", "effect", "semantics", "work", "cheaper", "rw", "regs", "sink", "some", "when", "alone", "special"}
)
_KINDS = frozenset({"label", "symbol", "function", "special", "list"})
_ADDRESSES = frozenset({"addr", "addr32", "addrb32"})


def _needs(text: str) -> tuple[Needs, ...]:
    return tuple(map(parse_needs, text.split(" | ")))


@cache
def _choices(text: str) -> tuple[tuple[str, ...], Mapping[str, Needs]]:
    choices, gates = [], {}
    for word in text.split():
        if word[0] != ".":
            raise TableError(f"choice {word!r} has no dot")
        name, _, gate = word[1:].partition("@")
        if gate:
            gates[name] = parse_needs(gate.replace(",", " "))
        choices.append(name)
    return tuple(choices), gates


def read_mnemonic(form_: Form) -> None:
    """Parse the mnemonic of a form: `words`, `slots` and `some`. The rest is read when it is asked for.

    Raises:
        TableError: The mnemonic contradicts its cells.
    """
    cells = {**form_.op.defaults, **form_.cells}
    opcode, form_.words = parse_mnemonic(form_.mnemonic, cells)
    if opcode != form_.op.opcode:
        raise TableError(f"{form_.syntax!r} is listed under {form_.op.opcode!r}")
    form_.slots = _read_slots(form_.words, cells)
    form_.some = tuple(cells.get("some", "").split())


def read_operands(form_: Form) -> set[str]:
    """Parse the operands and the other cells of a form; return the names of the cells used.

    Raises:
        TableError: The line contradicts its cells.
    """
    cells = {**form_.op.defaults, **form_.cells}
    form_.items = parse_operands(form_.syntax.partition("  ")[2])
    form_.effect, form_.semantics, form_.work = (
        cells.get("effect", "pure"),
        cells.get("semantics", ""),
        cells.get("work", ""),
    )
    form_.cheaper = cells.get("cheaper", "")
    form_.needs = _needs(cells.get("needs", ""))
    form_.when = {k: parse_needs(v) for k, v in cells.get("when", {}).items()}
    used = set(form_.slots)
    form_.operands = _Operands(form_, cells, used).read()
    unused = form_.cells.keys() - used - RESERVED
    if unused:
        raise TableError(f"{form_.syntax!r}: {sorted(unused)} are not slots or operands of this line")
    for cell in ("rw", "sink"):
        wrong = set(cells.get(cell, "").split()) - form_.operands.keys()
        if wrong:
            raise TableError(f"{form_.syntax!r}: {cell} names {sorted(wrong)}, which are not operands of this line")
    regs = form_.cells.get("regs", ())
    wrong = set() if isinstance(regs, str) else set(regs) - form_.operands.keys() - {"*"}
    wrong |= set(form_.some) - form_.slots.keys()
    if wrong:
        raise TableError(f"{form_.syntax!r}: {sorted(wrong)} are not operands or slots of this line")
    return used


def _read_slots(words: tuple[Word, ...], cells: dict[str, Any]) -> dict[str, Slot]:
    slots: dict[str, Slot] = {}
    for word in words:
        if word.slot is None:
            if word.optional:
                text, name = word.text[1:], slot_name(word.text)
                slots[name] = Slot(name, (text,), True, {text: parse_needs(cells[name])} if name in cells else {})
        elif word.slot not in slots:
            if word.slot not in cells:
                raise TableError(f"no choices for <{word.slot}> in {word.text!r}")
            choices, gates = _choices(cells[word.slot])
            slots[word.slot] = Slot(word.slot, choices, word.optional, gates)
    return slots


@cache
def slot_name(word: str) -> str:
    """Return the slot name of an optional literal modifier: "L2_cache_hint" for ".L2::cache_hint"."""
    name = word.lstrip(".")
    return name if name.isidentifier() else re.sub(r"\W+", "_", name)


_OPERAND_CELL = pattern(r"(!?)([\w()]*)([+-]imm)?(?: in ([^\s@]+))?(?:@(\S+))?")


class _Operands:
    """Builds the operands of one syntax line."""

    def __init__(self, form_: Form, cells: dict[str, Any], used: set[str]):
        self.form, self.cells, self.used = form_, cells, used
        self.result: dict[str, Operand] = {}
        self.regs = cells.get("regs", {})
        self.sinks = cells.get("sink", "").split()
        self.alone = cells.get("alone", "").split()
        self.specials = cells.get("special", "").split()
        self.writes = cells["rw"].split() if "rw" in cells else None
        self.types = [
            w.text[1:] for w in form_.words if w.slot is None and w.text in _types.TYPE_WORDS and w.text != ".pred"
        ]

    def read(self) -> dict[str, Operand]:
        for position, item in enumerate(self.form.items):
            self.part(item.part, position, item)
        return self.result

    def part(
        self, part: Part, position: int, item: Item, *, inside: str = "", second: bool = False, count: str = ""
    ) -> None:
        if part.kind == "operand":
            if part.name not in self.result:
                self.result[part.name] = self.operand(part, position, item, inside, second, count)
        elif part.kind == "vector":
            for element in part.parts:
                self.part(
                    element,
                    position,
                    item,
                    inside="vector in address" if inside == "address" else "vector",
                    count=part.count or "1",
                )
        elif part.kind == "address":
            for i, element in enumerate(part.parts):
                is_base = i == 0 or element.kind != "operand"
                self.part(element, position, item, inside="address" if is_base else "in address")
        elif part.kind == "list":
            for element in part.parts:
                self.part(element, position, item, inside="list")
        elif part.kind == "pair":
            self.part(part.parts[0], position, item)
            self.part(part.parts[1], position, item, second=True)

    def operand(self, part: Part, position: int, item: Item, inside: str, second: bool, count: str) -> Operand:
        name = part.name
        found = _OPERAND_CELL.fullmatch(self.cell(name))
        if found is None:
            raise TableError(f"{self.form.syntax!r}: cannot read {name}={self.cells[name]!r}")
        bang, what, imm, values, gate = found.groups()
        if self.writes is not None:
            written = name in self.writes
        else:
            written = (position == 0 and inside in ("", "vector") and what not in _KINDS and what != "imm") or (
                second and position == 0
            )
        common = {
            "optional": item.optional or (second and self.form.items[position].part.optional),
            "condition": item.condition,
            "values": values or "",
            "gate": parse_needs(gate.replace(",", " ")) if gate else ANYWHERE,
        }
        if inside == "list":
            return Operand(name, "", "read", "list", **common)
        if what == "imm":
            return Operand(name, "", "imm", "imm", imm=True, **common)
        if what in _KINDS:
            return Operand(name, "", "read", what, special=what == "special", **common)
        type_ = what or self.default_type(name, written, inside)
        if type_ in _ADDRESSES and inside == "address":
            return Operand(name, type_, "read", "address", **common)
        self.check_type(name, type_)
        rule = self.rule(name)
        selectors: tuple[str, ...] = ()
        if part.suffix:
            self.used.add(part.suffix)
            text = self.cells[part.suffix]
            selectors = tuple(text.split()) if text[0] == "~" else _choices(text)[0]
        return Operand(
            name,
            type_,
            "write" if written else "read",
            "vector" if "vector" in inside else "register",
            count=count,
            rule=rule,
            imm=self.takes_number(name, type_, written, inside, imm),
            imm_forced=imm == "+imm",
            sink=name in self.sinks,
            negatable=bool(bang),
            selectors=selectors,
            bare=not part.suffix or part.optional,
            special=name in self.specials and not written,
            alone=name in self.alone and count == "1",
            **common,
        )

    def rule(self, name: str) -> str | dict[str, str]:
        rule = self.regs if isinstance(self.regs, str) else self.regs.get(name) or self.regs.get("*", "")
        if isinstance(rule, str):
            rule = _types.PROFILES.get(rule, rule)
        return rule if isinstance(rule, str) else {t: r for r, names in rule.items() for t in names.split()}

    def cell(self, name: str) -> str:
        if name in self.cells and name not in self.form.slots and name not in RESERVED and self.cells[name][:1] != ".":
            self.used.add(name)
            return self.cells[name]
        return ""

    def default_type(self, name: str, written: bool, inside: str) -> str:
        slots = self.form.slots
        if inside == "address":
            return "addr"
        if name in ("p", "q"):
            return "pred"
        if f"{name}type" in slots:
            return f"{name}type"
        if written and "dtype" in slots:
            return "dtype"
        if "type" in slots:
            return "type"
        if self.types:
            return self.types[-1]
        raise TableError(f"{self.form.syntax!r}: operand {name!r} has no type; give it a cell")

    def check_type(self, name: str, type_: str) -> None:
        inner = type_.removeprefix("wide(").rstrip(")")
        if inner not in self.form.slots and inner not in _types.WIDTHS and inner not in _ADDRESSES:
            raise TableError(f"{self.form.syntax!r}: {type_!r} of operand {name!r} is neither a type nor a slot")

    def takes_number(self, name: str, type_: str, written: bool, inside: str, cell: str | None) -> bool:
        if cell:
            return cell == "+imm"
        if written or inside == "in address":
            return False
        if type_ in self.form.slots:
            return any(_types.takes_number(t) for t in self.form.slots[type_].choices)
        profile = self.regs if isinstance(self.regs, str) else self.regs.get(name, self.regs.get("*"))
        if type_[0] == "b" and profile == "fragment":
            return False
        return _types.takes_number(type_)

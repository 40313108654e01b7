"""Forms, their slots and their operands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyptx._frozen import frozen
from pyptx._lazy import pattern
from pyptx.errors import TableError
from pyptx.isa import _types
from pyptx.isa._syntax import Item, Word
from pyptx.isa.targets import ANYWHERE, Needs

if TYPE_CHECKING:
    from pyptx.isa._schema import Op

__all__ = ["Form", "Operand", "Slot", "evaluate", "resolve_type"]


@frozen
class Slot:
    """Position in a mnemonic with several choices, without their dots.

    An optional literal modifier is a slot with one choice. `gates` maps a choice to the targets and versions it needs.
    """

    name: str
    choices: tuple[str, ...]
    optional: bool
    gates: Mapping[str, Needs]


@frozen
class Operand:
    """Operand of a form.

    Attributes:
        name: as in the syntax line.
        type: a type; "addr" (64 bits, 32 in shared memory), "addr32" or "addrb32"; an expression over type slots; or ""
            for operands without a type.
        role: "write", "read", "readwrite" or "imm".
        kind: "register", "vector", "address", "imm", "label", "symbol", "function", "special" or "list".
        count: number of elements of a vector, an expression over slots; "" for scalars.
        rule: register rule per type; see `_types`.
        imm: a number is accepted.
        imm_forced: a number is accepted even though its type usually does not allow one.
        values: accepted numbers: `""` for all, `0..15`, `0..size` (another operand), `4/8/16`, `*16` (multiples).
        sink: `_` is accepted.
        negatable: `!p` is accepted.
        special: a special register is accepted.
        optional: the operand may be absent.
        condition: modifier it depends on, with its dot.
        gate: targets and versions its presence needs.
        selectors: choices of a `.sel` suffix; a choice that starts with "~" is a pattern, followed by an example.
        bare: the suffix may be absent.
        alone: a one-element vector may be written without braces.
    """

    name: str
    type: str
    role: str
    kind: str
    count: str = ""
    rule: str | Mapping[str, str] = ""
    imm: bool = False
    imm_forced: bool = False
    values: str = ""
    sink: bool = False
    negatable: bool = False
    special: bool = False
    optional: bool = False
    condition: str = ""
    gate: Needs = ANYWHERE
    selectors: tuple[str, ...] = ()
    bare: bool = True
    alone: bool = False

    def selects(self, word: str) -> bool:
        """Return True if the register accepts the suffix `.word`."""
        if self.selectors and self.selectors[0].startswith("~"):
            return re.fullmatch(self.selectors[0][1:], word) is not None
        return word in self.selectors

    def rule_for(self, type_name: str) -> str:
        """Return the register rule for a type of the operand."""
        rule = self.rule if isinstance(self.rule, str) else self.rule.get(type_name)
        return rule or _types.default_rule(type_name, self.type == type_name)


class Form:
    """A syntax line and its cells.

    Attributes:
        syntax: the syntax line.
        cells: the cells as written.
        op: the Op it belongs to.
        words, items: the parsed mnemonic and operand list.
        slots: name -> Slot.
        operands: name -> Operand, in order.
        needs: targets and versions, as alternatives; the usual one first.
        effect, semantics, work, cheaper: cells.
        some: names of slots of which at least one must be present.
        when: condition -> additional needs of a combination of choices.
    """

    __slots__ = (
        "cells",
        "cheaper",
        "effect",
        "items",
        "needs",
        "op",
        "operands",
        "semantics",
        "slots",
        "some",
        "syntax",
        "when",
        "words",
        "work",
    )

    syntax: str
    cells: dict[str, Any]
    op: Op
    words: tuple[Word, ...]
    items: tuple[Item, ...]
    slots: dict[str, Slot]
    operands: dict[str, Operand]
    needs: tuple[Needs, ...]
    effect: str
    semantics: str
    work: str
    cheaper: str
    some: tuple[str, ...]
    when: dict[str, Needs]

    def __init__(self, syntax: str, cells: dict[str, Any]):
        """Store the line. The family sets `op`, `_form_reader` the mnemonic and later the operands, when they are used."""
        self.syntax, self.cells = syntax, cells

    def __getattr__(self, name: str) -> Any:
        """Read the mnemonic, or the operands and the other cells.

        Raises:
            TableError: The line contradicts its cells.
        """
        if name not in _READ_LATER:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        from pyptx.isa._form_reader import read_mnemonic, read_operands  # a cycle: it makes what this module declares

        (read_mnemonic if name in ("some", "slots", "words") else read_operands)(self)
        return getattr(self, name)

    def __repr__(self) -> str:
        return f"<{self.syntax}>"

    @property
    def mnemonic(self) -> str:
        """Syntax line without operands."""
        return self.syntax.partition("  ")[0]

    def required_words(self) -> list[str | None]:
        """Return the modifiers that every instruction of this form has, with their dots; None for one of several choices."""
        words = _OPTIONAL.sub("", self.mnemonic).split(".")[1:]
        cells, defaults = self.cells, self.op.defaults
        return [None if "<" in word or word in cells or word in defaults else "." + word for word in words]

    @property
    def targets(self) -> tuple[Needs, ...]:
        """Targets and versions that support the form, as alternatives."""
        return self.needs

    def number(self, choices: Mapping[str, str | None], slot: str) -> int:
        """Return the number in the choice of a slot: 4 for "x4", "v4" or "4d"."""
        found = re.search(r"\d+", choices[slot] or "")
        if found is None:
            raise TableError(f"{self.syntax!r}: the choice {choices[slot]!r} of {slot!r} contains no number")
        return int(found[0])

    def count(self, operand: Operand, choices: Mapping[str, str | None]) -> int:
        """Return the number of elements of a vector operand."""
        return evaluate(operand.count, {n: self.number(choices, n) for n in _names(operand.count)})

    def type_of(self, operand: Operand, choices: Mapping[str, str | None]) -> str:
        """Return the PTX type of an operand for a choice of the slots; "" for operands without a type."""
        return resolve_type(operand.type, choices)


_READ_LATER = frozenset(Form.__slots__) - {"cells", "op", "syntax"}
_OPTIONAL = pattern(r"\{[^{}]*\}")


def _names(expression: str) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", expression)


def evaluate(expression: str, names: Mapping[str, int]) -> int:
    """Return the value of a count such as "n/2", "2*num" or "(num+31)/32"; division rounds down."""
    if expression.isdigit():
        return int(expression)
    text = re.sub(r"[A-Za-z_]\w*", lambda m: str(names[m[0]]), expression)
    if not re.fullmatch(r"[\d+*/() -]+", text):
        raise TableError(f"{expression!r} is not a valid count")
    return eval(text.replace("/", "//"))  # digits and + - * / ( ) only, checked above


_WIDER = {"8": "16", "16": "32", "32": "64", "64": "128"}


def resolve_type(expression: str, choices: Mapping[str, str | None]) -> str:
    """Return the type that an expression over slots, such as "wide(type)", denotes for these choices."""
    if expression.startswith("wide("):
        inner = resolve_type(expression[5:-1], choices)
        return inner[0] + _WIDER[inner[1:]]
    return choices.get(expression) or expression

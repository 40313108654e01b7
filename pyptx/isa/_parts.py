"""The parts of a row: Form, Slot, Operand."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyptx._value import value
from pyptx.errors import TableError
from pyptx.isa import _types
from pyptx.isa.targets import ANYWHERE, Needs

__all__ = ["Form", "Operand", "Slot", "evaluate", "resolve_type"]


@value
class Slot:
    """A place in a mnemonic. `choices` are without their dot; an optional literal word is a slot with one choice."""

    name: str
    choices: tuple[str, ...]
    optional: bool
    gates: Mapping[str, Needs]


@value
class Operand:
    """An operand of a form.

    Attributes:
        name: as in the syntax line.
        type: a type, "addr" (64 bits, 32 in shared memory), "addr32", "addrb32", or an expression over type slots; ""
            for what has none.
        role: "write" | "read" | "readwrite" | "imm".
        kind: "register" | "vector" | "address" | "imm" | "label" | "symbol" | "function" | "special" | "list".
        count: elements of a vector, an expression over slots; "" for scalars.
        rule: register rule per type; see `_types`.
        imm: a number may stand there; imm_forced: even one of a type that takes none elsewhere.
        values: the numbers allowed: `""` for all, `0..15`, `0..size` (an operand), `4/8/16`, `*16` (multiples).
        sink: `_` may stand there.
        negatable: `!p` may stand there.
        optional: may be absent.
        condition: modifier it depends on, with its dot.
        gate: what its presence needs.
        selectors: choices of a `.sel` suffix; one that starts with "~" is a pattern, followed by an example.
        bare: the suffix may be absent.
        alone: a vector of one element that may be written without braces.
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
        """Whether `.word` may stand behind the register."""
        if self.selectors and self.selectors[0].startswith("~"):
            return re.fullmatch(self.selectors[0][1:], word) is not None
        return word in self.selectors

    def rule_for(self, type_name: str) -> str:
        """The register rule when the operand has this type."""
        rule = self.rule if isinstance(self.rule, str) else self.rule.get(type_name)
        return rule or _types.default_rule(type_name, self.type == type_name)


class Form:
    """One syntax line and its cells.

    Attributes:
        op: the Op it belongs to.        syntax: the line.    cells: as written.
        slots: dict name -> Slot.        operands: dict name -> Operand, in order.
        words, items: the read line.     needs: alternatives, the usual one first.
        effect, means, work: cells.
    """

    __slots__ = ("cells", "effect", "items", "means", "needs", "op", "operands", "slots", "some", "syntax",
                 "when", "words", "work")

    def __init__(self, syntax: str, cells: dict):
        self.syntax, self.cells, self.op = syntax, cells, None

    def __repr__(self) -> str:
        return f"<{self.syntax}>"

    @property
    def mnemonic(self) -> str:
        """The syntax line without operands."""
        return self.syntax.partition("  ")[0]

    @property
    def targets(self) -> tuple[Needs, ...]:
        """What the form needs of targets and versions: alternatives."""
        return self.needs

    def number(self, choices: Mapping[str, str | None], slot: str) -> int:
        """The number in the choice of a slot: 4 for "x4", "v4", "4d"."""
        return int(re.search(r"\d+", choices[slot])[0])

    def count(self, operand: Operand, choices: Mapping[str, str | None]) -> int:
        """Elements of a vector operand."""
        return evaluate(operand.count, {n: self.number(choices, n) for n in _names(operand.count)})

    def type_of(self, operand: Operand, choices: Mapping[str, str | None]) -> str:
        """The PTX type of an operand once the slots are chosen; "" for what has none."""
        return resolve_type(operand.type, choices)


def _names(expression: str) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", expression)


def evaluate(expression: str, names: Mapping[str, int]) -> int:
    """A count such as "n/2", "2*num", "(num+31)/32"; division is exact or rounds down."""
    if expression.isdigit():
        return int(expression)
    text = re.sub(r"[A-Za-z_]\w*", lambda m: str(names[m[0]]), expression)
    if not re.fullmatch(r"[\d+*/() -]+", text):
        raise TableError(f"{expression!r} is no count")
    return eval(text.replace("/", "//"))                    # digits and + - * / ( ) only, checked above


_WIDER = {"8": "16", "16": "32", "32": "64", "64": "128"}


def resolve_type(expression: str, choices: Mapping[str, str | None]) -> str:
    if expression.startswith("wide("):
        inner = resolve_type(expression[5:-1], choices)
        return inner[0] + _WIDER[inner[1:]]
    return choices.get(expression) or expression

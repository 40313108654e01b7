"""Schema of the ISA table: ops, and the functions that rows are written with.

    op = Family(__name__)
    op("add", "Add two values.", "integer-arithmetic-instructions-add",
       form("add.type  d, a, b", type=INT, semantics="d = a + b"), ...)

Cells of a form, passed by keyword:

    <slot>="..."      dotted choices of a slot: ".rn .rz", each with an optional gate: ".bf16@sm_90,ptx_78"; a gate
                      that is wider than the needs of the form starts with "=": ".b32@=sm_20,ptx_23"
    <word>="..."      needs of an optional literal word: ftz="sm_90 ptx_78", L2_cache_hint="sm_80 ptx_74"
    <operand>="..."   type and range of an operand (below); a gate on an optional operand: "u32@sm_90,ptx_78"
    needs             targets and version of the form: "sm_90 ptx_78", "100f* 110f* 90a"; alternatives with "|"
    effect            "pure", "load", "store", "atomic", "sync", "async", "control", "warp" ..., with a state
                      space after a colon
    semantics         what the form computes, in the language of `isa.semantics`; empty when the simulator has a handler
    work              "1 flop", "2*m*n*k flop"
    cheaper           forms with fewer machine instructions and their price: "rnd -> approx: at most 1 ulp off" replaces the
                      choice of a slot, "-> ftz: subnormals become 0" adds a word; alternatives with " | "
    rw                names of written operands, unless it is just the first one: "d m", "" for none
    regs              {operand: rule} for operands that deviate from `_types.default_rule`; a rule may be {rule: "types"}
                      or one of the profiles in `_types`; "*" and a bare profile apply to all operands
    sink              names of written operands that may be "_"
    some              names of slots of which at least one is required
    alone             names of one-element vectors that may be written without braces
    special           names of sources that may be a special register
    when              {"atype != btype": needs}: additional needs of a combination

The cell of an operand is a type ("u32", "wide(type)") or the name of a type slot, optionally followed by "+imm" (a
number is accepted) or "-imm" (it is not), and by the numbers that ptxas accepts: "in 0..15", "in 0..size" (bounded by
another operand), "in 4/8/16", "in *16" (a multiple). "imm in 0..3" is never a register. "!pred" may be negated. Operands
without a value are "label", "symbol" (its address), "function" or "special". The default type is the slot `<name>type`,
for a written operand `dtype`, then `type`, then the last type word of the mnemonic; `p` and `q` are predicates. By
default a source accepts a number unless it is packed, in a vector or the base of an address.

A mnemonic is parsed when an instruction may match it, the operands when it does; an invalid line raises TableError, and
`Op.check` reads them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pyptx._frozen import frozen
from pyptx.errors import TableError
from pyptx.isa._form import Form, Operand, Slot
from pyptx.isa._form_reader import RESERVED, read_operands, slot_name
from pyptx.isa.targets import ANYWHERE, Needs, Target

__all__ = [
    "MANUAL",
    "Family",
    "Form",
    "Op",
    "Operand",
    "Slot",
    "TableError",
    "satisfied_needs",
    "form_needs",
    "form",
    "merged",
    "slot_name",
]

MANUAL = "https://docs.nvidia.com/cuda/parallel-thread-execution/"  # sections are its anchors


@frozen(eq=False)
class Op:
    """The forms of an opcode.

    A row of the table has a name such as "cp.async.bulk"; `isa.OPS` merges all rows of the opcode "cp".

    Attributes:
        opcode: "add", "cp".
        name: "add", "cp.async.bulk".
        summary: one sentence.
        section: anchor in the PTX manual.
        family: module of `pyptx.isa` that contains the row.
        forms: the forms of a row, or of all rows. The mnemonic of each is parsed when it is asked for, and so are its operands.
        defaults: cells shared by the forms of a row.
        rows: the rows of a merged op.
    """

    opcode: str
    name: str
    summary: str
    section: str
    family: str
    forms: tuple[Form, ...] = field(repr=False)
    defaults: Mapping[str, str] = field(default_factory=dict, repr=False)
    rows: tuple[Op, ...] = field(default=(), repr=False)

    def check(self) -> None:
        """Read all lines of a row or of its rows.

        Raises:
            TableError: A line contradicts its cells, or no form of a row has one of its defaults.
        """
        for row in self.rows:
            row.check()
        unused = self.defaults.keys() - RESERVED.union(*map(read_operands, () if self.rows else self.forms))
        if unused:
            raise TableError(f"{self.name!r}: {sorted(unused)} are not slots or operands of any form")


def form(syntax: str, **cells: Any) -> Form:
    """Create a form, one syntax line of the PTX manual; for the cells see the module docstring."""
    return Form(syntax, cells)


class Family:
    """The rows of one module: `op = Family(__name__)`, then one `op(...)` per row."""

    def __init__(self, module: str):
        self.name = module.rpartition(".")[2]
        self.ops: dict[str, Op] = {}

    def __call__(self, name: str, summary: str, section: str, *forms: Form, **defaults: Any) -> None:
        """Add a row.

        Args:
            name: opcode with its fixed words, "cp.async.bulk".
            summary: one sentence.
            section: anchor in the PTX manual.
            forms: at least one.
            defaults: cells of all forms that have this slot or operand and no such cell of their own.
        Raises:
            TableError: The name is repeated, or there is no form.
        """
        if name in self.ops:
            raise TableError(f"{name!r} is repeated in {self.name}")
        if not forms:
            raise TableError(f"{name!r} has no form")
        row = self.ops[name] = Op(name.partition(".")[0], name, summary, section, self.name, forms, defaults)
        for one in forms:
            one.op = row


def merged(rows: list[Op]) -> Op:
    """Merge the rows of an opcode, in order. A form keeps its row as `op`."""
    if len(rows) == 1:
        return rows[0]
    first = rows[0]
    forms = tuple(form_ for row in rows for form_ in row.forms)
    return Op(first.opcode, first.opcode, first.summary, first.section, first.family, forms, rows=tuple(rows))


def form_needs(
    form_: Form, choices: Mapping[str, str | None], present: frozenset[str] = frozenset()
) -> tuple[Needs, ...]:
    """Return the needs of a form with these choices and optional operands, as alternatives.

    A gate with "=" replaces the needs of the form, any other gate narrows them.
    """
    gates = [
        slot.gates[choice]
        for name, slot in form_.slots.items()
        if (choice := choices.get(name)) is not None and choice in slot.gates
    ]
    gates += [form_.operands[name].gate for name in present if form_.operands[name].gate is not ANYWHERE]
    for condition, extra in form_.when.items():
        if _holds(condition, choices):
            gates.append(extra)
    if not gates:
        return form_.needs
    return tuple(_combine(alternative, gates) for alternative in form_.needs)


def _holds(condition: str, choices: Mapping[str, str | None]) -> bool:
    left, operator, right = condition.split()
    equal = choices[left] == choices.get(right, right)
    return equal if operator == "==" else not equal


def _combine(base: Needs, gates: list[Needs]) -> Needs:
    targets, ptx, texts = base.targets, base.ptx, [base.text]
    for gate in gates:
        if gate.instead:
            targets = targets if gate.targets is None else gate.targets
            ptx = ptx if gate.ptx == ANYWHERE.ptx else gate.ptx
    for gate in gates:
        texts.append(gate.text)
        if gate.instead:
            continue
        if gate.targets is not None:
            targets = gate.targets if targets is None else targets & gate.targets
        ptx = max(ptx, gate.ptx)
    return Needs(" ".join(filter(None, texts)), targets, ptx)


def satisfied_needs(alternatives: tuple[Needs, ...], target: Target) -> Needs | None:
    """Return the alternative with the lowest version that this target satisfies; None if it satisfies none."""
    if len(alternatives) == 1:
        return alternatives[0] if alternatives[0].on(target) else None
    on = [n for n in alternatives if n.on(target)]
    return min(on, key=lambda n: n.ptx) if on else None

"""What a row of the table is: Op, Form, Slot, Operand, and what rows are written with.

    op = Family(__name__)
    op("add", "Add two values.", "integer-arithmetic-instructions-add",
       form("add.type  d, a, b", type=INT, means="d = a + b"), ...)

Cells of a form, all but the syntax by keyword:

    <slot>="..."      dotted choices of a slot: ".rn .rz", each with an optional gate: ".bf16@sm_90,ptx_78"; a gate
                      that is wider than the form's own needs starts with "=": ".b32@=sm_20,ptx_23"
    <word>="..."      what an optional literal word needs: ftz="sm_90 ptx_78", L2_cache_hint="sm_80 ptx_74"
    <operand>="..."   what the operand is (below); a gate on an optional operand: "u32@sm_90,ptx_78"
    needs             targets and version of the form: "sm_90 ptx_78", "100f* 110f* 90a"; alternatives with "|"
    effect            "pure", "load", "store", "atomic", "sync", "async", "control", "warp" ..., with a state
                      space behind a colon
    means             what it computes, in the vocabulary of `isa.means`; empty when the simulator has a handler
    work              "1 flop", "2*m*n*k flop"
    rw                names of written operands where the first is not the (only) one: "d m", "" for none
    regs              {operand: rule} where `_types.default_rule` does not hold; a rule may be {rule: "types it is
                      for"} or one of the profiles in `_types`; "*" and a bare profile are for all operands
    sink              names of written operands that may be "_"
    some              names of slots of which at least one is there
    alone             names of vectors of one element that may be written without braces
    when              {"atype != btype": needs}: extra needs of a combination

What an operand is: a type ("u32", "wide(type)"), or the name of a type slot; behind it "+imm" (a number may stand
there), "-imm" (none may), and for numbers the values ptxas allows, "in 0..15", "in 0..size" (up to what that operand
is), "in 4/8/16", "in *16" (a multiple). "imm in 0..3" is never a register. "!pred" may be negated. Kinds that are no
value: "label", "symbol" (its address), "function", "special". Default type: the slot `<name>type`, for a written
operand `dtype`, then `type`, then the last type word of the mnemonic; `p` and `q` are predicates. A source may be a
number unless it is packed, in a vector or the base of an address. Lines are read when the op is first used; a wrong one
raises TableError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyptx.errors import TableError
from pyptx.isa._parts import Form, Operand, Slot
from pyptx.isa._read import RESERVED, read, slot_name
from pyptx.isa.targets import ANYWHERE, Needs, Target

__all__ = ["Family", "Form", "Op", "Operand", "Slot", "TableError", "allowed", "combined_needs", "form", "merged",
           "slot_name"]


@dataclass(eq=False)
class Op:
    """Everything under one opcode word.

    A row of a file is about one name, "cp.async.bulk"; `isa.OPS` holds all rows of an opcode word together.

    Attributes:
        opcode: "add", "cp".    name: "add", "cp.async.bulk".    summary: one sentence.    section: anchor in the PTX
            manual.
        family: the file it is in.
    """

    opcode: str
    name: str
    summary: str
    section: str
    family: str
    lines: tuple[Form, ...] = field(repr=False)
    defaults: Mapping[str, str] = field(default_factory=dict, repr=False)
    rows: tuple[Op, ...] = field(default=(), repr=False)
    _forms: tuple[Form, ...] | None = field(default=None, repr=False)

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms, read when first asked for.

        Raises:
            TableError: a line contradicts its cells.
        """
        if self._forms is None:
            if self.rows:
                self._forms = tuple(form_ for row in self.rows for form_ in row.forms)
            else:
                used: set[str] = set()
                for line in self.lines:
                    line.op = self
                    used |= read(line, self)
                unused = self.defaults.keys() - used - RESERVED
                if unused:
                    raise TableError(f"{self.name!r}: {sorted(unused)} name no slot or operand of any form")
                self._forms = self.lines
        return self._forms


def form(syntax: str, **cells) -> Form:
    """One line of the manual."""
    return Form(syntax, cells)


class Family:
    """The ops of one file: `op = Family(__name__)`, then one `op(...)` for each opcode word."""

    def __init__(self, module: str):
        self.name = module.rpartition(".")[2]
        self.ops: dict[str, Op] = {}

    def __call__(self, name: str, summary: str, section: str, *forms: Form, **defaults: str) -> None:
        """One instruction: what it does, where the manual says so, its forms.

        Keywords are cells of all forms that have such a slot or operand and no cell of their own for it.
        """
        if name in self.ops:
            raise TableError(f"{name!r} stands twice in {self.name}")
        if not forms:
            raise TableError(f"{name!r} has no form")
        self.ops[name] = Op(name.partition(".")[0], name, summary, section, self.name, forms, defaults)


def merged(rows: list[Op]) -> Op:
    """All rows of one opcode word as one op, in order. A form keeps the row it was written in."""
    if len(rows) == 1:
        return rows[0]
    first = rows[0]
    return Op(first.opcode, first.opcode, first.summary, first.section, first.family, (), rows=tuple(rows))


def combined_needs(form_: Form, choices: Mapping[str, str | None],
                   present: frozenset[str] = frozenset()) -> tuple[Needs, ...]:
    """What a form needs with these choices and these optional operands: alternatives.

    A gate with "=" replaces the form's own value, every other one narrows it.
    """
    gates = [slot.gates[choice] for name, slot in form_.slots.items()
             if (choice := choices.get(name)) is not None and choice in slot.gates]
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


def allowed(alternatives: tuple[Needs, ...], target: Target) -> Needs | None:
    """The alternative with the lowest version that this target satisfies, or None."""
    on = [n for n in alternatives if n.on(target)]
    return min(on, key=lambda n: n.ptx) if on else None

"""What a row of the table is: Op, Form, Slot, Operand, and what rows are written with.

    op = Family(__name__)
    op("add", "Add two values.", "integer-arithmetic-instructions-add",
       form("add.type  d, a, b", type=INT, means="d = a + b"), ...)

Cells of a form, all but the syntax by keyword:

    <slot>="..."      dotted choices of a slot: ".rn .rz", each with an optional gate: ".bf16@sm_90,ptx_78"; a gate
                      that is wider
                      than the form's own needs starts with "=": ".b32@=sm_20,ptx_23"
    <word>="..."      what an optional literal word needs: ftz="sm_90 ptx_78", L2_cache_hint="sm_80 ptx_74"
    <operand>="..."   what the operand is (below); a gate on an optional operand: "u32@sm_90,ptx_78"
    needs             targets and version of the form: "sm_90 ptx_78", "100f* 110f* 90a"; alternatives with "|"
    effect            "pure", "load", "store", "atomic", "sync", "async", "control", "warp" ..., with a state space
                      behind a colon
    means             what it computes, in the vocabulary of `isa.means`; empty when the simulator has a handler
    work              "1 flop", "2*m*n*k flop"
    rw                names of written operands where the first is not the (only) one: "d m", "" for none
    regs              {operand: rule} where `_types.default_rule` does not hold; a rule may be {rule: "types it is
                      for"} or one of
                      the profiles in `_types`; "*" and a bare profile are for all operands
    sink              names of written operands that may be "_"
    some              names of slots of which at least one is there
    when              {"atype != btype": needs}: extra needs of a combination

What an operand is: a type ("u32", "wide(type)"), or the name of a type slot; behind it "+imm" (a number may stand
there),
"-imm" (none may), and for numbers the values ptxas allows, "in 0..15", "in 4/8/16", "in *16" (a multiple). "imm in
0..3" is
never a register. "!pred" may be negated. Kinds that are no value: "label", "symbol" (its address), "function",
"special".
Default type: the slot `<name>type`, for a written operand `dtype`, then `type`, then the last type word of the
mnemonic; `p` and
`q` are predicates. A source may be a number unless it is packed, in a vector or the base of an address.
Lines are read when the op is first used; a wrong one raises TableError.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pyptx.errors import TableError
from pyptx.isa import _types
from pyptx.isa._syntax import Item, Part, Word, read_mnemonic, read_operands
from pyptx.isa.targets import ANYWHERE, Needs, Target
from pyptx.isa.targets import needs as read_needs

__all__ = ["Family", "Form", "Op", "Operand", "Slot", "TableError", "allowed", "combined_needs", "form",
           "merged"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a mnemonic. `choices` are without their dot; an optional literal word is a slot with one choice."""

    name: str
    choices: tuple[str, ...]
    optional: bool
    gates: Mapping[str, Needs]


@dataclass(frozen=True, slots=True)
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
        values: the numbers allowed: "" for all, "0..15", "4/8/16", "*16".
        sink: `_` may stand there.
        negatable: `!p` may stand there.
        optional: may be absent.
        condition: modifier it depends on, with its dot.
        gate: what its presence needs.
        selectors: choices of a `.sel` suffix; one that starts with "~" is a pattern, followed by an example.
        bare: the suffix may be absent.
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
        op: the Op it belongs to.        syntax: the line.
        slots: dict name -> Slot.        operands: dict name -> Operand, in order.
        words, items: the read line.     needs: alternatives, the usual one first.
        effect, means, work: cells.
    """

    __slots__ = ("_cells", "effect", "items", "means", "needs", "op", "operands", "slots", "some", "syntax",
                 "when", "words", "work")

    def __init__(self, syntax: str, cells: dict):
        self.syntax, self._cells, self.op = syntax, cells, None

    def __repr__(self) -> str:
        return f"<{self.syntax}>"

    @property
    def mnemonic(self) -> str:
        """The syntax line without operands."""
        return self.syntax.partition("  ")[0]

    @property
    def targets(self) -> tuple[Needs, ...]:
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


# reading ----------------------------------------------------------------------------------------------------------

_RESERVED = frozenset({"needs", "effect", "means", "work", "rw", "regs", "sink", "some", "when"})
_KINDS = frozenset({"label", "symbol", "function", "special", "list"})
_ADDRESSES = frozenset({"addr", "addr32", "addrb32"})


def _needs(text: str) -> tuple[Needs, ...]:
    return tuple(map(read_needs, text.split(" | ")))


def _choices(text: str) -> tuple[tuple[str, ...], dict[str, Needs]]:
    choices, gates = [], {}
    for word in text.split():
        if word[0] != ".":
            raise TableError(f"choice {word!r} has no dot")
        name, _, gate = word[1:].partition("@")
        if gate:
            gates[name] = read_needs(gate.replace(",", " "))
        choices.append(name)
    return tuple(choices), gates


def read(form_: Form, op_: Op) -> set[str]:
    """Fill a form from its line and cells; returns the cells that were of use."""
    cells = {**op_.defaults, **form_._cells}
    mnemonic, _, operands = form_.syntax.partition("  ")
    opcode, words = read_mnemonic(mnemonic, cells)
    if opcode != op_.opcode:
        raise TableError(f"{form_.syntax!r} stands under {op_.opcode!r}")
    form_.words, form_.items = words, read_operands(operands)
    used = set()
    form_.slots = _read_slots(words, cells, used)
    form_.effect, form_.means, form_.work = cells.get("effect", "pure"), cells.get("means", ""), cells.get("work", "")
    form_.needs = _needs(cells.get("needs", ""))
    form_.some = tuple(cells.get("some", "").split())
    form_.when = {k: read_needs(v) for k, v in cells.get("when", {}).items()}
    reader = _Operands(form_, cells, used)
    form_.operands = reader.read()
    unused = form_._cells.keys() - used - _RESERVED
    if unused:
        raise TableError(f"{form_.syntax!r}: {sorted(unused)} name no slot or operand of this line")
    for cell in ("rw", "sink"):
        wrong = set(cells.get(cell, "").split()) - form_.operands.keys()
        if wrong:
            raise TableError(f"{form_.syntax!r}: {cell} names {sorted(wrong)}, which are no operands of this line")
    regs = form_._cells.get("regs", ())
    wrong = set() if isinstance(regs, str) else set(regs) - form_.operands.keys() - {"*"}
    wrong |= set(form_.some) - form_.slots.keys()
    if wrong:
        raise TableError(f"{form_.syntax!r}: {sorted(wrong)} name no operand or slot of this line")
    return used


def _read_slots(words: tuple[Word, ...], cells: dict, used: set[str]) -> dict[str, Slot]:
    slots: dict[str, Slot] = {}
    for word in words:
        if word.slot is None:
            if word.optional:
                text, name = word.text[1:], slot_name(word.text)
                if name in cells:
                    used.add(name)
                slots[name] = Slot(name, (text,), True, {text: read_needs(cells[name])} if name in cells else {})
        elif word.slot not in slots:
            if word.slot not in cells:
                raise TableError(f"no choices for <{word.slot}> in {word.text!r}")
            used.add(word.slot)
            choices, gates = _choices(cells[word.slot])
            slots[word.slot] = Slot(word.slot, choices, word.optional, gates)
    return slots


def slot_name(word: str) -> str:
    """The name of the slot an optional literal word is: ".L2::cache_hint" is "L2_cache_hint"."""
    return re.sub(r"\W+", "_", word.lstrip("."))


_WHAT = re.compile(r"(!?)([\w()]*)([+-]imm)?(?: in ([^\s@]+))?(?:@(\S+))?")


class _Operands:
    """Collects the operands of one line."""

    def __init__(self, form_: Form, cells: dict, used: set[str]):
        self.form, self.cells, self.used = form_, cells, used
        self.result: dict[str, Operand] = {}
        self.regs = cells.get("regs", {})
        self.sinks = cells.get("sink", "").split()
        self.writes = cells["rw"].split() if "rw" in cells else None
        self.types = [w.text[1:] for w in form_.words
                      if w.slot is None and w.text in _types.TYPE_WORDS and w.text != ".pred"]

    def read(self) -> dict[str, Operand]:
        for position, item in enumerate(self.form.items):
            self.part(item.part, position, item)
        return self.result

    def part(self, part: Part, position: int, item: Item, *, inside: str = "", second: bool = False,
             count: str = "") -> None:
        if part.kind == "operand":
            if part.name not in self.result:
                self.result[part.name] = self.operand(part, position, item, inside, second, count)
        elif part.kind == "vector":
            for element in part.parts:
                self.part(element, position, item, inside="vector in address" if inside == "address" else "vector",
                          count=part.count or "1")
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
        found = _WHAT.fullmatch(self.cell(name))
        if found is None:
            raise TableError(f"{self.form.syntax!r}: cannot read {name}={self.cells[name]!r}")
        bang, what, imm, values, gate = found.groups()
        if self.writes is not None:
            written = name in self.writes
        else:
            written = (position == 0 and inside in ("", "vector") and what not in _KINDS and what != "imm") or \
                (second and position == 0)
        common = {"optional": item.optional or (second and self.form.items[position].part.optional),
                  "condition": item.condition, "values": values or "",
                  "gate": read_needs(gate.replace(",", " ")) if gate else ANYWHERE}
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
        return Operand(name, type_, "write" if written else "read", "vector" if "vector" in inside else "register",
                       count=count, rule=rule, imm=self.takes_number(name, type_, written, inside, imm),
                       imm_forced=imm == "+imm", sink=name in self.sinks, negatable=bool(bang), selectors=selectors,
                       bare=not part.suffix or part.optional,
                       special=self.form.op.opcode == "mov" and not written, **common)

    def rule(self, name: str) -> str | dict[str, str]:
        rule = self.regs if isinstance(self.regs, str) else self.regs.get(name) or self.regs.get("*", "")
        if isinstance(rule, str):
            rule = _types.PROFILES.get(rule, rule)
        return rule if isinstance(rule, str) else {t: r for r, names in rule.items() for t in names.split()}

    def cell(self, name: str) -> str:
        if name in self.cells and name not in self.form.slots and name not in _RESERVED and self.cells[name][:1] != ".":
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
            raise TableError(f"{self.form.syntax!r}: {type_!r} of operand {name!r} is no type and no slot")

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


# rows -------------------------------------------------------------------------------------------------------------

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
                unused = self.defaults.keys() - used - _RESERVED
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

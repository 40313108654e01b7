"""Example statements generated from the ISA table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pyptx import isa
from pyptx.isa import Form, Operand, _types, form_needs, satisfied_needs, targets
from pyptx.isa._syntax import Part

__all__ = ["Example", "choices_of", "examples", "supporting_target", "mnemonic", "statement"]

HOMES = ("sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_107a", "sm_121a", "sm_90", "sm_80", "sm_75", "sm_61")


@dataclass(frozen=True)
class Example:
    """Example statement of a form.

    Attributes:
        optional: names of unconditional optional operands that are present.
    """

    form: Form
    choices: dict
    optional: frozenset[str] = frozenset()
    registers: dict = field(default_factory=dict)  # operand name -> register type, where not the usual one

    @property
    def text(self) -> str:
        return statement(self)

    @property
    def needs(self) -> tuple[targets.Needs, ...]:
        present = {name for name in self.optional if self.form.operands[name].gate.text}
        return form_needs(self.form, self.choices, frozenset(present))

    @property
    def option(self) -> str:
        """Option of `.target` that the statement needs."""
        return "texmode_independent" if "smp" in self.form.operands else ""


def supporting_target(example: Example) -> str:
    """Return a target that supports the example."""
    needs = example.needs
    for name in HOMES:
        if satisfied_needs(needs, targets.parse(name)):
            return name
    raise AssertionError(f"no target has {example.text}")


def mnemonic(form: Form, choices: dict) -> str:
    """Return the mnemonic for these choices, in the order of the manual."""
    words = [form.op.opcode]
    for word in form.words:
        if word.slot is not None:
            if choices[word.slot] is not None:
                words.append(f"{word.before}{choices[word.slot]}{word.after}")
        elif not word.optional or choices[isa._schema.slot_name(word.text)]:
            words.append(word.text[1:])
    return ".".join(words)


def examples(form: Form) -> Iterator[Example]:
    """Yield examples that cover every choice of every slot, and each optional word and operand present and absent."""
    base = {name: None if slot.optional else slot.choices[0] for name, slot in form.slots.items()}
    if form.some:
        base[form.some[0]] = form.slots[form.some[0]].choices[0]
    yield Example(form, base)
    for name, slot in form.slots.items():
        for choice in slot.choices:
            if base[name] != choice:
                yield Example(form, _tied(form, {**base, name: choice}))
    full = {name: slot.choices[-1] for name, slot in form.slots.items()}
    yield Example(form, full)
    for name, operand in form.operands.items():
        if operand.optional and not operand.condition:
            yield Example(form, base, frozenset({name}))


def _tied(form: Form, choices: dict) -> dict:
    """Make the words of one `{.a.b}` all present or all absent."""
    groups: dict[int, list[str]] = {}
    for word in form.words:
        if word.optional and word.slot is None:
            groups.setdefault(word.pair, []).append(isa._schema.slot_name(word.text))
    for names in groups.values():
        if len(names) > 1 and any(choices[n] for n in names):
            choices = {**choices, **{n: form.slots[n].choices[0] for n in names}}
    return choices


def choices_of(form: Form) -> int:
    """Return the size of the full cross product."""
    size = 1
    for slot in form.slots.values():
        size *= len(slot.choices) + slot.optional
    return size


# text -------------------------------------------------------------------------------------------------------------


def statement(example: Example) -> str:
    """Return the statement as PTX, with its semicolon."""
    form, choices = example.form, example.choices
    present = set(mnemonic(form, choices).split("."))
    texts = []
    for item in form.items:
        name = _first_name(item.part)
        if item.condition:
            if item.condition[1:] not in present:
                continue
        elif item.optional and name not in example.optional:
            continue
        texts.append(_text(item.part, example))
    return f"{mnemonic(form, choices)} {', '.join(texts)};"


def _first_name(part: Part) -> str:
    return _first_name(part.parts[0]) if part.parts else part.name


def _text(part: Part, example: Example) -> str:
    if part.kind == "operand":
        selector = part.suffix and (not part.optional or None not in example.choices.values())
        return _operand(example, part.name, 0) + (f".{_selector(example, part)}" if selector else "")
    if part.kind == "literal":
        return part.name
    if part.kind == "list":
        return "(xr)" if part.parts[0].name == "results" else "(xa)"
    if part.kind == "pair":
        left = _text(part.parts[0], example)
        if part.optional and part.parts[1].name not in example.optional:
            return left
        return f"{left}|{_text(part.parts[1], example)}"
    if part.kind == "vector":
        if not part.count:
            return "{" + ", ".join(_text(p, example) for p in part.parts) + "}"
        operand = example.form.operands[part.parts[0].name]
        n = example.form.count(operand, example.choices)
        return "{" + ", ".join(_operand(example, operand.name, i) for i in range(n)) + "}"
    return "[" + ", ".join(_text(p, example) for p in part.parts) + "]" + part.suffix


def _selector(example: Example, part: Part) -> str:
    return example.form.operands[part.name].selectors[-1]


def _operand(example: Example, name: str, index: int) -> str:
    form, operand = example.form, example.form.operands[name]
    if "smp" in form.operands and name in ("t", "smp"):
        return "tex0" if name == "t" else "smp0"
    if operand.kind == "label":
        proto = {(False, False): "pr0", (False, True): "pr1", (True, True): "pr2"}
        if name == "proto":
            return proto["results" in form.operands, "params" in form.operands]
        return "ts0" if name == "targets" else "L0"
    if operand.kind == "function":
        return "fn" + str(2 * ("results" in form.operands) + ("params" in form.operands))
    if operand.kind == "symbol":
        space = next((s for s in ("global", "const", "local") if example.choices.get("space") == s), "shared")
        return f"sym_{space}"
    if operand.kind == "special":
        return "%tid"
    if operand.kind == "imm":
        return "0.5" if operand.values == "float" else str(a_value(operand.values))
    if operand.kind == "address":
        space = example.choices.get("space") or ""
        if space.startswith("param") and form.effect.startswith(("load", "store")):
            return "xa" if form.effect.startswith("store") else "xr" if space == "param::func" else "p0"
        kind = {"addr": "u64", "addr32": "u32", "addrb32": "b32"}[operand.type]
        return f"%{kind}_{1 + index}"
    type_name = form.type_of(operand, example.choices)
    if operand.values == "0":
        return "0"
    kind = example.registers.get(name) or usual_register(operand, type_name)
    return f"%{kind}_{_number_of(form, name) + index}"


def _number_of(form: Form, name: str) -> int:
    """Return the register number of an operand; destinations after a vector of 128 registers use 130."""
    first, operand = next(iter(form.operands.values())), form.operands[name]
    if operand.role == "write" and operand is not first and first.kind == "vector" and operand.type != "pred":
        return 130
    return list(form.operands).index(name) % 8


def usual_register(operand: Operand, type_name: str) -> str:
    """Return a register type that the operand accepts: its own type if it can be declared."""
    fits = _types.registers_of(operand.rule_for(type_name), type_name)
    if type_name in fits:
        return type_name
    same = [t for t in sorted(fits) if t[0] == "b" and _types.DECLARABLE[t] >= _types.width(type_name)]
    return min(same, key=lambda t: _types.DECLARABLE[t]) if same else sorted(fits)[0]


def a_value(values: str) -> int:
    """Return an accepted number."""
    span, _, multiple = values.partition("*")
    if span:
        return int(span.replace("..", "/").split("/")[0])
    return int(multiple) if multiple else 1

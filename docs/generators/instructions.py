"""The pages of the instruction set, one for each family."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from pyptx import isa
from pyptx.isa._schema import MANUAL
from pyptx.validate._messages import range_text

__all__ = ["families", "family_page", "instruction_index"]


def families() -> dict[str, list[isa.Op]]:
    """The opcodes of each family."""
    return {
        name: [op for op in isa.OPS.values() if any(row.family == name for row in op.rows or (op,))]
        for name in isa.FAMILIES
    }


def instruction_index(families: dict[str, list]) -> Iterator[str]:
    forms = sum(len(op.forms) for op in isa.OPS.values())
    yield "# Instruction set"
    yield ""
    yield (
        f"{len(isa.OPS)} opcodes, {forms} forms: the table that the DSL, the validator, the simulator, completion "
        "and the hover texts read. `.mode` is a slot; braces are optional parts; targets and PTX versions stand "
        'behind each form, "or higher" where all later ones have it; sm_100a is one chip, sm_100f its family.'
    )
    yield ""
    yield "```{toctree}\n:maxdepth: 1\n:hidden:\n"
    yield from families
    yield "```"
    yield ""
    yield "| family | opcodes |"
    yield "| --- | --- |"
    for name, ops in families.items():
        listed = sorted({row.name.partition(":")[0] for op in ops for row in op.rows or (op,) if row.family == name})
        yield f"| [{title(name)}]({name}.md) | {', '.join(f'`{one}`' for one in listed)} |"
    yield ""
    yield "| instruction | what it does |"
    yield "| --- | --- |"
    rows = sorted((row for op in isa.OPS.values() for row in op.rows or (op,)), key=lambda row: row.name)
    for row in rows:
        yield f"| [`{row.name}`]({row.family}.md#{anchor(row)}) | {row.summary} |"


def title(family: str) -> str:
    """What the family's file says it is, without what follows a colon: "Integer arithmetic"."""
    return import_module(f"pyptx.isa.{family}").__doc__.partition("\n")[0].rstrip(".").partition(": ")[0]


def family_page(family: str) -> Iterator[str]:
    yield f"# {title(family)}"
    for op in isa.OPS.values():
        for row in op.rows or (op,):
            if row.family == family:
                yield from row_section(row)


def row_section(row: isa.Op) -> Iterator[str]:
    yield ""
    yield f"({anchor(row)})="
    yield f"## {row.name}"
    yield ""
    yield f"{row.summary} [PTX ISA]({MANUAL}#{row.section})"
    for form in row.forms:
        yield ""
        yield f"```text\n{form.syntax}\n```"
        needs = "; or ".join(needs_text(need) for need in form.needs if need.text)
        facts = [f"needs {needs}"] if needs else []
        facts += [f"semantics `{form.semantics}`"] if form.semantics else []
        if facts:
            yield "; ".join(facts) + "\n"
        for slot in form.slots.values():
            gates = {choice: needs_text(need) for choice, need in slot.gates.items() if need.text}
            choices = ", ".join(f"`.{c}`" + (f" ({gates[c]})" if c in gates else "") for c in slot.choices)
            yield f"- `.{slot.name}`{' (may be left out)' if slot.optional else ''}: {choices}"
        for operand in form.operands.values():
            yield f"- `{operand.name}`: {operand_facts(operand)}"


def needs_text(need: isa.targets.Needs) -> str:
    """ "sm_90 or higher, PTX 8.0": where something exists."""
    version = "PTX {}.{}".format(*need.ptx) if need.ptx > (1, 0) else ""
    return ", ".join(filter(None, ["" if need.targets is None else need.words, version]))


def operand_facts(operand: isa.Operand) -> str:
    kind = "" if operand.kind in ("register", "imm") else operand.kind
    width = {"addr": "64 bits, or 32 in shared memory", "addr32": "32 bits", "addrb32": "32 bits in a `.b32` register"}
    number = "a float" if operand.values == "float" else "a number"
    words = [
        kind,
        width.get(operand.type, operand.type and f"`{operand.type}`"),
        {"write": "written", "read": "read", "readwrite": "read and written", "imm": number}[operand.role],
    ]
    if operand.imm and operand.role != "imm":
        words.append("register or number")
    if operand.values not in ("", "float"):
        words.append(range_text(operand.values))
    if operand.sink:
        words.append("`_` may stand there")
    if operand.optional:
        words.append("may be left out")
    if operand.condition:
        words.append(f"with `{operand.condition}`")
    return ", ".join(filter(None, words))


def anchor(row: isa.Op) -> str:
    return f"{row.family}-{row.name}".replace(".", "-").replace("_", "-").replace(":", "-")

"""The pages that are made from the program itself: the instruction set, the rules of a check, the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from pyptx import cli, isa
from pyptx.check.rules import NOTES, RULES
from pyptx.cuda_device.entry_points import entry_points
from pyptx.cuda_device.runtime.functions import runtime_functions
from pyptx.isa._schema import MANUAL
from pyptx.validate._messages import range_text

__all__ = ["write"]


def write(folder: Path) -> None:
    """Write every page below `folder`, and leave alone what has not changed."""
    pages = {
        "cli.md": command_line(),
        "rules.md": rules(),
        "driver-api.md": driver_api(),
        "runtime-api.md": runtime_api(),
    }
    families = {
        name: [op for op in isa.OPS.values() if any(row.family == name for row in op.rows or (op,))]
        for name in isa.FAMILIES
    }
    pages["isa/index.md"] = instruction_index(families)
    for name in families:
        pages[f"isa/{name}.md"] = family_page(name)
    for name, lines in pages.items():
        path, text = folder / name, "\n".join(lines) + "\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def rules() -> Iterator[str]:
    yield "# What a check finds"
    yield ""
    yield (
        f"{len(RULES)} rules. A finding names its rule, the lines and instructions of both sides, the array and the "
        "element, what happens and the usual fix. Notes are worth knowing and fail nothing; every other rule is an "
        "error, or a warning where the finding says so."
    )
    yield ""
    yield "| rule | |"
    yield "| --- | --- |"
    for rule, meaning in RULES.items():
        yield f'| <a id="{rule}"></a>`{rule}`{" (note)" if rule in NOTES else ""} | {meaning} |'


def driver_api() -> Iterator[str]:
    entries = [entry for entry in entry_points() if entry.place != "internal"]
    done = [entry for entry in entries if entry.place != "refused"]
    yield "# Driver API of the simulated device"
    yield ""
    yield (
        f"The `libcuda.so.1` of `pyptx exec` exports {len(entries)} functions of the CUDA driver API, as the headers of "
        f"CUDA 13.5 declare them, and their variants for per-thread default streams. {len(done)} are implemented; the "
        "others return `CUDA_ERROR_NOT_SUPPORTED` and say so once on stderr. Functions for graphics APIs that have headers "
        "of their own (OpenGL, EGL, VDPAU) are absent."
    )
    yield ""
    yield "| function | since | |"
    yield "| --- | --- | --- |"
    for entry in entries:
        state = "" if entry.place != "refused" else f"refused: {entry.reason}"
        yield f"| `{entry.symbol}` | {entry.since // 1000}.{entry.since % 1000 // 10} | {state} |"


def runtime_api() -> Iterator[str]:
    reasons = {entry.symbol: entry.reason for entry in entry_points()}
    states = {f.name: f.reason or reasons.get(f.driver, "") for f in runtime_functions()}
    public = {name: state for name, state in states.items() if not name.startswith("__")}
    yield "# Runtime API of the simulated device"
    yield ""
    yield (
        f"The `libcudart.so.13` of `pyptx exec` exports the {len(public)} functions of NVIDIA's library of that name, "
        f"and their variants for per-thread default streams. {list(public.values()).count('')} are implemented, over the "
        "[driver API](driver-api.md); the others return `cudaErrorNotSupported` and say so once on stderr."
    )
    yield ""
    yield "| function | |"
    yield "| --- | --- |"
    for name, reason in public.items():
        yield f"| `{name}` | {f'refused: {reason}' if reason else ''} |"


# the instruction set ------------------------------------------------------------------------------------------------


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


# the command line ---------------------------------------------------------------------------------------------------


def command_line() -> Iterator[str]:
    parser = cli.parser()
    yield "# Command line"
    yield ""
    yield "`pyptx COMMAND --help` prints what stands here."
    yield ""
    yield f"```text\n{parser.format_help().rstrip()}\n```"
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for name, command in commands.choices.items():
        yield ""
        yield f"## pyptx {name}"
        yield ""
        yield f"```text\n{command.format_help().rstrip()}\n```"

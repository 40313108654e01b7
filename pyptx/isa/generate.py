"""Generate the stubs, `isa.json`, `_families_of.py` and `_newer_forms.py` from the ISA table: `python -m pyptx.isa.generate`.

The stubs in `pyptx/ptx` declare the names of `ptx`, the modifiers of `ptx.inst.<opcode>` and the special registers, for
type checkers and editors; see `stubs`. `pyptx/isa/isa.json` contains the words that the JupyterLab extension highlights:

    opcodes      names
    types        with their dots
    registers    special registers; <n> stands for a number
    directives   with their dots, without those that are modifiers, too
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pyptx import isa
from pyptx.isa import Form, _types, directives, registers
from pyptx.isa._match import positions_of
from pyptx.isa._table import families_of
from pyptx.isa.stubs import instruction_stub, namespace_stub, special_stub
from pyptx.isa.targets import DEFAULT_PTX

__all__ = ["PATH", "files", "main", "text"]

PATH = Path(__file__).with_name("isa.json")
_SPACES = (".shared", ".global", ".const", ".local", ".param")
INDEX = Path(__file__).with_name("_families_of.py")
NEWER = Path(__file__).with_name("_newer_forms.py")
_HEADER = '"""Written by `python -m pyptx.isa.generate`; do not edit."""'
STUBS = Path(__file__).parents[1] / "ptx"


def files() -> dict[Path, str]:
    """Return the content of each generated file."""
    return {PATH: text(), INDEX: index(), NEWER: newer_forms(), STUBS / "__init__.pyi": namespace_stub(), STUBS / "instructions.pyi": instruction_stub(),
            STUBS / "special.pyi": special_stub()}


def text() -> str:
    """Return the content of isa.json."""
    data = {"opcodes": sorted(isa.OPS), "types": sorted(_types.TYPE_WORDS), "registers": list(registers.SPECIAL),
            "directives": [word for word in directives.SUMMARIES if word not in _SPACES]}
    return json.dumps(data, separators=(",", ":")) + "\n"


def index() -> str:
    """Return the content of _families_of.py, with which the forms of a mnemonic are found without importing all families."""
    families = sorted(families_of().items())
    rows = (f"    {opcode!r}: ({', '.join(map(repr, names))},)," for opcode, names in families)
    lines = [_HEADER, "", "FAMILIES_OF = {", *rows, "}", "", "MODIFIERS_OF = {  # of opcodes in several families"]
    for opcode, names in families:
        if len(names) > 1:
            lines += [f"    {opcode!r}: {{", *(f"        {name!r}: {_modifiers(opcode, name)!r}," for name in names), "    },"]
    return "\n".join([*lines, "}"]).replace("'", '"') + "\n"


def _modifiers(opcode: str, family: str) -> str:
    """Return all modifiers of an opcode in a family, each between spaces."""
    forms = [form for form in isa.OPS[opcode].forms if form.op.family == family]
    words = {word for form in forms for position in positions_of(form) for word in position.choices}
    return f" {' '.join(sorted(words))} "


def newer_forms() -> str:
    """Return the content of _newer_forms.py: for each opcode, when an instruction may need a later version than the default.

    A line is the version, the least number of operands, the greatest number of different modifiers, then groups of modifiers, of
    which the instruction has at least one each.
    """
    rows = []
    for opcode, op in sorted(isa.OPS.items()):
        lines = dict.fromkeys(line for form in op.forms for line in _later(form))
        if lines:
            rows.append(f'    "{opcode}": (\n' + "".join(f'        "{line}",\n' for line in lines) + "    ),")
    return "\n".join((_HEADER, "", "NEWER = {", *rows, "}")) + "\n"


def _later(form: Form) -> Iterator[str]:
    """Yield a line for each version after the default that a form, a choice or an operand needs."""
    positions = positions_of(form)
    required = dict.fromkeys("|".join(position.choices) for position in positions if not position.optional)
    mandatory = sum(1 for item in form.items if not item.optional)
    versions = [needs.ptx for needs in (*form.needs, *form.when.values())]
    found = [(max(versions), mandatory, [*required])]
    found += [(operand.gate.ptx, mandatory + operand.optional, [*required]) for operand in form.operands.values()]
    for position in positions:
        gates = form.slots[position.slot].gates if position.slot is not None else {}
        others = [group for group in required if group != "|".join(position.choices)]
        found += [(gates[choice].ptx, mandatory, [*others, word]) for word, choice in position.choices.items() if choice in gates]
    for version, operands, groups in found:
        if version > DEFAULT_PTX:
            yield " ".join([f"{version[0]}.{version[1]} {operands} {len(positions)}", *groups])


def main() -> None:
    """Write the generated files.

    Raises:
        TableError: A line contradicts its cells, or no form of a row has one of its defaults.
    """
    for op in isa.OPS.values():
        op.check()
    for path, content in files().items():
        path.write_text(content, encoding="utf-8")
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()

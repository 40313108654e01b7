"""Generate the stubs and `isa.json` from the ISA table: `python -m pyptx.isa.generate`.

The stubs in `pyptx/ptx` declare the names of `ptx`, the modifiers of `ptx.inst.<opcode>` and the special registers, for
type checkers and editors; see `stubs`. `pyptx/isa/isa.json` contains, for the JupyterLab extension:

    opcodes      opcode -> {"doc": summary, "syntax": [syntax line of each form], "needs": [needs of each form],
                 "choices": [slot -> dotted choices, of each form]}
    modifiers    all modifiers, with their dots
    types        type names
    registers    special register -> summary
    directives   directive -> summary
"""

from __future__ import annotations

import json
from pathlib import Path

from pyptx import isa
from pyptx.isa import Form, Op, _types, directives, registers
from pyptx.isa.stubs import instruction_stub, namespace_stub, special_stub

__all__ = ["PATH", "files", "main", "text"]

PATH = Path(__file__).with_name("isa.json")
STUBS = Path(__file__).parents[1] / "ptx"


def files() -> dict[Path, str]:
    """Return the content of each generated file."""
    return {PATH: text(), STUBS / "__init__.pyi": namespace_stub(), STUBS / "instructions.pyi": instruction_stub(),
            STUBS / "special.pyi": special_stub()}


def text() -> str:
    """Return the content of isa.json."""
    opcodes = {}
    modifiers: set[str] = set()
    for opcode in sorted(isa.OPS):
        op = isa.OPS[opcode]
        opcodes[opcode] = {"doc": _summary(op), "syntax": [form.syntax for form in op.forms],
                           "needs": [" | ".join(n.text for n in form.needs) for form in op.forms],
                           "choices": [_choices(form) for form in op.forms]}
        modifiers.update(_modifiers(op))
    data = {"opcodes": opcodes, "modifiers": sorted(modifiers), "types": sorted(_types.DECLARABLE),
            "registers": {name: row.summary for name, row in registers.SPECIAL.items()},
            "directives": directives.SUMMARIES}
    return json.dumps(data, separators=(",", ":"), sort_keys=False) + "\n"


def _summary(op: Op) -> str:
    return " ".join(dict.fromkeys(form.op.summary for form in op.forms))


def _modifiers(op: Op) -> set[str]:
    """Return all modifiers of an opcode, with their dots."""
    found: set[str] = set()
    for form in op.forms:
        for word in form.words:
            if word.slot is None:
                found.add(word.text)
            else:
                found.update(f".{word.before}{choice}{word.after}" for choice in form.slots[word.slot].choices)
    return found


def _choices(form: Form) -> dict[str, str]:
    """Return the choices of each slot, {"rnd": ".rn .rz"}; for a slot inside a word, the whole words."""
    return {word.slot: " ".join(f".{word.before}{choice}{word.after}" for choice in form.slots[word.slot].choices)
            for word in form.words if word.slot is not None}


def main() -> None:
    """Write the generated files."""
    for path, content in files().items():
        path.write_text(content, encoding="utf-8")
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()

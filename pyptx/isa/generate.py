"""Write what editors need to know of the table: `python -m pyptx.isa.generate`.

`pyptx/ptx/__init__.pyi` says what `ptx` holds, `instructions.pyi` beside it which modifiers `ptx.inst.<opcode>` has and
`special.pyi` which special registers there are, for type checkers and editors (see `stubs`); the rest of `ptx` is read
as it is. The file `isa.json` beside this module holds
    opcodes      opcode word -> {"doc": one sentence, "syntax": [mnemonic and operands of each form], "needs": [text
                 of each], "choices": [slot of the mnemonic -> its dotted words, of each]}
    modifiers    every dotted word, with its dot
    types        type names
    registers    special register -> meaning
"""

from __future__ import annotations

import json
from pathlib import Path

from pyptx import isa
from pyptx.isa import Form, Op, _types, registers
from pyptx.isa.stubs import instruction_stub, namespace_stub, special_stub

__all__ = ["PATH", "files", "main", "text"]

PATH = Path(__file__).with_name("isa.json")
STUBS = Path(__file__).parents[1] / "ptx"


def files() -> dict[Path, str]:
    """What is generated: the content of each file."""
    return {PATH: text(), STUBS / "__init__.pyi": namespace_stub(), STUBS / "instructions.pyi": instruction_stub(),
            STUBS / "special.pyi": special_stub()}


def text() -> str:
    """The content of isa.json."""
    opcodes = {}
    modifiers: set[str] = set()
    for opcode in sorted(isa.OPS):
        op = isa.OPS[opcode]
        opcodes[opcode] = {"doc": _summary(op), "syntax": [form.syntax for form in op.forms],
                           "needs": [" | ".join(n.text for n in form.needs) for form in op.forms],
                           "choices": [_choices(form) for form in op.forms]}
        modifiers.update(_modifiers(op))
    data = {"opcodes": opcodes, "modifiers": sorted(modifiers), "types": sorted(_types.DECLARABLE),
            "registers": {name: row.meaning for name, row in registers.SPECIAL.items()}}
    return json.dumps(data, separators=(",", ":"), sort_keys=False) + "\n"


def _summary(op: Op) -> str:
    return " ".join(dict.fromkeys(form.op.summary for form in op.forms))


def _modifiers(op: Op) -> set[str]:
    """Every word that may stand in a mnemonic of the opcode, with its dot."""
    found: set[str] = set()
    for form in op.forms:
        for word in form.words:
            if word.slot is None:
                found.add(word.text)
            else:
                found.update(f".{word.before}{choice}{word.after}" for choice in form.slots[word.slot].choices)
    return found


def _choices(form: Form) -> dict[str, str]:
    """What may stand in each slot of the mnemonic: {"rnd": ".rn .rz"}; of a slot inside a word, the whole words."""
    return {word.slot: " ".join(f".{word.before}{choice}{word.after}" for choice in form.slots[word.slot].choices)
            for word in form.words if word.slot is not None}


def main() -> None:
    for path, content in files().items():
        path.write_text(content, encoding="utf-8")
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()

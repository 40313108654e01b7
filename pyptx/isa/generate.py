"""Write what editors need to know of the table: `python -m pyptx.isa.generate`.

The file `isa.json` beside this module holds
    opcodes      opcode word -> {"doc": one sentence, "syntax": [mnemonic and operands of each form], "needs": [text
                 of each]}
    modifiers    every dotted word, with its dot
    types        type names
    registers    special register -> meaning
"""

from __future__ import annotations

import json
from pathlib import Path

from pyptx import isa
from pyptx.isa import _types

__all__ = ["PATH", "main", "text"]

PATH = Path(__file__).with_name("isa.json")


def text() -> str:
    """The content of the file."""
    opcodes = {}
    modifiers: set[str] = set()
    for opcode in sorted(isa.OPS):
        op = isa.OPS[opcode]
        opcodes[opcode] = {"doc": " ".join(dict.fromkeys(form.op.summary for form in op.forms)),
                           "syntax": [form.syntax for form in op.forms],
                           "needs": [" | ".join(n.text for n in form.needs) for form in op.forms]}
        for form in op.forms:
            for word in form.words:
                if word.slot is None:
                    modifiers.add(word.text)
                else:
                    modifiers.update(f".{word.before}{choice}{word.after}" for choice in form.slots[word.slot].choices)
    data = {"opcodes": opcodes, "modifiers": sorted(modifiers), "types": sorted(_types.DECLARABLE),
            "registers": {name: row.meaning for name, row in isa.registers.SPECIAL.items()}}
    return json.dumps(data, separators=(",", ":"), sort_keys=False) + "\n"


def main() -> None:
    PATH.write_text(text(), encoding="utf-8")
    print(f"{PATH}: {PATH.stat().st_size} bytes")


if __name__ == "__main__":
    main()

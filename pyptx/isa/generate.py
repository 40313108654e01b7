"""Write what editors need to know of the table: `python -m pyptx.isa.generate`.

`pyptx/ptx/instructions.pyi` says which modifiers `ptx.inst.<opcode>` has and `special.pyi`
beside it which special registers there are, for type checkers and editors; the rest of `ptx` is read as it is. The file
`isa.json` beside this module holds
    opcodes      opcode word -> {"doc": one sentence, "syntax": [mnemonic and operands of each form], "needs": [text
                 of each], "choices": [slot of the mnemonic -> its dotted words, of each]}
    modifiers    every dotted word, with its dot
    types        type names
    registers    special register -> meaning
"""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import wrap

from pyptx import isa
from pyptx.isa import Form, Op, _types, registers
from pyptx.isa.spelling import python_word

__all__ = ["PATH", "SPECIAL_PATH", "STUB_PATH", "main", "special_stub", "stub", "text"]

PATH = Path(__file__).with_name("isa.json")
STUB_PATH = Path(__file__).parents[1] / "ptx" / "instructions.pyi"
SPECIAL_PATH = STUB_PATH.with_name("special.pyi")


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


def stub() -> str:
    """The content of the stub of pyptx.ptx.instructions: a class for each opcode, an attribute for each modifier."""
    lines = ['"""Written by `python -m pyptx.isa.generate`; do not edit."""', "", "from pyptx.reg import Reg", "",
             '__all__ = ["inst", "pipe"]', "", "class _Instruction:",
             "    def __call__(self, *operands: object, pred: object = None) -> Reg | None: ...", ""]
    for opcode in sorted(isa.OPS):
        op, name = isa.OPS[opcode], f"_{opcode}"
        lines += [f"class {name}(_Instruction):", *wrap(f'"""{_summary(op)}"""', 116, initial_indent="    ",
                                                        subsequent_indent="    ")]
        words = {python_word(part) for word in _modifiers(op) for part in word[1:].split(".")}
        lines += [f"    {word}: {name}" for word in sorted(words) if word.isidentifier()]       # not sp::2:4
        lines.append("")
    lines += ["class _Instructions:", *(f"    {python_word(opcode)}: _{opcode}" for opcode in sorted(isa.OPS)), "",
              "inst: _Instructions", "", "class pipe:", "    def __init__(self, src: object) -> None: ...",
              "    def __getattr__(self, name: str) -> pipe: ...",
              "    def __call__(self, dst: object, *rest: object, pred: object = None) -> pipe: ...", ""]
    return "\n".join(lines)


def special_stub() -> str:
    """The content of the stub of pyptx.ptx.special: a method for each special register, a class for the vectors."""
    lines = ['"""Written by `python -m pyptx.isa.generate`; do not edit."""', "", "from pyptx.reg import Reg", "",
             '__all__ = ["ctaid_x", "ctaid_y", "special", "sreg"]', "", "class _Vector:"]
    lines += [f"    def {axis}(self) -> Reg: ..." for axis in "xyzw"]
    lines += ["", "class _Special:"]
    for name, row in registers.SPECIAL.items():
        word = name.removeprefix("%")
        if not word.isidentifier():                         # %envreg<32>
            continue
        lines += [f"    {word}: _Vector", f'    """{row.meaning}"""'] if row.components else \
            [f"    def {word}(self) -> Reg:", f'        """{row.meaning}"""']
    return "\n".join([*lines, "", "special: _Special", "", "def ctaid_x() -> Reg: ...", "def ctaid_y() -> Reg: ...",
                      "def sreg(name: str) -> Reg: ...", ""])


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
    for path, content in ((PATH, text()), (STUB_PATH, stub()), (SPECIAL_PATH, special_stub())):
        path.write_text(content, encoding="utf-8")
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()

"""Generate the stubs, `isa.json` and `_families_of.py` from the ISA table: `python -m pyptx.isa.generate`.

The stubs in `pyptx/ptx` declare the names of `ptx`, the modifiers of `ptx.inst.<opcode>` and the special registers, for
type checkers and editors; see `stubs`. `pyptx/isa/isa.json` contains the words that the JupyterLab extension highlights:

    opcodes      names
    types        with their dots
    registers    special registers; <n> stands for a number
    directives   with their dots, without those that are modifiers, too
"""

from __future__ import annotations

import json
from pathlib import Path

from pyptx import isa
from pyptx.isa import _types, directives, registers
from pyptx.isa._table import families_of
from pyptx.isa.stubs import instruction_stub, namespace_stub, special_stub

__all__ = ["PATH", "files", "main", "text"]

PATH = Path(__file__).with_name("isa.json")
_SPACES = (".shared", ".global", ".const", ".local", ".param")
INDEX = Path(__file__).with_name("_families_of.py")
STUBS = Path(__file__).parents[1] / "ptx"


def files() -> dict[Path, str]:
    """Return the content of each generated file."""
    return {PATH: text(), INDEX: index(), STUBS / "__init__.pyi": namespace_stub(), STUBS / "instructions.pyi": instruction_stub(),
            STUBS / "special.pyi": special_stub()}


def text() -> str:
    """Return the content of isa.json."""
    data = {"opcodes": sorted(isa.OPS), "types": sorted(_types.TYPE_WORDS), "registers": list(registers.SPECIAL),
            "directives": [word for word in directives.SUMMARIES if word not in _SPACES]}
    return json.dumps(data, separators=(",", ":")) + "\n"


def index() -> str:
    """Return the content of _families_of.py, with which an opcode is found without importing all families."""
    rows = (f'    "{opcode}": ({", ".join(f"{family!r}" for family in families)},),' for opcode, families in sorted(families_of().items()))
    lines = ('"""Written by `python -m pyptx.isa.generate`; do not edit."""', "", "FAMILIES_OF = {", *rows, "}")
    return "\n".join(lines).replace("'", '"') + "\n"


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

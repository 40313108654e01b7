"""Type stubs of `pyptx.ptx`, written by `python -m pyptx.isa.generate`.

    namespace_stub()        ptx/__init__.pyi        the names of `ptx`, re-exported
    instruction_stub()      ptx/instructions.pyi    `ptx.inst`: a class per opcode and per path of fixed words
    special_stub()          ptx/special.pyi         `ptx.special`: a method per special register

After `ptx.inst.cp.async_.bulk.` only the modifiers of bulk copies are offered: fixed opcode words (`_match.FIXED`) come
first and in order, so each path of them has its own class. All other modifiers may have any order and keep the class.
"""

from __future__ import annotations

import ast
import json
import pathlib
from collections.abc import Iterator
from textwrap import wrap

from pyptx import isa
from pyptx.isa import Form, Op, registers
from pyptx.isa._match import FIXED, positions_of
from pyptx.isa.identifiers import to_identifier

__all__ = ["instruction_stub", "namespace_stub", "special_stub"]

_HEAD = '"""Written by `python -m pyptx.isa.generate`; do not edit."""'
_NAMESPACE = pathlib.Path(__file__).parents[1] / "ptx" / "__init__.py"

Path = tuple[str, ...]                                     # fixed words with their dots: (".async", ".bulk")


def namespace_stub() -> str:
    """Return the stub of `pyptx.ptx`, which re-exports every name that the package imports."""
    lines, names = [_HEAD, ""], []
    for node in ast.parse(_NAMESPACE.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pyptx"):
            public = [alias.name for alias in node.names if alias.asname is None]
            names += public
            lines += [f"from {node.module} import {name} as {name}" for name in public]
    listed = ", ".join(map(json.dumps, sorted(names)))
    return "\n".join([*lines, "", *wrap(f"__all__ = [{listed}]", 116, subsequent_indent="           "), ""])


def instruction_stub() -> str:
    """Return the stub of `pyptx.ptx.instructions`."""
    lines = [_HEAD, "", "from pyptx.reg import Reg", "",
             '__all__ = ["inst", "pipe"]', "", "class _Instruction:",
             "    def __call__(self, *operands: object, pred: object = None) -> Reg | None: ...", ""]
    for opcode in sorted(isa.OPS):
        for path, forms in sorted(_paths(isa.OPS[opcode]).items()):
            lines += [*_class(opcode, path, forms, _paths(isa.OPS[opcode])), ""]
    lines += ["class _Instructions:", *(f"    {to_identifier(opcode)}: _{opcode}" for opcode in sorted(isa.OPS)), "",
              "inst: _Instructions", "", "class pipe:", "    def __init__(self, src: object) -> None: ...",
              "    def __getattr__(self, name: str) -> pipe: ...",
              "    def __call__(self, dst: object, *rest: object, pred: object = None) -> pipe: ...", ""]
    return "\n".join(lines)


def special_stub() -> str:
    """Return the stub of `pyptx.ptx.special`: a method per special register, a class for the vectors."""
    lines = [_HEAD, "", "from pyptx.reg import Reg", "",
             '__all__ = ["ctaid_x", "ctaid_y", "special", "sreg"]', "", "class _Vector:"]
    lines += [f"    def {axis}(self) -> Reg: ..." for axis in "xyzw"]
    lines += ["", "class _Special:"]
    for name, row in registers.SPECIAL.items():
        word = name.removeprefix("%")
        if not word.isidentifier():                         # %envreg<32>
            continue
        lines += [f"    {word}: _Vector", f'    """{row.summary}"""'] if row.components else \
            [f"    def {word}(self) -> Reg:", f'        """{row.summary}"""']
    return "\n".join([*lines, "", "special: _Special", "", "def ctaid_x() -> Reg: ...", "def ctaid_y() -> Reg: ...",
                      "def sreg(name: str) -> Reg: ...", ""])


# paths of fixed words -----------------------------------------------------------------------------------------------

def _paths(op: Op) -> dict[Path, list[Form]]:
    """Return the forms of each path of fixed words, including the empty path and prefixes of longer paths."""
    fixed = [tuple("." + word for word in name.split(".")[1:]) for name in FIXED if name.split(".")[0] == op.opcode]
    found: dict[Path, list[Form]] = {(): []}
    for form in op.forms:
        fits = [path for path in fixed if _starts(form, path)]
        longest = [path for path in fits if not any(other[:len(path)] == path != other for other in fits)] or [()]
        for path in longest:
            for end in range(len(path) + 1):
                found.setdefault(path[:end], [])
            found[path].append(form)
    return found


def _starts(form: Form, path: Path) -> bool:
    """Return True if a mnemonic of the form may start with these words."""
    at, positions = 0, positions_of(form)
    for word in path:
        while at < len(positions) and word not in positions[at].choices:
            if not positions[at].optional:
                return False
            at += 1
        if at == len(positions):
            return False
        at += 1
    return True


def _class(opcode: str, path: Path, forms: list[Form], paths: dict[Path, list[Form]]) -> Iterator[str]:
    name = _class_name(opcode, path)
    below = [form for other, found in sorted(paths.items()) for form in found if other[:len(path)] == path]
    summary = " ".join(dict.fromkeys(form.op.summary for form in forms or below))
    words = {part for form in forms for position in positions_of(form) for word in position.choices
             for part in word[1:].split(".")}
    children = {other[-1][1:]: other for other in paths if len(other) == len(path) + 1 and other[:-1] == path}
    yield f"class {name}(_Instruction):"
    yield from wrap(f'"""{summary}"""', 116, initial_indent="    ", subsequent_indent="    ")
    for word in sorted({*words, *children} - {part[1:] for part in path}):
        if (spelled := to_identifier(word)).isidentifier():                                       # not sp::2:4
            yield f"    {spelled}: {_class_name(opcode, children[word]) if word in children else name}"


def _class_name(opcode: str, path: Path) -> str:
    return "_".join(["", opcode, *(word[1:].replace("::", "__") for word in path)])

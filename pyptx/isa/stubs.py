"""The stubs of `pyptx.ptx` that type checkers and editors read, as text; `python -m pyptx.isa.generate` writes them.

    namespace_stub()        ptx/__init__.pyi        what `ptx` holds, re-exported name by name
    instruction_stub()      ptx/instructions.pyi    `ptx.inst`: a class for each opcode and for each path of fixed words
    special_stub()          ptx/special.pyi         `ptx.special`: a method for each special register

`ptx.inst.cp.async_.bulk.` offers the words of bulk copies only: fixed opcode words (`_match.FIXED`) come first and in
order, so each path of them has a class; all other words of an instruction may stand in any order, so they stay in it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from pyptx import isa
from pyptx.isa import Form, Op, registers
from pyptx.isa._match import FIXED, _places
from pyptx.isa.spelling import python_word

__all__ = ["instruction_stub", "namespace_stub", "special_stub"]

_HEAD = '"""Written by `python -m pyptx.isa.generate`; do not edit."""'
_NAMESPACE = Path(__file__).parents[1] / "ptx" / "__init__.py"

Path_ = tuple[str, ...]                                     # fixed words with their dots: (".async", ".bulk")


def namespace_stub() -> str:
    """The content of the stub of pyptx.ptx: every name it imports, said to be public."""
    lines, names = [_HEAD, ""], []
    for node in ast.parse(_NAMESPACE.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module.startswith("pyptx"):
            public = [alias.name for alias in node.names if alias.asname is None]
            names += public
            lines += [f"from {node.module} import {name} as {name}" for name in public]
    listed = ", ".join(map(json.dumps, sorted(names)))
    return "\n".join([*lines, "", *wrap(f"__all__ = [{listed}]", 116, subsequent_indent="           "), ""])


def instruction_stub() -> str:
    """The content of the stub of pyptx.ptx.instructions."""
    lines = [_HEAD, "", "from pyptx.reg import Reg", "",
             '__all__ = ["inst", "pipe"]', "", "class _Instruction:",
             "    def __call__(self, *operands: object, pred: object = None) -> Reg | None: ...", ""]
    for opcode in sorted(isa.OPS):
        for path, forms in sorted(_paths(isa.OPS[opcode]).items()):
            lines += [*_class(opcode, path, forms, _paths(isa.OPS[opcode])), ""]
    lines += ["class _Instructions:", *(f"    {python_word(opcode)}: _{opcode}" for opcode in sorted(isa.OPS)), "",
              "inst: _Instructions", "", "class pipe:", "    def __init__(self, src: object) -> None: ...",
              "    def __getattr__(self, name: str) -> pipe: ...",
              "    def __call__(self, dst: object, *rest: object, pred: object = None) -> pipe: ...", ""]
    return "\n".join(lines)


def special_stub() -> str:
    """The content of the stub of pyptx.ptx.special: a method for each special register, a class for the vectors."""
    lines = [_HEAD, "", "from pyptx.reg import Reg", "",
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


# paths of fixed words -----------------------------------------------------------------------------------------------

def _paths(op: Op) -> dict[Path_, list[Form]]:
    """The forms behind each path of fixed words; the empty path and those on the way to others are there too."""
    fixed = [tuple("." + word for word in name.split(".")[1:]) for name in FIXED if name.split(".")[0] == op.opcode]
    found: dict[Path_, list[Form]] = {(): []}
    for form in op.forms:
        fits = [path for path in fixed if _starts(form, path)]
        longest = [path for path in fits if not any(other[:len(path)] == path != other for other in fits)] or [()]
        for path in longest:
            for end in range(len(path) + 1):
                found.setdefault(path[:end], [])
            found[path].append(form)
    return found


def _starts(form: Form, path: Path_) -> bool:
    """Whether a mnemonic of the form may start with these words."""
    at, places = 0, _places(form)
    for word in path:
        while at < len(places) and word not in places[at].choices:
            if not places[at].optional:
                return False
            at += 1
        if at == len(places):
            return False
        at += 1
    return True


def _class(opcode: str, path: Path_, forms: list[Form], paths: dict[Path_, list[Form]]) -> Iterator[str]:
    name = _class_name(opcode, path)
    below = [form for other, found in sorted(paths.items()) for form in found if other[:len(path)] == path]
    summary = " ".join(dict.fromkeys(form.op.summary for form in forms or below))
    words = {part for form in forms for place in _places(form) for word in place.choices
             for part in word[1:].split(".")}
    children = {other[-1][1:]: other for other in paths if len(other) == len(path) + 1 and other[:-1] == path}
    yield f"class {name}(_Instruction):"
    yield from wrap(f'"""{summary}"""', 116, initial_indent="    ", subsequent_indent="    ")
    for word in sorted({*words, *children} - {part[1:] for part in path}):
        if (spelled := python_word(word)).isidentifier():                                       # not sp::2:4
            yield f"    {spelled}: {_class_name(opcode, children[word]) if word in children else name}"


def _class_name(opcode: str, path: Path_) -> str:
    return "_".join(["", opcode, *(word[1:].replace("::", "__") for word in path)])

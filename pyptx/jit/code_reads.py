"""Names that code objects read, from their bytecode."""

from __future__ import annotations

from collections.abc import Iterator
from opcode import opmap
from types import CodeType

from pyptx._frozen import frozen

__all__ = ["CodeReads", "reads_of"]

_EXTENDED = opmap["EXTENDED_ARG"]
_GLOBAL, _STORE, _DELETE, _IMPORT = (
    opmap[name] for name in ("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME")
)
_NAMES = [
    opmap[name] for name in ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS") if name in opmap
]  # the second: Python 3.12


@frozen
class CodeReads:
    """Names in a code object and its nested functions.

    Attributes:
        globals: names of globals and builtins that they read, in order.
        stored: names of globals that they assign or delete.
        imports: modules that they import.
        names: these names and all names of attributes.
        strings: constants that are strings; an attribute can be read by such a name.
    """

    globals: tuple[str, ...]
    stored: tuple[str, ...]
    imports: tuple[str, ...]
    names: frozenset[str]
    strings: frozenset[str]


def reads_of(code: CodeType) -> CodeReads:
    """Return the names that a code object and its nested functions read.

    The bytecode is read directly: `dis` takes ten times as long, in the first launch of every kernel.
    """
    found = _known.get(id(code))
    if found is None or found[0] is not code:
        if len(_known) >= _CAPACITY:
            _known.clear()
        found = _known[id(code)] = code, _reads(code)
    return found[1]


_known: dict[int, tuple[CodeType, CodeReads]] = {}  # by id: hashing a code object reads its constants
_CAPACITY = 4096


def _reads(code: CodeType) -> CodeReads:
    globals_ = dict.fromkeys(_operands(code, _GLOBAL, 1))
    for opcode in _NAMES:
        globals_.update(dict.fromkeys(_operands(code, opcode)))
    stored = dict.fromkeys((*_operands(code, _STORE), *_operands(code, _DELETE)))
    imports = dict.fromkeys(_operands(code, _IMPORT))
    names = {*code.co_names, *_keywords(code)}
    strings = {constant for constant in code.co_consts if isinstance(constant, str)}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            nested = reads_of(constant)
            globals_.update(dict.fromkeys(nested.globals))
            stored.update(dict.fromkeys(nested.stored))
            imports.update(dict.fromkeys(nested.imports))
            names |= nested.names
            strings |= nested.strings
    return CodeReads(tuple(globals_), tuple(stored), tuple(imports), frozenset(names), frozenset(strings))


def _keywords(code: CodeType) -> Iterator[str]:
    """Yield the strings of constant tuples, which name the attributes of a class pattern."""
    for constant in code.co_consts:
        if isinstance(constant, tuple):
            yield from (item for item in constant if isinstance(item, str))


def _operands(code: CodeType, opcode: int, shift: int = 0) -> Iterator[str]:
    """Yield the name in `co_names` of each instruction with this opcode.

    Args:
        shift: bits of the operand that are flags.
    Source: Python documentation, "dis", LOAD_GLOBAL: "Changed in version 3.11".
    """
    opcodes, operands = code.co_code[::2], code.co_code[1::2]
    at = opcodes.find(opcode)
    while at >= 0:
        operand, scale, before = operands[at], 8, at - 1
        while before >= 0 and opcodes[before] == _EXTENDED:
            operand |= operands[before] << scale
            scale, before = scale + 8, before - 1
        yield code.co_names[operand >> shift]
        at = opcodes.find(opcode, at + 1)

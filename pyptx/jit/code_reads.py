"""Names that code objects read, from their bytecode."""

from __future__ import annotations

from collections.abc import Iterator
from opcode import opmap
from types import CodeType

from pyptx._frozen import frozen
from pyptx.jit.per_code import per_code

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


@per_code
def reads_of(code: CodeType) -> CodeReads:
    """Return the names that a code object and its nested functions read.

    The bytecode is read directly: `dis` takes ten times as long, in the first launch of every kernel.
    """
    raw = code.co_code  # a new copy at each access
    opcodes, operands = raw[::2], raw[1::2]

    def named(opcode: int, shift: int = 0) -> dict[str, None]:
        return {code.co_names[operand >> shift]: None for operand in _operands(opcodes, operands, opcode)}

    globals_ = named(_GLOBAL, 1)
    for opcode in _NAMES:
        globals_ |= named(opcode)
    stored, imports = named(_STORE) | named(_DELETE), named(_IMPORT)
    names = {*code.co_names, *_keywords(code)}
    strings = {constant for constant in code.co_consts if isinstance(constant, str)}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            nested = reads_of(constant)
            globals_ |= dict.fromkeys(nested.globals)
            stored |= dict.fromkeys(nested.stored)
            imports |= dict.fromkeys(nested.imports)
            names |= nested.names
            strings |= nested.strings
    return CodeReads(tuple(globals_), tuple(stored), tuple(imports), frozenset(names), frozenset(strings))


def _keywords(code: CodeType) -> Iterator[str]:
    """Yield the strings of constant tuples, which name the attributes of a class pattern."""
    for constant in code.co_consts:
        if isinstance(constant, tuple):
            yield from (item for item in constant if isinstance(item, str))


def _operands(opcodes: bytes, operands: bytes, opcode: int) -> Iterator[int]:
    """Yield the operand of each instruction with this opcode; in those that read a name, it is an index in `co_names`.

    Source: Python documentation, "dis": LOAD_GLOBAL, whose operand has a flag in its lowest bit, and EXTENDED_ARG.
    """
    at = opcodes.find(opcode)
    while at >= 0:
        operand, scale, before = operands[at], 8, at - 1
        while before >= 0 and opcodes[before] == _EXTENDED:
            operand |= operands[before] << scale
            scale, before = scale + 8, before - 1
        yield operand
        at = opcodes.find(opcode, at + 1)

"""PTX text to tree.

`parse` reads a module, `statements` a piece of a body. Both are opcode-agnostic: they know the grammar of PTX, and
leave what an instruction may say to `validate`. Every byte of the text ends up in the tree, in a node or in the
formatting of one, so that the emitter can print it back.
"""

from __future__ import annotations

from pyptx._collector import no_collections
from pyptx.ir.nodes import BlankLine, Module, Statement
from pyptx.parser.body import Reader, plain
from pyptx.parser.cursor import Source
from pyptx.parser.errors import LexError, ParseError
from pyptx.parser.module import read_module

__all__ = ["MAX_CHARACTERS", "LexError", "ParseError", "parse", "statements"]

MAX_CHARACTERS = 128 << 20                      # a tree takes some 15 times the memory of its text


def parse(text: str | bytes, *, recover: bool = False) -> Module:
    """The tree of a PTX module; `emitter.emit` gives the same text back.

    Args:
        text: PTX; bytes are read as UTF-8, others than that kept as lone surrogates.
        recover: go on behind an error. What was skipped stands in the tree as RawLine nodes, what was wrong in
            `Module.diagnostics`.
    Raises:
        ParseError: the first error, unless `recover`; in any case a text longer than MAX_CHARACTERS.
    Examples:
        >>> module = parse(".version 8.5 .target sm_90 .address_size 64 .entry f() { ret; }")
        >>> module.entries[0].name, module.target.targets
        ('f', ('sm_90',))
    """
    source = _source(text)
    with no_collections():
        return read_module(Reader(source, recover))


def statements(text: str) -> tuple[Statement, ...]:
    """The statements of a piece of a body, several to a line if so written; they print canonically.

    Comments behind a statement come before it as nodes of their own.

    Raises:
        ParseError: the first error.
    """
    reader = Reader(_source(text), False)
    nodes, at = reader.body(0)
    if at < len(text):
        raise reader.source.error("expected an instruction, a label or a declaration, found '}'", at)
    found = plain(nodes)
    while found and isinstance(found[0], BlankLine):
        del found[0]
    while found and isinstance(found[-1], BlankLine):
        del found[-1]
    return tuple(found)


def _source(text: str | bytes) -> Source:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    if len(text) > MAX_CHARACTERS:
        raise ParseError(f"a text of {len(text):,} characters; at most {MAX_CHARACTERS:,} are read", 1, 1)
    return Source(text)

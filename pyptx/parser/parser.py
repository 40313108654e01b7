"""Entry points of the parser.

`parse` parses a module, `statements` a fragment of a function body. Both know the grammar of PTX but no opcodes:
`pyptx.validate` checks instructions. Every byte of the source is kept, in a node or in its formatting, so that the
emitter reproduces the text.
"""

from __future__ import annotations

from pyptx._gc import gc_paused
from pyptx.ir.nodes import BlankLine, Module, Statement
from pyptx.parser.body import BodyParser, without_formatting
from pyptx.parser.cursor import Source
from pyptx.parser.errors import LexError, ParseError
from pyptx.parser.module import parse_module

__all__ = ["MAX_CHARACTERS", "LexError", "ParseError", "parse", "statements"]

MAX_CHARACTERS = 128 << 20  # a tree takes some 15 times the memory of its text


def parse(text: str | bytes, *, recover: bool = False) -> Module:
    """Parse a PTX module; `emitter.emit` reproduces its text.

    Args:
        text: PTX source. Bytes are decoded as UTF-8; invalid bytes become lone surrogates.
        recover: continue after an error. Skipped text becomes RawLine nodes, and the errors are in
            `Module.diagnostics`.
    Raises:
        ParseError: The first error, unless `recover`; always for a text longer than MAX_CHARACTERS.
    Examples:
        >>> module = parse(".version 8.5 .target sm_90 .address_size 64 .entry f() { ret; }")
        >>> module.entries[0].name, module.target.targets
        ('f', ('sm_90',))
    """
    source = _source(text)
    with gc_paused():
        return parse_module(BodyParser(source, recover))


def statements(text: str) -> tuple[Statement, ...]:
    """Parse a fragment of a function body; the statements carry no formatting and print canonically.

    A comment after a statement becomes a node in front of it.

    Raises:
        ParseError: The first error.
    """
    parser = BodyParser(_source(text), False)
    nodes, at = parser.body(0)
    if at < len(text):
        raise parser.source.error("expected an instruction, a label or a declaration, found '}'", at)
    found = without_formatting(nodes)
    while found and isinstance(found[0], BlankLine):
        del found[0]
    while found and isinstance(found[-1], BlankLine):
        del found[-1]
    return tuple(found)


def _source(text: str | bytes) -> Source:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    if len(text) > MAX_CHARACTERS:
        raise ParseError(f"the text has {len(text):,} characters; the limit is {MAX_CHARACTERS:,}", 1, 1)
    return Source(text)

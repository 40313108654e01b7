"""Mutated PTX text: parser, validator and transpiler.

Each round mutates a fragment of a corpus file: bytes, tokens, lines, and splices of other files. With recovery, parsing
restores every byte; strict parsing succeeds or raises a ParseError; `validate.check` returns diagnostics and never raises;
a valid module is converted to Python that traces back, plain and with --sugar.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from pyptx import validate
from pyptx.codegen import ptx_to_python
from pyptx.emitter import emit
from pyptx.ir.nodes import Module
from pyptx.parser import ParseError, parse

__all__ = ["CORPUS", "check", "mutated", "prepare"]

CORPUS = Path(__file__).parents[1] / "corpus"
MAX_BYTES = 6000  # bytes of a piece
FRAGMENTS = (
    b'{ } ( ) [ ] ; : , | ! @ % < > = // /* */ " .reg .entry .func .param .b32 .v4 .align .loc .file .section '
    b".pragma .branchtargets .callprototype .alias @@DWARF 0x 0f _ ret; L: %r1 %p1|%p2 -1 1e400 "
    b"99999999999999999999 .const[3] %r<0x10> +-8 \xe2\x80\xa8 \0 \xff"
).split(b" ")
FRAGMENTS += [b"\n", b"\r\n", b"bra L;", b".version 8.5\n", b".target sm_90\n", b"{ { { { {", b"} } } } }"]


def mutated(pieces: list[bytes], rnd: random.Random) -> bytes:
    """Return a fragment of a file with a few random edits."""
    data = bytearray(cut(rnd.choice(pieces), rnd))
    for _ in range(rnd.choice((1, 1, 2, 3, 8))):
        at, length = rnd.randrange(len(data) + 1), rnd.choice((0, 1, 1, 2, 5, 30))
        match rnd.randrange(7):
            case 0:
                data[at : at + length] = b""
            case 1:
                data[at:at] = rnd.choice(FRAGMENTS)
            case 2:
                data[at : at + length] = rnd.choice(FRAGMENTS)
            case 3:
                data[at : at + 1] = bytes([rnd.randrange(256)])
            case 4:
                data[at:at] = data[at : at + length * 5] * rnd.choice((1, 2, 20))
            case 5:
                data[at:at] = cut(rnd.choice(pieces), rnd)[: rnd.choice((10, 100, 1000))]
            case 6:
                lines = bytes(data).split(b"\n")
                i, j = rnd.randrange(len(lines)), rnd.randrange(len(lines))
                lines[i], lines[j] = lines[j], lines[i]
                data = bytearray(b"\n".join(lines))
    return bytes(data)


def cut(data: bytes, rnd: random.Random) -> bytes:
    """Return a short file whole, and the head and some further lines of a long one."""
    if len(data) <= MAX_BYTES:
        return data
    lines = data.split(b"\n")
    start = rnd.randrange(len(lines))
    body = next((i for i, line in enumerate(lines) if line.strip() == b"{"), 20)
    return b"\n".join([*lines[: body + 12], *lines[start : start + 60], b"}"])


def check(data: bytes, transpile: bool) -> str:
    """Check one text; return "parsed" or "refused", or raise the failure."""
    module = parse(data, recover=True)
    if emit(module).encode("utf-8", "surrogateescape") != data:
        raise AssertionError("bytes were lost")
    validate.check(module)
    try:
        module = parse(data)
    except ParseError as refused:
        assert refused.line >= 1 and refused.col >= 1 and str(refused)
        return "refused"
    assert isinstance(module, Module) and emit(module).encode("utf-8", "surrogateescape") == data
    if transpile:
        ptx_to_python(data)
        ptx_to_python(data, sugar=True)
    return "parsed"


def prepare(folder: Path) -> Callable[[random.Random], str]:
    """Return a round of the fuzzer; see fuzz.run."""
    pieces = [path.read_bytes() for path in sorted(CORPUS.rglob("*.ptx"))]

    def one(rnd: random.Random) -> str:
        data = mutated(pieces, rnd)
        (folder / "last.ptx").write_bytes(data)
        return check(data, transpile=True)

    return one

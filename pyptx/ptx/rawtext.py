"""PTX written as text inside a kernel, and directives about source files."""

from __future__ import annotations

from dataclasses import replace

from pyptx import parser
from pyptx._loc import Place, user_place
from pyptx._trace import get_ctx
from pyptx.errors import TraceError
from pyptx.ir.nodes import BlankLine, Block, IntrinsicScope, RawLine, Statement

__all__ = ["file_", "loc", "raw"]

_HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n.entry fragment()\n{\n"
_HEADER_LINES = _HEADER.count("\n")


def raw(text: str) -> None:
    """Append PTX as it is: instructions, labels, declarations, blocks, any number of them.

    Raises:
        TraceError: the text is no PTX; the message names line and column in it.
    """
    ctx, place = get_ctx(), user_place()
    try:
        module = parser.parse(f"{_HEADER}{text}\n}}\n")
    except (parser.ParseError, parser.LexError) as refused:
        raise TraceError(f"ptx.raw, line {refused.line - _HEADER_LINES}, column {refused.col}: {refused.message}",
                         at=place) from None
    if len(module.functions) != 1:
        raise TraceError("ptx.raw takes statements of a body; the braces in it do not match", at=place)
    statements = [_placed(s, place) for s in module.functions[0].body if not isinstance(s, BlankLine)]
    ctx.note_types(statements)
    for statement in statements:
        ctx.append(statement)


def _placed(statement: Statement, place: Place) -> Statement:
    """The statement as if it had been written at `place`, without the blanks around it."""
    changes = {name: value for name, value in (("formatting", None), ("place", place))
               if name in statement.__dataclass_fields__}
    if isinstance(statement, Block | IntrinsicScope):
        changes["body"] = tuple(_placed(s, place) for s in statement.body if not isinstance(s, BlankLine))
    return replace(statement, **changes)


def loc(file: int, line: int, col: int = 0) -> None:
    """Say that the following instructions stem from a line of a source file: `.loc file line col`."""
    get_ctx().append(RawLine(f"\t.loc {file} {line} {col}"))


def file_(idx: int, name: str) -> None:
    """Name source file `idx` of `loc`: `.file idx "name"`, in front of the kernel."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    get_ctx().module_lines.append(RawLine(f'.file {idx} "{quoted}"'))

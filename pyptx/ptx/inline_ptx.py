"""Inline PTX, and directives about source files."""

from __future__ import annotations

from dataclasses import replace

from pyptx._loc import SourceLocation, user_place
from pyptx.errors import TraceError
from pyptx.ir.nodes import Block, File, IntrinsicScope, Label, Loc, Statement
from pyptx.ir.visit import statements
from pyptx.tracing.trace import get_ctx

__all__ = ["file_", "loc", "raw"]


def raw(text: str) -> None:
    """Append PTX text: any number of instructions, labels, declarations and blocks.

    Raises:
        TraceError: the text is not valid PTX; the message has its line and column.
    Examples:
        >>> @kernel
        ... def pasted():
        ...     ptx.raw('''
        ...         .reg .b32 %a<2>;
        ...         mov.u32 %a0, %tid.x;
        ...         add.u32 %a1, %a0, 1;
        ...     ''')
        >>> print(pasted.ptx())
        .version 8.5
        ...
            .reg .b32 %a<2>;
            mov.u32 %a0, %tid.x;
            add.u32 %a1, %a0, 1;
        }
    """
    from pyptx import parser  # imported late to keep `import pyptx` fast

    ctx, place = get_ctx(), user_place()
    try:
        found = parser.statements(text)
    except parser.ParseError as refused:
        raise TraceError(
            f"ptx.raw, line {refused.line}, column {refused.col}: {refused.message}", at=place, hint=refused.hint
        ) from None
    ctx.note_declarations(found)
    if any(isinstance(s, Label) for s in statements(found)):
        ctx.join()
    for statement in found:
        ctx.append(_placed(statement, place))


def _placed(statement: Statement, place: SourceLocation) -> Statement:
    """Return the statement with `place` as its source location."""
    if "place" not in statement.__dataclass_fields__:
        return statement
    if isinstance(statement, Block | IntrinsicScope):
        return replace(statement, body=tuple(_placed(s, place) for s in statement.body), place=place)
    return replace(statement, place=place)


def loc(file: int, line: int, col: int = 0) -> None:
    """Emit `.loc file line col`: the source line of the following instructions."""
    get_ctx().append(Loc(file, line, col, place=user_place()))


def file_(idx: int, name: str) -> None:
    """Emit `.file idx "name"` before the kernel: the source file that `loc` refers to."""
    get_ctx().module_files.append(File(idx, name, place=user_place()))

"""PTX written as text inside a kernel, and directives about source files."""

from __future__ import annotations

from dataclasses import replace

from pyptx import parser
from pyptx._loc import Place, user_place
from pyptx.errors import TraceError
from pyptx.ir.nodes import Block, File, IntrinsicScope, Label, Loc, Statement
from pyptx.ir.visit import statements
from pyptx.tracing.trace import get_ctx

__all__ = ["file_", "loc", "raw"]

def raw(text: str) -> None:
    """Append PTX as it is: instructions, labels, declarations, blocks, any number of them.

    Raises:
        TraceError: the text is no PTX; the message names line and column in it.
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
    ctx, place = get_ctx(), user_place()
    try:
        found = parser.statements(text)
    except parser.ParseError as refused:
        raise TraceError(f"ptx.raw, line {refused.line}, column {refused.col}: {refused.message}", at=place,
                         hint=refused.hint) from None
    ctx.note_declarations(found)
    if any(isinstance(s, Label) for s in statements(found)):
        ctx.join()
    for statement in found:
        ctx.append(_placed(statement, place))


def _placed(statement: Statement, place: Place) -> Statement:
    """The statement as if it had been written at `place`."""
    if "place" not in statement.__dataclass_fields__:
        return statement
    if isinstance(statement, Block | IntrinsicScope):
        return replace(statement, body=tuple(_placed(s, place) for s in statement.body), place=place)
    return replace(statement, place=place)


def loc(file: int, line: int, col: int = 0) -> None:
    """Say that the following instructions stem from a line of a source file: `.loc file line col`."""
    get_ctx().append(Loc(file, line, col, place=user_place()))


def file_(idx: int, name: str) -> None:
    """Name source file `idx` of `loc`: `.file idx "name"`, in front of the kernel."""
    get_ctx().module_files.append(File(idx, name, place=user_place()))

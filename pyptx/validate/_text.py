"""PTX text against the grammar, the table and the target."""

from __future__ import annotations

from pyptx.errors import Diagnostic
from pyptx.parser import parse
from pyptx.parser.errors import ParseError
from pyptx.validate._check import check

__all__ = ["check_ptx"]


def check_ptx(text: str | bytes, target: str | None = None) -> list[Diagnostic]:
    """Everything wrong with PTX text, in order of its lines.

    Args:
        target: checked for instead of the target the text names, such as "sm_90a".
    Returns:
        Diagnostics with line, columns, message and hint; none of severity "error" when ptxas would assemble the text.
    Examples:
        >>> text = ".version 8.5 .target sm_90 .address_size 64 .entry f() { mov.u32 %r0, %tid.x; }"
        >>> for found in pyptx.check_ptx(text):
        ...     print(found.severity, found.line, found.message)
        error 1 mov.u32: register %r0 is not declared
    """
    try:
        module = parse(text, recover=True)
    except ParseError as error:                 # a header that cannot be read, a text too long
        return [error.diagnostic]
    if not module.target.targets:               # the parser has said so
        return list(module.diagnostics)
    return sorted([*module.diagnostics, *check(module, target)], key=lambda d: (d.line or 0, d.column or 0))

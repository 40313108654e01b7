"""Whether two modules are the same program: exactly, or up to the names of registers and labels.

`differences` compares tree with tree: the same statements in the same order, declarations of a function in any order.
With `names=False` it compares what the statements do, as `pyptx.codegen.meaning` tells it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.codegen.meaning import meaning, without_comments
from pyptx.ir.nodes import SILENT, Function, Module, RegDecl, VarDecl

__all__ = ["Differences", "differences"]

Differences = list[str]


def differences(a: Module, b: Module, *, names: bool = True) -> Differences:
    """What is not the same in two modules, at most one line for each function; empty when they are the same program.

    Args:
        names: whether registers and labels must have the same names and be declared alike.
    """
    found = [f"{what}: {getattr(a, what)} against {getattr(b, what)}" for what in ("version", "target", "address_size")
             if getattr(a, what) != getattr(b, what)]
    left, right = ([d for d in m.directives if not isinstance(d, SILENT)] for m in (a, b))
    if len(left) != len(right):
        return [*found, f"{len(left)} directives against {len(right)}"]
    for one, other in zip(left, right, strict=True):
        if isinstance(one, Function) and isinstance(other, Function):
            found += _function(one, other, names)
        elif one != other:
            found.append(f"{one} against {other}")
    return found


def _function(a: Function, b: Function, names: bool) -> Iterator[str]:
    for what in ("name", "is_entry", "params", "return_params", "linking", "directives", "declaration", "attributes"):
        if getattr(a, what) != getattr(b, what):
            yield f"{a.name}: {what} {getattr(a, what)} against {getattr(b, what)}"
    forms = [(_exact if names else meaning)(f) for f in (a, b)]
    if forms[0] != forms[1]:
        for i, (one, other) in enumerate(zip(*forms, strict=False)):
            if one != other:
                yield f"{a.name}, statement {i}: {one} against {other}"
                return
        yield f"{a.name}: {len(forms[0])} statements against {len(forms[1])}"


def _exact(function: Function) -> list[object]:
    """The statements, declarations first and by name."""
    body = list(without_comments(function.body))
    declared = [s for s in body if isinstance(s, (RegDecl, VarDecl))]
    declared.sort(key=lambda s: (isinstance(s, VarDecl), s.name, repr(s)))
    return [*declared, *(s for s in body if not isinstance(s, (RegDecl, VarDecl)))]

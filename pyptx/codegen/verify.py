"""Verification of the transpiler: the generated source is executed, traced and compared with the PTX.

`differences` compares two trees: equal statements in the same order, declarations of a function in any order. With
`names=False` it compares canonical forms, which do not depend on register and label names.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.codegen.canonical import canonical_form, strip_comments
from pyptx.ir.nodes import SILENT, Function, Module, RegDecl, VarDecl

__all__ = ["Differences", "differences"]

Differences = list[str]


def differences(a: Module, b: Module, *, names: bool = True) -> Differences:
    """Return the differences between two modules, at most one line per function; empty if they are equivalent.

    Args:
        a, b: the modules.
        names: require equal register and label names and declarations.
    """
    found = [
        f"{what}: {getattr(a, what)} against {getattr(b, what)}"
        for what in ("version", "target", "address_size")
        if getattr(a, what) != getattr(b, what)
    ]
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
    forms = [(_exact if names else canonical_form)(f) for f in (a, b)]
    if forms[0] != forms[1]:
        for i, (one, other) in enumerate(zip(*forms, strict=False)):
            if one != other:
                yield f"{a.name}, statement {i}: {one} against {other}"
                return
        yield f"{a.name}: {len(forms[0])} statements against {len(forms[1])}"


def _exact(function: Function) -> list[object]:
    """Return the statements, declarations first, sorted by name."""
    body = list(strip_comments(function.body))
    declared = [s for s in body if isinstance(s, (RegDecl, VarDecl))]
    declared.sort(key=lambda s: (isinstance(s, VarDecl), s.name, repr(s)))
    return [*declared, *(s for s in body if not isinstance(s, (RegDecl, VarDecl)))]

"""A single entry of a PTX module: the entry, the functions it calls, and the variables they use."""

from __future__ import annotations

import re
from dataclasses import replace

from pyptx.emitter import emit
from pyptx.ir.nodes import Alias, Directive, Function, Module, Section, VarDecl

__all__ = ["isolated"]

_NAME = re.compile(r"[A-Za-z_$%][\w$]*")


def isolated(module: Module, entry: str) -> Module:
    """Return the module reduced to an entry and everything it refers to, directly or not.

    Debug sections are dropped with the functions that they describe, except the names that `.loc` refers to. A module without other functions is unchanged.
    """
    declared: dict[str, list[Directive]] = {}
    for directive in module.directives:
        if isinstance(directive, Function | VarDecl | Alias):
            declared.setdefault(_declared_name(directive), []).append(directive)
    reached: set[str] = set()
    work = [entry]
    while work:
        name = work.pop()
        if name in reached or name not in declared:
            continue
        reached.add(name)
        for directive in declared[name]:
            work += _NAME.findall(emit(replace(module, directives=(directive,))))
    if all(function.name in reached for function in module.functions):
        return module
    return replace(module, directives=tuple(d for d in module.directives if _is_kept(d, reached)))


def _declared_name(directive: Function | VarDecl | Alias) -> str:
    return directive.name.partition("[")[0]  # of an array with several dimensions


def _is_kept(directive: Directive, reached: set[str]) -> bool:
    if isinstance(directive, Function | VarDecl | Alias):
        return _declared_name(directive) in reached
    return not isinstance(directive, Section) or directive.name == ".debug_str"  # names of inlined functions in `.loc`

"""Checks of function directives, those between the parameters and the body."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.ir.nodes import CallPrototype, Function, FunctionDirective
from pyptx.isa.directives import DIRECTIVES, FunctionRule
from pyptx.isa.targets import Target
from pyptx.validate._messages import requires_version

__all__ = ["directive_problems"]


def directive_problems(function: Function | CallPrototype, chip: Target, version: tuple[int, int]) -> Iterator[str]:
    """Yield the errors of the directives of a function or call prototype."""
    first: dict[str, int] = {}
    for i, directive in enumerate(function.directives):
        first.setdefault(directive.name, i)
    for i, directive in enumerate(function.directives):
        if directive.name == "noreturn" and first["noreturn"] < i:
            yield ".noreturn is repeated"
        rule = DIRECTIVES.get(directive.name)
        if directive.name == "maxnctapersm":
            yield ".maxnctapersm was removed in PTX ISA 2.1; write .minnctapersm"
        elif rule is None:
            from difflib import get_close_matches  # what a valid program does not need

            near = get_close_matches(directive.name, DIRECTIVES, 1)
            yield f".{directive.name} is not a function directive" + (f"; did you mean .{near[0]}?" if near else "")
        else:
            yield from _one(function, directive, rule, chip, version)
            for other in rule.excludes:
                if first[directive.name] < first.get(other, -1):
                    yield f".{directive.name} and .{other} exclude each other; keep one of them"
            for other in rule.requires:
                if other not in first:
                    yield f".{directive.name} requires .{other}"


def _one(
    function: Function | CallPrototype,
    directive: FunctionDirective,
    rule: FunctionRule,
    chip: Target,
    version: tuple[int, int],
) -> Iterator[str]:
    name, (least, most) = directive.name, rule.values
    on, _, where = rule.on.partition(" ")
    entry = isinstance(function, Function) and function.is_entry
    if on not in ("both", "entry" if entry else "func"):
        yield f".{name} is only allowed on {'a .func' if on == 'func' else 'an .entry'}"
    elif where and (not isinstance(function, Function) or function.declaration):
        yield f".{name} is only allowed on a definition, not on a declaration"
    if not least <= len(directive.values) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        yield f".{name} takes {wanted} value{'' if wanted == '1' else 's'}, not {len(directive.values)}"
    for value in directive.values:
        yield from _value(name, value, rule)

    if name == "noreturn" and function.return_params:
        yield ".noreturn is not allowed on a function with a return parameter"
    if not rule.needs.on(chip):
        yield f"Feature '.{name}' requires .target {rule.needs.words}; the module targets {chip.name}"
    elif version < rule.needs.ptx:
        yield requires_version(f".{name}", rule.needs.ptx, version)


def _value(name: str, value: int | str, rule: FunctionRule) -> Iterator[str]:
    low, high = rule.span
    if isinstance(value, str):
        if not rule.texts:
            yield f".{name} takes a number, not {value}"
        elif rule.texts != ("*",) and value.strip('"').lower() not in rule.texts:
            yield f".{name} does not accept {value}; expected one of {', '.join(rule.texts)}"
    elif rule.texts == ("*",):
        yield f".{name} takes a string, not {value}"
    elif not low <= value <= high:
        yield f".{name} takes {'a number above zero' if low == 1 and value < 1 else f'{low} to {high}'}, not {value}"

"""What stands between the parameters and the body of a function, against its table."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from pyptx.ir.nodes import Function, FunctionDirective
from pyptx.isa.directives import DIRECTIVES, FunctionRule
from pyptx.isa.targets import Target
from pyptx.validate._problem import too_early

__all__ = ["directive_problems"]


def directive_problems(function: Function, chip: Target, version: tuple[int, int]) -> Iterator[str]:
    """Everything wrong with the directives of a function."""
    names = [directive.name for directive in function.directives]
    for directive in function.directives:
        rule = DIRECTIVES.get(directive.name)
        if directive.name == "maxnctapersm":
            yield ".maxnctapersm is gone since PTX ISA 2.1; write .minnctapersm"
        elif rule is None:
            near = get_close_matches(directive.name, DIRECTIVES, 1)
            yield f".{directive.name} is no directive of a function" + (f"; did you mean .{near[0]}?" if near else "")
        else:
            yield from _one(function, directive, rule, chip, version)
            for other in rule.excludes:
                if other in names and names.index(directive.name) < names.index(other):
                    yield f".{directive.name} and .{other} exclude each other; keep one of them"
            for other in rule.requires:
                if other not in names:
                    yield f".{directive.name} requires .{other}"


def _one(function: Function, directive: FunctionDirective, rule: FunctionRule, chip: Target,
         version: tuple[int, int]) -> Iterator[str]:
    name, (least, most) = directive.name, rule.values
    on, _, where = rule.on.partition(" ")
    if on not in ("both", "entry" if function.is_entry else "func"):
        yield f".{name} stands on {'a .func' if on == 'func' else 'an .entry'} only"
    elif where and function.declaration:
        yield f".{name} stands where the body follows, not on a declaration"
    if not least <= len(directive.values) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        yield f".{name} takes {wanted} value{'' if wanted == '1' else 's'}, not {len(directive.values)}"
    for value in directive.values:
        yield from _value(name, value, rule)
    if name == "noreturn" and sum(d.name == name for d in function.directives) > 1:
        yield ".noreturn stands twice"
    if name == "noreturn" and function.return_params:
        yield ".noreturn contradicts the return parameter of the function"
    if not rule.needs.on(chip):
        yield f"Feature '.{name}' requires .target {rule.needs.words}; the module says {chip.name}"
    elif version < rule.needs.ptx:
        yield too_early(f".{name}", rule.needs.ptx, version)


def _value(name: str, value: int | str, rule: FunctionRule) -> Iterator[str]:
    low, high = rule.span
    if isinstance(value, str):
        if not rule.texts:
            yield f".{name} takes a number, not {value}"
        elif rule.texts != ("*",) and value.strip('"').lower() not in rule.texts:
            yield f".{name} does not know {value}; expected one of {', '.join(rule.texts)}"
    elif rule.texts == ("*",):
        yield f".{name} takes a string, not {value}"
    elif not low <= value <= high:
        yield f".{name} takes {'a number above zero' if low == 1 and value < 1 else f'{low} to {high}'}, not {value}"

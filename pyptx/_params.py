"""Parser of parameter declarations, as the decorators take them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from pyptx._lazy import pattern
from pyptx.errors import InputError
from pyptx.ir.nodes import Param
from pyptx.ir.types import ScalarType, StateSpace

__all__ = ["parse_params", "parse_raw_param"]

_RAW = pattern(
    r"(?P<scalar>\w+)(?P<ptr>\.ptr(\.(?P<space>global|shared|const|local|param))?)?"
    r"(?P<rest>(\.(align|palign|array)\d+)*)"
)


def parse_params(params: Iterable[tuple[str, str] | str]) -> tuple[Param, ...]:
    """Parse parameters given as (raw type string, name) pairs or as declarations such as ".reg .f32 x".

    Raises:
        ValueError: a type string or a declaration is malformed.
    """
    return tuple(_declared_param(p) if isinstance(p, str) else parse_raw_param(*p) for p in params)


def _declared_param(text: str) -> Param:
    from pyptx.parser import parse  # imported late to keep `import pyptx` fast

    try:
        (function,) = parse(f".version 8.0\n.target sm_90\n.func f({text});").functions
        (param,) = function.params
    except ValueError as refused:
        raise InputError(f"parameter {text!r} is not a declaration such as '.param .u64 .ptr .global x'") from refused
    return replace(param, formatting=None)


def parse_raw_param(text: str, name: str) -> Param:
    """Parse a raw type string: `u32`, `u64.ptr.global.palign16`, `b8.align64.array128`.

    Raises:
        ValueError: the string is not of the form <scalar>[.ptr][.<space>][.align<N>][.palign<N>][.array<N>].
    """
    match = _RAW.fullmatch(text)
    if match is None:
        raise InputError(
            f"raw parameter {name!r} has type {text!r}; expected "
            "<scalar>[.ptr][.<space>][.align<N>][.palign<N>][.array<N>], for instance 'u32' or "
            "'b8.align64.array128'"
        )
    numbers = {word: int(n) for word, n in re.findall(r"\.(align|palign|array)(\d+)", match["rest"])}
    pointer = match["ptr"] is not None
    space = StateSpace.from_ptx(match["space"]) if match["space"] else None
    return Param(
        StateSpace.PARAM,
        ScalarType.from_ptx(match["scalar"]),
        name,
        numbers.get("array"),
        numbers.get("align"),
        space,
        numbers.get("palign", 1) if pointer else None,
    )

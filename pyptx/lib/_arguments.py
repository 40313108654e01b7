"""Checks of arguments that several building blocks have in common."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import OperandError
from pyptx.reg import Reg
from pyptx.types import PtxType

__all__ = ["bound_operation", "index", "register", "takes_three", "thread", "type_of"]

_INDICES = ("u32", "s32", "b32")


def register(value: Any, what: str, hint: str) -> Reg:
    """Return a 32-bit integer register; special registers such as `ptx.tid.x` are copied.

    Raises:
        OperandError: another value.
    """
    found = reg.readable(value)
    if not isinstance(found, Reg) or found.dtype.name not in _INDICES:
        raise OperandError(f"{what} is a 32-bit integer register, not {value!r}", at=user_place(), hint=hint)
    return found


def thread(tid: Any) -> Reg:
    """Return the register of a thread's index.

    Raises:
        OperandError: another value.
    """
    return register(tid, "the index of the thread", "pass ptx.tid.x")


def index(value: Any, what: str) -> int | Reg:
    """Return an int or a 32-bit integer register.

    Raises:
        OperandError: another value.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return register(value, what, "pass an int or an integer register")


def type_of(dtype: Any, what: str) -> PtxType:
    """Return a PTX type.

    Raises:
        OperandError: another value.
    """
    if not isinstance(dtype, PtxType):
        raise OperandError(
            f"{what} has a type of pyptx.types, not {dtype!r}",
            at=user_place(),
            hint="from pyptx.types import bf16, f16, f32",
        )
    return dtype


def takes_three(function: Any, what: str, example: str) -> None:
    """Require a function of a value and its distances in rows and columns.

    Raises:
        OperandError: no function, or one of other arguments.
    """
    if not callable(function) or not _accepts(function, 3):
        raise OperandError(
            f"{what} takes a function of an element, its row and its column, not {_shown(function)}",
            at=user_place(),
            hint=f"for example {example}",
        )


def bound_operation(operation: Callable[[Any], Any], fragment: Any) -> Callable[..., Any]:
    """Bind an operation of an epilogue to a fragment; return the function of an element.

    Raises:
        OperandError: it needs arguments first, or is not an operation.
    """
    name, example = getattr(operation, "__name__", "operation"), "frag.apply(lib.relu, lib.bias(b, column))"
    wrong = OperandError(
        f"apply takes operations of an epilogue, not {_shown(operation)}",
        at=user_place(),
        hint=f"call it with its arguments first: lib.{name}{_signature(operation)}"
        if _makes_operations(operation)
        else f"for example {example}; lib.activation(lambda value: value * 2.0) applies a function of a value",
    )
    if not _accepts(operation, 1) or _makes_operations(operation):
        raise wrong
    try:
        found = operation(fragment)
    except TypeError as error:
        if isinstance(error, OperandError):
            raise
        raise wrong from error
    if not callable(found) or not _accepts(found, 3):
        raise wrong
    return found


def _makes_operations(function: Callable[..., Any]) -> bool:
    """Return True for a function of pyptx.lib that returns an operation, such as `lib.bias`."""
    name, module = getattr(function, "__qualname__", ""), getattr(function, "__module__", None) or ""
    return module.startswith("pyptx.lib") and "." not in name and _parameters(function)[:1] != ["fragment"]


def _accepts(function: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except ValueError:  # a function in C without a signature
        return True
    except TypeError:
        return False
    return True


def _parameters(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:
        return []


def _signature(function: Callable[..., Any]) -> str:
    return f"({', '.join(_parameters(function))})"


def _shown(function: Any) -> str:
    if not callable(function):
        return repr(function)
    name = getattr(function, "__name__", repr(function))
    return ("a lambda" if name == "<lambda>" else name) + f" of {len(_parameters(function))} arguments"

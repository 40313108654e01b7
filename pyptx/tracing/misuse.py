"""Python errors raised while a kernel is traced: those that pyptx's functions and objects cause get a location and a fix."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, ModuleType
from typing import Any

from pyptx._lazy import pattern
from pyptx._loc import is_users, raised_at
from pyptx.errors import BoundsError, InputError, OperandError, PtxError, UnknownAttributeError, UnknownNameError

__all__ = ["explained"]

_CALL = pattern(r"([\w.<>]+)\(\) (?:missing|takes|got) ")
_CLASS = pattern(r"'(?:\w+\.)*(\w+)'|type (\w+) ")
_SAME: dict[type[Exception], type[PtxError]] = {
    TypeError: OperandError, AttributeError: OperandError, KeyError: UnknownNameError, IndexError: BoundsError, ValueError: InputError,
}  # fmt: skip


def explained(error: Exception) -> PtxError | None:
    """Return the error to raise instead of a Python error; None if it is not about pyptx.

    An error in the user's code counts if it is about a call of pyptx with other arguments, an attribute or an operator
    that an object of pyptx does not have. An error inside pyptx names the function that the user called, and its
    arguments: it refuses values that it does not check one by one.
    """
    place = raised_at(error)
    if place is None or isinstance(error, PtxError):
        return None
    frames = list(_frames(error))
    inner = next((i for i in reversed(range(len(frames))) if is_users(frames[i].f_code)), 0)
    if inner == len(frames) - 1:
        return _of_users_code(error, place)
    kind = next((same for of, same in _SAME.items() if isinstance(error, of)), None)
    called = frames[inner + 1]
    if kind is None or _is_foreign(called.f_code):
        return None
    return kind(f"{_text(called)}: {_message(error)}", at=place, hint=_parameters(_function_of(called.f_code)))


def _of_users_code(error: Exception, place: Any) -> PtxError | None:
    text = str(error)
    if isinstance(error, AttributeError) and _is_ours(error.obj):
        near = _near(error.name or "", error.obj)
        return UnknownAttributeError(_first_up(text), at=place, hint=f"did you mean {near}?" if near else None)
    if not isinstance(error, TypeError):
        return None
    if match := _CALL.match(text):
        functions = _named(match[1])
        hint = _parameters(functions[0]) if len(functions) == 1 else None
        return OperandError(_message(error), at=place, hint=hint) if functions else None
    names = [one or other for one, other in _CLASS.findall(text)]
    if not any(isinstance(found, type) for name in names for found in _named(name)):
        return None
    hint = "write it without (): ptx.tid.x, ptx.laneid" if "is not callable" in text else None
    return OperandError(_first_up(text), at=place, hint=hint)


def _frames(error: Exception) -> Iterator[FrameType]:
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _is_foreign(code: CodeType) -> bool:
    return is_users(code) or not code.co_filename.startswith(_ROOT)


_ROOT = __file__.removesuffix("tracing/misuse.py").removesuffix("tracing\\misuse.py")


def _is_ours(value: object) -> bool:
    name = value.__name__ if isinstance(value, ModuleType) else type(value).__module__
    return name == "pyptx" or name.startswith("pyptx.")


def _near(name: str, value: object) -> str | None:
    from difflib import get_close_matches  # imported late to keep `import pyptx` fast

    known = [one for one in dir(value) if not one.startswith("_")]
    lower = {one.lower(): one for one in known}
    found = get_close_matches(name.lower(), lower, 1)
    return lower[found[0]] if found else None


def _named(qualified: str) -> list[Any]:
    """Return the classes and functions of pyptx with a qualified name, such as `TmaRing.set_up`."""
    first, *rest = qualified.split(".")
    found: dict[int, Any] = {}
    for module in [one for name, one in sys.modules.items() if name.startswith("pyptx.")]:
        value = vars(module).get(first)
        if getattr(value, "__module__", "").startswith("pyptx."):
            for part in rest:
                value = getattr(value, part, None)
            if value is not None:
                found[id(value)] = value
    return list(found.values())


def _function_of(code: CodeType) -> Callable[..., Any] | None:
    name = code.co_qualname
    for found in _named(name.removesuffix(".__init__")):
        function = getattr(found, "__init__", None) if name.endswith(".__init__") else inspect.unwrap(found)
        if getattr(function, "__code__", None) is code:
            return found
    return None


def _parameters(function: Any) -> str | None:
    """Return a hint with the parameters of a function."""
    if function is None:
        return None
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    shown = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
    name = function.__qualname__.removesuffix(".__init__")
    return f"its parameters: {name}{signature.replace(parameters=shown, return_annotation=signature.empty)}"


def _text(frame: FrameType) -> str:
    """Return the call that a frame of pyptx executes, with its arguments."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = ", ".join(
        f"{name}={frame.f_locals[name]!r:.60}" for name in names if name != "self" and name in frame.f_locals
    )
    return f"{code.co_qualname.removesuffix('.__init__')}({given})"


def _message(error: Exception) -> str:
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return text.replace(".__init__()", "()")


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]

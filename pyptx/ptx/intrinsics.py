"""Named groups of instructions: `@intrinsic` and `with ptx.expr():`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from pyptx.tracing.trace import get_ctx, in_trace

__all__ = ["expr", "intrinsic"]

Function = TypeVar("Function", bound=Callable[..., Any])

_MAX_ARGUMENT = 40  # characters


def intrinsic(fn: Function) -> Function:
    """Mark a function as a named group: the instructions of each call are enclosed in comments in the PTX.

    Outside a trace the function is called unchanged.

    Examples:
        >>> @pyptx.intrinsic
        ... def square(x):
        ...     return x * x
        >>> @kernel
        ... def squares():
        ...     square(reg.scalar(f32, init=3.0))
        >>> print(squares.ptx())
        .version 8.5
        ...
            mov.f32 %f0, 0f40400000;
            // BEGIN square(%f0)
            mul.f32 %f1, %f0, %f0;
            // END square
        }
    """

    @functools.wraps(fn)
    def grouped(*args: Any, **kwargs: Any) -> Any:
        if not in_trace():
            return fn(*args, **kwargs)
        shown = [_shown(a) for a in args] + [f"{name}={_shown(value)}" for name, value in kwargs.items()]
        with get_ctx().intrinsic(fn.__name__, ", ".join(shown)):
            return fn(*args, **kwargs)

    grouped.__dict__["__is_ptx_intrinsic__"] = True
    return cast(Function, grouped)


def _shown(value: object) -> str:
    """Return an argument as text for a comment: its name or repr, on one line of at most 40 characters."""
    name = getattr(value, "name", None)
    text = " ".join((name if isinstance(name, str) else repr(value)).split())
    return text if len(text) <= _MAX_ARGUMENT else text[: _MAX_ARGUMENT - 3] + "..."


@contextmanager
def expr() -> Iterator[None]:
    """Group the instructions of the block in one node of the tree; the PTX is unchanged."""
    with get_ctx().compound():
        yield

"""Groups of instructions with a name: `@intrinsic`, and `with ptx.expr():`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pyptx.tracing.trace import get_ctx, in_trace

__all__ = ["expr", "intrinsic"]

Function = TypeVar("Function", bound=Callable[..., Any])

_LONGEST = 40


def intrinsic(fn: Function) -> Function:
    """Make a function a named group: what a call of it writes stands between two comments in the PTX.

    Outside a kernel it is called as it is. The return value passes through.
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

    grouped.__is_ptx_intrinsic__ = True
    return grouped


def _shown(value: object) -> str:
    """An argument in a comment: its name where it has one, on one line, 40 characters at most."""
    name = getattr(value, "name", None)
    text = " ".join((name if isinstance(name, str) else repr(value)).split())
    return text if len(text) <= _LONGEST else text[:_LONGEST - 3] + "..."


@contextmanager
def expr() -> Iterator[None]:
    """Hold instructions that compute one value in one node of the tree; the PTX is the same without it."""
    with get_ctx().compound():
        yield

"""Python and NumPy operations that a register does not have; each error names what to write instead."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from pyptx._loc import user_place
from pyptx.errors import NoValueError, OperandError

__all__ = ["NotPython"]

_OPERATORS: dict[
    str, Callable[[Any, Any], Any]
] = {  # NumPy's functions of Python's operators, for NumPy numbers on the left
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}
_INSTEAD = {  # of NumPy's functions: names of pyptx.ptx
    "absolute": "abs",
    "exp": "exp",
    "exp2": "exp2",
    "fabs": "abs",
    "log": "log",
    "log2": "log2",
    "maximum": "max",
    "minimum": "min",
    "rsqrt": "rsqrt",
    "sqrt": "sqrt",
    "tanh": "tanh",
}


class NotPython:
    """Operations that a register refuses."""

    __slots__ = ()

    def __pow__(self, other: Any) -> Any:
        raise OperandError(
            f"operator ** is not defined on registers ({self!r})",
            at=user_place(),
            hint="multiply, as in x * x, or compute ptx.exp2(y * ptx.log2(x)) for a positive x",
        )

    def __rpow__(self, other: Any) -> Any:
        raise OperandError(
            f"operator ** is not defined on registers ({self!r})",
            at=user_place(),
            hint="2**x is ptx.exp2(x) in f32, and 1 << x in integers",
        )

    def __abs__(self) -> Any:
        raise OperandError(f"Python's abs does not take registers ({self!r})", at=user_place(), hint="write ptx.abs(x)")

    def __round__(self, digits: int | None = None) -> Any:
        raise OperandError(
            f"Python's round does not take registers ({self!r})",
            at=user_place(),
            hint="write ptx.round(x), ptx.floor(x), ptx.ceil(x) or ptx.trunc(x)",
        )

    def __matmul__(self, other: Any) -> Any:
        raise OperandError(
            f"operator @ is not defined on registers ({self!r})",
            at=user_place(),
            hint="a product of matrices is ptx.mma or ptx.wgmma, one of numbers is x * y",
        )

    def __format__(self, spec: str) -> str:
        if spec:
            raise NoValueError(
                f"{self!r} has no value while the kernel is traced, so Python cannot format it",
                at=user_place(),
                hint='print it in the kernel: ptx.printf("%f\\n", x)',
            )
        return repr(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        found = _OPERATORS.get(ufunc.__name__)
        if found is not None and method == "__call__" and not options:  # a NumPy number and a register
            return found(*(one.item() if hasattr(one, "item") else one for one in inputs))
        instead = _INSTEAD.get(ufunc.__name__)
        raise NoValueError(
            f"{self!r} has no value while the kernel is traced, so np.{ufunc.__name__} cannot take it",
            at=user_place(),
            hint=f"ptx.{instead}(x) emits it"
            if instead
            else "functions of registers are under ptx, such as ptx.exp(x)",
        )

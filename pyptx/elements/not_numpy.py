"""Operations of NumPy arrays that an array parameter does not have; each error names what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyptx._loc import user_place
from pyptx.errors import OperandError, UnknownAttributeError

__all__ = ["NotNumpy"]

_INSTEAD = {
    "T": "index it the other way round: x[j, i]",
    "ndim": "len(x.shape)",
    "size": "math.prod(x.shape)",
    "sum": "ptx.block_reduce(value, 'add', ...) combines the values of the threads of a CTA",
    "max": "ptx.block_reduce(value, 'max', ...) combines the values of the threads of a CTA",
    "min": "ptx.block_reduce(value, 'min', ...) combines the values of the threads of a CTA",
    "to": "load an element and convert it: x[i].to(dtype)",
    "astype": "load an element and convert it: x[i].to(dtype)",
}


class NotNumpy:
    """Operations that an array parameter refuses: it is memory, of which a thread loads elements."""

    name: str
    shape: Any

    def __len__(self) -> int:
        if self.shape is None:
            raise OperandError(f"{self.name} has no shape here", at=user_place())
        return int(self.shape[0])

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise UnknownAttributeError(
            f"{self.__dict__.get('name', 'x')} is an array in global memory, and has no attribute {name!r}",
            hint=_INSTEAD.get(name, "x[i, j] loads an element, x.load(i, vec=4) several"),
        )

    def _refuse(self, other: object = None) -> Any:
        place = ", ".join("ij"[: len(self.shape)]) if self.shape is not None and len(self.shape) <= 2 else "..."
        raise OperandError(
            f"{self.name} is an array in memory, and operators take values in registers",
            at=user_place(),
            hint=f"load an element: {self.name}[{place}]; a kernel computes each with the index of its thread, ptx.global_id()",
        )

    __add__: Callable[..., Any] = _refuse
    __radd__: Callable[..., Any] = _refuse
    __sub__: Callable[..., Any] = _refuse
    __rsub__: Callable[..., Any] = _refuse
    __mul__: Callable[..., Any] = _refuse
    __rmul__: Callable[..., Any] = _refuse
    __truediv__: Callable[..., Any] = _refuse
    __rtruediv__: Callable[..., Any] = _refuse
    __floordiv__: Callable[..., Any] = _refuse
    __rfloordiv__: Callable[..., Any] = _refuse
    __mod__: Callable[..., Any] = _refuse
    __rmod__: Callable[..., Any] = _refuse
    __pow__: Callable[..., Any] = _refuse
    __rpow__: Callable[..., Any] = _refuse
    __matmul__: Callable[..., Any] = _refuse
    __rmatmul__: Callable[..., Any] = _refuse
    __neg__: Callable[..., Any] = _refuse
    __lt__: Callable[..., Any] = _refuse
    __le__: Callable[..., Any] = _refuse
    __gt__: Callable[..., Any] = _refuse
    __ge__: Callable[..., Any] = _refuse

"""Expressions over a stopped kernel, such as `acc[0] > 1 and lane < 4`; a name is a number, or one for each lane."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.inspect.warp_state import MemoryView, PointerView

__all__ = ["Expression"]

_REGISTER = re.compile(r"%[A-Za-z_$][\w$.]*")
_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: np.logical_not}
_FUNCTIONS: dict[str, Callable] = {
    "abs": np.abs,
    "min": np.min,
    "max": np.max,
    "sum": np.sum,
    "any": np.any,
    "all": np.all,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "int": np.int64,
    "float": np.float64,
    "sqrt": np.sqrt,
    "len": len,
}


class Expression:
    """A parsed Python expression.

    It may contain numbers, names, registers such as %r4, comparisons, arithmetic, `and`, `or`, subscripts, attributes,
    and the functions abs, min, max, sum, any, all, isnan, isinf, int, float, sqrt, and len.

    Raises:
        DebugError: the text is not such an expression.
    """

    text: str

    def __init__(self, text: str):
        self.text = text.strip()
        self._registers: dict[str, str] = {}
        try:
            self._tree = ast.parse(_REGISTER.sub(self._register_identifier, self.text), mode="eval").body
        except SyntaxError as error:
            raise DebugError(f"{self.text!r} is not a Python expression: {error.msg}") from None

    def _register_identifier(self, found: re.Match[str]) -> str:
        before = found.string[: found.start()].rstrip()
        if before and (before[-1].isalnum() or before[-1] in "_)]"):  # the modulo of `a %b`, not a register
            return found[0]
        name = f"__register_{len(self._registers)}"
        self._registers[name] = found[0]
        return name

    def __repr__(self) -> str:
        return self.text

    def value(self, lookup: Callable[[str], Any]) -> Any:
        """Evaluate the expression; `lookup` returns the values of names.

        Raises:
            DebugError: a name is not defined, or an operation does not apply to its values.
        """
        try:
            with np.errstate(all="ignore"):
                return self._value(self._tree, lookup)
        except DebugError:
            raise
        except (TypeError, ValueError, IndexError, KeyError, ZeroDivisionError, OverflowError, AttributeError) as error:
            raise DebugError(f"{self.text}: {error}") from None

    def lanes(self, lookup: Callable[[str], Any], lanes: int) -> int:
        """Return the lanes of a mask for which the expression is true.

        Raises:
            DebugError: as for `value`, or the value is not one per lane.
        """
        value = np.asarray(self.value(lookup))
        if value.shape not in ((), (1,), (32,)):
            raise DebugError(
                f"{self.text} has the shape {list(value.shape)}; a condition is one value, or one for each of 32 lanes",
                hint="use any(...) or an index",
            )
        true = np.broadcast_to(value.astype(bool), 32)
        return int(sum(1 << int(k) for k in np.flatnonzero(true))) & lanes

    def _value(self, node: ast.AST, lookup: Callable[[str], Any]) -> Any:
        def of(part: ast.AST) -> Any:
            return self._value(part, lookup)

        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None):
                return node.value
            case ast.Name(id=name):
                return lookup(self._registers.get(name, name))
            case ast.BinOp(left, op, right) if type(op) in _BINARY:
                return _BINARY[type(op)](_array(of(left)), _array(of(right)))
            case ast.UnaryOp(op, operand) if type(op) in _UNARY:
                value = _array(of(operand))
                if isinstance(op, ast.USub) and getattr(value, "dtype", None) is not None and value.dtype.kind == "u":
                    value = value.astype(np.int64)
                return _UNARY[type(op)](value)
            case ast.UnaryOp(op, operand) if isinstance(op, ast.Invert):
                value = _array(of(operand))
                return np.logical_not(value) if np.asarray(value).dtype.kind == "b" else ~value
            case ast.BoolOp(op, values):
                found = _array(of(values[0]))
                for part in values[1:]:
                    both = np.logical_and if isinstance(op, ast.And) else np.logical_or
                    found = both(found, _array(of(part)))
                return found
            case ast.Compare(left, ops, comparators):
                return self._compare(of(left), ops, [of(c) for c in comparators])
            case ast.IfExp(test, body, orelse):
                return np.where(of(test), _array(of(body)), _array(of(orelse)))
            case ast.Subscript(value, index):
                return self._element(of(value), of(index))
            case ast.Slice(lower, upper, step):
                return slice(*(None if part is None else int(of(part)) for part in (lower, upper, step)))
            case ast.Tuple(elements) | ast.List(elements):
                return tuple(of(part) for part in elements)
            case ast.Attribute(value, name):
                found = of(value)
                if isinstance(found, dict) and name in found:
                    return found[name]
                raise DebugError(f"{self.text}: no attribute .{name} here")
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(name, [of(part) for part in arguments], lookup)
        raise DebugError(
            f"{self.text}: {type(node).__name__} is not supported; expected numbers, names, registers, arithmetic, "
            "comparisons, and/or/not, indices, attributes"
        )

    def _call(self, name: str, arguments: list[Any], lookup: Callable[[str], Any]) -> Any:
        if name in _FUNCTIONS:
            return _FUNCTIONS[name](*map(_array, arguments))
        function = lookup(name)
        if not callable(function):
            raise DebugError(f"{self.text}: {name} is not a function; functions: {', '.join(_FUNCTIONS)}")
        return function(*arguments)

    def _compare(self, left: Any, ops: list[ast.cmpop], others: list[Any]) -> Any:
        found: Any = True
        for op, right in zip(ops, others, strict=True):
            if isinstance(op, ast.In | ast.NotIn):
                inside = np.isin(_array(left), _array(right))
                result = inside if isinstance(op, ast.In) else np.logical_not(inside)
            elif type(op) in _COMPARE:
                result = _COMPARE[type(op)](_array(left), _array(right))
            else:
                raise DebugError(f"{self.text}: 'is' is not supported; compare with ==")
            found, left = np.logical_and(found, result), right
        return found

    def _element(self, value: Any, index: Any) -> Any:
        if isinstance(value, tuple) and not isinstance(index, tuple | slice):
            place = int(np.asarray(index).reshape(-1)[0])
            if not -len(value) <= place < len(value):
                raise DebugError(f"{self.text}: no element {place}; elements: 0 to {len(value) - 1}")
            return value[place]
        if isinstance(value, tuple) and isinstance(index, slice):
            return value[index]
        if isinstance(value, MemoryView | PointerView):
            return value.element(_array(index) if isinstance(value, PointerView) else index)
        return _array(value)[index]


def _array(value: Any) -> Any:
    """Return several registers as one array [register][lane], and memory as its address."""
    if isinstance(value, tuple):
        return np.array([_array(part) for part in value])
    if isinstance(value, MemoryView | PointerView):
        return value.address
    return value

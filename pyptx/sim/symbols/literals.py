"""Numbers as PTX writes them, as bits of a type."""

from __future__ import annotations

import ast
import operator
import re
import struct

from pyptx.errors import SimulationError

__all__ = ["bits_of", "integer"]

_HEX_FLOAT = re.compile(r"0([fFdD])([0-9a-fA-F]+)")
_DECIMAL = re.compile(r"-?(\d+\.\d*|\.\d+|\d+[eE][+-]?\d+|\d+\.\d*[eE].*)")
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.LShift: operator.lshift,
              ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
              ast.USub: operator.neg, ast.Invert: operator.invert, ast.UAdd: operator.pos,
              ast.Not: lambda a: int(not a),
              ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
              ast.Gt: operator.gt,
              ast.GtE: operator.ge}


def integer(text: str) -> int:
    """The value of an integer literal or constant expression.

    Raises:
        SimulationError: the text is no such thing.
    """
    try:
        return int(text)
    except ValueError:
        pass
    plain = re.sub(r"\b(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[uU]?\b", _python_number, text).replace("WARP_SZ", "32")
    plain = re.sub(r"!(?!=)", " not ", plain)
    try:
        return int(_evaluate(ast.parse(plain.strip(), mode="eval").body))
    except (SyntaxError, KeyError, ValueError, ZeroDivisionError):
        raise SimulationError(f"{text!r} is no integer constant") from None


def _python_number(found: re.Match) -> str:
    digits = found[1]
    return "0o" + digits if digits.isdigit() and digits[0] == "0" and digits != "0" else digits


def _evaluate(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int()):
            return node.value
        case ast.UnaryOp():
            return _OPERATORS[type(node.op)](_evaluate(node.operand))
        case ast.BinOp(op=ast.Div()):
            left, right = _evaluate(node.left), _evaluate(node.right)
            return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        case ast.BinOp(op=ast.Mod()):
            left, right = _evaluate(node.left), _evaluate(node.right)
            return abs(left) % abs(right) * (1 if left >= 0 else -1)
        case ast.BinOp():
            return _OPERATORS[type(node.op)](_evaluate(node.left), _evaluate(node.right))
        case ast.Compare(ops=[op], comparators=[right]):
            return int(_OPERATORS[type(op)](_evaluate(node.left), _evaluate(right)))
        case ast.BoolOp(op=ast.And()):
            return int(all(map(_evaluate, node.values)))
    raise ValueError


def bits_of(text: str, type_name: str, width: int) -> int:
    """The `width` bits a literal stands for where an operand of type `type_name` is expected."""
    text = text.strip()
    found = _HEX_FLOAT.fullmatch(text)
    if found and not (found[1] in "fF" and len(found[2]) != 8):
        value = int(found[2], 16)
        if found[1] in "fF" and type_name == "f64":
            return struct.unpack("<Q", struct.pack("<d", struct.unpack("<f", struct.pack("<I", value))[0]))[0]
        if found[1] in "dD" and width == 32:
            return _float32(struct.unpack("<d", struct.pack("<Q", value))[0])
        return value & ((1 << width) - 1)
    if type_name in ("f32", "f64", "f16", "bf16", "tf32") or _DECIMAL.fullmatch(text):
        value = float(text)
        if width == 64:
            return struct.unpack("<Q", struct.pack("<d", value))[0]
        if width == 32:
            return _float32(value)
        raise SimulationError(f"a floating-point number cannot stand for {width} bits of .{type_name}")
    return integer(text) & ((1 << width) - 1)


def _float32(value: float) -> int:
    try:
        return struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000

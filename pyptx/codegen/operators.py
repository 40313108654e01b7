"""Instructions as Python operators: `a + b`, `x < 0`, `-f`, where the DSL's operator emits the same instruction."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from pyptx.codegen.canonical import canonical_mnemonic
from pyptx.ir.nodes import ImmediateOperand, Instruction, LabelOperand, Operand, RegisterOperand

__all__ = ["ATOM", "COMPARES", "Term", "python_number", "match_operator"]

ATOM = 9
_SYMBOLS = {
    "add": ("+", 6),
    "sub": ("-", 6),
    "mul": ("*", 7),
    "div": ("/", 7),
    "rem": ("%", 7),
    "shl": ("<<", 5),
    "shr": (">>", 5),
    "and": ("&", 4),
    "or": ("|", 2),
    "xor": ("^", 3),
}
COMPARES = {".lt": "<", ".le": "<=", ".gt": ">", ".ge": ">=", ".eq": "==", ".ne": "!="}
_INTEGERS = ("b32", "u32", "s32", "b64", "u64", "s64")
_NUMBERS = (*_INTEGERS, "f32", "f64")


class OperatorMatch(NamedTuple):
    """An instruction as an operator: symbol, precedence, type of the result, and operands (no `right` if unary)."""

    symbol: str
    precedence: int
    dtype: str
    left: RegisterOperand | LabelOperand
    right: Operand | None = None


class Term(NamedTuple):
    """A Python expression, its precedence (higher binds tighter), and the type of the register it evaluates to."""

    text: str
    precedence: int
    dtype: str

    def inside(self, precedence: int) -> str:
        """Return the text as an operand of an operator of that precedence, parenthesized if needed."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def match_operator(node: Instruction, dtypes: dict[str, str]) -> OperatorMatch | None:
    """Match an unguarded instruction as an operator.

    Args:
        node: the instruction.
        dtypes: types of the registers.
    Returns:
        None if no operator emits the instruction.
    """
    operands = node.operands
    if node.predicate is not None or len(operands) not in (2, 3) or not node.modifiers:
        return None
    result, left = operands[0], operands[1]
    if not isinstance(left, (RegisterOperand, LabelOperand)):
        return None
    dtype = dtypes.get(left.name)
    if dtype not in _NUMBERS or dtypes.get(getattr(result, "name", "")) is None:
        return None
    bits = dtype[1:]
    is_float = dtype[0] == "f"
    if len(operands) == 2:
        if node.opcode == "neg" and node.modifiers == (f".{dtype if dtype[0] in 'sf' else 's' + bits}",):
            return OperatorMatch("-", 8, dtype, left)
        if node.opcode == "not" and node.modifiers == (f".b{bits}",) and not is_float:
            return OperatorMatch("~", 8, dtype, left)
        return None
    right = operands[2]
    if not _fits(right, dtype, node.opcode, dtypes):
        return None
    if node.opcode == "setp" and len(node.modifiers) == 2 and node.modifiers[0] in COMPARES:
        spelled = f"{'u' if dtype[0] == 'b' else dtype[0]}{bits}"
        same = Instruction("setp", (node.modifiers[0], f".{spelled}"))
        if canonical_mnemonic(same) != canonical_mnemonic(node):
            return None
        return OperatorMatch(COMPARES[node.modifiers[0]], 1, "pred", left, right)
    spelled = _spelled(node.opcode, dtype, isinstance(right, ImmediateOperand))
    if spelled is None or canonical_mnemonic(Instruction(node.opcode, spelled)) != canonical_mnemonic(node):
        return None
    if node.opcode in ("min", "max"):
        return OperatorMatch(f".{node.opcode}", ATOM, dtype, left, right)
    symbol, precedence = _SYMBOLS[node.opcode]
    return OperatorMatch("//" if symbol == "/" and not is_float else symbol, precedence, dtype, left, right)


def _fits(right: Operand, dtype: str, opcode: str, dtypes: dict[str, str]) -> bool:
    if isinstance(right, ImmediateOperand):
        return python_number(right.text, dtype) is not None
    if not isinstance(right, (RegisterOperand, LabelOperand)) or right.name not in dtypes:
        return False
    other = dtypes[right.name]
    if opcode in ("shl", "shr"):
        return other in ("b32", "u32", "s32")
    return other in _NUMBERS and other[1:] == dtype[1:] and (other[0] == "f") == (dtype[0] == "f")


def _spelled(opcode: str, dtype: str, immediate: bool) -> tuple[str, ...] | None:
    """Return the modifiers the DSL's operator emits."""
    bits, sign = dtype[1:], "s" if dtype[0] == "s" else "u"
    if dtype[0] == "f":
        if opcode in ("add", "sub", "mul", "min", "max"):
            return (f".{dtype}",)
        return (".rn", f".{dtype}") if opcode == "div" else None
    match opcode:
        case "add":
            return (".s64",) if bits == "64" else (f".{sign}32",)
        case "sub":
            return (f".s{bits}",)
        case "mul":
            return (".lo", f".{'u64' if bits == '64' else 's32' if immediate else 'u32'}")
        case "shl" | "and" | "or" | "xor":
            return (f".b{bits}",)
        case "shr" | "div" | "rem":
            return (f".{sign}{bits}",)
        case "min" | "max":
            return (f".{sign}{bits}",)
    return None


_DECIMAL = re.compile(r"-?(0|[1-9]\d*)")
_HEX_FLOAT = {"f32": re.compile(r"0[fF][0-9a-fA-F]{8}"), "f64": re.compile(r"0[dD][0-9a-fA-F]{16}")}


def python_number(text: str, dtype: str) -> str | None:
    """Return a Python number that is emitted as the same literal; None if there is none."""
    if dtype[:1] != "f":
        return text if _DECIMAL.fullmatch(text) and text != "-0" else None
    pattern = _HEX_FLOAT.get(dtype)
    if pattern is None or not pattern.fullmatch(text) or text[2:] != text[2:].upper():
        return None
    value = struct.unpack(">f" if dtype == "f32" else ">d", bytes.fromhex(text[2:]))[0]
    if value != value or value in (float("inf"), float("-inf")):
        return None
    shown = repr(value) if dtype == "f64" else _shortest(value)
    return shown if text[1] == ("f" if dtype == "f32" else "d") else None


_MAX_F32 = struct.unpack(">f", bytes.fromhex("7F7FFFFF"))[0]


def _shortest(value: float) -> str:
    """Return the shortest decimal that rounds to this f32."""
    for digits in range(1, 18):
        rounded = float(f"{value:.{digits}g}")
        if abs(rounded) <= _MAX_F32 and struct.pack(">f", rounded) == struct.pack(">f", value):
            return repr(rounded)
    return repr(value)

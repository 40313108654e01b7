"""Instructions as operators: `a + b`, `x < 0`, `-f`, where the DSL's operator writes the same instruction."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from pyptx.codegen.meaning import mnemonic
from pyptx.ir.nodes import ImmediateOperand, Instruction, LabelOperand, Operand, RegisterOperand

__all__ = ["ATOM", "COMPARES", "Term", "number", "operator"]

ATOM = 9
_SYMBOLS = {"add": ("+", 6), "sub": ("-", 6), "mul": ("*", 7), "div": ("/", 7), "rem": ("%", 7), "shl": ("<<", 5),
            "shr": (">>", 5), "and": ("&", 4), "or": ("|", 2), "xor": ("^", 3)}
COMPARES = {".lt": "<", ".le": "<=", ".gt": ">", ".ge": ">=", ".eq": "==", ".ne": "!="}
_INTEGERS = ("b32", "u32", "s32", "b64", "u64", "s64")
_NUMBERS = (*_INTEGERS, "f32", "f64")


class Term(NamedTuple):
    """A Python expression, how tightly it binds, and the type of the register it gives."""

    text: str
    binds: int
    kind: str

    def inside(self, binds: int) -> str:
        """The text as an operand of something that binds so tightly."""
        return self.text if self.binds >= binds else f"({self.text})"


def operator(node: Instruction, kinds: dict[str, str]) -> tuple[str, int, str, tuple[Operand, ...]] | None:
    """What an instruction without a guard is as an operator: symbol, how it binds, type of the result, its operands.

    Args:
        kinds: types of the registers.
    """
    operands = node.operands
    if node.predicate is not None or len(operands) not in (2, 3) or not node.modifiers:
        return None
    result, left = operands[0], operands[1]
    if not isinstance(left, (RegisterOperand, LabelOperand)):
        return None
    kind = kinds.get(left.name)
    if kind not in _NUMBERS or kinds.get(getattr(result, "name", "")) is None:
        return None
    bits = kind[1:]
    is_float = kind[0] == "f"
    if len(operands) == 2:
        if node.opcode == "neg" and node.modifiers == (f".{kind if kind[0] in 'sf' else 's' + bits}",):
            return "-", 8, kind, (left,)
        if node.opcode == "not" and node.modifiers == (f".b{bits}",) and not is_float:
            return "~", 8, kind, (left,)
        return None
    right = operands[2]
    if not _fits(right, kind, node.opcode, kinds):
        return None
    if node.opcode == "setp" and len(node.modifiers) == 2 and node.modifiers[0] in COMPARES:
        spelled = f"{'u' if kind[0] == 'b' else kind[0]}{bits}"
        same = Instruction("setp", (node.modifiers[0], f".{spelled}"))
        return (COMPARES[node.modifiers[0]], 1, "pred", (left, right)) if mnemonic(same) == mnemonic(node) else None
    spelled = _spelled(node.opcode, kind, isinstance(right, ImmediateOperand))
    if spelled is None or mnemonic(Instruction(node.opcode, spelled)) != mnemonic(node):
        return None
    if node.opcode in ("min", "max"):
        return f".{node.opcode}", ATOM, kind, (left, right)
    symbol, binds = _SYMBOLS[node.opcode]
    return ("//" if symbol == "/" and not is_float else symbol), binds, kind, (left, right)


def _fits(right: Operand, kind: str, opcode: str, kinds: dict[str, str]) -> bool:
    if isinstance(right, ImmediateOperand):
        return number(right.text, kind) is not None
    if not isinstance(right, (RegisterOperand, LabelOperand)) or right.name not in kinds:
        return False
    other = kinds[right.name]
    if opcode in ("shl", "shr"):
        return other in ("b32", "u32", "s32")
    return other in _NUMBERS and other[1:] == kind[1:] and (other[0] == "f") == (kind[0] == "f")


def _spelled(opcode: str, kind: str, immediate: bool) -> tuple[str, ...] | None:
    """The modifiers the DSL's operator writes."""
    bits, sign = kind[1:], "s" if kind[0] == "s" else "u"
    if kind[0] == "f":
        if opcode in ("add", "sub", "mul", "min", "max"):
            return (f".{kind}",)
        return (".rn", f".{kind}") if opcode == "div" else None
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


def number(text: str, kind: str) -> str | None:
    """A literal as a Python number that is written back the same; None when there is none."""
    if kind[:1] != "f":
        return text if _DECIMAL.fullmatch(text) and text != "-0" else None
    pattern = _HEX_FLOAT.get(kind)
    if pattern is None or not pattern.fullmatch(text) or text[2:] != text[2:].upper():
        return None
    value = struct.unpack(">f" if kind == "f32" else ">d", bytes.fromhex(text[2:]))[0]
    if value != value or value in (float("inf"), float("-inf")):
        return None
    shown = repr(value) if kind == "f64" else _shortest(value)
    return shown if text[1] == ("f" if kind == "f32" else "d") else None


def _shortest(value: float) -> str:
    """The shortest decimal that is this f32."""
    for digits in range(1, 18):
        text = f"{value:.{digits}g}"
        if struct.pack(">f", float(text)) == struct.pack(">f", value):
            return repr(float(text))
    return repr(value)

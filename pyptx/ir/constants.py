"""Evaluation of constant expressions: `4*(2+1)`, `WARP_SZ-1`, `1<<3`, `(.s64)-2`, `N ? 2 : 3`.

Source: PTX ISA, "Constants" and "Constant Expressions".
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache

from pyptx._lazy import pattern
from pyptx.errors import InputError
from pyptx.ir.formatting import integer

__all__ = ["constant_value", "literal_kind"]

_TOKEN = pattern(
    r"\s*(0[xXbB][0-9a-fA-F]+U?|\d+U?|WARP_SZ|\(\s*\.[su]64\s*\)"
    r"|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&^|!~?:()])"
)
MAX_NESTING = 200  # parentheses and conditionals
_UNARY = {"-": operator.neg, "+": operator.pos, "!": lambda a: int(not a), "~": operator.invert}


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda a, b: int(bool(a or b))),
    "&&": (2, lambda a, b: int(bool(a and b))),
    "|": (3, operator.or_),
    "^": (4, operator.xor),
    "&": (5, operator.and_),
    "==": (6, operator.eq),
    "!=": (6, operator.ne),
    "<": (7, operator.lt),
    ">": (7, operator.gt),
    "<=": (7, operator.le),
    ">=": (7, operator.ge),
    "<<": (8, lambda a, b: a << (b & 63)),
    ">>": (8, lambda a, b: a >> (b & 63)),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
    "/": (10, _quotient),
    "%": (10, lambda a, b: a - _quotient(a, b) * b),
}


class _ExpressionParser:
    def __init__(self, text: str):
        self.words, self.depth, at, text = [], 0, 0, text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise InputError(text)
            self.words.append(found[1])
            at = found.end()
        self.words.reverse()

    def take(self, word: str) -> bool:
        if self.words and self.words[-1] == word:
            self.words.pop()
            return True
        return False

    def need(self, word: str) -> None:
        if not self.take(word):
            raise InputError(word)

    def choice(self) -> int:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise InputError("the expression is nested too deeply")
        value = self.binary(1)
        if self.take("?"):
            yes = self.choice()
            self.need(":")
            no = self.choice()
            value = yes if value else no
        self.depth -= 1
        return value

    def binary(self, least: int) -> int:
        value = self.unary()
        while self.words and (rule := _BINARY.get(self.words[-1])) and rule[0] >= least:
            self.words.pop()
            value = int(rule[1](value, self.binary(rule[0] + 1)))
        return value

    def unary(self) -> int:
        prefixes = []  # signs and casts
        while self.words and (self.words[-1] in _UNARY or (len(self.words[-1]) > 1 and self.words[-1][0] == "(")):
            prefixes.append(self.words.pop())
        if not self.words:
            raise InputError("an operand is missing")
        word = self.words.pop()
        if word == "(":
            value = self.choice()
            self.need(")")
        elif (value := integer(word)) is None:
            raise InputError(word)
        for prefix in reversed(prefixes):
            if prefix in _UNARY:
                value = _UNARY[prefix](value)
            else:
                value &= (1 << 64) - 1
                value -= value >> 63 << 64 if "s" in prefix else 0
        return value


@lru_cache(maxsize=8192)
def constant_value(text: str) -> int | None:
    """Return the value of an integer literal or constant expression; None for any other text.

    An expression that contains a name has no value. Sums and products are exact: they do not wrap at 64 bits.
    """
    if _is_plain(text):
        return integer(text)
    try:
        parser = _ExpressionParser(text)
        value = parser.choice()
    except (ValueError, ZeroDivisionError):
        return None
    return None if parser.words else value


_HEX_FLOAT = pattern(r"0([fF])[0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}")
_FLOAT = pattern(r"-?(\d+\.\d*|\.\d+|\d+(?=[eE][+-]?\d))([eE][+-]?\d+)?")
_FLOATS = pattern(r"(?<![\w.$%])(\d+\.\d*|\.\d+|\d+[eE][+-]?\d+)")
_INTEGERS = pattern(r"\b0[xXbB][0-9a-fA-F]+U?|\b\d+U?\b|\(\s*\.[su]64\s*\)")
_NAME = pattern(r"[A-Za-z_$%][\w$]*")


def _is_plain(text: str) -> bool:
    """Return True for a number of decimal digits only."""
    return text.isascii() and text.isdigit()


@lru_cache(maxsize=8192)
def literal_kind(text: str) -> str:
    """Classify a literal or constant expression.

    Returns:
        "int"; "float" for decimal floats; "hex" or "hex64" for 0f and 0d floats; "name" when it contains a symbol.
    """
    if _is_plain(text.removeprefix("-")):
        return "int"
    hexadecimal = _HEX_FLOAT.fullmatch(text)
    if hexadecimal:
        return "hex" if hexadecimal[1] else "hex64"
    if _FLOAT.fullmatch(text) or _FLOATS.search(text):
        return "float"
    return "name" if any(name != "WARP_SZ" for name in _NAME.findall(_INTEGERS.sub("", text))) else "int"

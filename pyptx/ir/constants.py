"""Constant expressions: `4*(2+1)`, `WARP_SZ-1`, `1<<3`, `(.s64)-2`, `N ? 2 : 3`.

Source: PTX ISA, "Constants" and "Constant Expressions".
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import lru_cache

from pyptx.ir.formatting import integer

__all__ = ["constant_value"]

_TOKEN = re.compile(r"\s*(0[xXbB][0-9a-fA-F]+U?|\d+U?|WARP_SZ|\(\s*\.[su]64\s*\)"
                    r"|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&^|!~?:()])")
_UNARY = {"-": operator.neg, "+": operator.pos, "!": lambda a: int(not a), "~": operator.invert}


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda a, b: int(bool(a or b))), "&&": (2, lambda a, b: int(bool(a and b))), "|": (3, operator.or_),
    "^": (4, operator.xor), "&": (5, operator.and_), "==": (6, operator.eq), "!=": (6, operator.ne),
    "<": (7, operator.lt), ">": (7, operator.gt), "<=": (7, operator.le), ">=": (7, operator.ge),
    "<<": (8, lambda a, b: a << (b & 63)), ">>": (8, lambda a, b: a >> (b & 63)), "+": (9, operator.add),
    "-": (9, operator.sub), "*": (10, operator.mul), "/": (10, _quotient),
    "%": (10, lambda a, b: a - _quotient(a, b) * b)}


class _Reader:
    def __init__(self, text: str):
        self.words, at, text = [], 0, text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise ValueError(text)
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
            raise ValueError(word)

    def choice(self) -> int:
        value = self.binary(1)
        if not self.take("?"):
            return value
        yes = self.choice()
        self.need(":")
        no = self.choice()
        return yes if value else no

    def binary(self, least: int) -> int:
        value = self.unary()
        while self.words and (rule := _BINARY.get(self.words[-1])) and rule[0] >= least:
            self.words.pop()
            value = int(rule[1](value, self.binary(rule[0] + 1)))
        return value

    def unary(self) -> int:
        if not self.words:
            raise ValueError("an operand is missing")
        word = self.words.pop()
        if word in _UNARY:
            return _UNARY[word](self.unary())
        if word == "(":
            value = self.choice()
            self.need(")")
            return value
        if word[0] == "(":                                  # a cast
            value = self.unary() & (1 << 64) - 1
            return value - (value >> 63 << 64) if "s" in word else value
        found = integer(word)
        if found is None:
            raise ValueError(word)
        return found


@lru_cache(maxsize=8192)
def constant_value(text: str) -> int | None:
    """The value of an integer literal or constant expression; None for anything else, such as one with a name in it.

    Sums and products are exact: they do not wrap at 64 bits.
    """
    try:
        reader = _Reader(text)
        value = reader.choice()
    except (ValueError, ZeroDivisionError):
        return None
    return None if reader.words else value

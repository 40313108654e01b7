"""Parser of syntax lines such as `add{.rnd}{.ftz}.f32  d, a, b`, written as in the PTX manual.

Mnemonic: `.word` is required, `{.word}` is optional. A word that names a cell of dotted choices is a slot, any other
word is literal; `m64n<n>k16` has the slot `n` inside a word. Both occurrences of a repeated slot have the same choice.

Operands:

    d                         a register (or a number or name, depending on its type)
    [a]                       an address
    [tm, {c*dim}]             a tensor address
    {d*4}                     a brace vector; the count may depend on slots: {d*n/2}
    d|p                       a pair
    p{|q}                     a pair with an optional second half
    {, c}                     an optional operand
    {, cp if .L2::cache_hint} an operand that is present exactly when the modifier is
    (r)                       a call list
    a.sel                     an operand with a selector
    a{.sel}                   an operand with an optional selector

Anything else is literal.
"""

from __future__ import annotations

import re

from pyptx._frozen import frozen
from pyptx._lazy import pattern
from pyptx.errors import TableError

__all__ = ["Item", "Part", "Word", "parse_mnemonic", "parse_operands"]


@frozen
class Word:
    """Dotted word of a mnemonic. `slot` is the slot between `before` and `after`, None for a literal word."""

    text: str
    slot: str | None
    before: str
    after: str
    optional: bool
    pair: int  # words of one `{.a.b}` share a number: all of them are present or none


@frozen
class Part:
    """Part of an operand.

    Attributes:
        kind: "operand" (name), "literal" (name is the text), "vector", "address", "list", "pair".
        name: of an operand, or the literal text.
        parts: of a vector, address, list or pair.
        count: of a vector with one repeated part: an expression over slots.
        suffix: what follows: a selector's cell name, or ".unified".
        optional: the second half of a pair, or the selector, may be absent.
    """

    kind: str
    name: str = ""
    parts: tuple[Part, ...] = ()
    count: str = ""
    suffix: str = ""
    optional: bool = False


@frozen
class Item:
    """Entry of the operand list. `condition` is a modifier with its dot."""

    part: Part
    optional: bool = False
    condition: str = ""


_MNEMONIC = pattern(r"\{((?:\.[^.{}\s]+)+)\}|\.([^.{}\s]+)")
_GLUED = pattern(r"(.*)<(\w+)>(.*)")


def parse_mnemonic(text: str, cells: dict) -> tuple[str, tuple[Word, ...]]:
    """Parse a mnemonic; return the opcode and its dotted words."""
    opcode = text.partition(".")[0].removesuffix("{")
    if not opcode.isidentifier():
        raise TableError(f"{text!r} does not start with an opcode word")
    words, at = [], len(opcode)
    while at < len(text):
        found = _MNEMONIC.match(text, at)
        if found is None:
            raise TableError(f"{text!r}: cannot read {text[at:]!r}; expected .word or {{.word}}")
        for word in found[1][1:].split(".") if found[1] else [found[2]]:
            glued = _GLUED.fullmatch(word) if "<" in word else None
            if glued:
                slot, before, after = glued[2], glued[1], glued[3]
            else:
                is_slot = cells.get(word, "")[:1] == "."
                slot, before, after = (word, "", "") if is_slot else (None, "", "")
            words.append(Word("." + word, slot, before, after, bool(found[1]), at))
        at = found.end()
    return opcode, tuple(words)


def parse_operands(text: str) -> tuple[Item, ...]:
    """Parse an operand list."""
    return _OperandParser(text).items() if text else ()


_NAME = pattern(r"[%A-Za-z0-9_+-]+")
_COUNT = pattern(r"[\w*/+()-]+")


class _OperandParser:
    def __init__(self, text: str):
        self.text, self.at = text, 0

    def items(self) -> tuple[Item, ...]:
        items = [Item(self.pair())]
        while self.at < len(self.text):
            if self.take("{, "):
                part, condition = self.pair(), ""
                if self.take(" if "):
                    end = self.text.index("}", self.at)
                    condition, self.at = self.text[self.at : end], end
                self.need("}")
                items.append(Item(part, True, condition))
            else:
                self.need(", ")
                items.append(Item(self.pair()))
        return tuple(items)

    def take(self, text: str) -> bool:
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def need(self, text: str) -> None:
        if not self.take(text):
            raise TableError(f"{self.text!r}: expected {text!r} before {self.text[self.at :]!r}")

    def match(self, pattern: re.Pattern[str], what: str) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise TableError(f"{self.text!r}: expected {what} before {self.text[self.at :]!r}")
        self.at = found.end()
        return found[0]

    def pair(self) -> Part:
        left = self.part()
        if self.take("{|"):
            right = self.part()
            self.need("}")
            return Part("pair", parts=(left, right), optional=True)
        if self.take("|"):
            return Part("pair", parts=(left, self.part()))
        return left

    def part(self) -> Part:
        if self.take("["):
            parts = self.parts("]")
            suffix = ".unified" if self.take(".unified") else ""
            return Part("address", parts=parts, suffix=suffix)
        if self.take("("):
            return Part("list", parts=self.parts(")"))
        if self.take("{"):
            return self.vector()
        return self.name()

    def parts(self, close: str) -> tuple[Part, ...]:
        parts = [self.part()]
        while self.take(", "):
            parts.append(self.part())
        self.need(close)
        return tuple(parts)

    def vector(self) -> Part:
        first = self.name()
        count = ""
        if self.take("*"):
            count = self.match(_COUNT, "a count")
            self.need("}")
            return Part("vector", parts=(first,), count=count)
        parts = [first]
        while self.take(", "):
            parts.append(self.name())
        self.need("}")
        return Part("vector", parts=tuple(parts))

    def name(self) -> Part:
        text = self.match(_NAME, "an operand")
        suffix, optional = "", self.take("{.")
        if optional or self.take("."):
            suffix = self.match(_NAME, "a selector")
            if optional:
                self.need("}")
        if text[0].isdigit() or text[0] in "%_":
            return Part("literal", text, suffix=suffix)
        return Part("operand", text, suffix=suffix, optional=optional)

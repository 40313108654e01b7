"""Names of C++ functions: the qualified name and the parameter types of a mangled name.

Source: Itanium C++ ABI, "External Names". A name with a part that is not known here has no result, and is shown as it is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Demangled", "demangle", "local_names", "qualified_name"]

_BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double", "e": "long double",
    "z": "...",
}  # fmt: skip
_EXTENDED = {
    "Dh": "half",
    "Di": "char32_t",
    "Ds": "char16_t",
    "Du": "char8_t",
    "Dn": "std::nullptr_t",
    "DF16b": "__bf16",
}
_STANDARD = {"St": "std", "Sa": "std::allocator", "Ss": "std::string"}
_QUALIFIERS = {"K": "const", "V": "volatile", "r": "__restrict__"}


class Demangled(NamedTuple):
    """A function: its qualified name with template arguments, and its parameter types."""

    name: str
    params: tuple[str, ...]


class _UnknownError(Exception):
    """The name has a part that is not supported."""


def demangle(mangled: str) -> Demangled | None:
    """Return the function that a mangled name denotes; None if it is not mangled, or too complicated."""
    if not mangled.startswith("_Z"):
        return None
    try:
        return _Reader(mangled[2:]).function()
    except (_UnknownError, IndexError):
        return None


def qualified_name(symbol: str) -> str:
    """Return the name of a function or variable in the source, with namespaces and template arguments; else the symbol."""
    found = demangle(symbol)
    return symbol if found is None else found.name


_LOCAL = re.compile(r"\b_ZZ\w+")


def local_names(text: str) -> str:
    """Return a text with the names of variables in functions, such as `__shared__` arrays, as the source has them."""
    return _LOCAL.sub(lambda found: _local(found[0]), text)


def _local(mangled: str) -> str:
    for length in re.finditer(r"E(\d+)(?=[A-Za-z_])", mangled):
        name, rest = mangled[length.end() :][: int(length[1])], mangled[length.end() + int(length[1]) :]
        if len(name) == int(length[1]) and re.fullmatch(r"(_\d+_?|__\d+_)?", rest):
            return name
    return mangled


class _Reader:
    def __init__(self, text: str):
        self.text, self.at = text, 0
        self.substitutions: list[str] = []
        self.arguments: list[str] = []

    def function(self) -> Demangled:
        name, is_template = self._name()
        if is_template:
            self._type()  # of the result
        params = []
        while self.at < len(self.text) and self.text[self.at] not in ".E":
            params += self._type_or_pack()
        return Demangled(name, () if params == ["void"] else tuple(params))

    def _take(self, prefix: str) -> bool:
        found = self.text.startswith(prefix, self.at)
        self.at += len(prefix) * found
        return found

    def _name(self) -> tuple[str, bool]:
        if self._take("N"):
            while self.text[self.at] in "KVr":
                self.at += 1
            return self._nested()
        if self.text[self.at] == "S" and self.text[self.at + 1] != "t":
            name = self._substitution()
        else:
            prefix = "std::" if self._take("St") else ""
            name = prefix + self._source_name()
            if self.text.startswith("I", self.at):
                self.substitutions.append(name)
        if self.text.startswith("I", self.at):
            return name + self._template_arguments(), True
        return name, False

    def _nested(self) -> tuple[str, bool]:
        name, is_template = "", False
        while not self._take("E"):
            if self.text[self.at] == "I":
                name += self._template_arguments()
                is_template = True
            elif self.text[self.at] == "S" and not self.text.startswith("St", self.at):
                name = self._substitution()
                continue
            elif self._take("St"):
                name = "std"
                continue
            else:
                name = f"{name}::{self._source_name()}" if name else self._source_name()
                is_template = False
            if self.text[self.at] != "E":
                self.substitutions.append(name)
        return name, is_template

    def _source_name(self) -> str:
        self._take("L")  # of a name with internal linkage
        if not (size := self._digits()):
            raise _UnknownError
        found = self.text[self.at : self.at + int(size)]
        self.at += int(size)
        return "(anonymous namespace)" if found.startswith("_GLOBAL__N") or "_INTERNAL_" in found else found

    def _digits(self) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at].isdigit():
            self.at += 1
        return self.text[start : self.at]

    def _substitution(self) -> str:
        self.at += 1
        start = self.at
        while self.text[self.at] != "_":
            self.at += 1
        digits = self.text[start : self.at]
        self.at += 1
        number = int(digits, 36) + 1 if digits else 0
        if number >= len(self.substitutions):
            raise _UnknownError
        return self.substitutions[number]

    def _parameter(self) -> str:
        self.at += 1
        digits = self._digits()
        if not self._take("_"):
            raise _UnknownError
        return self.arguments[int(digits) + 1 if digits else 0]

    def _template_arguments(self) -> str:
        self.at += 1
        found: list[str] = []
        while not self._take("E"):
            found += self._argument()
        self.arguments = found
        text = ", ".join(found)
        return f"<{text}>"

    def _argument(self) -> list[str]:
        if self._take("J"):
            found: list[str] = []
            while not self._take("E"):
                found += self._argument()
            return found
        if self._take("L"):
            if self._take("_Z"):
                raise _UnknownError
            kind = self._type()
            sign = "-" if self._take("n") else ""
            start = self.at
            while self.text[self.at] != "E":
                self.at += 1
            value = self.text[start : self.at]
            self.at += 1
            if kind == "bool":
                return ["true" if value == "1" else "false"]
            plain = kind in ("int", "long", "short", "long long", "char") or kind.startswith("unsigned")
            return [sign + value if plain else f"({kind}){sign}{value}"]
        return [self._type()]

    def _type_or_pack(self) -> list[str]:
        return [self._type()]

    def _type(self) -> str:
        char = self.text[self.at]
        if char in _QUALIFIERS:
            words = []
            while self.text[self.at] in _QUALIFIERS:
                words.append(_QUALIFIERS[self.text[self.at]])
                self.at += 1
            inner = self._type()
            return self._kept(" ".join([inner, *words]) if inner.endswith("*") else " ".join([*words, inner]))
        if char in "PRO":
            self.at += 1
            return self._kept(self._type() + {"P": "*", "R": "&", "O": "&&"}[char])
        if char == "A":
            self.at += 1
            size = self._digits()
            if not self._take("_"):
                raise _UnknownError
            return self._kept(f"{self._type()}[{size}]")
        if char == "T":
            found = self._kept(self._parameter())
            return self._kept(found + self._template_arguments()) if self.text.startswith("I", self.at) else found
        if char == "D":
            for code, name in _EXTENDED.items():
                if self._take(code):
                    return name
            raise _UnknownError
        if char == "S" and not self.text.startswith("St", self.at):
            found = self._substitution()
            if self.text.startswith("I", self.at):
                return self._kept(found + self._template_arguments_of_type())
            return found
        if char in _BUILTIN and char != "N":
            self.at += 1
            return _BUILTIN[char]
        if char.isdigit() or char in "NS":
            kept = self.arguments
            name, _ = self._name()
            self.arguments = kept
            return self._kept(name)
        raise _UnknownError

    def _template_arguments_of_type(self) -> str:
        kept = self.arguments
        text = self._template_arguments()
        self.arguments = kept
        return text

    def _kept(self, name: str) -> str:
        self.substitutions.append(name)
        return name

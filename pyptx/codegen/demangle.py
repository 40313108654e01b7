"""Demangling of C++ names: `_ZN4math8evaluateIfLi2EEEvPKT_` is math::evaluate<float, 2>.

Implements the part of the Itanium C++ ABI that names and template arguments use. Parameter types are ignored; a name
that needs more of the grammar is left mangled.
"""

from __future__ import annotations

import re

from pyptx.errors import InputError

__all__ = ["demangled", "plain_name"]

_BUILTIN = {
    "v": "void",
    "b": "bool",
    "c": "char",
    "a": "signed char",
    "h": "unsigned char",
    "s": "short",
    "t": "unsigned short",
    "i": "int",
    "j": "unsigned",
    "l": "long",
    "m": "unsigned long",
    "x": "long long",
    "y": "unsigned long long",
    "f": "float",
    "d": "double",
}


class _Reader:
    """Parser of a mangled name; raises ValueError for unsupported grammar."""

    def __init__(self, text: str):
        self.text, self.at = text, 0

    def take(self, start: str) -> bool:
        if self.text.startswith(start, self.at):
            self.at += len(start)
            return True
        return False

    def name(self) -> list[str]:
        """Parse a possibly nested name into its components, each with its template arguments."""
        if not self.take("N"):
            return [self.part()]
        while self.take("K") or self.take("V"):
            pass
        parts = []
        while not self.take("E"):
            parts.append(self.part())
        return parts

    def part(self) -> str:
        if self.take("12_GLOBAL__N_1"):
            return "(anonymous)"
        found = re.compile(r"\d+").match(self.text, self.at)
        if found is None:
            raise InputError(self.text)
        start = found.end()
        self.at = start + int(found[0])
        if self.at > len(self.text):
            raise InputError(self.text)
        return self.text[start : self.at] + self.arguments()

    def arguments(self) -> str:
        if not self.take("I"):
            return ""
        found = []
        while not self.take("E"):
            found.append(self.type())
        return f"<{', '.join(found)}>"

    def type(self) -> str:
        if self.take("L"):  # a number
            kind = self.type()
            match = re.compile(r"(n?)(\d+)E").match(self.text, self.at)
            if match is None:
                raise InputError(self.text)
            self.at = match.end()
            if kind == "bool":
                return "true" if match[2] != "0" else "false"
            return ("-" if match[1] else "") + match[2]
        if self.take("P"):
            return self.type() + "*"
        if self.take("R"):
            return self.type() + "&"
        if self.take("K"):
            return "const " + self.type()
        if self.text[self.at : self.at + 1] in _BUILTIN:
            self.at += 1
            return _BUILTIN[self.text[self.at - 1]]
        return "::".join(self.name())


def demangled(name: str) -> str | None:
    """Return the C++ name with its template arguments; None if it is not mangled or not supported."""
    if not name.startswith("_Z"):
        return None
    try:
        return "::".join(_Reader(name[2:]).name())
    except (ValueError, RecursionError):
        return None


def plain_name(name: str) -> str:
    """Return a short name for a function: the last component of its C++ name, without template arguments."""
    found = demangled(name)
    if found is None:
        return name
    return re.sub(r"<.*>", "", found).split("::")[-1]

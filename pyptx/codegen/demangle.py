"""The readable part of C++ names: `_ZN4math8evaluateIfLi2EEEvPKT_` is math::evaluate<float, 2>.

Of a mangled name (Itanium C++ ABI) only the name itself is read, not the types of the parameters; a name that uses
more of the grammar than is read here stays as it is.
"""

from __future__ import annotations

import re

__all__ = ["demangled", "plain_name"]

_BUILTIN = {"v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
            "t": "unsigned short", "i": "int", "j": "unsigned", "l": "long", "m": "unsigned long", "x": "long long",
            "y": "unsigned long long", "f": "float", "d": "double"}


class _Reader:
    """Reads from the front of a mangled name; ValueError where it does not know on."""

    def __init__(self, text: str):
        self.text, self.at = text, 0

    def take(self, start: str) -> bool:
        if self.text.startswith(start, self.at):
            self.at += len(start)
            return True
        return False

    def name(self) -> list[str]:
        """The parts of a name, template arguments with the last."""
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
            raise ValueError(self.text)
        start = found.end()
        self.at = start + int(found[0])
        if self.at > len(self.text):
            raise ValueError(self.text)
        return self.text[start:self.at] + self.arguments()

    def arguments(self) -> str:
        if not self.take("I"):
            return ""
        found = []
        while not self.take("E"):
            found.append(self.type())
        return f"<{', '.join(found)}>"

    def type(self) -> str:
        if self.take("L"):                              # a number
            kind = self.type()
            match = re.compile(r"(n?)(\d+)E").match(self.text, self.at)
            if match is None:
                raise ValueError(self.text)
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
        if self.text[self.at:self.at + 1] in _BUILTIN:
            self.at += 1
            return _BUILTIN[self.text[self.at - 1]]
        return "::".join(self.name())


def demangled(name: str) -> str | None:
    """The C++ name with its template arguments; None when it is no mangled name, or one that is not read here."""
    if not name.startswith("_Z"):
        return None
    try:
        return "::".join(_Reader(name[2:]).name())
    except (ValueError, RecursionError):
        return None


def plain_name(name: str) -> str:
    """A short identifier for a function: the last part of its C++ name, without template arguments."""
    found = demangled(name)
    if found is None:
        return name
    return re.sub(r"<.*>", "", found).split("::")[-1]

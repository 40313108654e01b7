"""Layout of generated Python: indentation, lines of at most 110 characters, identifiers and string literals."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator

__all__ = ["Lines", "WIDTH", "identifier", "literal"]

WIDTH = 110


class Lines:
    """Python source being written, line by line.

    Attributes:
        depth: indentation of the next line, in levels of four spaces.
        out: the lines so far.
        starts: where in `out` a part begins that can be executed by itself; True for a part of a function body.
    """

    def __init__(self, depth: int = 0):
        self.depth = depth
        self.out: list[str] = []
        self.starts: list[tuple[int, bool]] = [(0, False)]

    def begin_part(self, *, inside: bool = False) -> None:
        """Begin a part of the file, or of the body of the function before it; see `execution.Part`."""
        self.starts.append((len(self.out), inside))

    def add(self, text: str = "") -> None:
        """Append one line at the current indentation."""
        self.out.append("    " * self.depth + text if text else "")

    def call(self, head: str, arguments: list[str], tail: str = ")") -> None:
        """Append `head(arguments)`, wrapped between arguments if too long; `head` ends with its parenthesis."""
        text = "    " * self.depth + head + ", ".join(arguments) + tail
        if len(text) <= WIDTH or not arguments:
            self.out.append(text)
            return
        column = " " * (4 * self.depth + len(head))
        if len(column) > WIDTH // 2:
            column = "    " * (self.depth + 2)
            self.out.append("    " * self.depth + head)
            line = column
        else:
            line = "    " * self.depth + head
        start = len(column)
        for i, argument in enumerate(arguments):
            piece = argument + (", " if i + 1 < len(arguments) else tail)
            if len(line) > start and len(line) + len(piece.rstrip()) > WIDTH:
                self.out.append(line.rstrip())
                line = column
            for part in _pieces(piece, WIDTH - len(column)):
                if len(line) > start and len(line) + len(part.rstrip()) > WIDTH:
                    self.out.append(line.rstrip())
                    line = column
                line += part
        self.out.append(line.rstrip())

    def assign(self, variable: str, text: str) -> None:
        """Append `variable = text`, wrapped if the text is a call and too long."""
        line = f"{variable} = {text}"
        if len(line) + 4 * self.depth <= WIDTH or not text.endswith(")") or "(" not in text:
            self.add(line)
            return
        head, _, rest = text.partition("(")
        self.call(f"{variable} = {head}(", _arguments(rest[:-1]))

    def parts(self) -> Iterator[tuple[str, bool]]:
        """Yield the source of each part, and True for a part of a function body."""
        ends = [start for start, _ in self.starts[1:]] + [len(self.out)]
        for (start, inside), end in zip(self.starts, ends, strict=True):
            if start < end:
                yield "\n".join(self.out[start:end]) + "\n", inside


def _arguments(text: str) -> list[str]:
    """Split arguments at commas outside of brackets and strings."""
    out, depth, start, quote = [], 0, 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote and text[i - 1] != "\\" else quote
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and not depth:
            out.append(text[start:i].strip())
            start = i + 1
    return [*out, text[start:].strip()]


_PART = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"']|,(?! ))*(?:, )?""")


def _pieces(text: str, room: int) -> list[str]:
    """Split an argument longer than `room` into pieces that fit a line: a list breaks after its commas."""
    if len(text.rstrip()) <= room or "[" not in text:
        return [text]
    return [part for part in _PART.findall(text) if part]


def identifier(name: str, taken: set[str] | frozenset[str] = frozenset()) -> str:
    """Return a Python identifier derived from `name` that is not in `taken`."""
    plain = re.sub(r"\W", "_", name.lstrip("%"), flags=re.ASCII).strip("$") or "_"
    if plain[0].isdigit() or keyword.iskeyword(plain) or plain.startswith("__"):
        plain = f"_{plain.lstrip('_')}" if plain.startswith("__") or plain[0].isdigit() else f"{plain}_"
    found, count = plain, 0
    while found in taken:
        count += 1
        found = f"{plain}_{count}"
    return found


def literal(text: str) -> str:
    """Return a Python string literal for the text, double-quoted where possible."""
    if "\n" in text and '"""' not in text and "\\" not in text and text[-1] != '"' and text.isprintable() is False:
        clean = text.replace("\n", "").replace("\t", "")
        if clean.isprintable():
            return f'"""{text}"""'
    found = repr(text)
    if found[0] == "'" and '"' not in found:
        return f'"{found[1:-1]}"'.replace("\\'", "'")
    return found

"""Texts of Triton's IRs: their lines without `loc(...)`, and the source locations of these lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pyptx.views.code.source_chains import MAX_DEPTH, Chain

__all__ = ["MlirText", "read_mlir"]

_ALIAS = re.compile(r"#loc\d* = loc\((.*)\)$")
_FILE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')
_NAME = re.compile(r'"(?:[^"\\]|\\.)*"\(')
_FUSED = re.compile(r"fused(?:<.*>)?\[")


@dataclass(frozen=True, slots=True)
class MlirText:
    """A text of MLIR.

    Attributes:
        text: its lines without locations.
        chains: the location of each line and those of the calls it is inlined at, innermost first; () for none.
    """

    text: tuple[str, ...]
    chains: tuple[Chain, ...]


def read_mlir(source: str) -> MlirText:
    """Read the text of an IR; the line that opens the region of an operation has the location after the region."""
    lines = source.removesuffix("\n").split("\n")
    aliases = {line.partition(" = ")[0]: found[1] for line in lines if (found := _ALIAS.match(line))}
    known: dict[str, Chain] = {}
    text: list[str] = []
    chains: list[Chain] = []
    opened: list[list[int]] = []  # the lines of each open operation that open or continue a region
    for line in lines:
        if _ALIAS.match(line):
            continue
        code, location = _without_locations(line)
        chain = _chain(location, aliases, known)
        row, start = len(text), code.lstrip()
        parts = opened.pop() if start.startswith("}") and opened else []
        if code.endswith("{"):
            opened.append([*parts, row])
        elif chain:
            for part in parts:
                chains[part] = chains[part] or chain
        text.append(code)
        chains.append(chain)
    while text and not text[-1]:
        text.pop()
        chains.pop()
    return MlirText(tuple(text), tuple(chains))


def _without_locations(line: str) -> tuple[str, str]:
    """Return a line without `loc(...)`, and the content of the last one if it ends the line."""
    kept, last, at = [], "", 0
    while (start := line.find(" loc(", at)) >= 0:
        end = _closing(line, start + 5)
        if end < 0:
            break
        kept.append(line[at:start])
        last, at = line[start + 5 : end], end + 1
    rest = line[at:]
    return "".join([*kept, rest]).rstrip(), "" if rest.strip() else last


def _closing(text: str, at: int) -> int:
    """Return the position of the parenthesis that closes the one before `at`; -1 if there is none."""
    depth, quoted = 1, False
    while at < len(text):
        letter = text[at]
        if letter == "\\" and quoted:
            at += 1
        elif letter == '"':
            quoted = not quoted
        elif not quoted and letter in "()":
            depth += 1 if letter == "(" else -1
            if not depth:
                return at
        at += 1
    return -1


def _chain(location: str, aliases: Mapping[str, str], known: dict[str, Chain]) -> Chain:
    """Return the chain of the content of a `loc(...)`; () if it is unknown.

    The forms are those of MLIR: an alias, `"file":line:column`, `"name"(location)`, `callsite(callee at caller)` and
    `fused[location, ...]`, of which the first known one counts.
    """
    if location in known:
        return known[location]
    known[location] = ()  # also for an alias that refers to itself
    found: Chain = ()
    if location.startswith("loc("):
        found = _chain(location[4:-1], aliases, known)
    elif location.startswith("#"):
        found = _chain(aliases.get(location, ""), aliases, known)
    elif match := _FILE.match(location):
        found = ((match[1].replace("\\\\", "\\"), int(match[2]), int(match[3])),)
    elif location.startswith("callsite("):
        callee, _, caller = _split(location[9:-1], " at ")
        found = (_chain(callee, aliases, known) + _chain(caller, aliases, known))[:MAX_DEPTH]
    elif match := _NAME.match(location):
        found = _chain(location[match.end() : -1], aliases, known)
    elif match := _FUSED.match(location):
        rest = location[match.end() : -1]
        while rest and not found:
            first, _, rest = _split(rest, ", ")
            found = _chain(first, aliases, known)
    known[location] = found
    return found


def _split(text: str, separator: str) -> tuple[str, str, str]:
    """Partition a text at a separator outside of parentheses, brackets and quotes."""
    depth, quoted = 0, False
    for at, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif not quoted:
            depth += (letter in "([<") - (letter in ")]>")
            if not depth and text.startswith(separator, at):
                return text[:at], separator, text[at + len(separator) :]
    return text, "", ""

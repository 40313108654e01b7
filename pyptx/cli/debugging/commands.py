"""The commands of the prompt: names, short forms, help. Each is a function of the prompt and the rest of its line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyptx.debug import DebugError

__all__ = ["COMMANDS", "Command", "command", "find", "help_text", "number", "options"]


@dataclass(frozen=True)
class Command:
    """One command.

    Attributes:
        repeats: an empty line runs it again.
        group: under which heading `help` lists it.
        examples: (line, what it does).
    """

    name: str
    shorts: tuple[str, ...]
    usage: str
    summary: str
    run: Callable[[Any, str], None]
    examples: tuple[tuple[str, str], ...]
    more: str
    repeats: bool
    group: str


COMMANDS: dict[str, Command] = {}
GROUPS = ("going on", "going back", "stopping", "looking", "else")


def command(usage: str, summary: str, *shorts: str, group: str, examples: tuple[tuple[str, str], ...] = (),
            more: str = "", repeats: bool = False) -> Callable:
    """Add a command; its name is the word that `usage` begins with."""
    def add(run: Callable[[Any, str], None]) -> Callable[[Any, str], None]:
        name = re.match(r"\w+", usage)[0]
        COMMANDS[name] = Command(name, shorts, usage, summary, run, examples, more, repeats, group)
        return run
    return add


def find(word: str) -> Command:
    """The command of a name, a short form or the beginning of one name only.

    Raises:
        DebugError: there is none, or several begin so.
    """
    if word in COMMANDS:
        return COMMANDS[word]
    for known in COMMANDS.values():
        if word in known.shorts:
            return known
    begins = [known for name, known in COMMANDS.items() if name.startswith(word)]
    if len(begins) == 1:
        return begins[0]
    if begins:
        raise DebugError(f"{word!r} may be {', '.join(known.name for known in begins)}")
    raise DebugError(f"no command {word!r}; `help` lists them, `print {word}` shows a value")


def help_text(word: str) -> str:
    """All commands, or one with examples."""
    if word:
        known = find(word)
        lines = [known.usage, f"    {known.summary[0].upper()}{known.summary[1:]}."]
        lines += [f"    {line}" for line in known.more.split("\n") if line]
        lines += [f"    Short: {', '.join(known.shorts)}"] if known.shorts else []
        wide = max((len(line) for line, _ in known.examples), default=0)
        lines += ["examples:", *(f"    {line:<{wide}}   {what}" for line, what in known.examples)] \
            if known.examples else []
        return "\n".join(lines)
    lines = []
    for group in GROUPS:
        lines.append(f"{group}:")
        for known in COMMANDS.values():
            if known.group == group:
                names = ", ".join((known.name, *known.shorts))
                lines.append(f"    {names:<20} {known.summary}")
    lines.append("`help COMMAND` has examples. An empty line repeats the last move. PLACE is gemm.py:77, 77, ptx:40, "
                 "a label or op:wgmma.")
    return "\n".join(lines)


def number(text: str, what: str, default: int | None = None) -> int:
    """A whole number.

    Raises:
        DebugError: it is none.
    """
    if not text.strip() and default is not None:
        return default
    try:
        return int(text.strip(), 0)
    except ValueError:
        raise DebugError(f"{what} is a number, not {text.strip()!r}") from None


_OPTION = re.compile(r"(?:^|\s)(\w+)=(\S+)")


def options(text: str, *known: str) -> tuple[str, dict[str, Any]]:
    """What stands before `name=value` words, and these: numbers, pairs such as 128,64, or text.

    Raises:
        DebugError: an option of another name.
    """
    found: dict[str, Any] = {}
    for name, value in _OPTION.findall(text):
        if name not in known:
            raise DebugError(f"no option {name}=; expected {', '.join(f'{k}=' for k in known)}")
        parts = value.split(",")
        if all(re.fullmatch(r"\d+", part) for part in parts):
            numbers = tuple(map(int, parts))
            found[name] = numbers if len(numbers) > 1 or name in ("shape", "rows", "columns") else numbers[0]
        else:
            found[name] = value
    return _OPTION.sub("", text).strip(), found
